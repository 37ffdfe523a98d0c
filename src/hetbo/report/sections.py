"""The sections of the page, in order: a title, a chart or a table, how to read it."""

import re
from collections.abc import Iterable, Iterator

from hetbo.experiments import TrialState
from hetbo.report import words
from hetbo.report.charts import progress_chart
from hetbo.report.markup import absent, chart, legend, section
from hetbo.report.model_sections import model_sections, value_axis
from hetbo.report.parallel import MOST_AXES, parallel_chart
from hetbo.report.style import ORANGE, RUST, SLATE, TEAL
from hetbo.report.tables import sources_table, trials_table
from hetbo.report.text import (
    NOTHING,
    counted,
    exact,
    first_sentences,
    html,
    label,
    number,
    shown_value,
)
from hetbo.report.view import Absent, View

_LONGEST_SENTENCE, _LONGEST_MORE = 320, 4000
_LONGEST_LIST = 600


def head(view: View, title: str) -> str:
    """Return the head of the page: what this is and what came of it.

    Args:
        view: What to show.
        title: The title, as HTML.
    """
    run, best = view.run, view.run.best_trial
    counts = [
        f"{run.count(state)} {state.value}"
        for state in (TrialState.FAILED, TrialState.PENDING)
        if run.count(state)
    ]
    everything = "all have a value" if run.trials else "none yet"
    value = NOTHING if best is None or best.value is None else number(best.value)
    precise = "" if best is None else f' title="{html(exact(best.value))}"'
    where = "no trial has a value yet" if best is None else f"trial {run.best}"
    sources = sum(len(source.complete) for source in view.sources)
    figures = [
        (f"Best {html(label(view.value))}", value, f"{where}, goal: {run.goal.value}", precise),
        ("Trials", str(len(run.trials)), ", ".join(counts) or everything, ""),
        ("Parameters", str(len(view.space)), f"{len(view.joint)} with those of the sources", ""),
        ("Sources", str(len(view.sources)), f"{counted(sources, 'value')} in all", ""),
        ("Method", view.method, f"hetbo {view.version}", ""),
    ]
    cells = "".join(
        f"<div><dt>{name}</dt><dd{attribute}>{html(text)}<small>{html(below)}</small></dd></div>"
        for name, text, below, attribute in figures
    )
    return "\n".join(
        [
            "<header>",
            '<p class="eyebrow">hetbo report</p>',
            f"<h1>{title}</h1>",
            _explained(view.explanation.sentence),
            f'<dl class="figures">{cells}</dl>',
            "</header>",
        ]
    )


def _explained(sentence: str) -> str:
    first = first_sentences(sentence, _LONGEST_SENTENCE)
    lead = f'<p class="lead" id="explanation">{html(first)}</p>'
    if not first.endswith("…"):
        return lead
    more = html(first_sentences(sentence, _LONGEST_MORE))
    return f"{lead}<details><summary>All that the models say</summary><p>{more}</p></details>"


def sections(view: View) -> Iterator[str]:
    """Yield the sections of the page."""
    yield from _best(view)
    yield _progress(view)
    yield _tree(view)
    yield from model_sections(view)
    yield _parallel(view)
    yield _trials(view)
    yield _sources(view)


def _best(view: View) -> Iterator[str]:
    best = view.run.best_trial
    if best is None:
        return
    pairs = "".join(
        f'<div><dt>{html(label(name))}</dt><dd title="{html(exact(value))}">'
        f"{html(shown_value(value))}</dd></div>"
        for name, value in best.params.items()
    )
    title = f"The parameters of trial {view.run.best}"
    yield section("Best parameters", title, f'<dl class="params">{pairs}</dl>')


def _progress(view: View) -> str:
    run, title = view.run, words.progress_title(view.run)
    if run.best is None:
        return absent("Progress", f"{title}.")
    entries = [("dot", SLATE, "a trial's value"), ("line", TEAL, "best so far")]
    caption = words.comparison(run)
    if not isinstance(run.expectations, Absent):
        entries.append(("dots", ORANGE, "best expected without the sources"))
        caption += (
            " How to read the dotted line: just before a trial, a model that knows the target's "
            "trials up to then, and no source, chooses its next point; the line is the best value "
            "that this model expects to have after that trial. It looks one step ahead, and knows "
            "trials that the sources helped to choose: it is not the course of a run of its own."
        )
    if run.count(TrialState.FAILED):
        entries.append(("cross", RUST, "failed"))
    return section(
        "Progress",
        title,
        legend(entries),
        value_axis(view),
        chart(progress_chart(run), title),
        caption=caption,
    )


def _tree(view: View) -> str:
    if not view.sources:
        reason = "There are no sources, so there is one block: all parameters of the target."
        return absent("Search spaces", reason)
    own = sum(0 in block.experiments for block in view.tree.blocks)
    common = [b for b in view.tree.blocks if len(b.experiments) == len(view.tree.names)]
    shared = sum(len(block.parameters) for block in common)
    count = len(view.tree.names)
    everyone = "both experiments" if count == 2 else f"all {count} experiments"  # noqa: PLR2004
    title = (
        f"{counted(shared, 'parameter is', 'parameters are')} common to {everyone}"
        if shared
        else "No parameter is common to all experiments"
    )
    rows = "".join(
        f"<li>k{position}: {_listed(block.parameters)} "
        f"({_listed(view.tree.names[i] for i in sorted(block.experiments))})</li>"
        for position, block in enumerate(view.tree.blocks, start=1)
    )
    return section(
        "Search spaces",
        title,
        _tree_picture(view),
        f"<details><summary>The blocks in full</summary><ul>{rows}</ul></details>",
        caption="Each box holds parameters that the same experiments tune; a box hangs below the "
        "smallest one that more experiments share. "
        f"The target has {counted(own, 'of the boxes', 'of the boxes')}.",
    )


def _tree_picture(view: View) -> str:
    """Return the tree; it shrinks to fit, but not so far that it cannot be read."""
    svg = view.tree.svg()
    natural = re.search(r' width="([0-9]+)"', svg)
    width = 0 if natural is None else int(natural[1])
    style = f"min-width:{0.75 * width:.0f}px;max-width:{width}px"
    return f'<div class="wide"><div style="{style}">{svg}</div></div>'


def _listed(names: Iterable[str]) -> str:
    return html(label(", ".join(map(label, names)), _LONGEST_LIST))


def _parallel(view: View) -> str:
    if view.run.best is None:
        return absent("All trials at once", f"{words.progress_title(view.run)}.")
    title = words.parallel_title(view.run)
    left = len(view.space) - MOST_AXES
    more = f" {counted(left, 'parameter')} more not shown." if left > 0 else ""
    return section(
        "All trials at once",
        title,
        chart(parallel_chart(view.run, view.space, view.value), title),
        caption="Each line from top to bottom is a trial, each row a parameter, from its lowest "
        "value on the left to its highest on the right. The stronger the colour, the better."
        f"{more}",
    )


def _trials(view: View) -> str:
    count = len(view.run.trials)
    if count == 0:
        return absent("Trials", "No trial has been made yet.")
    return section(
        "Trials",
        f"{counted(count, 'trial')} of the target",
        trials_table(view),
        caption="Numbers count from 0, as in optimizer.trials. A click on a column's name sorts; "
        "all digits show on hovering.",
    )


def _sources(view: View) -> str:
    if not view.sources:
        return absent("Sources", "There are no sources.")
    return section(
        "Sources",
        f"{counted(len(view.sources), 'past experiment')}",
        sources_table(view),
        caption="Trust and correlation are today's. A parameter that a source lacks is learned, if "
        "the method does so, unless the source held it at a known value.",
    )
