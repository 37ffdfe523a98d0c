"""Which problems, methods and replications belong together, as data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hetbo.errors import DataError, shown
from hetbo_bench.problems.archive import archive_suite
from hetbo_bench.problems.real import real_suite
from hetbo_bench.problems.tabular import tabular_problems
from hetbo_bench.problems.wrappers import MISLEADING
from hetbo_bench.running.runs import Job

PAPER_PROBLEMS = ("hartmann_30", "rpart_30", "ranger_30", "ranger_10", "ranger_50")
PAPER_METHODS = (
    "random",
    "vanilla-paper",
    "common-paper",
    "conditional-paper",
    "conditional-presence-paper",
    "fixed-imputation-paper",
    "learned-imputation-paper",
    "learned-imputation-slips-paper",
)
OWN_METHODS = (
    "vanilla",
    "common",
    "conditional",
    "fixed-imputation",
    "learned-imputation",
)
ARCHIVE_COMPARATORS = ("rgpe", "tst", "hierarchical", "scaml", "ablr")


@dataclass(frozen=True, slots=True)
class Suite:
    """Problems and methods that are run together.

    Attributes:
        summary: What it shows, in one line.
        problems: The problems' names.
        methods: The methods' names.
        replications: How many replications of each.
    """

    summary: str
    problems: tuple[str, ...]
    methods: tuple[str, ...]
    replications: int = 50

    def jobs(self) -> list[Job]:
        """Return all replications: the first one of everything, then the second one, and so on."""
        jobs = (
            Job(problem, method, replication)
            for replication in range(self.replications)
            for problem in self.problems
            for method in self.methods
        )
        return list(dict.fromkeys(jobs))


SUITES: Mapping[str, Suite] = {
    "paper": Suite(
        "the paper's problems and methods in its own settings, and auto",
        PAPER_PROBLEMS,
        (*PAPER_METHODS, "auto"),
    ),
    "ours": Suite(
        "the same problems and methods in our settings",
        PAPER_PROBLEMS,
        OWN_METHODS,
    ),
    "misleading": Suite(
        "what auto does with sources that mislead",
        tuple(f"hartmann_30/{how}" for how in MISLEADING),
        ("vanilla", "learned-imputation", "auto"),
    ),
    "fixed": Suite(
        "Hartmann with the source's missing parameters elsewhere than at 0",
        ("hartmann_30/fixed=0.3", "hartmann_30/fixed=0.8"),
        ("vanilla", "learned-imputation-paper", "learned-imputation", "auto"),
    ),
    "natural": Suite(
        "Ranger and Rpart in natural units instead of the paper's encoding",
        ("ranger-natural_30", "ranger-natural_10", "ranger-natural_50", "rpart-natural_30"),
        ("vanilla", "learned-imputation", "auto"),
    ),
    "fresh": Suite(
        "auto and three of the paper's methods from starts that nothing was tuned on",
        tuple(f"{problem}/fresh" for problem in PAPER_PROBLEMS),
        ("vanilla-paper", "conditional-paper", "learned-imputation-paper", "auto"),
    ),
    "tables": Suite(
        "tables of real networks; Optuna's group TPE with the old trials added beside our methods",
        tuple(f"{family}_30" for family in tabular_problems()),
        ("optuna-tpe", *OWN_METHODS, "auto"),
        replications=10,
    ),
    "real": Suite(
        "tables of real measurements; sources of several sizes, random or made by a search",
        real_suite(),
        ("vanilla", "learned-imputation", "auto"),
        replications=20,
    ),
    "archive": Suite(
        "archives of old experiments whose parameters differ, that methods may be made with",
        archive_suite(run_once=False),
        ("vanilla", *ARCHIVE_COMPARATORS, "auto"),
        replications=30,
    ),
    "archive-once": Suite(
        "archives that are run once, at the end: nothing is tuned on them",
        archive_suite(run_once=True),
        ("vanilla", *ARCHIVE_COMPARATORS, "auto"),
        replications=30,
    ),
    "peers": Suite(
        "Optuna's samplers on Hartmann: group TPE with the old trials added, GP without them",
        ("hartmann_30",),
        ("optuna-tpe", "optuna-gp"),
    ),
    "slow-peers": Suite(
        "Ax and BayBE on Hartmann, minutes per replication; needs the extra peers",
        ("hartmann_30",),
        ("baybe", "ax"),
        replications=5,
    ),
    "quick": Suite(
        "a first impression",
        ("hartmann_30",),
        ("random", "vanilla", "learned-imputation-paper", "auto"),
        replications=8,
    ),
}
"""The suites by name."""


def suite_of(
    name: str,
    *,
    problems: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    replications: int | None = None,
) -> Suite:
    """Return the suite called `name`, with other problems, methods or replications if given.

    Raises:
        DataError: There is no such suite, or a number makes no sense.
    """
    if name not in SUITES:
        raise DataError(f"unknown suite {shown(name)}; expected one of {', '.join(SUITES)}")
    suite = SUITES[name]
    if replications is not None and replications < 1:
        raise DataError(f"replications={replications} must be at least 1")
    return replace(
        suite,
        problems=tuple(problems) if problems else suite.problems,
        methods=tuple(methods) if methods else suite.methods,
        replications=suite.replications if replications is None else replications,
    )
