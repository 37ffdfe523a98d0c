import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import pickled, refused
from hetbo import (
    Categorical,
    DataError,
    Experiment,
    Float,
    HetboError,
    Int,
    JointSpace,
    MergeError,
    Optimizer,
    Space,
    Trial,
    backtest,
)
from hetbo.spaces import Numeric, Parameter, Value
from strategies import Family, mergeable


def source(
    parameter: Parameter | None = None,
    *,
    name: str = "old",
    tried: tuple[Value, ...] = (),
    **fixed: Value,
) -> Experiment:
    """Return a source that tunes `x` as given, or tunes something else."""
    if parameter is None:
        return Experiment(name, Space(other=Int(0, 1)), fixed=fixed, goal="minimize")
    return Experiment(
        name,
        Space(x=parameter),
        [Trial({"x": x}, 1.0) for x in tried],
        fixed=fixed,
        goal="minimize",
    )


def merged(target: Parameter, *sources: Experiment) -> Parameter:
    return JointSpace.merge(Space(x=target), sources).space["x"]


@pytest.mark.parametrize(
    ("target", "other", "joint"),
    [
        (Float(0, 1), Float(0, 1), Float(0, 1)),
        (Float(0, 1), Float(-2, 0.5), Float(-2, 1)),
        (Float(0, 1), Float(5, 6), Float(0, 6)),
        (Int(2, 12), Int(1, 6), Int(1, 12)),
        (Int(2, 12), Float(0.5, 3.5), Float(0.5, 12)),
        (Float(0.5, 3.5), Int(2, 12), Float(0.5, 12)),
        (Float(1, 10, log=True), Float(0.1, 5), Float(0.1, 10, log=True)),
        (Float(0.1, 5), Float(1, 10, log=True), Float(0.1, 10)),
        (Float(-1, 1), Float(1, 10, log=True), Float(-1, 10)),
        (Int(1, 8), Int(2, 16, log=True), Int(1, 16)),
        (Categorical("b", "a"), Categorical("c", "a"), Categorical("b", "a", "c")),
        (Categorical(1, "a"), Categorical(*(True,), 1.0), Categorical(1, "a", *(True,))),
    ],
)
def test_ranges_are_joined_in_natural_units(
    target: Parameter, other: Parameter, joint: Parameter
) -> None:
    assert merged(target, source(other)) == joint


@pytest.mark.parametrize(
    ("target", "fixed", "joint"),
    [
        (Float(0, 1), 2.5, Float(0, 2.5)),
        (Float(0, 1), -1, Float(-1, 1)),
        (Float(0, 1), 0.5, Float(0, 1)),
        (Int(2, 12), 20, Int(2, 20)),
        (Int(2, 12), 20.0, Int(2, 20)),
        (Int(2, 12), 1.5, Float(1.5, 12)),
        (Float(0.1, 1, log=True), 0.01, Float(0.01, 1, log=True)),
        (Float(0.1, 1, log=True), 0, Float(0.1, 1, log=True)),
        (Categorical("a"), "b", Categorical("a", "b")),
        (Categorical("a"), None, Categorical("a", None)),
        (Categorical("a"), "a", Categorical("a")),
    ],
)
def test_fixed_values_widen_the_range(target: Parameter, fixed: Value, joint: Parameter) -> None:
    assert merged(target, source(x=fixed)) == joint


def test_zero_on_a_log_scale_does_not_lower_the_range_but_positive_trials_do() -> None:
    target = Float(1e-5, 0.1, log=True)
    assert merged(target, source(Float(0, 1))) == Float(1e-5, 1, log=True)
    tried = source(Float(0, 1), tried=(0.0, 1e-7, 0.5))
    assert merged(target, tried) == Float(1e-7, 1, log=True)
    assert merged(target, source(Float(-1, 0.01), tried=(-1.0,))) == target
    assert merged(Int(1, 8, log=True), source(Int(0, 16), tried=(0,))) == Int(1, 16, log=True)


def test_the_target_decides_the_scale_and_else_any_source_with_a_log_scale() -> None:
    others = [source(Float(1, 2), name="a"), source(Float(1, 9, log=True), name="b")]
    joint = JointSpace.merge(Space(y=Int(0, 1)), others)
    assert joint.space["x"] == Float(1, 9, log=True)
    assert merged(Float(1, 2), *others) == Float(1, 9)


def test_the_parameters_of_the_target_come_first() -> None:
    joint = JointSpace.merge(
        Space(b=Int(0, 1), a=Int(0, 1)),
        [Experiment("old", Space(z=Int(0, 1), a=Int(0, 1), c=Int(0, 1)), goal="minimize")],
    )
    assert joint.space.names == ("b", "a", "z", "c")


def test_the_target_is_experiment_zero() -> None:
    joint = JointSpace.merge(Space(x=Int(0, 1)), [source(Int(0, 1))], target_name="new")
    assert [member.name for member in joint.members] == ["new", "old"]
    assert joint.target is joint.members[0]


def test_members_know_the_fixed_values_of_joint_parameters_only() -> None:
    old = Experiment("old", Space(y=Int(0, 1)), fixed={"x": 3, "seed": 7}, goal="minimize")
    joint = JointSpace.merge(Space(x=Int(0, 9)), [old], fixed={"y": 1})
    assert joint.members[0].fixed == {"y": 1}
    assert joint.members[1].fixed == {"x": 3}


def test_the_target_may_fix_what_sources_tune() -> None:
    joint = JointSpace.merge(Space(x=Int(0, 9)), [source()], fixed={"other": np.int64(5)})  # type: ignore[dict-item]
    assert joint.space["other"] == Int(0, 5)
    assert repr(joint.target.fixed) == "{'other': 5}"


@pytest.mark.parametrize(
    ("fixed", "parts"),
    [
        ({"x": 1}, ["target", "'x'", "tuned"]),
        ({"other": math.nan}, ["target", "'other'", "nan"]),
        ({"other": "a"}, ["'other'", "number in old (Int(0, 1))", "target ('a')"]),
        ({"other": True}, ["'other'", "number in old (Int(0, 1))", "target (True)"]),
    ],
)
def test_what_the_target_cannot_fix_is_refused(fixed: dict[str, Value], parts: list[str]) -> None:
    with refused(MergeError, *parts):
        JointSpace.merge(Space(x=Int(0, 9)), [source()], fixed=fixed)


@pytest.mark.parametrize(
    ("target", "old", "parts"),
    [
        (Int(1, 9), source(Categorical("a")), ["target (Int(1, 9))", "old (Categorical('a'))"]),
        (
            Categorical("a"),
            source(Float(0, 1)),
            ["old (Float(0.0, 1.0))", "target (Categorical('a'))"],
        ),
        (Int(1, 9), source(x="deep"), ["target (Int(1, 9))", "old ('deep')"]),
        (Int(1, 9), source(x=None), ["target (Int(1, 9))", "old (None)"]),
    ],
)
def test_a_number_against_a_category_is_refused(
    target: Parameter, old: Experiment, parts: list[str]
) -> None:
    remedies = ["rename={'x': ...}", "drop=['x']"]
    with refused(MergeError, "'x'", "a number in", *parts, *remedies):
        merged(target, old)


def test_two_sources_that_do_not_agree_are_refused() -> None:
    with refused(MergeError, "'x'", "a (Int(0, 1))", "b (Categorical('a'))"):
        JointSpace.merge(
            Space(y=Int(0, 1)),
            [source(Int(0, 1), name="a"), source(Categorical("a"), name="b")],
        )


def test_a_conflict_is_solved_as_the_message_says() -> None:
    old = Experiment("old", Space(x=Categorical("a", "b"), y=Int(0, 1)), goal="minimize")
    target = Space(x=Int(0, 1))
    for solved in (old.rename({"x": "kind"}), old.drop("x")):
        assert JointSpace.merge(target, [solved]).space["x"] == Int(0, 1)


@pytest.mark.parametrize("names", [("a", "a"), ("target", "b")])
def test_two_experiments_of_one_name_are_refused(names: tuple[str, str]) -> None:
    with refused(MergeError, "two experiments", repr(names[0]), "name="):
        JointSpace.merge(Space(x=Int(0, 1)), [source(name=name) for name in names])


def test_a_range_too_wide_for_floats_is_refused() -> None:
    with refused(MergeError, "'x'", "too wide"):
        merged(Float(-1e308, 0), source(Float(0, 1e308)))


def test_a_target_without_sources_is_its_own_joint_space() -> None:
    target = Space(x=Int(0, 1), y=Float(0, 1))
    joint = JointSpace.merge(target)
    assert joint.space == target
    assert [block.parameters for block in joint.blocks] == [("x", "y")]


def test_a_source_that_shares_nothing_stands_beside_the_target() -> None:
    joint = JointSpace.merge(Space(x=Int(0, 1)), [source()])
    assert joint.space.names == ("x", "other")
    assert [block.experiments for block in joint.blocks] == [{0}, {1}]


def test_blocks_are_found_in_what_is_tuned_not_in_what_is_fixed() -> None:
    joint = JointSpace.merge(Space(x=Int(0, 9)), [source(x=3)])
    assert [set(block.experiments) for block in joint.blocks] == [{0}, {1}]


def test_a_joint_space_is_frozen() -> None:
    joint = JointSpace.merge(Space(x=Int(0, 1)))
    with pytest.raises(FrozenInstanceError):
        joint.space = Space(x=Int(0, 2))  # type: ignore[misc]


def outside(parameter: Parameter, value: Value) -> bool:
    """Return whether a value cannot be in a joint range, since that is on a log scale."""
    on_log = parameter.scale is not None and parameter.scale.log
    return on_log and isinstance(value, int | float) and value <= 0


@given(mergeable())
def test_all_that_was_tried_or_fixed_lies_in_the_joint_space(family: Family) -> None:
    joint = family.joint
    for member, experiment in zip(joint.members[1:], family.sources, strict=True):
        for known in (*(trial.params for trial in experiment.trials), member.fixed):
            for name, value in known.items():
                parameter = joint.space[name]
                if not outside(parameter, value):
                    assert parameter.check(value) == value


@given(mergeable())
def test_a_joint_range_is_the_hull_of_all_ranges_and_fixed_values(family: Family) -> None:
    joint = family.joint
    for name, parameter in joint.space.items():
        tuned = [m.space[name] for m in joint.members if name in m.space]
        known = [m.fixed[name] for m in joint.members if name in m.fixed]
        if isinstance(parameter, Categorical):
            every = [c for p in tuned if isinstance(p, Categorical) for c in p.choices] + known
            assert {repr(parameter.check(choice)) for choice in every} == {
                repr(choice) for choice in parameter.choices
            }
            continue
        assert isinstance(parameter, Numeric)
        ends = [(p.low, p.high) for p in tuned if isinstance(p, Numeric)]
        ends += [(v, v) for v in known if isinstance(v, int | float)]
        assert parameter.high == max(high for _, high in ends)
        if not parameter.log or min(low for low, _ in ends) > 0:
            assert parameter.low == min(low for low, _ in ends)
        else:
            assert 0 < parameter.low <= min(low for low, _ in ends if low > 0)
        whole = all(isinstance(p, Int) for p in tuned) and all(v == int(v) for v, _ in ends)
        assert isinstance(parameter, Int) == whole


@given(mergeable())
def test_the_target_keeps_its_order_scales_and_choices(family: Family) -> None:
    joint = family.joint
    assert joint.space.names[: len(family.target)] == family.target.names
    assert joint.target.space is family.target
    for name, own in family.target.items():
        parameter = joint.space[name]
        if isinstance(own, Categorical) and isinstance(parameter, Categorical):
            assert parameter.choices[: len(own.choices)] == own.choices
        elif isinstance(own, Numeric) and isinstance(parameter, Numeric):
            assert parameter.log == own.log


@given(st.data())
def test_the_order_of_sources_only_decides_the_order_of_things(data: st.DataObject) -> None:
    family = data.draw(mergeable())
    moved = Family(family.target, family.fixed, tuple(data.draw(st.permutations(family.sources))))

    def unordered(family: Family) -> dict[str, object]:
        return {
            name: frozenset(map(repr, p.choices)) if isinstance(p, Categorical) else p
            for name, p in family.joint.space.items()
        }

    assert unordered(moved) == unordered(family)


@given(mergeable())
def test_a_joint_space_survives_another_process(family: Family) -> None:
    assert pickled(family.joint) == family.joint


@pytest.mark.parametrize("given", [None, 5, [5], ["old"]])
def test_what_is_no_list_of_experiments_is_refused(given: object) -> None:
    what: Any = given
    part = "not an Experiment" if isinstance(given, list) else "must be a list"
    with refused(DataError, "sources", part):
        JointSpace.merge(Space(x=Float(0, 1)), what)
    with refused(DataError, "experiments", part):
        backtest(what)


def test_an_experiment_is_no_list_of_experiments() -> None:
    space = Space(x=Float(0, 1))
    old: Any = Experiment("old", space, goal="minimize")
    for call in (lambda: JointSpace.merge(space, old), lambda: backtest(old)):
        with refused(DataError, "must be a list of experiments", "['old']"):
            call()
    with pytest.raises(HetboError) as told:
        Optimizer(space, sources=[[old]], goal="minimize")  # type: ignore[list-item]
    assert "\n" not in str(told.value)
