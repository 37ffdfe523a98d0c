"""What a comparison of methods says, as data."""

from collections.abc import Mapping
from dataclasses import dataclass

from hetbo_bench.analysis.estimates import Difference, Estimate, Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSummary:
    """How a method did on a problem.

    Attributes:
        method: The method's name.
        replications: How many replications it has; None for the paper's means.
        at: The best value so far after 10, 20, 30 and 40 evaluations.
        average: The mean best value so far over evaluations 6 to 40.
        regret: The mean distance to the optimum over evaluations 6 to 40.
        relative_regret: The regret relative to the reference's on the replications that both
            have; None for the reference, without one, and for published methods.
        reaches: After how many evaluations the mean is as good as a published method's final
            mean, by published method; None if it never is.
        seconds: The median time of a suggestion; None if it is not known.
    """

    method: str
    replications: int | None
    at: Mapping[int, Estimate]
    average: Estimate
    regret: Estimate
    relative_regret: Ratio | None = None
    reaches: Mapping[str, int | None]
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedComparison:
    """A method against its published counterpart; differences above 0 are in its favour.

    Attributes:
        method: The method's name.
        published: The published method's name.
        paired: Whether replications are compared one by one, or only means.
        replications: How many replications of the method are compared.
        at: The differences after 10, 20 and 40 evaluations.
        average: The difference of the means over evaluations 6 to 40.
        relative_regret: The regret over evaluations 6 to 40 relative to the published one.
        within_two_errors: For a method in the paper's settings, whether each difference in `at`
            is at most two standard errors; None for other methods, and without standard errors.
    """

    method: str
    published: str
    paired: bool
    replications: int
    at: Mapping[int, Difference]
    average: Difference
    relative_regret: Ratio
    within_two_errors: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemComparison:
    """How all methods did on a problem.

    Attributes:
        problem: The problem's name.
        goal: 'minimize' or 'maximize'.
        optimum: The best possible value.
        evaluations: How many evaluations each run has.
        shared_replications: How many replications all methods have.
        reference: The method that regret is relative to; None if it was not run.
        methods: How each method did.
        published: How each published method did; empty if the paper does not have the problem.
        against_published: The methods against their published counterparts.
    """

    problem: str
    goal: str
    optimum: float
    evaluations: int
    shared_replications: int
    reference: str | None
    methods: tuple[MethodSummary, ...]
    published: tuple[MethodSummary, ...]
    against_published: tuple[PublishedComparison, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The methods' ranks by their mean over evaluations 6 to 40; 1 is best.

    Attributes:
        problems: The ranks on each problem on which all methods share replications, by method.
        average: The mean rank over those problems, by method.
        relative_regret: The geometric mean over those problems of the regret relative to the
            reference's, by method; None for the reference, and where it is not known on all.
    """

    problems: Mapping[str, Mapping[str, float]]
    average: Mapping[str, float]
    relative_regret: Mapping[str, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How methods did.

    Attributes:
        problems: Problem by problem.
        ranking: Over all problems; None if methods share no replications on any problem.
        notes: What to know when reading the numbers.
    """

    problems: tuple[ProblemComparison, ...]
    ranking: Ranking | None
    notes: tuple[str, ...]
