"""The parts that sections are built from: a chart, a legend, a frame around both."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from hetbo.report.style import Figure
from hetbo.report.text import html

_JSON_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})
_INKED = {"dots": "color", "cross": "color"}
"""Shapes that are drawn, and not filled."""


def chart(figure: Figure, title: str) -> str:
    """Return a chart; its data stands in the page as JSON.

    Args:
        figure: The figure.
        title: What to see in it, for those who cannot see it.
    """
    data = json.dumps(_finite(figure), allow_nan=False, separators=(",", ":"))
    return (
        f'<div class="chart" role="img" aria-label="{html(title)}">'
        f'<script type="application/json">{data.translate(_JSON_ESCAPES)}</script></div>'
    )


def _finite(data: Any) -> Any:  # noqa: ANN401  # any JSON
    """Return data with None in place of numbers that JSON does not have."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


def legend(entries: Iterable[tuple[str, str, str]]) -> str:
    """Return a legend.

    Args:
        entries: The shape ('dot', 'line', 'dots' or 'cross'), the colour and the name of each.
    """
    items = [
        f'<li><i class="{shape}" style="{_INKED.get(shape, "background")}:{colour}">'
        f"</i>{html(name)}</li>"
        for shape, colour, name in entries
    ]
    return f'<ul class="legend">{"".join(items)}</ul>'


def section(name: str, title: str, *parts: str, caption: str = "") -> str:
    """Return a section.

    Args:
        name: What it is about, in a word or two.
        title: What to see in it.
        parts: Its content, as HTML.
        caption: How to read it.
    """
    anchor = name.lower().replace(" ", "-")
    below = [f'<p class="caption">{html(caption)}</p>'] if caption else []
    top = f'<p class="eyebrow">{html(name)}</p>\n<h2>{html(title)}</h2>'
    return "\n".join([f'<section id="{anchor}">', top, *parts, *below, "</section>"])


def absent(name: str, reason: str) -> str:
    """Return a section that has nothing to show but a sentence."""
    return "\n".join(
        [
            f'<section id="{name.lower().replace(" ", "-")}" class="absent">',
            f'<p class="eyebrow">{html(name)}</p>',
            f"<p>{html(reason)}</p>",
            "</section>",
        ]
    )


def small_multiples(items: Sequence[tuple[str, str, Figure]]) -> str:
    """Return small charts side by side, each with a name and a line of text."""
    cells = [
        f"<div><h3>{html(name)}</h3><p>{html(text)}</p>{chart(figure, f'{name}: {text}')}</div>"
        for name, text, figure in items
    ]
    return f'<div class="small">{"".join(cells)}</div>'
