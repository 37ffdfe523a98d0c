"""Real adjustments by developers, on tables: networks that gained parameters.

`fcnet`: the source tuned a network with tanh everywhere and a constant learning rate; the target
has a cosine schedule, and the activations are free. `mlp`: the sources tuned a network of one
layer with next to no regularisation, on other data sets; the target's depth and regularisation
are free. What the sources held fixed is not told: methods have to learn it, or do without.

FCNet's value is the natural logarithm of the validation error, to be minimised: a regret of 0.1 is
an error about 10 % above the best. MLP's is the validation accuracy, to be maximized.

Parameters have their natural types and scales; the rows of the target's table are the candidates.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hetbo.errors import DataError
from hetbo.experiments import Experiment, Goal, Trial
from hetbo.spaces import Categorical, Float, Int, Space, Value
from hetbo_bench.problems.grid_tables import GridTable, fcnet_table, mlp_table
from hetbo_bench.problems.problem import FIRST_TRIALS, Problem, Start


@dataclass(frozen=True, slots=True, kw_only=True)
class TabularFamily:
    """What the problems of one kind of table have in common.

    Attributes:
        name: How it is called.
        summary: What the target and its sources are; its gaps are for their data sets.
        table: Returns the table of a data set.
        goal: Which way is better.
        space: What the target tunes.
        held: What the target holds fixed and does not tune.
        source_held: What the sources hold fixed.
    """

    name: str
    summary: str
    table: Callable[[str], GridTable]
    goal: Goal
    space: Space
    held: Mapping[str, Value]
    source_held: Mapping[str, Value]

    @property
    def source_space(self) -> Space:
        """What the sources tune."""
        return self.space.drop(*(name for name in self.source_held if name in self.space))


FCNET = TabularFamily(
    name="fcnet",
    summary="a network on {}; the source, on {}, had tanh everywhere",
    table=fcnet_table,
    goal=Goal.MINIMIZE,
    space=Space(
        batch_size=Int(8, 64, log=True),
        dropout_1=Float(0.0, 0.6),
        dropout_2=Float(0.0, 0.6),
        init_lr=Float(5e-4, 1e-1, log=True),
        n_units_1=Int(16, 512, log=True),
        n_units_2=Int(16, 512, log=True),
        activation_fn_1=Categorical("relu", "tanh"),
        activation_fn_2=Categorical("relu", "tanh"),
    ),
    held={"lr_schedule": "cosine"},
    source_held={"activation_fn_1": "tanh", "activation_fn_2": "tanh", "lr_schedule": "const"},
)

MLP = TabularFamily(
    name="mlp",
    summary="a network on {}; the sources, on {}, had one layer and the smallest alpha",
    table=mlp_table,
    goal=Goal.MAXIMIZE,
    space=Space(
        batch_size=Int(4, 256, log=True),
        learning_rate_init=Float(1e-5, 1.0, log=True),
        width=Int(16, 1024, log=True),
        alpha=Float(1e-8, 1.0, log=True),
        depth=Int(1, 3),
    ),
    held={},
    source_held={"alpha": 1e-8, "depth": 1},
)

FCNET_DATASETS: Mapping[str, str] = {
    "naval": "naval_propulsion",
    "parkinsons": "parkinsons_telemonitoring",
    "protein": "protein_structure",
    "slice": "slice_localization",
}
"""FCNet's data sets, by their short names."""

MLP_DATASETS: Mapping[str, str] = {
    "australian": "australian",
    "blood": "blood_transfusion",
    "car": "car",
    "credit": "credit_g",
    "kc1": "kc1",
    "phoneme": "phoneme",
    "segment": "segment",
    "vehicle": "vehicle",
}
"""HPOBench-MLP's data sets, by their short names."""

_MLP_SOURCES = 3


def tabular_problems() -> Mapping[str, Callable[[str, int], Problem]]:
    """Return all problems on tables, without reading a table.

    Returns:
        By the name of the family: what makes a problem from its own name and the number of trials
        that each of its sources has.
    """

    def make(
        family: TabularFamily, dataset: str, source_datasets: Sequence[str]
    ) -> Callable[[str, int], Problem]:
        return lambda name, source_trials: tabular_problem(
            family,
            name,
            dataset=dataset,
            source_datasets=source_datasets,
            source_trials=source_trials,
        )

    families: dict[str, Callable[[str, int], Problem]] = {}
    for short, dataset in FCNET_DATASETS.items():
        (other,) = _before(short, FCNET_DATASETS, 1)
        families[f"fcnet-{short}"] = make(FCNET, dataset, [dataset])
        families[f"fcnet-{short}-from-{other}"] = make(FCNET, dataset, [FCNET_DATASETS[other]])
    for short, dataset in MLP_DATASETS.items():
        others = _before(short, MLP_DATASETS, _MLP_SOURCES)
        families[f"mlp-{short}"] = make(MLP, dataset, [MLP_DATASETS[other] for other in others])
    return families


def tabular_problem(
    family: TabularFamily,
    name: str,
    *,
    dataset: str,
    source_datasets: Sequence[str],
    source_trials: int,
) -> Problem:
    """Return a problem on tables.

    Args:
        family: What is tuned.
        name: How the problem is called.
        dataset: The target's data set.
        source_datasets: The data sets of the sources, one source each.
        source_trials: How many trials each source has.

    Raises:
        DataError: There is no such data set or number of trials, or no table is available.
    """
    target = family.table(dataset).held(family.held)
    sources = {key: family.table(key).held(family.source_held) for key in source_datasets}
    if len(sources) < len(source_datasets):
        raise DataError(f"source_datasets={list(source_datasets)} names a data set twice")
    for key, table in sources.items():
        if not 0 <= source_trials <= table.values.size:
            raise DataError(
                f"source_trials={source_trials} must be at least 0 and at most the "
                f"{table.values.size} configurations that the source {key!r} has"
            )
    space, source_space, goal = family.space, family.source_space, family.goal

    def start(replication: int) -> Start:
        past = [
            Experiment(
                key,
                source_space,
                _drawn(table, f"{family.name} source {key}", replication, source_trials),
                goal=goal,
            )
            for key, table in sources.items()
        ]
        first = _drawn(target, f"{family.name} target {dataset}", replication, FIRST_TRIALS)
        return Start(tuple(past), tuple(first))

    return Problem(
        name=name,
        summary=family.summary.format(
            dataset, "the same data" if [dataset] == list(source_datasets) else ", ".join(sources)
        ),
        space=space,
        source_spaces=dict.fromkeys(sources, source_space),
        goal=goal,
        start=start,
        evaluate=target.at,
        optimum=goal.sign * float((goal.sign * target.values).max()),
        candidates=target.rows(),
    )


def _drawn(table: GridTable, label: str, replication: int, count: int) -> list[Trial]:
    """Return trials at random rows of a table, none twice.

    They depend on the replication and the label alone, so that problems with the same target start
    from the same trials, and more trials begin with the same ones as fewer.
    """
    rng = np.random.default_rng([replication, zlib.crc32(label.encode())])
    chosen = rng.permutation(table.values.size)[:count].tolist()
    values = table.values.ravel()
    return [Trial(table.row(number), float(values[number])) for number in chosen]


def _before(name: str, names: Mapping[str, str], count: int) -> list[str]:
    """Return the names that stand before one, the last ones before the first."""
    circle = list(names)
    at = circle.index(name)
    return [circle[at - back] for back in range(count, 0, -1)]
