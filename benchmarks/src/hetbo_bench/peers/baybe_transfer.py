"""BayBE's transfer learning: experiments are tasks, and what one lacks stands at the centre.

BayBE wants a value of each parameter in each measurement. A parameter that an experiment did not
tune is given the centre of its range, or the first of its choices.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import pandas as pd
from baybe import Campaign
from baybe.parameters import (
    CategoricalParameter,
    NumericalContinuousParameter,
    NumericalDiscreteParameter,
    TaskParameter,
)
from baybe.searchspace import SearchSpace
from baybe.targets import NumericalTarget

from hetbo.errors import DataError, shown
from hetbo.experiments import Goal
from hetbo.joint import JointSpace
from hetbo.spaces import Float, Parameter, Space, Value
from hetbo_bench.peers.containment import contained
from hetbo_bench.peers.old_trials import old_trials
from hetbo_bench.problems.problem import Problem, Start

_TASK, _TARGET, _VALUE = "task of BayBE", "target", "value of BayBE"

Cell: TypeAlias = float | str
"""A number on its parameter's scale, or a choice."""


class BaybeTuner:
    """A BayBE campaign over all experiments, which recommends for the target alone.

    Args:
        problem: The problem.
        start: What the replication starts from.
        seed: The seed of all random choices.

    Raises:
        DataError: The problem has no candidates, and parameters that are no real numbers, or
            sources with parameters of their own.
    """

    def __init__(self, problem: Problem, start: Start, seed: int) -> None:
        self._joint = JointSpace.merge(problem.space, start.sources).space
        self._candidates = problem.candidates
        self._real = _real_parameters(problem, self._joint) if problem.candidates is None else {}
        self._seed = seed
        self._told = 0
        old = [
            {_TASK: source.name, **_row(self._joint, trial.params), _VALUE: value}
            for source, trial, value in old_trials(problem, start)
        ]
        tasks = [_TARGET, *(source.name for source in start.sources)]
        with contained(seed):
            task = TaskParameter(_TASK, values=tasks, active_values=[_TARGET])
            if problem.candidates is None:
                space = _real_space(self._real, task)
            else:
                rows = [_row(self._joint, params) for params in problem.candidates]
                space = _table_space(self._joint, rows, old, task)
            target = NumericalTarget(_VALUE, minimize=problem.goal is Goal.MINIMIZE)
            self._campaign = Campaign(space, target)
            self._add(old)

    def ask(self) -> Mapping[str, Value]:
        """Return the next parameters to try."""
        with contained(self._seed, self._told):
            recommended = self._campaign.recommend(1)
        if self._candidates is not None:
            return self._candidates[int(recommended.index[0])]
        return {name: _read(p, recommended[name].iloc[0]) for name, p in self._real.items()}

    def tell(self, params: Mapping[str, Value], value: float) -> None:
        """Take note of the value of some parameters."""
        self._told += 1
        with contained(self._seed):
            self._add([{_TASK: _TARGET, **_row(self._joint, params), _VALUE: value}])

    def _add(self, rows: Sequence[Mapping[str, Cell]]) -> None:
        # A source may have gone beyond the target's range.
        self._campaign.add_measurements(
            pd.DataFrame(rows), numerical_measurements_must_be_within_tolerance=False
        )


def _real_parameters(problem: Problem, joint: Space) -> dict[str, Float]:
    """Return the target's parameters, which must be real numbers and all that there are."""
    for name in joint:
        if name not in problem.space:
            raise DataError(
                f"{problem.name}: a source has {shown(name)}, which the target has not and BayBE "
                "would vary all the same; it takes part in problems with candidates, and in those "
                "where the target has all parameters"
            )
    real: dict[str, Float] = {}
    for name, parameter in problem.space.items():
        if not isinstance(parameter, Float):
            raise DataError(
                f"{problem.name}: {shown(name)} is {parameter!r}; BayBE takes part in problems "
                "with candidates, and in those of real numbers"
            )
        real[name] = parameter
    return real


def _real_space(real: Mapping[str, Float], task: TaskParameter) -> SearchSpace:
    bounds = {name: (_written(p, p.low), _written(p, p.high)) for name, p in real.items()}
    parameters = [NumericalContinuousParameter(name, bounds=b) for name, b in bounds.items()]
    return SearchSpace.from_product([task, *parameters])


def _table_space(
    joint: Space,
    candidates: Sequence[Mapping[str, Cell]],
    old: Sequence[Mapping[str, Cell]],
    task: TaskParameter,
) -> SearchSpace:
    """Return the candidates as a space; a parameter's values are all that were ever tried."""
    parameters = [task]
    for name, parameter in joint.items():
        values = sorted({row[name] for row in (*candidates, *old)})
        if len(values) > 1:
            numeric = parameter.scale is not None
            make = NumericalDiscreteParameter if numeric else CategoricalParameter
            parameters.append(make(name, values=values))
    table = pd.DataFrame(candidates).assign(**{_TASK: _TARGET})
    table = table[[parameter.name for parameter in parameters]].drop_duplicates()
    return SearchSpace.from_dataframe(table, parameters)


def _row(joint: Space, params: Mapping[str, Value]) -> dict[str, Cell]:
    return {
        name: _written(parameter, params[name]) if name in params else _centre(parameter)
        for name, parameter in joint.items()
    }


def _written(parameter: Parameter, value: Value) -> Cell:
    scale = parameter.scale
    if scale is None:
        return repr(parameter.check(value))
    number = scale.check(value)
    return math.log10(number) if scale.log else float(number)


def _read(parameter: Float, cell: float) -> float:
    cell = float(cell)  # a data frame hands out NumPy's numbers
    number = 10.0**cell if parameter.log else cell
    # Logarithms need not lead back to the very bounds.
    return min(max(number, parameter.low), parameter.high)


def _centre(parameter: Parameter) -> Cell:
    scale = parameter.scale
    if scale is None:
        return _written(parameter, (parameter.values or ())[0])
    low, high = (_written(scale, bound) for bound in (scale.low, scale.high))
    return (float(low) + float(high)) / 2


tuner = BaybeTuner
