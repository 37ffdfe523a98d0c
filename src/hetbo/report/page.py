"""One HTML file that needs nothing else: style, script, Plotly and data are inside."""

import base64
import hashlib
from importlib.resources import files

from hetbo.report.sections import head, sections
from hetbo.report.text import html, label
from hetbo.report.view import View

_LONGEST_TITLE = 120


def page(view: View, plotly_js: str) -> str:
    """Return the report as HTML.

    Args:
        view: What to show.
        plotly_js: Plotly's script.
    """
    style, script = _file("report.css"), _file("report.js")
    title = html(label(view.title, _LONGEST_TITLE))
    # Only these two scripts may run, and nothing may be loaded: whatever a name contains, and
    # even if it were not escaped, it could do nothing.
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; "
        f"script-src {_hash(plotly_js)} {_hash(script)}"
    )
    body = "\n".join([head(view, title), *sections(view)])
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="hetbo {html(view.version)}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<main>
{body}
<footer>Made by hetbo {html(view.version)}. This file works offline and contains all its data.
<noscript>The charts need JavaScript.</noscript></footer>
</main>
<script>{plotly_js}</script>
<script>{script}</script>
</body>
</html>
"""


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
