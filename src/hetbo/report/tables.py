"""The tables of trials and sources: readable numbers, all digits on hovering."""

from collections.abc import Iterable

from hetbo.experiments import Experiment, TrialState
from hetbo.report.text import NOTHING, counted, exact, html, label, shown_value
from hetbo.report.view import View
from hetbo.spaces import Categorical, Parameter, Value

_MOST_NAMED = 8
_MOST_IN_FULL = 50
"""A longer table scrolls within the page."""


def trials_table(view: View) -> str:
    """Return the table of all trials of the target, as HTML."""
    run = view.run
    noisy = any(trial.noise is not None for trial in run.trials)
    heads = [_head("trial", numeric=True), _head("state"), _head(view.value, numeric=True)]
    heads += [_head("noise", numeric=True)] if noisy else []
    heads += [_head(name, numeric=_is_number(p)) for name, p in view.space.items()]
    rows = []
    for position, trial in enumerate(run.trials):
        failed = ' class="failed"' if trial.state is TrialState.FAILED else ""
        state = trial.state.value
        cells = [_cell(position, numeric=True), f'<td{failed} data-key="{state}">{state}</td>']
        cells.append(_cell(trial.value, numeric=True, empty=True))
        cells += [_cell(trial.noise, numeric=True, empty=True)] if noisy else []
        cells += [
            _cell(trial.params[name], numeric=_is_number(parameter))
            for name, parameter in view.space.items()
        ]
        best = ' class="best"' if position == run.best else ""
        rows.append(f"<tr{best}>{''.join(cells)}</tr>")
    return _table("trials", heads, rows, tall=len(rows) > _MOST_IN_FULL)


def sources_table(view: View) -> str:
    """Return the table of the sources, as HTML."""
    heads = [
        _head("source"),
        _head("trust", numeric=True),
        _head("correlation", numeric=True),
        _head("values", numeric=True),
        _head("failed", numeric=True),
        _head("best value", numeric=True),
        _head("goal"),
        _head("what differs"),
    ]
    rows = []
    for source in view.sources:
        failed = sum(trial.state is TrialState.FAILED for trial in source.trials)
        best = None if source.best is None else source.best.value
        differs = _differs(view, source)
        cells = [
            _cell(source.name),
            *_trust_cells(view, source),
            _cell(len(source.complete), numeric=True),
            _cell(failed, numeric=True),
            _cell(best, numeric=True, empty=True),
            _cell(source.goal.value),
            f'<td class="wrap" data-key="{html(differs)}">{html(differs)}</td>',
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return _table("sources", heads, rows)


def _trust_cells(view: View, source: Experiment) -> list[str]:
    """Return the trust in a source and its correlation, or that it is left out."""
    if source.name in view.explanation.left_out:
        return [_cell("left out: noise"), _cell(None, numeric=True, empty=True)]
    found = (view.explanation.sources, view.explanation.correlations)
    return [_cell(one.get(source.name), numeric=True, empty=True, digits=2) for one in found]


def _differs(view: View, source: Experiment) -> str:
    """Say which parameters a source lacks, holds or has in addition."""
    lacks = [name for name in view.space if name not in source.space]
    held = [f"{_short(n)} at {shown_value(source.fixed[n])}" for n in lacks if n in source.fixed]
    parts = []
    if unknown := [_short(name) for name in lacks if name not in source.fixed]:
        parts.append(f"did not tune {_several(unknown)}")
    if held:
        parts.append(f"held {_several(held)}")
    if extra := [_short(name) for name in source.space if name not in view.space]:
        parts.append(f"also tuned {_several(extra)}")
    return "; ".join(parts) or "the same parameters"


def _short(name: str) -> str:
    return label(name, 24)


def _several(names: list[str]) -> str:
    left = len(names) - _MOST_NAMED
    more = [f"and {counted(left, 'other')}"] if left > 0 else []
    return ", ".join([*names[:_MOST_NAMED], *more])


def _is_number(parameter: Parameter) -> bool:
    return not isinstance(parameter, Categorical)


def _head(name: str, *, numeric: bool = False) -> str:
    kind = ' class="number"' if numeric else ""
    full = f' title="{html(exact(name))}"' if len(name) > len(_short(name)) else ""
    return f'<th scope="col"{kind}{full}><button type="button">{html(_short(name))}</button></th>'


def _cell(
    value: Value, *, numeric: bool = False, empty: bool = False, digits: int | None = None
) -> str:
    """Return a cell; where `empty`, None means that there is nothing to show."""
    kind = ' class="number"' if numeric else ""
    if value is None and empty:
        return f"<td{kind}>{NOTHING}</td>"
    text = shown_value(value)
    if digits is not None and isinstance(value, float):
        text = f"{value:.{digits}f}"
    key = html(exact(value) if numeric else label(str(value), 80))
    return f'<td{kind} title="{html(exact(value))}" data-key="{key}">{html(text)}</td>'


def _table(name: str, heads: Iterable[str], rows: Iterable[str], *, tall: bool = False) -> str:
    body, kind = "\n".join(rows), "wide tall" if tall else "wide"
    return (
        f'<div class="{kind}"><table id="{name}"><thead><tr>{"".join(heads)}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
