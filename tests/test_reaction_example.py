import pytest

import reaction


def test_the_yield_has_its_known_maximum() -> None:
    best = {
        "temperature": 20 + 100 * 0.20169,
        "minutes": 60**0.150011,
        "acidity": 3 + 8 * 0.476874,
        "concentration": 10 ** (-2 + 2 * 0.275332),
        "catalyst": 10 * 0.311652,
        "stirring": round(100 + 800 * 0.6573),
    }
    assert reaction.reaction_yield(**best) == pytest.approx(100, abs=0.01)


def test_it_tunes_compares_and_explains(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaction, "TRIALS", 11)
    reaction.main(["3"])
    shown = capsys.readouterr().out
    for part in (
        "same in both: temperature, minutes, acidity, concentration",
        "k2: catalyst, stirring  [today]",
        "with last year    10/11",
        "without           11/11",
        "After 10 trials:",
        "Best parameters: temperature",
        "Suggestions rest",
        "catalyst of 'last-year'",
        "In truth it was catalyst 3.5 and stirring 580",
    ):
        assert part in shown
