"""Digests in a joint cube: the same functions, averaged or localised where they must be."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from hetbo import Categorical, Experiment, Float, Int, Space, Trial
from hetbo.archive._digest import Digest
from hetbo.archive._library import Library, place_and_rows
from hetbo.encoding import Dataset
from hetbo.joint import JointSpace
from hetbo.spaces import Value

OWN = Space(
    lr=Float(1e-4, 1e-1, log=True),
    depth=Int(1, 6),
    kind=Categorical("a", "b", "c"),
    width=Float(0, 4),
)


def experiment(
    space: Space = OWN, seed: int = 0, fixed: dict[str, Value] | None = None, name: str = "old"
) -> Experiment:
    rng = np.random.default_rng(seed)
    trials = []
    for _ in range(25):
        params: dict[str, Value] = {}
        for key, parameter in space.items():
            if isinstance(parameter, Categorical):
                params[key] = parameter.choices[int(rng.integers(len(parameter.choices)))]
            elif isinstance(parameter, Int):
                params[key] = int(rng.integers(parameter.low, parameter.high + 1))
            elif isinstance(parameter, Float):
                params[key] = float(rng.uniform(parameter.low, parameter.high))
        value = float(params.get("width", 1.0)) + 2.0 * (params.get("kind") == "b")  # type: ignore[arg-type]
        trials.append(Trial(params, value + 0.3 * float(params.get("depth", 2))))  # type: ignore[arg-type]
    return Experiment(name, space, trials, goal="maximize", fixed=fixed)


def library_of(
    target: Space, *sources: Experiment, fixed: dict[str, Value] | None = None
) -> tuple[Library, Dataset, list[Digest]]:
    joint = JointSpace.merge(target, sources, fixed=fixed)
    data = Dataset.build(joint, goal="maximize")
    placed = [place_and_rows(data, m) for m in range(1, len(sources) + 1)]
    digests = [Digest.of(rows) for _, rows in placed]
    missing = data.missing[0]
    return Library.of(digests, [place for place, _ in placed], missing=missing), data, digests


def predicted(library: Library, X: np.ndarray) -> np.ndarray:
    return library.functions(library.covariances(X))


def test_functions_are_those_of_the_digests() -> None:
    target = Space(
        lr=Float(1e-5, 1.0, log=True),
        depth=Int(1, 12),
        kind=Categorical("d", "c", "b", "a"),
        width=Float(-1, 9),
        other=Float(0, 1),
    )
    library, data, (digest,) = library_of(target, experiment())
    trials = experiment().trials[:6]
    other = [{**trial.params, "other": 0.3} for trial in trials]
    X = data.encoder.encode(other)
    own = Dataset.build(JointSpace.merge(OWN, [experiment()]), goal="maximize")
    _, rows = place_and_rows(own, 1)
    assert_allclose(predicted(library, X)[:, 0], digest(rows.X[:6]), atol=1e-8)
    # Where a parameter that it does not know lies makes no difference.
    X[:, data.encoder.columns.of("other")] = 0.9
    assert_allclose(predicted(library, X)[:, 0], digest(rows.X[:6]), atol=1e-8)


def test_a_digest_does_not_depend_on_the_target() -> None:
    targets = [
        Space(lr=Float(1e-5, 1.0, log=True), depth=Int(2, 9)),
        Space(width=Float(-30, 7), kind=Categorical("z", "b", "a"), lr=Float(2e-4, 0.5, log=True)),
        OWN,
    ]
    keys = set()
    for target in targets:
        data = Dataset.build(JointSpace.merge(target, [experiment()]), goal="minimize")
        keys.add(place_and_rows(data, 1)[1].key)
    assert len(keys) == 1


@pytest.mark.parametrize("name", ["width", "kind"])
def test_what_the_target_does_not_have_is_averaged_over(name: str) -> None:
    target = OWN.drop(name)
    library, data, (digest,) = library_of(target, experiment())
    params = [{k: v for k, v in t.params.items() if k != name} for t in experiment().trials[:4]]
    X = np.nan_to_num(data.encoder.encode(params))
    place, _ = place_and_rows(data, 1)
    own = data.encoder.encode([t.params for t in experiment().trials[:4]], 1)
    own = (own[:, place.columns] - place.low) / place.width
    columns = [
        i for i, c in enumerate(place.columns) if data.encoder.columns[int(c)].parameter == name
    ]
    values = np.eye(3) if name == "kind" else (np.arange(20000)[:, np.newaxis] + 0.5) / 20000
    for i in range(4):
        many = np.repeat(own[i : i + 1], len(values), axis=0)
        many[:, columns] = values
        assert_allclose(predicted(library, X)[i, 0], digest(many).mean(), rtol=1e-6, atol=1e-7)


def test_a_value_that_the_target_holds_is_used() -> None:
    library, data, (digest,) = library_of(OWN.drop("width"), experiment(), fixed={"width": 3.0})
    params = [{k: v for k, v in t.params.items() if k != "width"} for t in experiment().trials[:4]]
    X = data.encoder.encode(params)
    place, _ = place_and_rows(data, 1)
    own = data.encoder.encode([{**p, "width": 3.0} for p in params], 1)
    own = (own[:, place.columns] - place.low) / place.width
    assert_allclose(predicted(library, X)[:, 0], digest(own), atol=1e-8)


def test_a_source_says_nothing_far_from_where_it_held_a_parameter() -> None:
    held = experiment(OWN.drop("width"), fixed={"width": 1.0}, name="held")
    library, data, (_, digest) = library_of(OWN, experiment(name="a"), held)
    params = [{**t.params, "width": 1.0} for t in held.trials[:5]]
    at, far = data.encoder.encode(params), data.encoder.encode(params)
    width = data.encoder.columns.of("width")
    far[:, width] = 40.0
    _, rows = place_and_rows(data, 2)
    assert_allclose(predicted(library, at)[:, 1], digest(rows.X[:5]), atol=1e-8)
    assert_allclose(predicted(library, far)[:, 1], digest.mean, atol=1e-8)


def test_slopes_and_some_of_the_sources() -> None:
    library, data, _ = library_of(OWN, *(experiment(seed=s, name=f"old {s}") for s in range(3)))
    X = np.random.default_rng(0).random((4, len(data.encoder.columns)))
    K = library.covariances(X)
    weights = np.random.default_rng(1).normal(size=K.shape[1])
    slopes = library.slopes(X, K * weights)
    for c, h in enumerate(1e-6 * np.eye(X.shape[1])):
        numeric = (library.covariances(X + h) - library.covariances(X - h)) @ weights / 2e-6
        assert_allclose(slopes[:, c], numeric, rtol=1e-5, atol=1e-6)
    some = library.only(np.array([0, 2]))
    assert_allclose(predicted(some, X), predicted(library, X)[:, [0, 2]])
    assert len(some) == 2


def test_averages_over_columns_that_are_not_known() -> None:
    library, data, _ = library_of(OWN, experiment())
    rng = np.random.default_rng(0)
    X, cover = (
        rng.random((3, len(data.encoder.columns))),
        rng.random((50, len(data.encoder.columns))),
    )
    column = data.encoder.columns.of("width")[0]
    X[1, column] = np.nan
    found = library.averaged(0, X, cover)
    assert_allclose(found[[0, 2]], predicted(library, X[[0, 2]])[:, 0])
    filled = np.repeat(X[1:2], 50, axis=0)
    filled[:, column] = cover[:, column]
    assert_allclose(found[1], predicted(library, filled)[:, 0].mean())
