"""Optuna's studies as experiments, and back."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    distribution_to_json,
)
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import FrozenTrial, create_trial
from optuna.trial import TrialState as OptunaState

from hetbo.errors import DataError, DataWarning, printable, shown
from hetbo.experiments import Experiment, Goal, Trial, TrialState
from hetbo.integrations.optuna._database_rows import add_trials, started_trials
from hetbo.integrations.optuna._distributions import (
    Translation,
    distribution_of,
    hull,
    single_values,
    written_value,
)
from hetbo.integrations.optuna._storages import opened, storage_of
from hetbo.integrations.optuna._unfinished_studies import EXPERIMENT, check_finished, writing
from hetbo.spaces import Parameter, Space, Value
from hetbo.spaces._names import has_control

NOISE = "hetbo:noise"
"""The user attribute of a trial that holds the standard deviation of its value."""

_LARGEST_STUDY = 2e9
_WRITTEN_STATES = {
    TrialState.COMPLETE: OptunaState.COMPLETE,
    TrialState.FAILED: OptunaState.FAIL,
    TrialState.PENDING: OptunaState.RUNNING,
}


def read_study(
    storage: str | BaseStorage | None,
    study: str | Study,
    *,
    name: str | None,
    fixed: Mapping[str, Value] | None,
    params: Iterable[str] | None,
    noise: str | None,
) -> Experiment:
    """Return one study as an experiment; see `Experiment.from_optuna`."""
    with opened(storage, study) as found:
        return _read_opened(found, name=name, fixed=fixed, params=params, noise=noise)


def _read_opened(
    study: Study,
    *,
    name: str | None,
    fixed: Mapping[str, Value] | None,
    params: Iterable[str] | None,
    noise: str | None,
) -> Experiment:
    written, told = _written(study), started_trials(study)
    if name is None:
        name = _without_control(study.study_name) if written is None else written.name
    wanted = None if params is None else set(params)
    if written is not None and _still_fits(written, told) and wanted in (None, set(written.space)):
        return _rewritten(written, told, name=name, fixed=fixed, noise=noise)
    groups = grouped(told)
    chosen = [names for names in groups if wanted in (None, names)]
    if len(chosen) != 1:
        raise _not_one_space(name, groups, params)
    left_out = len(told) - sum(map(len, groups.values()))
    if left_out:
        message = f"{name}: {left_out} trials that stopped before they had all of their parameters"
        warnings.warn(f"{message} are left out", DataWarning, stacklevel=4)
    return experiment_of(
        groups[chosen[0]], name=name, goal=goal_of(study), fixed=fixed, noise=noise
    )


def write_study(
    experiment: Experiment,
    storage: str | BaseStorage | None,
    study_name: str | None,
    *,
    attributes: Mapping[str, object] | None = None,
) -> Study:
    """Write an experiment as a new study, with user attributes; see `Experiment.to_optuna`."""
    called = experiment.name if study_name is None else study_name
    described = experiment.to_json()
    del described["trials"]
    distributions = {name: distribution_of(p) for name, p in experiment.space.items()}
    _check_size(experiment, distributions)
    with writing(storage_of(storage), called, experiment.goal) as study:
        trials = [
            create_trial(
                state=_WRITTEN_STATES[trial.state],
                value=trial.value,
                params={n: written_value(experiment.space[n], v) for n, v in trial.params.items()},
                distributions=distributions,
                user_attrs={} if trial.noise is None else {NOISE: trial.noise},
            )
            for trial in experiment.trials
        ]
        add_trials(study, trials)
        for name, value in (attributes or {}).items():
            study.set_user_attr(name, value)
        study.set_user_attr(EXPERIMENT, described)
    return study


def _check_size(experiment: Experiment, distributions: Mapping[str, BaseDistribution]) -> None:
    """Check that a study would not fill the disk: every trial holds all choices.

    Raises:
        DataError: It might.
    """
    sizes = {name: len(distribution_to_json(d)) for name, d in distributions.items()}
    whole = sum(sizes.values()) * len(experiment.trials)
    if whole > _LARGEST_STUDY:
        largest = max(sizes, key=sizes.__getitem__)
        count = len(experiment.space[largest].values or ())
        raise DataError(
            f"{experiment.name}: Optuna keeps the choices with every trial, which would take "
            f"{whole / 1e9:,.0f} GB; group the {count:,} choices of {shown(largest)}, leave it "
            "out, or take fewer rows"
        )


def goal_of(study: Study) -> Goal:
    """Return the goal of a study with one objective."""
    return Goal.MAXIMIZE if study.direction.name == "MAXIMIZE" else Goal.MINIMIZE


def experiments_in(study: Study) -> list[Experiment]:
    """Return a study as experiments, one for each set of parameters with a complete trial.

    Trials that stopped before they had all of their parameters are left out.
    """
    trials = started_trials(study)
    written = _written(study)
    if written is not None and _still_fits(written, trials):
        return [_rewritten(written, trials)]
    return past_experiments(trials, name=study.study_name, goal=goal_of(study))


def past_experiments(trials: Iterable[FrozenTrial], *, name: str, goal: Goal) -> list[Experiment]:
    """Return trials as experiments, one for each set of parameters with a complete trial."""
    useful = [
        group
        for group in grouped(trials).values()
        if any(as_trial(trial, {}).state is TrialState.COMPLETE for trial in group)
        and any(merged(group).values())
    ]
    name = _without_control(name)
    return [
        experiment_of(group, name=name if number == 1 else f"{name} ({number})", goal=goal)
        for number, group in enumerate(useful, start=1)
    ]


def _without_control(name: str) -> str:
    """Return a study's name as an experiment can have it: Optuna takes any text."""
    return printable(name) if has_control(name) else name


def grouped(trials: Iterable[FrozenTrial]) -> dict[frozenset[str], list[FrozenTrial]]:
    """Return trials by their sets of parameters, in the order in which these appear.

    A trial that failed or is running may not have got to all of its parameters. Such trials open
    no group of their own, unless there are no others; then the one that got furthest does.
    """
    trials = list(trials)
    ended = [t for t in trials if t.state in {OptunaState.COMPLETE, OptunaState.PRUNED}]
    furthest = sorted(trials, key=lambda t: -len(t.params))[:1]
    groups: dict[frozenset[str], list[FrozenTrial]] = {}
    for trial in ended or furthest:
        groups.setdefault(frozenset(trial.params), [])
    for trial in trials:
        if frozenset(trial.params) in groups:
            groups[frozenset(trial.params)].append(trial)
    return groups


def experiment_of(
    trials: Sequence[FrozenTrial],
    *,
    name: str,
    goal: Goal,
    fixed: Mapping[str, Value] | None = None,
    noise: str | None = None,
) -> Experiment:
    """Return trials that have the same parameters as one experiment.

    A parameter's range is the hull of the trials' ranges. A parameter that could have one value
    only is fixed.
    """
    parameters = merged(trials)
    space = Space.from_mapping({n: p for n, p in parameters.items() if p is not None})
    single = {n: d for n, d in trials[0].distributions.items() if n not in space}
    return Experiment(
        name,
        space,
        [as_trial(trial, values_of(trial, space), noise=noise) for trial in trials],
        goal=goal,
        fixed={**single_values(single), **(fixed or {})},
    )


def merged(trials: Sequence[FrozenTrial]) -> dict[str, Parameter | None]:
    """Return the parameters that hold all of the trials; None for what has one value only."""
    return {
        name: hull(name, [t.distributions[name] for t in trials], [t.params[name] for t in trials])
        for name in trials[0].params
    }


def values_of(trial: FrozenTrial, names: Iterable[str]) -> dict[str, Value]:
    """Return a trial's values of some parameters as hetbo holds them."""
    values: dict[str, Value] = {}
    for name in names:
        value, distribution = trial.params[name], trial.distributions[name]
        category = isinstance(distribution, CategoricalDistribution)
        values[name] = Translation.of(name, distribution).read(value) if category else value
    return values


def as_trial(trial: FrozenTrial, params: Mapping[str, Value], *, noise: str | None = None) -> Trial:
    """Return what became of one of Optuna's trials.

    A pruned trial counts as failed: it has no final value, and its last intermediate value is one
    of another function, that of fewer steps, which a model would mistake for the final one. So
    does a complete trial whose value is not finite.

    Args:
        trial: Optuna's trial.
        params: Its parameters as hetbo holds them.
        noise: The user attribute that holds the standard deviation of the value.
    """
    if not trial.state.is_finished():
        return Trial(params, state=TrialState.PENDING)
    if trial.state is not OptunaState.COMPLETE or not math.isfinite(trial.value or 0.0):
        return Trial(params, state=TrialState.FAILED)
    return Trial(params, trial.value, noise=trial.user_attrs.get(noise or NOISE))


def _written(study: Study) -> Experiment | None:
    """Return the experiment, without its trials, that `write_study` made this study from.

    Raises:
        DataError: `write_study` did not come to its end.
    """
    described = check_finished(study)
    if not isinstance(described, dict):
        return None
    return Experiment.from_json({**described, "trials": []})


def _still_fits(written: Experiment, trials: Sequence[FrozenTrial]) -> bool:
    distributions = {name: distribution_of(p) for name, p in written.space.items()}
    return all(trial.distributions == distributions for trial in trials)


def _rewritten(
    written: Experiment,
    told: Iterable[FrozenTrial],
    *,
    name: str | None = None,
    fixed: Mapping[str, Value] | None = None,
    noise: str | None = None,
) -> Experiment:
    """Return the experiment that a study was made from, with the trials that it has now."""
    trials = [_reread(trial, written.space, noise) for trial in told]
    known = {**written.fixed, **(fixed or {})}
    called = written.name if name is None else name
    return Experiment(called, written.space, trials, goal=written.goal, fixed=known)


def _reread(trial: FrozenTrial, space: Space, noise: str | None) -> Trial:
    params: dict[str, Value] = {}
    for name, parameter in space.items():
        params[name] = trial.params[name]
        if not parameter.ordered:
            index = trial.distributions[name].to_internal_repr(trial.params[name])
            params[name] = (parameter.values or ())[int(index)]
    return as_trial(trial, params, noise=noise)


def _not_one_space(
    name: str, groups: Mapping[frozenset[str], Sequence[FrozenTrial]], params: Iterable[str] | None
) -> DataError:
    if params is not None:
        return DataError(f"{name}: no trial has the parameters {shown(sorted(params))}")
    if not groups:
        return DataError(f"{name}: the study has no trials, so its space is not known")
    found = "; ".join(f"{sorted(names)} ({len(ts)} trials)" for names, ts in groups.items())
    return DataError(
        f"{name}: the trials have {len(groups)} different sets of parameters; "
        f"choose one with params=: {shown(found)}"
    )
