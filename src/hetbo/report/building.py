"""From an optimizer to the view model: fit once, replay, collect what there is to say."""

from collections.abc import Callable, Sequence

from hetbo import __version__
from hetbo.engine import Fitted
from hetbo.errors import FitError
from hetbo.experiments import Goal, Trial, TrialState
from hetbo.explanation import Explanation, explain, explain_fitted
from hetbo.models import LearnedValue
from hetbo.optimizer import Optimizer
from hetbo.report.findings import (
    Correlations,
    Effect,
    LeftOut,
    correlations,
    effects,
    left_out,
)
from hetbo.report.replay import Expectation, TrustStep, chosen_steps, expectations, trust_steps
from hetbo.report.snapshot import Snapshot
from hetbo.report.view import Absent, Run, TrustHistory, View
from hetbo.screening import noise_sentence

Progress = Callable[[int, int], None]
"""Called with the number of steps that are done, and that of all steps."""

_FEWEST_LEFT_OUT = 3


def view_of(
    optimizer: Optimizer, *, title: str, value: str = "value", progress: Progress | None = None
) -> View:
    """Compute everything that a report shows.

    The optimizer stays as it is. The run is replayed: at some steps the models are fitted anew to
    the trials up to then.

    Args:
        optimizer: The optimizer.
        title: What the user calls it.
        value: What the measured value is called.
        progress: Called after each step of the work.
    """
    snapshot = Snapshot.of(optimizer)
    engine, trials = snapshot.engine, snapshot.trials
    rows = sum(len(source.complete) for source in engine.joint.sources) + len(trials)
    steps = chosen_steps(len(trials), rows)
    tick = _ticker(progress, 1 + (2 * len(steps) if _transfers(snapshot) else 0))
    fitted, explanation = _models(snapshot)
    tick()
    transfer = _transfer(snapshot, fitted)
    run = _run(trials, engine.goal, _expected(snapshot, transfer, steps, tick))
    return View(
        title=title,
        value=value,
        version=__version__,
        method=snapshot.method,
        method_summary=engine.recipe.summary,
        space=optimizer.space,
        joint=engine.joint.space,
        run=run,
        explanation=explanation,
        sources=engine.joint.sources,
        tree=engine.joint.tree(),
        trust=_trust(snapshot, transfer, explanation, steps, tick),
        correlations=_correlations(snapshot, transfer),
        learned=_learned(snapshot, transfer, explanation),
        effects=_effects(snapshot, fitted, run.best_trial),
        left_out=_left_out(fitted, trials),
    )


def _ticker(progress: Progress | None, total: int) -> Callable[[], None]:
    done = 0

    def tick() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return tick


def _models(snapshot: Snapshot) -> tuple[Fitted | Absent, Explanation]:
    """Fit the models to all trials and let them explain themselves."""
    try:
        fitted = snapshot.fitted()
    except FitError as error:
        sentence = f"The models could not be fitted: {error}."
        return Absent(sentence), Explanation({}, {}, {}, (), sentence)
    if fitted is None:
        explanation = explain(snapshot.engine, snapshot.trials, snapshot.rng())
        return Absent(explanation.sentence), explanation
    return fitted, explain_fitted(snapshot.engine, fitted)


def _transfers(snapshot: Snapshot) -> bool:
    voices = snapshot.engine.recipe.voices.values()
    return bool(snapshot.engine.joint.sources) and any(voice.transfers for voice in voices)


def _transfer(snapshot: Snapshot, fitted: Fitted | Absent) -> Fitted | Absent:
    """Return the fitted models if one of them uses the sources, or else why none does."""
    if not snapshot.engine.joint.sources:
        return Absent("There are no sources: the target's own trials decide.")
    if not _transfers(snapshot):
        return Absent(f"The method '{snapshot.method}' does not use the sources.")
    if isinstance(fitted, Absent):
        return fitted
    if not any(snapshot.engine.recipe.voices[name].transfers for name in fitted.models):
        if snapshot.engine.left_out:
            return Absent(" ".join(map(noise_sentence, snapshot.engine.left_out)))
        return Absent("No trial of the sources has a value, so there is nothing to learn from.")
    return fitted


def _expected(
    snapshot: Snapshot,
    transfer: Fitted | Absent,
    steps: Sequence[int],
    tick: Callable[[], None],
) -> tuple[Expectation, ...] | Absent:
    if isinstance(transfer, Absent):
        return transfer
    found = tuple(expectations(snapshot, steps, tick))
    if not found:
        return Absent(
            "A model without the sources has no expectation yet: it would still cover the space "
            f"evenly (the first {snapshot.engine.n_initial} trials)."
        )
    return found


def _run(trials: tuple[Trial, ...], goal: Goal, expected: tuple[Expectation, ...] | Absent) -> Run:
    best: int | None = None
    best_value: float | None = None
    best_so_far: list[float | None] = []
    for number, trial in enumerate(trials):
        if trial.value is not None and (
            best_value is None or goal.sign * trial.value > goal.sign * best_value
        ):
            best, best_value = number, trial.value
        best_so_far.append(best_value)
    return Run(trials, goal, best, tuple(best_so_far), expected)


def _trust(
    snapshot: Snapshot,
    transfer: Fitted | Absent,
    explanation: Explanation,
    steps: Sequence[int],
    tick: Callable[[], None],
) -> TrustHistory | Absent:
    if isinstance(transfer, Absent):
        return transfer
    before = tuple(trust_steps(snapshot, steps[:-1], tick))
    tick()
    # The last step is what `explain` says today, so that the chart ends where the text does.
    today = TrustStep(len(snapshot.trials), tuple(explanation.sources.values()))
    return TrustHistory(tuple(explanation.sources), (*before, today))


def _correlations(snapshot: Snapshot, transfer: Fitted | Absent) -> Correlations | Absent:
    if isinstance(transfer, Absent):
        return transfer
    if not any(trial.state is TrialState.COMPLETE for trial in snapshot.trials):
        return Absent("No trial has a value yet, so what goes along with what is not known.")
    return correlations(snapshot.engine, transfer)


def _learned(
    snapshot: Snapshot, transfer: Fitted | Absent, explanation: Explanation
) -> tuple[LearnedValue, ...] | Absent:
    if isinstance(transfer, Absent):
        return transfer
    if not any(model.imputation.learned for model in transfer.models.values()):
        return Absent(f"The method '{snapshot.method}' does not learn the values of parameters.")
    if not explanation.learned:
        return Absent("No value is missing: every experiment with a say has all parameters.")
    return explanation.learned


def _effects(
    snapshot: Snapshot, fitted: Fitted | Absent, best: Trial | None
) -> tuple[Effect, ...] | Absent:
    if best is None:
        return Absent("No trial has a value yet, so there is no best one to look around.")
    if isinstance(fitted, Absent):
        return fitted
    return effects(snapshot.engine, fitted, best)


def _left_out(fitted: Fitted | Absent, trials: tuple[Trial, ...]) -> LeftOut | Absent:
    if isinstance(fitted, Absent):
        return fitted
    if sum(trial.value is not None for trial in trials) < _FEWEST_LEFT_OUT:
        return Absent(
            f"With fewer than {_FEWEST_LEFT_OUT} values there is nothing to predict one from."
        )
    return left_out(fitted, trials)
