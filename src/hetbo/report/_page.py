"""One HTML file that needs nothing else: style, scripts, Plotly and data are inside."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from hetbo import __version__
from hetbo.experiments import TrialState
from hetbo.plot import (
    Chart,
    Run,
    correlations,
    effects,
    missing_values,
    parallel_coordinates,
    predictions,
    progress,
    trust,
)
from hetbo.plot._style import AXIS, LOOK
from hetbo.plot._text import NOTHING, counted, exact, label, shown_value
from hetbo.report._embedding import embedded
from hetbo.report._sources import named_sources, others_sentence, source_rows, spaces

CHARTS = (
    progress,
    trust,
    correlations,
    missing_values,
    effects,
    predictions,
    parallel_coordinates,
)
"""The charts of every report, in their order."""

_STILL = {**AXIS, "fixedrange": True}
_LOOK = LOOK["layout"] | {"showlegend": False, "dragmode": False, "xaxis": _STILL, "yaxis": _STILL}
"""Charts cannot be dragged, so that a finger scrolls the page."""
_LONGEST_TITLE, _LONGEST_SENTENCE, _LONGEST_MORE = 120, 320, 4000


def page(run: Run, title: str, charts: Sequence[Chart] = (), plotly_js: str | None = None) -> str:
    """Return the report as HTML.

    Args:
        run: What to report on.
        title: What stands above it.
        charts: Charts in addition to those of every report.
        plotly_js: Plotly's script; that of the installed Plotly if None.
    """
    rows = {row.source.name: row for row in source_rows(run)}
    first, *others = (embedded(chart, run) for chart in (*CHARTS, *charts))
    return rendered(
        "page.html",
        title,
        plotly_js=plotly_js,
        explanation=_explanation(run),
        states=_states(run),
        run=run,
        progress=first,
        spaces=spaces(run),
        charts=others,
        sources=list(rows.values()),
        named_sources=[rows[name] for name in named_sources(run)],
        other_sources=others_sentence(run),
    )


def rendered(template: str, title: str, *, plotly_js: str | None = None, **content: object) -> str:
    """Return a page of a template, with the style, the scripts and the look of all pages.

    Args:
        template: The template's file.
        title: What stands above the page.
        plotly_js: Plotly's script; that of the installed Plotly if None.
        content: What is particular to this template.
    """
    plotly_js = _plotly_js() if plotly_js is None else plotly_js
    style, script = _file("report.css"), _file("report.js")
    # Only these two scripts may run, and nothing may be loaded: whatever a name contains, and
    # even if it were not escaped, it could do nothing.
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; "
        f"script-src {_hash(plotly_js)} {_hash(script)}"
    )
    return (
        _environment()
        .get_template(template)
        .render(
            title=label(title, _LONGEST_TITLE),
            version=__version__,
            policy=policy,
            look={"layout": _LOOK},
            style=style,
            script=script,
            plotly_js=plotly_js,
            **content,
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hetbo.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    filters = {"counted": counted, "exact": exact, "label": label, "shown": shown_value}
    environment.filters |= filters
    environment.globals["nothing"] = NOTHING
    return environment


def _file(name: str) -> str:
    return files("hetbo.report").joinpath("templates", name).read_text(encoding="utf-8")


def _plotly_js() -> str:
    from plotly.offline import get_plotlyjs  # noqa: PLC0415  # only a report needs it

    return str(get_plotlyjs())


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _states(run: Run) -> str:
    """Return how many trials have no value."""
    states = (TrialState.FAILED, TrialState.PENDING)
    counts = [f"{run.count(state)} {state.value}" for state in states if run.count(state)]
    return ", ".join(counts) or ("all have a value" if run.trials else "none yet")


def _explanation(run: Run) -> list[str]:
    """Return the first sentences of what the models say, and if these are not all, all."""
    sentence = run.explanation.sentence
    first = first_sentences(sentence, _LONGEST_SENTENCE)
    return [first, first_sentences(sentence, _LONGEST_MORE)] if first.endswith("…") else [first]


def first_sentences(text: str, longest: int) -> str:
    """Return as many sentences as fit, with an ellipsis if some are left out."""
    line = label(text, longest)
    if not line.endswith("…"):
        return line
    end = line.rfind(". ")
    return f"{line[: end + 1]} …" if end > 0 else line
