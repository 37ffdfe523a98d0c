"""What to see in each chart, in a sentence that is computed from the data."""

from collections.abc import Sequence

from hetbo.experiments import TrialState
from hetbo.explanation import verdict
from hetbo.models import LearnedNumber, LearnedValue
from hetbo.report.findings import Correlations, Effect, LeftOut
from hetbo.report.text import counted, number, quoted, shown_value
from hetbo.report.view import Absent, Run, TrustHistory

_SURE = 0.8
_NAMED_SOURCES = 2


def progress_title(run: Run) -> str:
    """Say which trial was best."""
    best = run.best_trial
    if best is None or best.value is None:
        return _nothing_yet(run)
    if run.count(TrialState.COMPLETE) == 1:
        return f"One trial has a value so far: {number(best.value)}"
    return f"Trial {run.best} gave the best value, {number(best.value)}"


def _nothing_yet(run: Run) -> str:
    if not run.trials:
        return "No trial has been made yet"
    failed, pending = run.count(TrialState.FAILED), run.count(TrialState.PENDING)
    if not pending:
        return f"No value yet: {'the only trial' if failed == 1 else f'all {failed} trials'} failed"
    if not failed:
        return f"No value yet: {counted(pending, 'trial is', 'trials are')} pending"
    return f"No value yet: {failed} of {failed + pending} trials failed, the others are pending"


def comparison(run: Run) -> str:
    """Say how the improvements compare with what a model without the sources expected."""
    if isinstance(run.expectations, Absent):
        return run.expectations.reason
    told = [e for e in run.expectations if run.trials[e.trial].state is not TrialState.PENDING]
    sign = run.goal.sign
    ahead = sum(sign * ((run.best_so_far[e.trial] or 0.0) - e.expected) > 0 for e in told)
    return (
        f"After {ahead} of {len(told)} compared trials the best value was better than a "
        "model without the sources, starting from the same trials, expected of its own choice."
    )


def trust_title(history: TrustHistory) -> str:
    """Say which source is trusted most, and since when."""
    last = history.steps[-1].trust
    ranked = sorted(range(len(last)), key=lambda index: -last[index])
    parts = []
    for index in ranked[:_NAMED_SOURCES]:
        words, since = verdict(last[index]), _since(history, index)
        when = " throughout" if since == 0 else f" from {counted(since, 'trial')} on"
        when = "" if len(history.steps) == 1 else when
        parts.append(f"{quoted(history.names[index])} {words}{when}")
    others = len(last) - len(parts)
    parts += [f"{counted(others, 'other is', 'others are')} trusted no more than that"][:others]
    return "; ".join(parts)


def _since(history: TrustHistory, index: int) -> int:
    """Return from how many trials on the verdict has been today's; 0 if it never differed."""
    today = verdict(history.steps[-1].trust[index])
    since = history.steps[-1].trials
    for step in reversed(history.steps):
        if verdict(step.trust[index]) != today:
            return since
        since = step.trials
    return 0


def correlation_title(found: Correlations) -> str:
    """Say which source the target goes along with most."""
    row = found.matrix[0]
    closest = max(range(1, len(row)), key=lambda index: abs(row[index]))
    if abs(row[closest]) < 0.3:  # noqa: PLR2004  # weak, in anybody's words
        return f"The target goes along with no source (at most {row[closest]:+.2f})"
    way = "goes along with" if row[closest] > 0 else "runs against"
    others = " most" if len(row) > _NAMED_SOURCES else ""
    return f"The target {way} {quoted(found.names[closest])}{others} ({row[closest]:+.2f})"


def is_told(value: LearnedValue) -> bool:
    """Tell whether the trials say anything definite about a missing value."""
    if isinstance(value, LearnedNumber):
        return (value.low, value.high) != (value.positions[0], value.positions[-1])
    return dict(value.probabilities)[value.estimate] >= _SURE


def learned_title(values: Sequence[LearnedValue]) -> str:
    """Say how many missing values could be narrowed down."""
    told, count = sum(map(is_told, values)), len(values)
    if count == 1:
        able = "could be narrowed down" if told else "cannot be narrowed down yet"
        return f"The missing value {able}"
    if told == 0:
        return f"None of the {count} missing values can be narrowed down yet"
    some = f"All {count}" if told == count else f"{told} of {count}"
    return f"{some} missing values could be narrowed down"


def learned_name(value: LearnedValue) -> str:
    """Return what a learned value is the value of."""
    return f"{shown_value(value.parameter)} of {quoted(value.experiment)}"


def learned_words(value: LearnedValue) -> str:
    """Return a learned value and how well it is known."""
    if not isinstance(value, LearnedNumber):
        chance = dict(value.probabilities)[value.estimate]
        return f"{shown_value(value.estimate)}, {chance:.0%} sure"
    if not is_told(value):
        return f"perhaps {number(value.estimate, 3)}, but no value of its range is ruled out"
    return (
        f"about {number(value.estimate, 3)}, between {number(value.low, 3)} "
        f"and {number(value.high, 3)}"
    )


def effects_title(found: Sequence[Effect]) -> str:
    """Say which parameter matters most around the best trial."""
    first = found[0]
    if first.size == 0:
        return "No parameter changes the prediction around the best trial"
    if len(found) == 1:
        return f"{quoted(first.parameter)} changes the prediction by {number(first.size, 3)}"
    return (
        f"Around the best trial {quoted(first.parameter)} matters most: it changes the prediction "
        f"by up to {number(first.size, 3)}"
    )


def left_out_title(found: LeftOut) -> str:
    """Say how many trials were predicted within their band."""
    count = len(found.trials)
    if found.inside == count:
        return f"All {count} values lie within their 95 % band"
    return f"{found.inside} of {count} values lie within their 95 % band"


def parallel_title(run: Run) -> str:
    """Say what the bundle of trials shows."""
    complete = run.count(TrialState.COMPLETE)
    if complete == 1:
        return "The one trial with a value"
    return f"All {complete} trials with a value, the best in orange"
