import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import refused
from hetbo import Categorical, Encoder, Experiment, Float, Int, JointSpace, Space, SpaceError, Trial
from hetbo._arrays import FloatArray
from hetbo.spaces import Numeric, Parameter, Value
from strategies import Family, mergeable, params

TARGET = Space(lr=Float(1e-3, 1, log=True), depth=Int(2, 6), booster=Categorical("tree", "dart"))
OLD = Experiment(
    "old",
    Space(depth=Int(1, 10), booster=Categorical("dart", "linear"), subsample=Float(0, 1)),
    [Trial({"depth": 10, "booster": "linear", "subsample": 0.5}, 1.0)],
    fixed={"lr": 0.01},
    goal="minimize",
)
ENCODER = Encoder(JointSpace.merge(TARGET, [OLD]))


def alone(parameter: Parameter) -> Encoder:
    return Encoder(JointSpace.merge(Space(x=parameter)))


def with_source(target: Parameter, other: Parameter) -> Encoder:
    old = Experiment("old", Space(x=other), goal="minimize")
    return Encoder(JointSpace.merge(Space(x=target), [old]))


def points(encoder: Encoder, seed: int, *, n: int = 8) -> FloatArray:
    return np.random.default_rng(seed).random((n, len(encoder.columns)))


def unit(parameter: Parameter, *values: Value) -> list[float]:
    encoded = alone(parameter).encode([{"x": value} for value in values])
    found: list[float] = encoded[:, 0].tolist()
    return found


def test_the_target_and_a_source_share_their_columns() -> None:
    X = ENCODER.encode([{"lr": 0.1, "depth": 6, "booster": "dart"}])
    assert ENCODER.columns.labels == (
        "lr",
        "depth",
        "booster=tree",
        "booster=dart",
        "booster=linear",
        "subsample",
    )
    np.testing.assert_allclose(X, [[2 / 3, 5.5 / 10, 0, 1, 0, np.nan]])
    X = ENCODER.encode([OLD.trials[0].params], 1)
    np.testing.assert_allclose(X, [[1 / 3, 9.5 / 10, 0, 0, 1, 0.5]])


def test_missing_tells_what_an_experiment_neither_tunes_nor_fixes() -> None:
    np.testing.assert_array_equal(ENCODER.missing, [[False] * 5 + [True], [False] * 6])


@pytest.mark.parametrize(
    ("parameter", "values", "positions"),
    [
        (Float(-1, 3), [-1, 0, 3], [0, 0.25, 1]),
        (Float(1e-4, 1, log=True), [1e-4, 1e-2, 1], [0, 0.5, 1]),
        (Int(1, 4), [1, 2, 3, 4], [0.125, 0.375, 0.625, 0.875]),
        (Int(0, 1), [0, 1], [0.25, 0.75]),
        (
            Int(1, 3, log=True),
            [1, 2, 3],
            [math.log(k / 0.5) / math.log(3.5 / 0.5) for k in (1, 2, 3)],
        ),
    ],
)
def test_numbers_stand_where_the_formula_puts_them(
    parameter: Parameter, values: list[Value], positions: list[float]
) -> None:
    assert unit(parameter, *values) == pytest.approx(positions, abs=1e-12)


def test_zero_stands_at_the_low_end_of_a_log_scale() -> None:
    old = Experiment(
        "old", Space(x=Float(-1, 1)), [Trial({"x": x}, 0.0) for x in (0, -1, 1e-3)], goal="minimize"
    )
    encoder = Encoder(JointSpace.merge(Space(x=Float(0.1, 1, log=True)), [old]))
    X = encoder.encode([trial.params for trial in old.trials] + [{"x": 0.1}], 1)
    np.testing.assert_allclose(X[:, 0], [0, 0, 0, 2 / 3], atol=1e-12)


def test_a_whole_zero_stands_at_the_low_end_of_a_log_scale() -> None:
    encoder = with_source(Int(1, 8, log=True), Int(0, 16))
    X = encoder.encode([{"x": value} for value in (0, 1, 16)], 1)
    span = math.log(16.5 / 0.5)
    np.testing.assert_allclose(X[:, 0], [0, math.log(2) / span, math.log(32) / span], atol=1e-12)


@pytest.mark.parametrize(
    "encoder",
    [
        alone(Int(0, 4)),
        alone(Int(-7, 9)),
        with_source(Int(3, 6), Int(-2, 30)),
        with_source(Int(3, 6), Float(-2.25, 30.75)),
        with_source(Int(3, 6), Float(3, 6)),
    ],
)
def test_a_uniform_position_decodes_to_each_integer_equally_often(encoder: Encoder) -> None:
    parameter = encoder.joint.target.space["x"]
    assert isinstance(parameter, Int)
    low, high = encoder.bounds()[:, 0]
    count = parameter.high - parameter.low + 1
    uniform = low + (high - low) * (np.arange(100 * count) + 0.5) / (100 * count)
    decoded = Counter(params["x"] for params in encoder.decode(uniform[:, np.newaxis]))
    assert decoded == dict.fromkeys(range(parameter.low, parameter.high + 1), 100)


@pytest.mark.parametrize("log", [False, True])
def test_integers_come_back_exactly_up_to_large_ones(log: bool) -> None:
    encoder = alone(Int(1, 2**40, log=log))
    values = [{"x": value} for value in (1, 2, 3, 10**6 + 1, 2**39 + 1, 2**40 - 1, 2**40)]
    assert encoder.decode(encoder.encode(values)) == values


def test_integers_at_the_edge_of_floats_are_the_nearest_ones() -> None:
    encoder = alone(Int(1, 2**52))
    values = [{"x": value} for value in (1, 2, 2**51 + 1, 2**52 - 1, 2**52)]
    assert encoder.decode(encoder.encode(values)) == values
    for low in (-(2**53), 0, 2**53 - 3):
        encoder = alone(Int(low, 2**53))
        numbers = [low, low + 1, 2**53 - 1, 2**53]
        back = encoder.decode(encoder.encode([{"x": number} for number in numbers]))
        for number, decoded in zip(numbers, [found["x"] for found in back], strict=True):
            assert isinstance(decoded, int)
            assert abs(decoded - number) <= 1
            assert low <= decoded <= 2**53


def test_a_number_just_below_a_half_is_rounded_down() -> None:
    encoder = alone(Int(0, 2**40))
    edge = encoder.position("x", 0) + 0.5 / (2**40 + 1)
    assert encoder.decode(np.nextafter(edge, 0)[np.newaxis])[0]["x"] == 0


@given(mergeable())
def test_what_was_tried_comes_back(family: Family) -> None:
    joint = family.joint
    encoder = Encoder(joint)
    for number, source in enumerate(family.sources, start=1):
        tried = [trial.params for trial in source.trials]
        for before, after in zip(
            tried, encoder.decode(encoder.encode(tried, number), number), strict=True
        ):
            assert list(after) == list(source.space)
            for name, value in before.items():
                assert_back(value, after[name], source.space[name], joint.space[name])


def test_a_whole_number_that_rounding_moves_a_hair_down_comes_back() -> None:
    wide = Experiment("wide", Space(x=Float(0.0, 102.5)), goal="minimize")
    encoder = Encoder(JointSpace.merge(Space(x=Int(0, 1)), [wide]))
    params = [{"x": 0}, {"x": 1}]
    assert encoder.values_at("x", encoder.encode(params)[0])[0] < 0  # by 6e-17
    assert encoder.decode(encoder.encode(params)) == params


@given(st.data())
def test_what_the_target_suggests_comes_back(data: st.DataObject) -> None:
    family = data.draw(mergeable())
    encoder = Encoder(family.joint)
    before = data.draw(params(family.target))
    [after] = encoder.decode(encoder.encode([before]))
    for name, value in before.items():
        assert_back(value, after[name], family.target[name], family.joint.space[name])


def assert_back(value: Value, back: Value, own: Parameter, joint: Parameter) -> None:
    if not isinstance(own, Numeric) or not isinstance(joint, Numeric):
        assert repr(back) == repr(value)
        return
    assert isinstance(value, int | float)
    assert isinstance(back, int | float)
    if joint.log and value <= 0:
        assert own.low <= back <= own.high
    elif isinstance(own, Int):
        assert back == value
        assert type(back) is int
    else:
        scale = value if joint.log else joint.high - joint.low
        assert abs(back - value) <= 1e-12 * scale
        assert own.low <= back <= own.high


@given(mergeable())
def test_points_lie_in_the_cube_and_are_nan_exactly_where_missing(family: Family) -> None:
    encoder = Encoder(family.joint)
    for number, source in enumerate(family.sources, start=1):
        X = encoder.encode([trial.params for trial in source.trials], number)
        assert X.shape == (len(source.trials), len(encoder.columns))
        for x in X:
            np.testing.assert_array_equal(np.isnan(x), encoder.missing[number])
            known = x[~encoder.missing[number]]
            assert ((known >= 0) & (known <= 1)).all()


@given(mergeable())
def test_a_column_is_missing_unless_it_is_tuned_or_fixed(family: Family) -> None:
    encoder = Encoder(family.joint)
    assert encoder.missing.shape == (1 + len(family.sources), len(encoder.columns))
    for row, member in zip(encoder.missing, family.joint.members, strict=True):
        for name in family.joint.space:
            known = name in member.space or name in member.fixed
            assert (row[encoder.columns.of(name)] == (not known)).all()


@given(st.data())
def test_a_fixed_value_stands_where_it_would_if_it_had_been_tried(data: st.DataObject) -> None:
    joint = data.draw(mergeable()).joint
    encoder = Encoder(joint)
    for number, member in enumerate(joint.members):
        [x] = encoder.encode([data.draw(params(member.space))], number)
        for name, value in member.fixed.items():
            at = encoder.columns.of(name)
            for other, tuning in enumerate(joint.members):
                if name in tuning.space and allows(tuning.space[name], value):
                    tried = {**data.draw(params(tuning.space)), name: value}
                    [expected] = encoder.encode([tried], other)
                    np.testing.assert_array_equal(x[at], expected[at])


def allows(parameter: Parameter, value: Value) -> bool:
    try:
        parameter.check(value)
    except SpaceError:
        return False
    return True


@given(mergeable())
def test_the_columns_of_a_category_sum_to_one(family: Family) -> None:
    encoder = Encoder(family.joint)
    for number, source in enumerate(family.sources, start=1):
        X = encoder.encode([trial.params for trial in source.trials], number)
        for name, parameter in source.space.items():
            if isinstance(parameter, Categorical):
                block = X[:, encoder.columns.of(name)]
                np.testing.assert_array_equal(block.sum(axis=1), np.ones(len(X)))
                assert set(block.ravel().tolist()) <= {0.0, 1.0}


@given(mergeable(), st.integers(0, 2**32))
def test_any_point_decodes_to_values_of_the_experiment(family: Family, seed: int) -> None:
    encoder = Encoder(family.joint)
    inside = points(encoder, seed)
    for X in (inside, np.round(inside), np.zeros_like(inside), np.ones_like(inside)):
        for number, member in enumerate(family.joint.members):
            for decoded in encoder.decode(X, number):
                assert repr(member.space.check(decoded)) == repr(decoded)


@given(mergeable(), st.integers(0, 2**32))
def test_snap_moves_to_the_nearest_allowed_point(family: Family, seed: int) -> None:
    encoder = Encoder(family.joint)
    X = points(encoder, seed)
    before = X.copy()
    for number, member in enumerate(family.joint.members):
        snapped = encoder.snap(X, number)
        tuned = encoder.columns.of(*member.space)
        others = [index for index in range(len(encoder.columns)) if index not in tuned]
        expected = encoder.encode(encoder.decode(X, number), number)
        np.testing.assert_allclose(snapped[:, tuned], expected[:, tuned], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(snapped[:, others], X[:, others])
        np.testing.assert_allclose(encoder.snap(snapped, number), snapped, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(X, before)


@given(st.data())
def test_bounds_hold_all_values_of_an_experiment(data: st.DataObject) -> None:
    joint = data.draw(mergeable()).joint
    encoder = Encoder(joint)
    for number, member in enumerate(joint.members):
        low, high = encoder.bounds(number)
        X = encoder.encode([data.draw(params(member.space))], number)
        tuned = encoder.columns.of(*member.space)
        assert (X[:, tuned] >= low[tuned] - 1e-12).all()
        assert (X[:, tuned] <= high[tuned] + 1e-12).all()


def test_bounds_leave_out_what_the_experiment_does_not_allow() -> None:
    np.testing.assert_allclose(
        ENCODER.bounds(), [[0, 0.1, 0, 0, 0, 0], [1, 0.6, 1, 1, 0, 1]], atol=1e-12
    )
    np.testing.assert_allclose(
        ENCODER.bounds(1), [[0, 0, 0, 0, 0, 0], [1, 1, 0, 1, 1, 1]], atol=1e-12
    )


def test_the_target_gets_its_own_choices_even_where_others_are_stronger() -> None:
    X = np.full((1, len(ENCODER.columns)), 0.5)
    X[:, ENCODER.columns.of("booster")] = [0.1, 0.2, 0.9]
    assert ENCODER.decode(X)[0]["booster"] == "dart"
    assert ENCODER.decode(X, 1)[0]["booster"] == "linear"


def test_a_single_value_stands_where_a_trial_would() -> None:
    np.testing.assert_allclose(ENCODER.position("lr", 0.1), [2 / 3])
    np.testing.assert_allclose(ENCODER.position("depth", 10), [0.95])
    np.testing.assert_array_equal(ENCODER.position("booster", "linear"), [0, 0, 1])
    with refused(SpaceError, "11", "above high=10"):
        ENCODER.position("depth", 11)


def test_positions_have_numbers() -> None:
    np.testing.assert_allclose(
        ENCODER.values_at("depth", np.array([0.0, 0.5, 1.0])), [0.5, 5.5, 10.5]
    )
    np.testing.assert_allclose(ENCODER.values_at("lr", np.array([0.0, 2 / 3])), [1e-3, 0.1])
    with refused(SpaceError, "'booster'", "not a number"):
        ENCODER.values_at("booster", np.array([0.0]))


def test_cells_of_an_integer_meet_at_their_edges() -> None:
    cells = ENCODER.cells("depth", TARGET["depth"])
    assert cells is not None
    edges, middles = cells
    np.testing.assert_allclose(edges, np.arange(1.5, 7) / 10 - 0.05)
    np.testing.assert_allclose(middles, [0.15, 0.25, 0.35, 0.45, 0.55])
    assert [ENCODER.cells(name, TARGET[name]) for name in ("lr", "booster")] == [None, None]


def test_no_trials_give_no_rows() -> None:
    for number in (0, 1):
        assert ENCODER.encode([], number).shape == (0, 6)
        assert ENCODER.decode(np.empty((0, 6)), number) == []
        assert ENCODER.snap(np.empty((0, 6)), number).shape == (0, 6)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"lr": 2.0}, ["'lr'", "2.0", "above high=1.0"]),
        ({"lr": None}, ["'lr'", "None", "not a number"]),
        ({"depth": 8}, ["'depth'", "8", "above high=6"]),
        ({"booster": "linear"}, ["'booster'", "'linear'", "'tree', 'dart'"]),
        ({"subsample": 0.5}, ["'subsample'", "unknown parameter"]),
    ],
)
def test_a_trial_that_does_not_fit_is_refused(change: dict[str, Value], parts: list[str]) -> None:
    inside: dict[str, Value] = {"lr": 0.1, "depth": 3, "booster": "dart"}
    with refused(SpaceError, "target, trial 2", *parts):
        ENCODER.encode([inside, {**inside, **change}])


def test_a_trial_without_a_parameter_is_refused() -> None:
    with refused(SpaceError, "target, trial 1", "'depth'", "no value"):
        ENCODER.encode([{"lr": 0.1, "booster": "dart"}])


@pytest.mark.parametrize("name", TARGET)
def test_a_position_that_is_nan_has_no_value(name: str) -> None:
    X = np.full((1, len(ENCODER.columns)), 0.5)
    X[:, ENCODER.columns.of(name)] = np.nan
    for use in (ENCODER.decode, ENCODER.snap):
        with refused(SpaceError, repr(name), "NaN"):
            use(X)


def test_columns_that_an_experiment_does_not_tune_may_be_nan() -> None:
    X = ENCODER.encode([{"lr": 0.1, "depth": 3, "booster": "dart"}])
    assert ENCODER.decode(X)[0]["depth"] == 3
    np.testing.assert_array_equal(np.isnan(ENCODER.snap(X)), np.isnan(X))
