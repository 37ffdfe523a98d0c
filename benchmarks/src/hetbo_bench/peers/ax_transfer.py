"""Ax's transfer learning: a multi-task GP that learns what a source's missing parameters were.

Ax knows sources as auxiliary experiments. Its `Client` cannot be given any, so the experiments
are put together from Ax's core classes, and the target is asked through a generation strategy.
"""

from collections.abc import Mapping, Sequence

import pandas as pd
from ax.adapter.transfer_learning.adapter import transfer_learning_generator_specs_constructor
from ax.core.arm import Arm
from ax.core.auxiliary import AuxiliaryExperimentPurpose
from ax.core.auxiliary_source import AuxiliarySource
from ax.core.data import Data
from ax.core.experiment import Experiment as AxExperiment
from ax.core.metric import Metric
from ax.core.objective import Objective
from ax.core.optimization_config import OptimizationConfig
from ax.core.parameter import ChoiceParameter, ParameterType, RangeParameter
from ax.core.parameter import Parameter as AxParameter
from ax.core.search_space import SearchSpace
from ax.generation_strategy.generation_node import GenerationNode
from ax.generation_strategy.generation_strategy import GenerationStrategy

from hetbo.errors import DataError, shown
from hetbo.experiments import Goal
from hetbo.spaces import Categorical, Float, Int, Parameter, Space, Value
from hetbo_bench.peers.containment import contained
from hetbo_bench.peers.old_trials import not_restricted, old_trials
from hetbo_bench.problems.problem import Problem, Start

_METRIC = "value"
_CHOICE_TYPES: Mapping[type, ParameterType] = {
    str: ParameterType.STRING,
    bool: ParameterType.BOOL,
    int: ParameterType.INT,
    float: ParameterType.FLOAT,
}


class AxTuner:
    """An Ax experiment with auxiliary experiments, asked through a generation strategy.

    The strategy has one node, Ax's `BOTL`: a `MultiTaskGP` over the union of all parameters, in
    which Ax learns the values of the parameters that an experiment lacks. Ax can also compare it
    with a model of the target alone at each step, by cross-validation; that is switched off, since
    what is looked at here is the transfer.

    Args:
        problem: The problem.
        start: What the replication starts from.
        seed: The seed of all random choices.

    Raises:
        DataError: The problem has candidates, or a parameter that Ax has nothing for.
    """

    def __init__(self, problem: Problem, start: Start, seed: int) -> None:
        if problem.candidates is not None:
            raise not_restricted(problem, "Ax")
        self._space = problem.space
        self._seed = seed
        with contained(seed):
            past = {
                source.name: _experiment(source.name, source.space, problem.goal)
                for source in start.sources
            }
            for source, trial, value in old_trials(problem, start):
                _add_trial(past[source.name], trial.params, value)
            sources = [AuxiliarySource(experiment=experiment) for experiment in past.values()]
            self._target = _experiment("target", problem.space, problem.goal, sources)
            specs, _ = transfer_learning_generator_specs_constructor(use_model_selection=False)
            node = GenerationNode("transfer", generator_specs=specs)
            self._strategy = GenerationStrategy(nodes=[node])

    def ask(self) -> Mapping[str, Value]:
        """Return the next parameters to try."""
        with contained(self._seed, len(self._target.trials)):
            ((run,),) = self._strategy.gen(self._target, n=1)
        (arm,) = run.arms
        return self._space.check(arm.parameters)

    def tell(self, params: Mapping[str, Value], value: float) -> None:
        """Take note of the value of some parameters."""
        with contained(self._seed):
            _add_trial(self._target, params, value)


def _experiment(
    name: str, space: Space, goal: Goal, sources: Sequence[AuxiliarySource] = ()
) -> AxExperiment:
    objective = Objective(metric=Metric(_METRIC), minimize=goal is Goal.MINIMIZE)
    return AxExperiment(
        name=name,
        search_space=SearchSpace([_parameter(name, p) for name, p in space.items()]),
        optimization_config=OptimizationConfig(objective),
        auxiliary_experiments_by_purpose={
            AuxiliaryExperimentPurpose.TRANSFERABLE_EXPERIMENT: list(sources)
        },
    )


def _add_trial(experiment: AxExperiment, params: Mapping[str, Value], value: float) -> None:
    trial = experiment.new_trial()
    trial.add_arm(Arm(dict(params)))
    trial.mark_running(no_runner_required=True)
    row = {
        "trial_index": trial.index,
        "arm_name": trial.arm.name,
        "metric_name": _METRIC,
        "metric_signature": _METRIC,
        "mean": value,
        "sem": float("nan"),  # not known: Ax learns it
    }
    experiment.attach_data(Data(df=pd.DataFrame([row])))
    trial.mark_completed()


def _parameter(name: str, parameter: Parameter) -> AxParameter:
    match parameter:
        case Float(low, high, log=log):
            return RangeParameter(name, ParameterType.FLOAT, low, high, log_scale=log)
        case Int(low, high, log=log):
            return RangeParameter(name, ParameterType.INT, low, high, log_scale=log)
        case Categorical(choices):
            kinds = set(map(type, choices))
            kind = _CHOICE_TYPES.get(kinds.pop()) if len(kinds) == 1 else None
            if kind is None:
                raise DataError(f"{shown(name)}: Ax has no parameter for {parameter!r}")
            return ChoiceParameter(name, kind, list(choices), is_ordered=False, sort_values=False)
        case _:
            raise DataError(f"{shown(name)}: Ax has no parameter for {parameter!r}")


tuner = AxTuner
