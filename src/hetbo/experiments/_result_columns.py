"""Columns that look like a runtime, a status or a run's number, and not like a parameter."""

import re
from collections.abc import Mapping, Sequence

from hetbo.errors import HetboWarning, shown
from hetbo.spaces import Value


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_TIME = "a time"
_RESULT = "what came of a run"
_WHICH = "which run it was"
_END = "when or how a run ended"
_TELLING = {
    **dict.fromkeys(_words("runtime walltime wallclock elapsed duration timestamp"), _TIME),
    **dict.fromkeys(_words("datetime date created started updated"), _TIME),
    **dict.fromkeys(_words("finished ended completed"), _END),
    **dict.fromkeys(_words("status exitcode"), _RESULT),
    **dict.fromkeys(_words("uuid guid"), _WHICH),
}
"""Words that say what a column is, whatever stands beside them."""
_TELLING_ALONE = {
    **dict.fromkeys(_words("time seconds secs minutes hours"), _TIME),
    **dict.fromkeys(_words("state outcome result success failed failure error"), _RESULT),
    **dict.fromkeys(_words("id ids run trial job index row"), _WHICH),
}
"""Words that say so alone or beside each other: 'run_time', and not 'time_constant'."""
_BESIDE = _words(
    "total wall cpu gpu train training fit eval evaluation test start end stop experiment exp "
    "study worker host process s ms sec h t at of the in on utc local number no nr unnamed "
    "mean std avg median score cost"
)
"""Words that change nothing about the others: 'mean_fit_time'."""
_UNITS = _words("s ms sec h t")
"""Those of them that say, beside another one, that it is a time: 'gpu_h'."""
_TOGETHER = {
    ("run", "time"): "runtime",
    ("wall", "time"): "walltime",
    ("wall", "clock"): "wallclock",
    ("exit", "code"): "exitcode",
}
"""Words that are one, however they are written."""
_SETTINGS = _words(
    "max min maximum minimum limit budget n num per target step steps constant window horizon "
    "decay warmup cooldown random hidden size dim scale embedding encoding feature features "
    "threshold ratio rate factor weight init initial range resolution"
)
"""Words of settings: a 'max_runtime' is chosen."""
_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?\s*(Z|[+-]\d{2}:?\d{2})?)?"
    r"|(\d{1,2}\.\d{1,2}\.|\d{1,2}/\d{1,2}/)\d{4}([T ]\d{1,2}:\d{2}(:\d{2})?( ?[AP]M)?)?"
    r"|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"
)
_OUTCOMES = _words(
    "ok okay done success succeeded successful complete completed finished passed fail failed "
    "failure error crash crashed running pending queued waiting timeout killed canceled cancelled "
    "aborted pruned"
)
_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FEWEST_COUNTED = 5
"""Fewer whole numbers in a row are easily the values of a parameter."""


def suspects(columns: Mapping[str, Sequence[Value]], *, origin: str) -> list[HetboWarning]:
    """Return a note on tuned columns that look like no parameters, if there are such.

    Args:
        columns: The values of each column that is taken for a parameter, in the order of rows.
        origin: How the note calls the table.
    """
    found: dict[str, str] = {}
    for column, values in columns.items():
        reason = _of_name(column) or _of_values(values, alone=len(columns) == 1)
        if reason is not None:
            found[column] = reason
    if not found:
        return []
    listed = ", ".join(f"{shown(column)} ({reason})" for column, reason in found.items())
    return [
        HetboWarning(
            f"{origin}: taken for parameters, though they look like something else: {listed}; "
            f"drop={list(found)!r} leaves out what was not tuned"
        )
    ]


def _of_name(column: str) -> str | None:
    """Return what a column's name says that no parameter's would; None if nothing."""
    words = _joined([word.lower() for word in _WORD.findall(_HUMP.sub(" ", column))])
    if not _SETTINGS.isdisjoint(words):
        return None
    for word in words:
        if word in _TELLING:
            return _TELLING[word]
    if all(word in _TELLING_ALONE or word in _BESIDE for word in words):
        for word in words:
            if word in _TELLING_ALONE:
                return _TELLING_ALONE[word]
        if len(words) > 1 and not _UNITS.isdisjoint(words):
            return _TIME
    return None


def _joined(words: Sequence[str]) -> list[str]:
    """Return the words, those of `_TOGETHER` as one."""
    joined: list[str] = []
    for word in words:
        if joined and (joined[-1], word) in _TOGETHER:
            joined[-1] = _TOGETHER[joined[-1], word]
        else:
            joined.append(word)
    return joined


def _of_values(values: Sequence[Value], *, alone: bool) -> str | None:
    """Return what a column holds that no parameter would; None if it could be one."""
    texts = {value for value in values if isinstance(value, str)}
    if len(texts) > 0 and all(isinstance(value, str) for value in values):
        if all(map(_DATE.fullmatch, texts)):
            return "dates or times"
        if all(text.strip().lower() in _OUTCOMES for text in texts):
            return _RESULT
    # Where nothing else was tuned, somebody went through the values of one parameter.
    if not alone and len(values) >= _FEWEST_COUNTED and _counts(values):
        return "row numbers"
    return None


def _counts(values: Sequence[Value]) -> bool:
    whole = [value for value in values if isinstance(value, int) and not isinstance(value, bool)]
    start = whole[0] if whole else None
    return start in {0, 1} and whole == list(range(start, start + len(values)))
