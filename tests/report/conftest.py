"""A run to report on, its page, and a browser to look at pages with."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from hetbo import Optimizer
from hetbo.plot import Run
from hetbo.report import report_html
from report.runs import ATTACKS, UNPRINTABLE, attacked, tuned_run

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def tuned() -> Optimizer:
    return tuned_run()


@pytest.fixture(scope="session")
def tuned_page(tuned: Optimizer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_html(tuned, title="A run"), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def attacked_run() -> Run:
    return Run(attacked(), value="".join(ATTACKS) + UNPRINTABLE)


@pytest.fixture(scope="session")
def browser() -> Iterator[webdriver.Chrome]:
    """A browser without a window and with an empty profile."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("NOT TESTED in a browser: install chromium and chromedriver to do so")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        chrome = webdriver.Chrome(options=options, service=Service(driver))
        yield chrome
        chrome.quit()
