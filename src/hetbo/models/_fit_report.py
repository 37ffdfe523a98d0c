"""How a fit went."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FitReport:
    """How a fit went.

    Attributes:
        parameters: The vector of parameters that was found; a warm start for the next fit.
        map_value: The log posterior density (marginal likelihood plus priors) that was reached.
        start_values: What each start reached, best first; starts that failed are left out.
        evaluations: How often the marginal likelihood was evaluated, all starts together.
        starts: How many starts were tried.
        failures: What went wrong, and what was done about it.
        seconds: How long it took.
    """

    parameters: tuple[float, ...]
    map_value: float
    start_values: tuple[float, ...]
    evaluations: int
    starts: int
    failures: tuple[str, ...]
    seconds: float
