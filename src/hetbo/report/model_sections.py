"""The sections that show what the models found."""

from collections.abc import Iterator

from hetbo.report import words
from hetbo.report.charts import (
    MOST_CORRELATED,
    correlation_chart,
    left_out_chart,
    series_colour,
    trust_chart,
)
from hetbo.report.markup import absent, chart, legend, section, small_multiples
from hetbo.report.small_charts import effect_chart, learned_chart
from hetbo.report.style import ORANGE, RUST, SERIES, SLATE, TEAL
from hetbo.report.text import counted, html, label, number
from hetbo.report.view import Absent, View

_LONGEST_LIST = 600
_MOST_SMALL = 12


def model_sections(view: View) -> Iterator[str]:
    """Yield what the models found, about the sources first."""
    yield _trust(view)
    yield _correlations(view)
    yield _learned(view)
    yield _effects(view)
    yield _left_out(view)


def value_axis(view: View) -> str:
    """Return what stands above an axis of values."""
    better = "larger" if view.run.goal.sign > 0 else "smaller"
    return f'<p class="axis-name">{html(label(view.value))} ({better} is better)</p>'


def _trust(view: View) -> str:
    history = view.trust
    if isinstance(history, Absent):
        return absent("Trust in the sources", history.reason)
    title = words.trust_title(history)
    last = history.steps[-1].trust
    ranked = sorted(range(len(last)), key=lambda index: -last[index])
    entries = [
        ("line", series_colour(history, i), f"{label(history.names[i])}: {last[i]:.2f}")
        for i in ranked[: len(SERIES)]
    ]
    if len(last) > len(SERIES):
        entries.append(("line", SLATE, "all others"))
    return section(
        "Trust in the sources",
        title,
        legend(entries),
        '<p class="axis-name">trust</p>',
        chart(trust_chart(history), title),
        caption="Trust runs from 0 to 1: the say of the models that use sources, times how "
        "closely a source goes along with the target, times how much of its values is more than "
        "noise. From 0.7 on a source is followed closely, from 0.3 on with caution. The models "
        "were fitted anew to the first trials alone; it is what they make of them now, not a "
        "record of the run.",
    )


def _correlations(view: View) -> str:
    found = view.correlations
    if isinstance(found, Absent):
        return absent("Correlations", found.reason)
    title = words.correlation_title(found)
    negative = any(value < 0 for row in found.matrix for value in row)
    opposite = [("dot", RUST, "go opposite ways")] if negative else []
    left = len(found.names) - 1 - MOST_CORRELATED
    more = f" {counted(left, 'source')} with smaller ones left out." if left > 0 else ""
    return section(
        "Correlations",
        title,
        legend([("dot", TEAL, "go the same way"), *opposite]),
        f'<div class="narrow">{chart(correlation_chart(found), title)}</div>',
        caption="How experiments go along with each other, from -1 to +1, as the models see it: "
        "a large circle means that good parameters of one tell much about the other, even if "
        f"their values are on different scales.{more}",
    )


def _learned(view: View) -> str:
    found = view.learned
    if isinstance(found, Absent):
        return absent("Missing values", found.reason)
    ranked = sorted(found, key=lambda value: not words.is_told(value))
    items = [
        (
            words.learned_name(value),
            words.learned_words(value),
            learned_chart(value, view.joint[value.parameter]),
        )
        for value in ranked[:_MOST_SMALL]
    ]
    rest = [words.learned_name(value) for value in ranked[_MOST_SMALL:]]
    more = f" Not shown: {label(', '.join(rest), _LONGEST_LIST)}." if rest else ""
    return section(
        "Missing values",
        words.learned_title(found),
        small_multiples(items),
        caption="Values that parameters seem to have had where an experiment did not tune them. "
        "The curve says how likely each value is, the orange line which ones the trials do not "
        f"rule out (95 %), the dot is the most likely one; bars are probabilities.{more}",
    )


def _effects(view: View) -> str:
    found = view.effects
    if isinstance(found, Absent):
        return absent("Effects", found.reason)
    shown = found[:_MOST_SMALL]
    ends = (min(min(e.band.low) for e in shown), max(max(e.band.high) for e in shown))
    items = [
        (
            label(effect.parameter),
            f"changes the prediction by {number(effect.size, 3)}"
            if effect.seen
            else "no model of this method sees it",
            effect_chart(effect, ends),
        )
        for effect in shown
    ]
    rest = [label(effect.parameter) for effect in found[_MOST_SMALL:]]
    more = f" Smaller effects, not shown: {label(', '.join(rest), _LONGEST_LIST)}." if rest else ""
    return section(
        "Effects",
        words.effects_title(found),
        value_axis(view),
        small_multiples(items),
        caption="The predicted value (line) and where it lies with 95 % probability (band) if one "
        "parameter moves and all others stay as in the best trial (orange). The models speak "
        f"together, each with its weight. All charts have the same scale.{more}",
    )


def _left_out(view: View) -> str:
    found = view.left_out
    if isinstance(found, Absent):
        return absent("Predictions", found.reason)
    title = words.left_out_title(found)
    outside = [("dot", ORANGE, "outside")] if found.inside < len(found.trials) else []
    return section(
        "Predictions",
        title,
        legend([("dot", TEAL, "value within its band"), *outside]),
        '<p class="axis-name">predicted from all other trials</p>',
        chart(left_out_chart(found), title),
        caption="Each trial is predicted from all others; the bar holds the measured value with "
        "95 % probability. The nearer to the dotted line, the better. The models' settings come "
        "from all trials, so that this is a little better than what new trials will show.",
    )
