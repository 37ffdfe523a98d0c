"""Between named trials and points of the unit cube."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hetbo.encoding.columns import Columns
from hetbo.errors import SpaceError
from hetbo.joint import JointSpace, Member
from hetbo.spaces import Categorical, Float, Int, Numeric, Value

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where the numbers of one joint parameter lie between 0 and 1.

    An integer stands in the middle of a cell of its own, and all cells are equally wide (on the
    axis's scale), so that rounding a uniform position favours none of them.
    """

    low: float
    high: float
    log: bool

    @classmethod
    def of(cls, joint: Numeric, tuned: Sequence[Numeric]) -> "_Axis":
        whole = [p for p in (joint, *tuned) if isinstance(p, Int)]
        low = min([joint.low, *(p.low - 0.5 for p in whole if not joint.log or p.low > 0)])
        return cls(low, max([joint.high, *(p.high + 0.5 for p in whole)]), joint.log)

    def position(self, value: FloatArray) -> FloatArray:
        inside = np.clip(value, self.low, self.high)
        if self.log:
            unit = np.log(inside / self.low) / math.log(self.high / self.low)
        else:
            unit = (inside - self.low) / (self.high - self.low)
        return np.clip(unit, 0.0, 1.0)

    def value(self, unit: FloatArray) -> FloatArray:
        if self.log:
            return np.asarray(self.low * np.exp(unit * math.log(self.high / self.low)))
        return self.low + unit * (self.high - self.low)


class Encoder:
    """Between named trials and points of the unit cube of a joint space.

    Numbers are placed on their joint parameter's scale, integers in the middle of equal cells,
    categories as one column per choice. Integers and choices come back exactly as they were,
    floats within rounding.

    Args:
        joint: The joint space.

    Attributes:
        joint: The joint space.
        columns: The cube's `d` columns, addressed by name.
        missing: Shape `m × d`: which columns an experiment neither tunes nor fixes.
    """

    def __init__(self, joint: JointSpace) -> None:
        self.joint = joint
        self.columns = Columns(joint.space)
        self._axes = {
            name: _Axis.of(
                parameter, [_numeric(m.space[name]) for m in joint.members if name in m.space]
            )
            for name, parameter in joint.space.items()
            if not isinstance(parameter, Categorical)
        }
        self.missing: BoolArray = np.array(
            [
                [
                    column.parameter not in member.space and column.parameter not in member.fixed
                    for column in self.columns
                ]
                for member in joint.members
            ]
        )

    def encode(self, params: Sequence[Mapping[str, Value]], experiment: int = 0) -> FloatArray:
        """Return points for what one experiment tried.

        Args:
            params: The parameters of `n` trials of that experiment.
            experiment: The experiment's position in the joint space; 0 is the target.

        Returns:
            Shape `n × d`; fixed values are filled in, missing columns are NaN.

        Raises:
            SpaceError: A trial does not fit the experiment's space.
        """
        member = self.joint.members[experiment]
        trials = [_checked(member, number, p) for number, p in enumerate(params, start=1)]
        X = np.full((len(params), len(self.columns)), np.nan)
        for name in self.joint.space:
            if name in member.space:
                X[:, self.columns.of(name)] = self._positions(name, [t[name] for t in trials])
            elif name in member.fixed:
                X[:, self.columns.of(name)] = self._positions(name, [member.fixed[name]])
        return X

    def decode(self, X: FloatArray, experiment: int = 0) -> list[dict[str, Value]]:
        """Return the nearest parameters that one experiment allows.

        Args:
            X: Shape `n × d`. Columns of parameters that the experiment does not tune are ignored.
            experiment: The experiment's position in the joint space; 0 is the target.

        Raises:
            SpaceError: A column that the experiment tunes is NaN.
        """
        space = self.joint.members[experiment].space
        decoded = [self._values(name, X[:, self.columns.of(name)], experiment) for name in space]
        return [dict(zip(space, values, strict=True)) for values in zip(*decoded, strict=True)]

    def snap(self, X: FloatArray, experiment: int = 0) -> FloatArray:
        """Return the points of the nearest parameters that one experiment allows.

        Args:
            X: Shape `n × d`. Columns of parameters that the experiment does not tune stay.
            experiment: The experiment's position in the joint space; 0 is the target.

        Raises:
            SpaceError: A column that the experiment tunes is NaN.
        """
        snapped = X.copy()
        for name in self.joint.members[experiment].space:
            columns = self.columns.of(name)
            values = self._values(name, X[:, columns], experiment)
            snapped[:, columns] = self._positions(name, values)
        return snapped

    def bounds(self, experiment: int = 0) -> FloatArray:
        """Return the part of the cube that one experiment tunes.

        Args:
            experiment: The experiment's position in the joint space; 0 is the target.

        Returns:
            Shape `2 × d`: the lowest and highest position in each column. An integer's whole cell
            belongs to it. A choice that the experiment does not have is 0 in both; a column that
            the experiment does not tune spans the cube.
        """
        bounds = np.tile([[0.0], [1.0]], len(self.columns))
        for name, parameter in self.joint.members[experiment].space.items():
            columns = self.columns.of(name)
            if isinstance(parameter, Categorical):
                bounds[1, columns] = self._positions(name, parameter.choices).max(axis=0)
            else:
                half = 0.5 if isinstance(parameter, Int) else 0.0
                edges = np.array([parameter.low - half, parameter.high + half])
                bounds[:, columns] = self._axes[name].position(edges)[:, np.newaxis]
        return bounds

    def position(self, name: str, value: Value) -> FloatArray:
        """Return where one value of a joint parameter lies in the parameter's columns."""
        self.joint.space[name].check(value)
        position: FloatArray = self._positions(name, [value])[0]
        return position

    def values_at(self, name: str, positions: FloatArray) -> FloatArray:
        """Return the numbers of a joint parameter at positions of its column, not rounded.

        Raises:
            SpaceError: The parameter is not a number.
        """
        if name not in self._axes:
            raise SpaceError(f"{name!r} is not a number of the joint space")
        return self._axes[name].value(positions)

    def cells(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return where an integer of the target lies: the edges of its cells and their middles.

        Args:
            name: The parameter's name.

        Returns:
            Positions in the parameter's column: `k + 1` edges and `k` middles for `k` values.

        Raises:
            SpaceError: The target has no such integer.
        """
        parameter = self.joint.target.space.get(name)
        if not isinstance(parameter, Int):
            raise SpaceError(f"{name!r} is not an integer of the target")
        middles = np.arange(parameter.low, parameter.high + 1, dtype=np.float64)
        edges = np.concatenate([middles - 0.5, middles[-1:] + 0.5])
        return self._axes[name].position(edges), self._axes[name].position(middles)

    def _positions(self, name: str, values: Sequence[Value]) -> FloatArray:
        joint = self.joint.space[name]
        if isinstance(joint, Categorical):
            return np.eye(len(joint.choices))[[joint.index(value) for value in values]]
        return self._axes[name].position(np.array(values, dtype=np.float64))[:, np.newaxis]

    def _values(self, name: str, positions: FloatArray, experiment: int) -> list[Value]:
        if np.isnan(positions).any():
            raise SpaceError(f"{name!r} cannot be read from a position that is NaN")
        joint, own = self.joint.space[name], self.joint.members[experiment].space[name]
        if isinstance(own, Categorical) and isinstance(joint, Categorical):
            at = [joint.index(choice) for choice in own.choices]
            return [own.choices[i] for i in positions[:, at].argmax(axis=1)]
        numeric = _numeric(own)
        numbers = self._axes[name].value(positions[:, 0])
        if isinstance(numeric, Int):
            whole = np.clip(np.floor(numbers + 0.5), numeric.low, numeric.high)
            return [int(number) for number in whole]
        return [float(number) for number in np.clip(numbers, numeric.low, numeric.high)]


def _numeric(parameter: Float | Int | Categorical) -> Numeric:
    if isinstance(parameter, Categorical):
        raise SpaceError(f"{parameter!r} has no range")
    return parameter


def _checked(member: Member, number: int, params: Mapping[str, Value]) -> dict[str, Value]:
    try:
        return member.space.check(params)
    except SpaceError as error:
        raise SpaceError(f"{member.name}, trial {number}: {error}") from None
