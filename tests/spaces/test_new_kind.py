"""A kind of parameter from outside: ordered choices, which all of hetbo takes as it is."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers import pickled, refused
from hetbo import (
    Categorical,
    Encoder,
    Experiment,
    Float,
    Int,
    JointSpace,
    MergeError,
    Optimizer,
    Space,
    SpaceError,
    Trial,
    report,
)
from hetbo.encoding import Axis, NumberAxis
from hetbo.integrations.optuna import write_study
from hetbo.models import LearnedChoice
from hetbo.spaces import Parameter, Value

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Ordinal(Parameter):
    """One of several choices in an order, such as sizes: equal cells of one column."""

    choices: tuple[Value, ...]
    kind = "ordinal"
    family = "an ordinal"

    @property
    def values(self) -> tuple[Value, ...]:
        return self.choices

    def neighbours(self, value: Value) -> Sequence[Value]:
        at = self.index(value)
        return [self.choices[i] for i in (at - 1, at + 1) if 0 <= i < len(self.choices)]

    def merge(
        self,
        others: Sequence[Parameter],
        *,
        fixed: Sequence[Value],
        tried: Iterable[Value],  # noqa: ARG002
        of_target: bool,  # noqa: ARG002
    ) -> "Ordinal":
        longest = max([self, *others], key=lambda p: len(p.values or ()))
        for value in [*fixed, *(v for p in (self, *others) for v in p.values or ())]:
            longest.check(value)
        return Ordinal(tuple(longest.values or ()))

    def axis(self, tuned: Sequence[Parameter]) -> Axis:  # noqa: ARG002
        return Steps(self)

    def to_json(self) -> dict[str, Any]:
        return {"choices": list(self.choices)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(tuple(data["choices"]))


class Steps(Axis):
    """The joint choices at 0, 1, 2 and so on, each in the middle of its cell."""

    def __init__(self, joint: Ordinal) -> None:
        self._joint = joint
        self._line = NumberAxis(-0.5, len(joint.choices) - 0.5, log=False)

    def positions(self, values: Sequence[Value]) -> FloatArray:
        return self._line.positions([self._joint.index(value) for value in values])

    def nearest(self, own: Parameter, positions: FloatArray) -> list[Value]:
        choices = own.values or ()
        distances = np.abs(positions - self.positions(choices).T)
        return [choices[i] for i in distances.argmin(axis=1)]

    def bounds(self, own: Parameter) -> FloatArray:
        edges, _ = self.cells(own)
        return edges[[0, -1], np.newaxis]

    def cells(self, own: Parameter) -> tuple[FloatArray, FloatArray]:
        at = [self._joint.index(choice) for choice in own.values or ()]
        middles = np.array(at, dtype=np.float64)
        between = (middles[1:] + middles[:-1]) / 2
        edges = [middles[0] - 0.5, *between, middles[-1] + 0.5]
        return self._line.positions(edges)[:, 0], self._line.positions(at)[:, 0]


SIZE = Ordinal(("small", "medium", "large", "huge"))
FEWER = Ordinal(("small", "large"))
SPACE = Space(size=SIZE, lr=Float(1e-3, 1.0, log=True))
ROWS = [
    {"size": " Small", "lr": "0.1", "loss": 3.0},
    {"size": "LARGE", "lr": 0.01, "loss": 1.0},
    {"size": "large", "lr": 0.5, "loss": 2.0},
    {"size": "small", "lr": 0.2, "loss": None},
]


def source(name: str, space: Space, count: int) -> Experiment:
    rng = np.random.default_rng(count)
    params = Encoder(JointSpace.merge(space)).decode(rng.random((count, len(space))))
    return Experiment(name, space, [Trial(p, loss(p)) for p in params], goal="minimize")


def loss(params: Mapping[str, Value]) -> float:
    size = SIZE.index(params.get("size", "large")) - 2
    return size**2 + float(np.log10(float(params["lr"] or 0)) + 2) ** 2


OLD = source("old", SPACE.replace(size=FEWER), 12)
WITHOUT = source("without", SPACE.drop("size"), 10)


def test_a_space_with_a_new_kind_checks_and_survives_files_and_processes() -> None:
    assert Space.from_json(json.loads(json.dumps(SPACE.to_json()))) == SPACE
    assert pickled(SPACE) == SPACE
    assert SPACE.check({"size": "huge", "lr": 1}) == {"size": "huge", "lr": 1.0}
    with refused(SpaceError, "'size'", "unknown choice 'tiny'", "'small', 'medium'"):
        SPACE.check({"size": "tiny", "lr": 0.1})


def test_a_kind_that_was_not_imported_is_refused_with_its_remedy() -> None:
    with refused(SpaceError, "'x'", "'cyclic'", "'ordinal'", "imported"):
        Space.from_json([{"name": "x", "type": "cyclic", "choices": ["a"]}])


def test_two_kinds_of_one_name_are_refused() -> None:
    with refused(SpaceError, "Other", "'ordinal'", "Ordinal"):
        type("Other", (Parameter,), {"kind": "ordinal"})


def test_a_table_is_read_with_a_new_kind() -> None:
    space = SPACE.replace(size=FEWER)
    with pytest.warns(UserWarning, match="'LARGE' as 'large'"):
        read = Experiment.from_records(ROWS, value="loss", goal="minimize", space=space)
    assert [trial.params["size"] for trial in read.trials] == ["small", "large", "large", "small"]


def test_sources_merge_and_what_changed_is_said() -> None:
    joint = JointSpace.merge(SPACE, [OLD, WITHOUT])
    assert joint.space["size"] == SIZE
    text = joint.describe(width=200)
    assert "'small' | 'large'" in text
    assert "new: 'medium', 'huge', on which the source says nothing" in text
    for other in (Categorical("small"), Int(0, 1)):
        with refused(MergeError, "'size'", "an ordinal in target", f"{other.family} in old"):
            JointSpace.merge(SPACE, [source("old", Space(size=other, lr=Float(0, 1)), 0)])


def test_cells_are_equal_and_a_source_with_fewer_choices_has_them_alone() -> None:
    encoder = Encoder(JointSpace.merge(SPACE.replace(size=FEWER), [source("all", SPACE, 6)]))
    assert encoder.columns.labels == ("size", "lr")
    X = encoder.encode([{"size": size, "lr": 1.0} for size in SIZE.choices], 1)
    np.testing.assert_allclose(X[:, 0], [0.125, 0.375, 0.625, 0.875])
    assert [params["size"] for params in encoder.decode(X)] == ["small", "small", "large", "large"]
    np.testing.assert_allclose(encoder.bounds()[:, 0], [0.0, 0.75])


@pytest.mark.parametrize("method", ["auto", "learned-imputation"])
def test_an_optimizer_with_sources_of_a_new_kind(method: str, tmp_path: Path) -> None:
    space = SPACE.replace(depth=Int(1, 3))
    optimizer = Optimizer(
        space, sources=[OLD, WITHOUT], goal="minimize", method=method, seed=1, n_initial=2
    )
    for _ in range(6):
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, loss(suggestion.params))
    optimizer.save(tmp_path / "state.json")
    again = Optimizer.load(tmp_path / "state.json")
    assert again.space == space
    assert again.ask() == optimizer.ask()
    assert optimizer.best is not None
    assert optimizer.best.params["size"] == "large"
    learned = {(v.experiment, v.parameter): v for v in optimizer.explain().learned}
    found = learned["without", "size"]
    assert isinstance(found, LearnedChoice)
    assert [choice for choice, _ in found.probabilities] == list(SIZE.choices)
    assert sum(chance for _, chance in found.probabilities) == pytest.approx(1.0)
    page = report.report_html(optimizer)
    assert r"small \u00b7 medium" in page
    assert ">large</td>" in page


def test_a_space_of_steps_alone_is_searched_whole() -> None:
    optimizer = Optimizer(Space(size=SIZE), goal="minimize", seed=1, n_initial=2)
    for _ in SIZE.choices:
        suggestion = optimizer.ask()
        optimizer.tell(suggestion, SIZE.index(suggestion.params["size"]))
    assert {trial.params["size"] for trial in optimizer.trials} == set(SIZE.choices)


def test_optuna_has_no_distribution_for_a_new_kind() -> None:
    with refused(SpaceError, "Ordinal", "no distribution in Optuna", "use Float, Int or"):
        write_study(OLD, None, "old")


def test_texts_that_a_kind_cannot_spell_anew_stay_as_they_are() -> None:
    capitals = Experiment(
        "old",
        Space(size=Ordinal(("Small", "Large"))),
        [Trial({"size": "Small"}, 1.0)],
        goal="minimize",
    )
    with refused(MergeError, "'size'", "'Small'"):
        JointSpace.merge(Space(size=FEWER), [capitals])
    known = Experiment("known", Space(lr=Float(0, 1)), goal="minimize", fixed={"size": "Small"})
    with pytest.warns(UserWarning, match="'Small' of 'size' in 'known'"):
        joint = JointSpace.merge(Space(size=FEWER), [known])
    assert joint.sources[0].fixed == {"size": "small"}


@dataclass(frozen=True)
class Tenths(Ordinal):
    """Tenths, which are made anew whenever they are asked for."""

    kind = "tenths"

    @property
    def values(self) -> tuple[Value, ...]:
        return tuple(tenth / 10 for tenth in range(1, 4))

    def neighbours(self, value: Value) -> Sequence[Value]:
        return Parameter.neighbours(self, value)


def test_no_value_is_its_own_neighbour() -> None:
    assert Tenths(()).neighbours(0.2) == [0.1, 0.3]
