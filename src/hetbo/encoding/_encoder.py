"""Between named trials and points of the unit cube."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from hetbo._arrays import BoolArray, FloatArray
from hetbo.encoding._columns import Columns
from hetbo.errors import SpaceError
from hetbo.joint import JointSpace, Member
from hetbo.spaces import Parameter, Value


class Encoder:
    """Between named trials and points of the unit cube of a joint space.

    Numbers are placed on their joint parameter's scale, integers in the middle of equal cells,
    categories as one column per choice. Integers and choices come back exactly as they were,
    floats within rounding. Integers beyond 2**52 (2**45 on a log scale) are as near as floats get.

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
            name: parameter.axis([m.space[name] for m in joint.members if name in m.space])
            for name, parameter in joint.space.items()
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

    def within(self, part: Member) -> "Encoder":
        """Return the encoder of a part of the target's space, in the same cube.

        Args:
            part: What is left of the target's space, and the values of what is held, beside those
                that the target has fixed.
        """
        target = replace(part, fixed={**self.joint.target.fixed, **part.fixed})
        narrowed = copy(self)
        narrowed.joint = replace(self.joint, members=(target, *self.joint.members[1:]))
        return narrowed

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
                X[:, self.columns.of(name)] = self._axes[name].positions([t[name] for t in trials])
            elif name in member.fixed:
                X[:, self.columns.of(name)] = self._axes[name].positions([member.fixed[name]])
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
            snapped[:, columns] = self._axes[name].positions(values)
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
            bounds[:, self.columns.of(name)] = self._axes[name].bounds(parameter)
        return bounds

    def position(self, name: str, value: Value) -> FloatArray:
        """Return where one value of a joint parameter lies in the parameter's columns."""
        position: FloatArray = self.positions(name, [value])[0]
        return position

    def positions(self, name: str, values: Sequence[Value]) -> FloatArray:
        """Return where values of one joint parameter lie, one row of its columns for each."""
        parameter = self.joint.space[name]
        return self._axes[name].positions([parameter.check(value) for value in values])

    def values_at(self, name: str, positions: FloatArray) -> FloatArray:
        """Return the numbers of a joint parameter at positions of its column, not rounded.

        Raises:
            SpaceError: The parameter is not a number.
        """
        numbers = self._axes[name].numbers(positions) if name in self._axes else None
        if numbers is None:
            raise SpaceError(f"{name!r} is not a number of the joint space")
        return numbers

    def cells(self, name: str, own: Parameter) -> tuple[FloatArray, FloatArray] | None:
        """Return the cells of a parameter's values in its column, such as an integer's.

        Args:
            name: The parameter's name.
            own: The joint parameter, or that of an experiment.

        Returns:
            `k + 1` edges and `k` middles for `k` values; None if the values have no cells: real
            numbers, and choices with columns of their own.
        """
        return self._axes[name].cells(own)

    def _values(self, name: str, positions: FloatArray, experiment: int) -> list[Value]:
        if np.isnan(positions).any():
            raise SpaceError(f"{name!r} cannot be read from a position that is NaN")
        own = self.joint.members[experiment].space[name]
        return self._axes[name].nearest(own, positions)


def _checked(member: Member, number: int, params: Mapping[str, Value]) -> dict[str, Value]:
    try:
        return member.space.check(params)
    except SpaceError as error:
        raise SpaceError(f"{member.name}, trial {number}: {error}") from None
