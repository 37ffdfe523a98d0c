"""What is said of many sources."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetbo import (
    Categorical,
    Experiment,
    Float,
    Goal,
    JointSpace,
    Optimizer,
    SourceWarning,
    Space,
    Trial,
)
from hetbo.errors import shown
from hetbo.joint._notes import why_dropped
from hetbo.methods import MOST_SOURCES, Engine, most_trusted, summed_up, verdict
from hetbo.methods._explanation import _common_cautions
from hetbo.methods._summary import headline

trusts = st.dictionaries(st.text(min_size=1), st.floats(0, 1), max_size=40)


def dropped(*names: str, why: str = "it is noise.") -> dict[str, str]:
    return {name: f"{shown(name)} is not used: {why}" for name in names}


@given(trusts, st.data())
def test_the_most_trusted_are_named(trust: dict[str, float], data: st.DataObject) -> None:
    gone = data.draw(st.sets(st.sampled_from(sorted(trust))) if trust else st.just(set()))
    named = most_trusted(trust, dropped(*gone))
    if len(trust) <= MOST_SOURCES:
        assert named == list(trust)
        return
    assert len(named) == min(MOST_SOURCES, len(trust) - len(gone))
    assert not gone & set(named)
    others = set(trust) - set(named) - gone
    assert all(trust[one] <= trust[name] for one in others for name in named)
    assert [trust[name] for name in named] == sorted((trust[n] for n in named), reverse=True)


@given(st.floats(0, 1))
def test_words_fit_the_digits_that_are_shown(trust: float) -> None:
    shown_trust = float(f"{trust:.2f}")
    assert verdict(trust) == (
        "is followed closely"
        if shown_trust >= 0.7
        else "is followed with caution"
        if shown_trust >= 0.3
        else "hardly counts"
        if trust
        else "is not used"
    )
    assert ("mostly on the sources" in headline(trust)) is (shown_trust >= 0.7)
    assert ("partly" in headline(trust)) is (0.3 <= shown_trust < 0.7)


@pytest.mark.parametrize(("trust", "word"), [(0.6987, "closely"), (0.2962, "caution")])
def test_a_trust_that_is_shown_as_a_bound_has_reached_it(trust: float, word: str) -> None:
    assert word in verdict(trust)


def test_the_others_are_counted() -> None:
    assert list(summed_up([])) == []
    assert list(summed_up([0.9])) == ["Of the other sources, 1 is followed closely."]
    assert list(summed_up([0.1, 0.2])) == ["Of the other sources, 2 hardly count."]
    assert list(summed_up([0.1, 0.8, 0.4, 0.2, 0.5])) == [
        "Of the other sources, 1 is followed closely, 2 are followed with caution "
        "and 2 hardly count."
    ]


@given(st.lists(st.floats(0, 1), min_size=1))
def test_the_counts_add_up(trust: list[float]) -> None:
    (sentence,) = summed_up(trust)
    assert sum(int(word) for word in sentence.split() if word.isdigit()) == len(trust)
    assert verdict(max(trust)).split()[1].rstrip("s") in sentence


def test_the_reasons_why_sources_are_dropped_are_told_once() -> None:
    few = dropped("a", "b")
    assert list(why_dropped(few)) == list(few.values())
    many = dropped(*"abcd") | dropped("x", why="it shares no parameter.") | {"y": "y is odd."}
    assert list(why_dropped(many)) == [
        "4 sources are not used, for example 'a': it is noise.",
        "'x' is not used: it shares no parameter.",
        "y is odd.",
    ]


def test_an_explanation_of_many_sources_is_short() -> None:
    space = Space(a=Float(0, 1), b=Categorical("x", "y"))
    sources = [
        Experiment(
            f"old {n:02}",
            Space(a=Float(0, 1)) if n % 4 else Space(other=Float(0, 1)),
            [Trial({"a" if n % 4 else "other": 0.1 * k}, k * 0.2) for k in range(2)],
            goal="maximize" if n % 3 == 1 else "minimize",
        )
        for n in range(15)
    ]
    with pytest.warns(SourceWarning) as warned:
        optimizer = Optimizer(
            space, sources=sources, method="learned-imputation", goal="minimize", seed=0
        )
    told = [str(warning.message) for warning in warned]
    assert told[0].startswith("4 sources are not used, for example 'old 00': it shares no")
    assert told[1].startswith("The goal of 5 sources, 'old 01' for one, was to maximize, that of")
    assert len(told) == 2
    optimizer.tell({"a": 0.3, "b": "x"}, 0.5)
    explanation = optimizer.explain()
    assert len(explanation.sources) == 15
    assert len(explanation.dropped_sources) == 4
    named = [name for name in explanation.sources if shown(name) in explanation.sentence]
    assert len(named) <= MOST_SOURCES + 2  # examples of those dropped, and of an opposite goal
    assert "4 sources are not used, for example 'old 00': it shares no" in explanation.sentence
    assert "was to maximize, that of the target is to minimize" in explanation.sentence
    assert "1 more missing value is not listed." in explanation.sentence
    assert len(explanation.sentence) < 2500


def test_it_is_said_why_nothing_can_be_learned_from_a_source() -> None:
    space = Space(a=Float(0, 1), b=Float(0, 1))
    points = np.random.default_rng(0).random((12, 2)).tolist()

    def source(name: str, values: Sequence[float | None]) -> Experiment:
        trials = [
            Trial({"a": a, "b": b}, value) for (a, b), value in zip(points, values, strict=False)
        ]
        return Experiment(name, space, trials, goal="minimize")

    good = [source(f"good {n}", [a + n * b for a, b in points]) for n in range(8)]
    silent = [source("flat", [1.0] * 12), source("one", [2.0]), source("none", [None, None])]
    optimizer = Optimizer(space, sources=[*good, *silent], goal="minimize", seed=0)
    before = optimizer.explain()
    assert "'good 1' and 'good 7' are followed closely, as any source is" in before.sentence
    assert before.sentence.count("as any source is before the first value") <= 2
    for a, b in points[:6]:
        optimizer.tell({"a": a, "b": b}, a + 2 * b)
    for explanation in (before, optimizer.explain()):
        assert list(explanation.dropped_sources) == ["flat", "none", "one"]
        assert "'flat' is not used: all of its values are equal." in explanation.sentence
        assert "'none' is not used: none of its trials has a value." in explanation.sentence
        assert "'one' is not used: a single value does not say" in explanation.sentence
        assert explanation.sentence.count("not used") == 3
        assert not {"flat", "one", "none"} & {*explanation.correlations}


@pytest.mark.parametrize(("count", "words"), [(1, "In 1 other source"), (2, "In 2 other sources")])
def test_clipped_values_of_other_sources_are_counted(count: int, words: str) -> None:
    space = Space(x=Float(0, 1))
    trials = [Trial({"x": k / 30}, k / 30) for k in range(30)]
    trials.append(Trial({"x": 1.0}, 999.0))
    sources = [Experiment(f"old {k}", space, trials, goal="minimize") for k in range(count)]
    engine = Engine.of("auto", JointSpace.merge(space, sources), Goal.MINIMIZE)
    assert [*_common_cautions(engine, sources)] == [
        f"{words} the values far worse than all others are clipped."
    ]
