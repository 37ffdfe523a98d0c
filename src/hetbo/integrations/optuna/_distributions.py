"""Optuna's distributions as hetbo's parameters, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias, assert_never

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from hetbo.errors import SpaceError, printable, shown
from hetbo.spaces import Categorical, Float, Int, Parameter, Value
from hetbo.spaces._values import checked_choice, choice_key

Translatable: TypeAlias = Float | Int | Categorical
"""The kinds of parameters that Optuna has distributions for."""


@dataclass(frozen=True, slots=True)
class Translation:
    """One of Optuna's distributions and the parameter that stands for it.

    Numbers keep their natural units, so that experiments with other ranges and steps line up. A
    step is no part of the parameter: `write` goes to the nearest value on the grid. Choices are
    themselves where hetbo can hold them; any other one (NaN, a tuple, a text with line ends, …)
    goes by its `repr`.

    Attributes:
        distribution: Optuna's side. It holds more than one value.
        parameter: hetbo's side.
        labels: What each of a category's choices is called in hetbo; empty for numbers.
    """

    distribution: BaseDistribution
    parameter: Translatable
    labels: tuple[Value, ...] = ()

    @classmethod
    def of(cls, name: str, distribution: BaseDistribution) -> "Translation":
        """Return how a parameter is translated.

        Raises:
            SpaceError: hetbo has no parameter for this distribution.
        """
        try:
            match distribution:
                case FloatDistribution():
                    low, high = distribution.low, distribution.high
                    return cls(distribution, Float(low, high, log=distribution.log))
                case IntDistribution():
                    whole = Int(distribution.low, distribution.high, log=distribution.log)
                    return cls(distribution, whole)
                case CategoricalDistribution():
                    labels = _labels(distribution)
                    unique = {choice_key(label): label for label in labels}
                    return cls(distribution, Categorical(*unique.values()), labels)
        except SpaceError as error:
            raise SpaceError(f"{shown(name)}: {error}") from None
        raise SpaceError(
            f"{shown(name)}: unknown distribution {shown(distribution)}; expected one of "
            "Optuna's FloatDistribution, IntDistribution and CategoricalDistribution"
        )

    @property
    def step(self) -> float | None:
        """The distance of neighbours on the grid; None for choices and for what has no step."""
        match self.distribution:
            case FloatDistribution(step=step):
                return step
            case IntDistribution(step=step) if step > 1:
                return step
            case _:
                return None

    @property
    def count(self) -> int | None:
        """How many values there are; None if they are real numbers."""
        match self.distribution:
            case FloatDistribution(low=low, high=high, step=float(step)):
                return round((high - low) / step) + 1
            case IntDistribution(low=low, high=high, step=step):
                return (high - low) // step + 1
            case CategoricalDistribution():
                return len(set(map(choice_key, self.labels)))
            case _:
                return None

    def at(self, index: int) -> Value:
        """Return the value at a position of the grid, or the choice at a position.

        Raises:
            SpaceError: The values are real numbers, which cannot be counted.
        """
        match self.distribution:
            case FloatDistribution(low=low, high=high, step=float(step)):
                # In decimals, 0.1 + 2 · 0.1 is 0.3.
                return min(float(Decimal(str(low)) + index * Decimal(str(step))), high)
            case IntDistribution(low=low, step=step):
                return low + index * step
            case CategoricalDistribution() if isinstance(self.parameter, Categorical):
                return self.parameter.choices[index]
            case _:
                raise SpaceError(f"the values of {self.parameter!r} cannot be counted")

    def read(self, value: object) -> Value:
        """Return what stands for one of Optuna's values.

        Raises:
            SpaceError: The value does not fit the distribution.
        """
        if isinstance(self.distribution, CategoricalDistribution):
            try:
                index = self.distribution.to_internal_repr(value)  # type: ignore[arg-type]
            except ValueError:
                known = shown(self.distribution.choices)
                raise SpaceError(
                    f"unknown choice {shown(value)}; expected one of {known}"
                ) from None
            return self.labels[int(index)]
        return self.parameter.check(value)

    def write(self, value: Value) -> Any:  # noqa: ANN401  # whatever the user chose as a choice
        """Return Optuna's value for one of hetbo's: the nearest one on the grid.

        Raises:
            SpaceError: The value does not fit the parameter.
        """
        checked = self.parameter.check(value)
        if isinstance(self.distribution, CategoricalDistribution):
            keys = [choice_key(label) for label in self.labels]
            return self.distribution.choices[keys.index(choice_key(checked))]
        if self.step is None or not isinstance(checked, int | float):
            return checked
        return self.at(self.nearest(checked))

    def nearest(self, value: float) -> int:
        """Return the position on the grid that is nearest to a number.

        Raises:
            SpaceError: There is no grid.
        """
        match self.distribution:
            case FloatDistribution(low=low, step=float(step)) | IntDistribution(low=low, step=step):
                return max(0, min(round((value - low) / step), (self.count or 1) - 1))
            case _:
                raise SpaceError(f"{self.parameter!r} has no grid")


def translations(distributions: Mapping[str, BaseDistribution]) -> dict[str, Translation]:
    """Return how each parameter is translated, without those that hold one value only.

    Raises:
        SpaceError: hetbo has no parameter for a distribution.
    """
    return {
        name: Translation.of(name, distribution)
        for name, distribution in distributions.items()
        if not distribution.single()
    }


def single_values(distributions: Mapping[str, BaseDistribution]) -> dict[str, Value]:
    """Return the values of the parameters that can have one value only."""
    found: dict[str, Value] = {}
    for name, distribution in distributions.items():
        if distribution.single():
            match distribution:
                case FloatDistribution() | IntDistribution():
                    found[name] = distribution.low
                case CategoricalDistribution():
                    found[name] = _labels(distribution)[0]
    return found


def translatable(parameter: Parameter) -> Translatable:
    """Return a parameter, of a kind that Optuna has distributions for.

    Raises:
        SpaceError: It is of another kind.
    """
    if isinstance(parameter, Float | Int | Categorical):
        return parameter
    raise SpaceError(
        f"{shown(parameter)} has no distribution in Optuna; use Float, Int or Categorical "
        "in a study, or an Optimizer without Optuna"
    )


def distribution_of(parameter: Parameter) -> BaseDistribution:
    """Return Optuna's distribution for a parameter.

    Optuna cannot tell `True` from `1`. Choices that Python calls equal are written as texts, in
    the same order.

    Raises:
        SpaceError: Optuna has none for a parameter of this kind.
    """
    match known := translatable(parameter):
        case Float(low, high, log=log):
            return FloatDistribution(low, high, log=log)
        case Int(low, high, log=log):
            return IntDistribution(low, high, log=log)
        case Categorical(choices):
            if len(set(choices)) < len(choices):
                return CategoricalDistribution([repr(choice) for choice in choices])
            return CategoricalDistribution(choices)
        case _:
            assert_never(known)


def written_value(parameter: Parameter, value: Value) -> Any:  # noqa: ANN401
    """Return a parameter's value as `distribution_of` holds it."""
    distribution = distribution_of(parameter)
    if isinstance(distribution, CategoricalDistribution):
        return distribution.choices[parameter.index(value)]
    return value


def hull(
    name: str, distributions: Sequence[BaseDistribution], values: Sequence[object]
) -> Translatable | None:
    """Return one parameter that holds what was tried; None if that could be a single value only.

    Args:
        name: The parameter's name.
        distributions: What the trials drew from: ranges that may differ.
        values: What the trials had. Values that a user enqueued may lie outside of the range.

    Raises:
        SpaceError: It is a number in some trials and a category in others.
    """
    labels = [_labels(d) for d in distributions if isinstance(d, CategoricalDistribution)]
    if 0 < len(labels) < len(distributions):
        raise SpaceError(f"{shown(name)} is a number in some trials and a category in others")
    if labels:
        choices = {choice_key(label): label for several in labels for label in several}
        return Categorical(*choices.values()) if len(choices) > 1 else None
    ranges = [d for d in distributions if isinstance(d, FloatDistribution | IntDistribution)]
    numbers = [value for value in values if isinstance(value, int | float)]
    low = min([*(d.low for d in ranges), *numbers])
    high = max([*(d.high for d in ranges), *numbers])
    if low == high:
        return None
    log = any(d.log for d in ranges) and low > 0
    if all(isinstance(d, IntDistribution) for d in ranges):
        return Int(int(low), int(high), log=log)
    return Float(low, high, log=log)


def _labels(distribution: CategoricalDistribution) -> tuple[Value, ...]:
    labels: list[Value] = []
    taken = set[tuple[bool, Value]]()
    for index, choice in enumerate(distribution.choices):
        first = int(distribution.to_internal_repr(choice))
        if first < index:  # Optuna takes it for an earlier one: 1.0 for 1, True for 1
            labels.append(labels[first])
            continue
        label = _label(choice)
        if choice_key(label) in taken:
            label = printable(repr(choice))
        while choice_key(label) in taken:
            label = f"{label}'"
        labels.append(label)
        taken.add(choice_key(label))
    return tuple(labels)


def _label(choice: object) -> Value:
    try:
        return checked_choice(choice)
    except SpaceError:
        return printable(repr(choice))
