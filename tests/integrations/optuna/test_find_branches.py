"""Which branches a program has, as far as its trials show."""

from typing import Any

import pytest
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState, create_trial

import hetbo as hb
from hetbo.integrations.optuna._branches import Branch, find_branches, is_conditional
from hetbo.integrations.optuna._programs import Program
from hetbo.integrations.optuna._studies import past_experiments

UNIT, WIDE = FloatDistribution(0, 1), FloatDistribution(0, 2)
KINDS = CategoricalDistribution(["a", "b", "c"])
SPACE: dict[str, BaseDistribution] = {
    "kind": KINDS,
    "loss": CategoricalDistribution(["l1", "l2"]),
    "layers": IntDistribution(1, 5),
    "trees": IntDistribution(1, 100),
}


def trial(
    *,
    wide: bool = False,
    state: TrialState = TrialState.COMPLETE,
    proposal: dict[str, Any] | None = None,
    **params: Any,  # noqa: ANN401
) -> FrozenTrial:
    distributions = {name: SPACE.get(name, WIDE if wide else UNIT) for name in params}
    value = 1.0 if state is TrialState.COMPLETE else None
    return create_trial(
        state=state,
        value=value,
        params=params,
        distributions=distributions,
        system_attrs={"hetbo:proposal": proposal} if proposal else {},
    )


def at_half(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names, 0.5)


def numbered(*trials: FrozenTrial) -> list[FrozenTrial]:
    for number, one in enumerate(trials):
        one.number = number
    return list(trials)


def old(*trials: FrozenTrial) -> list[hb.Experiment]:
    return past_experiments(numbered(*trials), name="old", goal=hb.Goal.MINIMIZE)


def ways(branches: list[Branch]) -> list[tuple[set[str], dict[str, tuple[object, ...]]]]:
    return [(set(branch.space), dict(branch.gates)) for branch in branches]


def found(*trials: FrozenTrial, programs: tuple[list[hb.Experiment], ...] = ()) -> Any:  # noqa: ANN401
    return ways(find_branches(numbered(*trials), programs))


A, B = trial(kind="a", x=0.5, y=0.5), trial(kind="b", x=0.5, z=0.5)


def test_a_category_tells_branches_apart_and_choices_nobody_made_may_lead_anywhere() -> None:
    assert found(A, B) == [
        ({"kind", "x", "z"}, {"kind": ("b", "c")}),
        ({"kind", "x", "y"}, {"kind": ("a", "c")}),
    ]


def test_a_small_integer_tells_branches_apart() -> None:
    trials = [trial(layers=n, **at_half(*(f"u{k}" for k in range(n)))) for n in (1, 3, 1, 4)]
    gates = [gates for _, gates in found(*trials)]
    assert gates == [{"layers": (4, 5)}, {"layers": (1, 2)}, {"layers": (2, 3)}]


def test_a_category_comes_before_an_integer() -> None:
    trials = (trial(layers=1, kind="a", y=0.5), trial(layers=4, kind="b", z=0.5))
    assert [set(gates) for _, gates in found(*trials)] == [{"kind"}, {"kind"}]


def test_branches_can_be_nested() -> None:
    three = (trial(kind="a", loss="l1", y=0.5), trial(kind="a", loss="l2"), trial(kind="b", z=0.5))
    assert found(*three) == [
        ({"kind", "z"}, {"kind": ("b", "c")}),
        ({"kind", "loss"}, {"kind": ("a", "c"), "loss": ("l2",)}),
        ({"kind", "loss", "y"}, {"kind": ("a", "c"), "loss": ("l1",)}),
    ]


@pytest.mark.parametrize(
    "trials",
    [
        [],
        [A, A],
        [trial(x=0.5, y=0.5), trial(x=0.5), trial(x=0.5, y=0.5)],  # nothing tells them apart
        [A, B, trial(kind="b", x=0.5, y=0.5)],  # "b" did not lead there, nor does it lead here
        [trial(trees=3, y=0.5), trial(trees=70, z=0.5)],  # an integer with many values
        [trial(kind="a", y=0.5), trial(kind="a", y=0.5, wide=True)],  # a range moved
        [trial(kind="a", y=0.5), trial(kind="a", z=0.5)],  # a change
        [trial(kind="a"), trial(kind="b")],  # one set of parameters
    ],
)
def test_there_are_no_branches(trials: list[FrozenTrial]) -> None:
    assert found(*trials) == []


def test_a_branch_whose_range_has_moved_has_the_latest_one() -> None:
    moved = trial(kind="a", x=0.5, y=0.5, wide=True)
    branches = find_branches(numbered(A, B, moved), [])
    spaces = [{n: t.distribution for n, t in b.space.items()} for b in branches]
    assert spaces == [{"kind": KINDS, "x": WIDE, "y": WIDE}, {"kind": KINDS, "x": UNIT, "z": UNIT}]


def test_an_old_program_shows_branches_that_no_trial_went_yet() -> None:
    program = old(A, B)
    assert is_conditional(program)
    branches = find_branches(numbered(trial(kind="a", y=0.5, new=0.5)), [program])
    assert ways(branches) == [
        ({"kind", "y", "new"}, {"kind": ("a", "c")}),
        ({"kind", "x", "z"}, {"kind": ("b", "c")}),
    ]
    assert [branch.own for branch in branches] == [True, False]


def test_an_old_branch_is_forgotten_when_its_choice_leads_elsewhere() -> None:
    own = (trial(kind="a", y=0.5), trial(kind="b", new=0.5))
    assert [space for space, _ in found(*own, programs=(old(A, B),))] == [
        {"kind", "new"},
        {"kind", "y"},
    ]


def test_an_old_branch_that_cannot_be_chosen_is_none() -> None:
    distributions: dict[str, BaseDistribution] = {
        "kind": CategoricalDistribution(["a", "c"]),
        "y": UNIT,
    }
    own = create_trial(value=1.0, params={"kind": "a", "y": 0.5}, distributions=distributions)
    assert found(own, programs=(old(A, B),)) == []


def test_of_several_parameters_the_one_that_tells_most_is_the_gate() -> None:
    own = (trial(loss="l1", kind="a", y=0.5), trial(loss="l2", kind="b", z=0.5))
    assert [set(gates) for _, gates in found(*own)] == [{"loss"}, {"loss"}]
    told = old(*(trial(loss=loss, kind=k, **at_half(k)) for loss in ("l1", "l2") for k in "ab"))
    assert [set(gates) for _, gates in found(*own, programs=(told,))] == [{"kind"}, {"kind"}]


def program(*trials: FrozenTrial, programs: tuple[list[hb.Experiment], ...] = ()) -> Program:
    made = Program.of(numbered(*trials), programs)
    assert made is not None
    return made


def test_what_a_trial_was_not_asked_for_is_idle() -> None:
    history = program(A, B).history(numbered(A, B))
    assert [dict(t.params) for t in history.own] == [
        {"kind": "a", "x": 0.5, "z": 0.5, "y": 0.5},
        {"kind": "b", "x": 0.5, "z": 0.5, "y": 0.5},
    ]


def test_an_old_program_is_one_source_with_idle_values_as_in_the_target() -> None:
    wide = (trial(kind="a", y=1.7, wide=True), trial(kind="b", z=0.2, wide=True))
    made = program(trial(kind="a", y=0.1), trial(kind="b", z=0.3))
    (source,) = made.sources([old(*wide)])
    assert [dict(t.params) for t in source.trials] == [
        {"kind": "a", "y": 1.7, "z": 0.5},
        {"kind": "b", "y": 0.5, "z": 0.2},
    ]


def test_what_an_old_branch_did_not_know_is_unknown_and_what_it_had_no_use_for_is_idle() -> None:
    made = program(trial(kind="a", y=0.1, new=0.9), trial(kind="b", z=0.3))
    (source,) = made.sources([old(trial(kind="a", y=0.5))])
    assert source.fixed == {"z": 0.5}
    assert set(source.space) == {"kind", "y"}


def test_parts_hold_gates_and_what_is_idle() -> None:
    first, second = program(A, B).parts([])
    assert first.fixed == {"y": 0.5}
    assert first.space == hb.Space(
        kind=hb.Categorical("b", "c"), x=hb.Float(0, 1), z=hb.Float(0, 1)
    )
    assert second.fixed == {"z": 0.5}


def test_a_branch_whose_points_were_all_tried_is_left_out() -> None:
    trials = numbered(trial(kind="a", loss="l1"), trial(kind="b", z=0.5), trial(kind="c", z=0.5))
    made = program(*trials)
    own = made.history(trials).own
    assert len(made.parts(own)) == 2
    again = numbered(*trials, trial(kind="a", loss="l2"))
    (part,) = made.parts(made.history(again).own)
    assert "z" in part.space


def test_trials_under_way_and_failed_ones_belong_to_the_branch_of_their_values() -> None:
    made = program(A, B)
    proposal = {"kind": "a", "x": 0.25, "y": 0.75}
    running = trial(kind="a", x=0.25, state=TrialState.RUNNING, proposal=proposal)
    stopped = trial(kind="a", x=0.25, state=TrialState.FAIL)
    failed = trial(kind="b", x=0.25, z=0.25, state=TrialState.FAIL)
    history = made.history(numbered(A, B, running, stopped, failed))
    assert history.numbers == (0, 1, 2, 4)
    assert history.own[2].params["y"] == 0.75
    assert history.pending == {2}


def test_the_description_names_what_leads_where() -> None:
    assert str(program(A, B)) == "2 branches (kind=b: z; kind=a: y)"
