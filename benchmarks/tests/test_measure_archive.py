"""What `script/bench archive` prints, at sizes that take seconds."""

import time

import pytest

from hetbo_bench.measure import archive
from hetbo_bench.measure.archive import Session, TooSlow, archive_name, at_most, main


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "SIZES", ((1, 5), (2, 5)))
    monkeypatch.setattr(archive, "GROWTHS", (((1, 5), (2, 5)),))
    monkeypatch.setattr(archive, "OWN", (6, 9))
    monkeypatch.setattr(archive, "STARTS", ((2, 5),))


@pytest.mark.usefixtures("small")
def test_every_part_says_what_it_measured(capfd: pytest.CaptureFixture[str]) -> None:
    main(["--method", "random", "--asks", "2"])
    printed = capfd.readouterr().out
    for words in (
        "times the",
        "growth exponent from 1 x 5 to 2 x 5",
        "growth exponent from 6 to 9",
        "second start",
        "MiB",
    ):
        assert words in printed
    assert "not done" not in printed
    assert "failed" not in printed


@pytest.mark.usefixtures("small")
def test_what_is_too_slow_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Session, "ask", lambda _: time.sleep(5))
    main(["sizes", "own", "--limit", "0.05"])
    printed = capsys.readouterr().out
    assert printed.count("not done within 0.05 s: the first ask was not over") == 4
    assert "exponent" not in printed


def test_a_block_that_is_quick_is_left_alone() -> None:
    with at_most(0.05):
        pass
    time.sleep(0.1)
    with pytest.raises(TooSlow), at_most(0.05):
        time.sleep(5)


def test_unknown_parts_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["size"])
    assert "expected one of sizes, own, start" in capsys.readouterr().err


def test_a_session_tells_what_it_asked_for() -> None:
    session = Session.begun(archive_name(2, 5), "random", 4)
    session.ask()
    session.ask()
    assert len(session.optimizer.trials) == 6
    assert all(t.value == session.problem.evaluate(t.params) for t in session.optimizer.trials)
    assert len(session.seconds) == 2
