"""The search against grids, against BoTorch's, and in spaces of every kind."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pytest
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.optim import optimize_acqf
from hypothesis import given
from hypothesis import strategies as st

from hetbo import Categorical, Experiment, Float, Int, JointSpace, Space, Trial
from hetbo.acquisition import MemberAcquisition, PooledLogEI, maximize
from hetbo.acquisition._candidates import every_point, is_among, neighbours, spread
from hetbo.encoding import Dataset, Encoder
from hetbo.models import FittedGP, ImputedGP, TargetGP, TransferGP, fit
from model_datasets import dataset, drawn_trials

Array = npt.NDArray[np.float64]

MIXED = Space(
    rate=Float(1e-4, 1e-1, log=True),
    depth=Int(1, 12),
    kind=Categorical("a", "b", "c"),
    share=Float(-1.0, 1.0),
    only=Categorical("one"),
    width=Int(4, 4000, log=True),
)


def wavy(p: Mapping[str, float]) -> float:
    """A function with several peaks."""
    return float(sum(np.sin(6 * x + i) * (1 + 0.3 * i) for i, x in enumerate(p.values())))


def cube(dimensions: int, trials: int) -> Dataset:
    names = tuple(f"x{i}" for i in range(dimensions))
    families = {"target": names, "source": names[: max(dimensions // 2, 1)]}
    return dataset(families, wavy, {"target": trials, "source": trials}, seed=dimensions)


def log_ei(model: TransferGP) -> PooledLogEI:
    """How much a model expects to improve on the target's best value."""
    own = model.data.experiment == 0
    return PooledLogEI([MemberAcquisition(FittedGP(model), float(model.data.y[own].max()), 1.0)])


def fitted(data: Dataset) -> tuple[PooledLogEI, Encoder, Array]:
    acquisition = log_ei(fit(ImputedGP(data, residual=True), starts=2))
    return acquisition, data.encoder, np.nan_to_num(data.X[data.experiment == 0])


def mixed(space: Space = MIXED, trials: int = 8, seed: int = 0) -> tuple[PooledLogEI, Encoder]:
    """The expected improvement on a few random trials of a space."""
    tried = drawn_trials(space, trials, np.random.default_rng(seed))
    data = Dataset.build(JointSpace.merge(space), tried, goal="minimize")
    return log_ei(TargetGP(data)), data.encoder


def found(
    acquisition: PooledLogEI,
    encoder: Encoder,
    *,
    known: Array | None = None,
    pool: Array | None = None,
    seed: int = 0,
) -> tuple[Array, float]:
    nothing = np.empty((0, len(encoder.columns)))
    return maximize(
        acquisition,
        encoder,
        rng=np.random.default_rng(seed),
        known=nothing if known is None else known,
        anchors=nothing if known is None else known,
        pool=pool,
    )


@pytest.mark.parametrize("dimensions", [1, 2])
def test_nothing_on_a_dense_grid_is_higher(dimensions: int) -> None:
    acquisition, encoder, known = fitted(cube(dimensions, 7))
    axis = np.linspace(0, 1, 2001 if dimensions == 1 else 151)
    grid = np.stack(np.meshgrid(*[axis] * dimensions), axis=-1).reshape(-1, dimensions)
    _, value = found(acquisition, encoder, known=known)
    assert value >= acquisition(grid)[0].max() - 1e-6


@pytest.mark.parametrize("dimensions", [6, 11])
def test_botorchs_search_finds_nothing_higher(dimensions: int) -> None:
    data = cube(dimensions, 20)
    model = fit(ImputedGP(data), starts=1)
    best = float(data.y[data.experiment == 0].max())
    x, value = found(log_ei(model), data.encoder, known=np.nan_to_num(data.X[data.experiment == 0]))
    acquisition = LogExpectedImprovement(model, best_f=best)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        _, theirs = optimize_acqf(
            acquisition,
            torch.from_numpy(data.encoder.bounds()),
            q=1,
            num_restarts=4,
            raw_samples=128,
        )
        ours = acquisition(torch.from_numpy(x).unsqueeze(0))
    assert float(ours.detach()) == pytest.approx(value, abs=1e-6)
    assert value >= float(theirs) - 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_mixed_spaces_give_points_that_can_be_tried(seed: int) -> None:
    acquisition, encoder = mixed(seed=seed)
    x, value = found(acquisition, encoder, seed=seed)
    (params,) = encoder.decode(x[np.newaxis])
    assert MIXED.check(params) == params
    np.testing.assert_allclose(encoder.snap(x[np.newaxis])[0], x, atol=1e-12)
    assert value == pytest.approx(float(acquisition(x[np.newaxis])[0][0]))
    assert acquisition(neighbours(encoder, x))[0].max() <= value + 1e-9


def test_floats_are_at_a_top_in_mixed_spaces() -> None:
    acquisition, encoder = mixed()
    x, value = found(acquisition, encoder)
    for column in encoder.columns.of("rate", "share"):
        for step in (-1e-3, 1e-3):
            moved = x.copy()
            moved[column] = np.clip(x[column] + step, 0.0, 1.0)
            assert acquisition(moved[np.newaxis])[0][0] <= value + 1e-6


def test_many_random_points_are_no_better_in_mixed_spaces() -> None:
    acquisition, encoder = mixed(seed=3)
    _, value = found(acquisition, encoder)
    assert value >= acquisition(spread(encoder, 4096, np.random.default_rng(9)))[0].max()


class Hill:
    """An acquisition that is highest at one known point, and falls away from it."""

    def __init__(self, top: Array) -> None:
        self.top = top

    def __call__(self, X: Array) -> tuple[Array, Array]:
        return self.values(X), -2 * (X - self.top)

    def values(self, X: Array) -> Array:
        heights: Array = -((X - self.top) ** 2).sum(axis=1)
        return heights


@pytest.mark.parametrize(
    "space",
    [Space(a=Int(0, 300), b=Int(0, 300)), Space(a=Float(0, 1), b=Int(0, 50)), Space(a=Int(0, 9))],
)
def test_known_points_are_left_out(space: Space) -> None:
    encoder = Encoder(JointSpace.merge(space))
    middle = {n: (p.low + p.high) // 2 for n, p in space.items() if isinstance(p, Float | Int)}
    top = encoder.encode([middle])
    x, value = maximize(Hill(top[0]), encoder, rng=np.random.default_rng(0), known=top, anchors=top)
    columns = encoder.columns.of(*space)
    assert not is_among(x[np.newaxis], top, columns)[0]
    around = neighbours(encoder, top[0])
    assert value >= Hill(top[0])(around)[0].max() - 1e-12


def test_finite_spaces_are_searched_whole() -> None:
    space = Space(depth=Int(1, 12), kind=Categorical("a", "b", "c"), flag=Categorical(True, False))  # noqa: FBT003
    acquisition, encoder = mixed(space)
    every = every_point(encoder)
    assert every is not None
    assert len(every) == 72
    assert len(np.unique(every, axis=0)) == 72
    _, value = found(acquisition, encoder)
    assert value == acquisition(every)[0].max()


def test_a_known_point_only_if_nothing_else_is_left() -> None:
    space = Space(depth=Int(1, 4), kind=Categorical("a", "b"))
    acquisition, encoder = mixed(space, trials=3)
    every = every_point(encoder)
    assert every is not None
    for last in range(len(every)):
        known = np.delete(every, last, axis=0)
        x, _ = found(acquisition, encoder, known=known)
        np.testing.assert_array_equal(x, every[last])
    x, value = found(acquisition, encoder, known=every)
    assert value == acquisition(every)[0].max()
    assert is_among(x[np.newaxis], every, [0, 1, 2])[0]


def test_spaces_with_many_points_are_not_counted_out() -> None:
    def whole(space: Space) -> Array | None:
        return every_point(Encoder(JointSpace.merge(space)))

    assert whole(Space(a=Int(0, 10**12))) is None
    assert whole(Space(a=Int(1, 100), b=Int(1, 100))) is None
    assert whole(Space(a=Float(0, 1))) is None
    points = whole(Space(a=Int(1, 4096)))
    assert points is not None
    assert len(points) == 4096


def test_only_the_pool_is_chosen_from() -> None:
    acquisition, encoder = mixed()
    pool = spread(encoder, 30, np.random.default_rng(4))
    known: list[Array] = []
    values: list[float] = []
    for _ in range(len(pool)):
        x, value = found(
            acquisition,
            encoder,
            pool=pool,
            known=np.array(known).reshape(-1, len(encoder.columns)),
        )
        known.append(x)
        values.append(value)
    np.testing.assert_allclose(values, np.sort(acquisition(pool)[0])[::-1])
    assert len(np.unique(known, axis=0)) == len(pool)


def test_the_same_generator_finds_the_same_point() -> None:
    acquisition, encoder = mixed()
    first, again = found(acquisition, encoder, seed=3), found(acquisition, encoder, seed=3)
    np.testing.assert_array_equal(first[0], again[0])
    assert first[1] == again[1]


def test_values_that_the_target_fixes_stay_fixed() -> None:
    """The best `a` depends on `b`, which only the source tunes and the target holds at 0.8."""
    rng = np.random.default_rng(0)
    tried = [Trial({"a": a, "b": b}, -((a - b) ** 2)) for a, b in rng.random((30, 2))]
    old = Experiment("old", Space(a=Float(0, 1), b=Float(0, 1)), tried, goal="maximize")
    joint = JointSpace.merge(Space(a=Float(0, 1)), [old], fixed={"b": 0.8})
    data = Dataset.build(joint, [], goal="maximize")
    predictor = FittedGP(fit(ImputedGP(data), starts=2))
    X = spread(data.encoder, 64, rng)
    (a,), (b,) = data.encoder.columns.of("a"), data.encoder.columns.of("b")
    assert (X[:, b] == 0.8).all()
    assert X[predictor(X).mean.argmax(), a] == pytest.approx(0.8, abs=0.1)
    x, _ = found(PooledLogEI([MemberAcquisition(predictor, 0.5, 1.0)]), data.encoder)
    assert x[b] == 0.8


@given(st.integers(0, 2**32 - 1))
def test_known_points_are_told_by_every_coordinate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known = rng.integers(0, 3, (rng.integers(0, 6), 5)) / 2
    X = rng.integers(0, 3, (40, 5)) / 2 + rng.choice([0.0, 1e-12, 1e-6], (40, 5))
    columns = sorted(rng.choice(5, 3, replace=False).tolist())
    expected = [
        any(all(abs(x[c] - k[c]) < 1e-9 for c in columns) for k in known.tolist())
        for x in X.tolist()
    ]
    assert is_among(X, known, columns).tolist() == expected


def test_neighbours_differ_in_one_category_or_integer() -> None:
    encoder = Encoder(JointSpace.merge(MIXED))
    (x,) = spread(encoder, 1, np.random.default_rng(0))
    (own,) = encoder.decode(x[np.newaxis])
    around = encoder.decode(neighbours(encoder, x))
    changed = [[name for name in MIXED if near[name] != own[name]] for near in around]
    assert all(len(names) == 1 for names in changed)
    assert sum(names == ["kind"] for names in changed) == 2
    assert {names[0] for names in changed} == {"depth", "kind", "width"}
