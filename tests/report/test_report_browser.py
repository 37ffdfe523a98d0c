"""The page in a real browser: it draws, it asks for nothing, it fits a phone, it is not fooled."""

import json
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from hetbo import Optimizer, TrialState
from hetbo.plot import Run
from hetbo.plot._text import label
from hetbo.report._page import page
from report.runs import ATTACKS

DESKTOP, PHONE = 1280, 390


def show(browser: Chrome, path: Path, width: int = DESKTOP, *, scheme: str = "light") -> None:
    """Open a page and wait for its charts; forget what was logged before."""
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    browser.get(path.as_uri())


def requests(browser: Chrome) -> list[str]:
    """Return the addresses of all that the page asked for."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


def evaluated(browser: Chrome, expression: str) -> Any:  # noqa: ANN401  # any JSON
    return browser.execute_script(f"return {expression}")


def test_it_loads_without_an_error_and_without_the_network(
    browser: Chrome, tuned_page: Path
) -> None:
    show(browser, tuned_page)
    asked = requests(browser)
    assert tuned_page.as_uri() in asked
    of_its_own = ("data:,", "chrome://")  # what the browser begins with
    others = [url for url in asked if not url.startswith(of_its_own)]
    assert set(others) == {tuned_page.as_uri()}
    assert browser.get_log("browser") == []
    assert browser.title == "A run"


def test_every_chart_has_marks(browser: Chrome, tuned_page: Path) -> None:
    show(browser, tuned_page)
    marks = evaluated(
        browser,
        "[...document.querySelectorAll('.chart')].map(chart => [...chart.querySelectorAll("
        "'.scatterlayer path, .barlayer path')].filter(path => path.getTotalLength() > 1).length)",
    )
    assert len(marks) == 11
    assert min(marks) >= 2
    progress = evaluated(
        browser, "document.querySelectorAll('#progress .scatterlayer .point').length"
    )
    assert progress >= 8 + 1 + 1


def test_the_table_holds_the_right_numbers_and_sorts(
    browser: Chrome, tuned: Optimizer, tuned_page: Path
) -> None:
    show(browser, tuned_page)
    rows = browser.find_elements(By.CSS_SELECTOR, "#trials table tbody tr, table#trials tbody tr")
    assert len(rows) == len(tuned.trials)
    for row, trial in zip(rows, tuned.trials, strict=True):
        cells = row.find_elements(By.TAG_NAME, "td")
        assert cells[1].text == trial.state.value
        assert [cell.get_attribute("title") for cell in cells[3:]] == [
            repr(value) for value in trial.params.values()
        ]
        if trial.value is not None:
            assert cells[2].get_attribute("title") == repr(trial.value)
            assert float(cells[2].text) == pytest.approx(trial.value, rel=5e-5)
    shown = "[...document.querySelectorAll('table#trials tbody tr')].map(r => r.cells[0].innerText)"
    values = {n: t.value for n, t in enumerate(tuned.trials) if t.state is TrialState.COMPLETE}
    rising = [str(n) for n in sorted(values, key=lambda n: values[n] or 0.0)]
    head = browser.find_elements(By.CSS_SELECTOR, "table#trials th button")[2]
    browser.execute_script("arguments[0].click()", head)
    assert evaluated(browser, shown)[:8] == rising
    browser.execute_script("arguments[0].click()", head)
    assert evaluated(browser, shown)[:8] == rising[::-1]
    assert set(evaluated(browser, shown)[8:]) == {"4", "9"}


@pytest.mark.parametrize("width", [320, PHONE, DESKTOP])
def test_the_page_does_not_scroll_sideways(browser: Chrome, tuned_page: Path, width: int) -> None:
    show(browser, tuned_page, width)
    assert evaluated(browser, "document.documentElement.scrollWidth") <= width
    too_wide = evaluated(
        browser,
        "[...document.querySelectorAll('.chart')].filter(chart => "
        "chart.querySelector('svg').getBoundingClientRect().width > chart.clientWidth + 1).length",
    )
    assert too_wide == 0


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_text_stands_out_in_both_colour_schemes(
    browser: Chrome, tuned_page: Path, scheme: str, *, dark: bool
) -> None:
    show(browser, tuned_page, scheme=scheme)
    for selector, style in (("section h2", "color"), (".xtick text", "fill")):
        script = f"getComputedStyle(document.querySelector('{selector}')).{style}"
        text = _brightness(evaluated(browser, script))
        behind = _brightness(
            evaluated(
                browser, "getComputedStyle(document.querySelector('section')).backgroundColor"
            )
        )
        assert (text > behind) is dark
        brighter, darker = max(text, behind) + 0.05, min(text, behind) + 0.05
        assert brighter / darker > 4.5  # what accessibility guidelines ask for


def _brightness(colour: str) -> float:
    """Return the relative luminance of 'rgb(…)', as accessibility guidelines define it."""
    parts = [int(part) / 255 for part in colour[4:-1].split(",")]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.fixture(scope="module")
def attacked_pages(attacked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The page of a run whose names are attacks, protected against scripts or open to them."""
    folder = tmp_path_factory.mktemp("attacked")
    html = page(attacked_run, attacked_run.value)
    pages = {
        "protected": html,
        "open": html.replace('http-equiv="Content-Security-Policy"', 'name="policy"'),
    }
    paths = {name: folder / f"{name}.html" for name in pages}
    for name, path in paths.items():
        path.write_text(pages[name], encoding="utf-8")
    return paths


@pytest.mark.parametrize("kind", ["protected", "open"])
def test_names_that_are_attacks_do_nothing(
    browser: Chrome, attacked_pages: dict[str, Path], kind: str
) -> None:
    # Without the protection too: escaping alone must be enough.
    path = attacked_pages[kind]
    show(browser, path, PHONE)
    assert evaluated(browser, "window.hacked") is None
    assert [url for url in requests(browser) if url not in {path.as_uri(), "data:,"}] == []
    assert browser.get_log("browser") == []
    assert (
        evaluated(browser, "document.querySelectorAll('.chart a, img, main > script').length") == 0
    )
    assert evaluated(browser, "document.documentElement.scrollWidth") <= PHONE
    heads = [h.text for h in browser.find_elements(By.CSS_SELECTOR, "#effects h3")]
    assert set(heads) == {label(name) for name in ATTACKS[:4]}


def test_hovering_shows_names_as_they_are(browser: Chrome, attacked_pages: dict[str, Path]) -> None:
    show(browser, attacked_pages["protected"])
    script = (
        "const chart = document.querySelector('#trust-in-the-sources .chart');"
        "Plotly.Fx.hover(chart, [{curveNumber: 0, pointNumber: 1}]);"
        "return chart.querySelector('.hoverlayer').textContent"
    )
    browser.execute_script("window.scrollTo(0, 0)")
    text = browser.execute_script(script)
    assert label(ATTACKS[4]) in text or label("y" * 100) in text
    assert evaluated(browser, "document.querySelectorAll('.hoverlayer a').length") == 0
    ticks = evaluated(
        browser,
        "[...document.querySelectorAll('#all-trials-at-once .ytick text')].map(t => t.textContent)",
    )
    assert any(tick.startswith(label(ATTACKS[0], 16)) for tick in ticks)
