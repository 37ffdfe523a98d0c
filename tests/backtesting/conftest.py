import pytest


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make fewer replays without sources, which take most of a small backtest's time."""
    monkeypatch.setattr("hetbo.backtesting._plan.WITHOUT_REPEATS", 3)
