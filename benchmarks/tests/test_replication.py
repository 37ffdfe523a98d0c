"""One replication, from its start to its last evaluation."""

from collections.abc import Mapping

import pytest

import hetbo as hb
from hetbo.spaces import Value
from hetbo_bench.problems.problem import Problem, Start
from hetbo_bench.running.replication import best_so_far, replicate


def table(*, goal: hb.Goal, best: int) -> Problem:
    """A table of ten rows, the best one in some place."""
    sign = hb.Goal.of(goal).sign
    values = {x: -sign * float(abs(x - best)) for x in range(10)}

    def evaluate(params: Mapping[str, Value]) -> float:
        return values[int(str(params["x"]))]

    first = tuple(hb.Trial({"x": x}, values[x]) for x in range(5))
    return Problem(
        name="table",
        summary="ten rows",
        space=hb.Space(x=hb.Int(0, 9)),
        source_spaces={},
        goal=hb.Goal.of(goal),
        start=lambda _: Start((), first),
        evaluate=evaluate,
        optimum=0.0,
        candidates=tuple({"x": x} for x in range(10)),
    )


@pytest.mark.parametrize("goal", [hb.Goal.MINIMIZE, hb.Goal.MAXIMIZE])
def test_the_rest_is_filled_in_once_the_best_row_is_found(goal: hb.Goal) -> None:
    found = replicate(table(goal=goal, best=7), "random", 0, evaluations=12)
    assert len(found.trace) == 12
    assert found.trace[-1] == 0.0
    chosen = found.trace.index(0.0) + 1 - 5
    assert 1 <= chosen <= 5
    assert len(found.seconds) == chosen, "it went on after the best row"


def test_nothing_is_chosen_if_a_first_trial_is_the_best_row() -> None:
    found = replicate(table(goal=hb.Goal.MAXIMIZE, best=2), "random", 0, evaluations=8)
    assert found.trace == (-2.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert found.seconds == ()


def test_the_best_so_far_follows_the_goal() -> None:
    assert best_so_far([1.0, 3.0, 2.0], 1, 5) == (1.0, 3.0, 3.0, 3.0, 3.0)
    assert best_so_far([1.0, 3.0, -2.0], -1, 3) == (1.0, 1.0, -2.0)
