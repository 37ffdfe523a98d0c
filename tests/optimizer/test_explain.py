"""What the optimizer says about its sources."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from hetbo import Categorical, Experiment, Float, Optimizer, SourceWarning, Space, Trial
from hetbo.methods import Explanation
from hetbo.models import LearnedChoice, LearnedNumber

pytestmark = pytest.mark.filterwarnings("ignore:.*look like noise")

OLD = Space(a=Float(0.0, 1.0), b=Float(0.0, 1.0))
NEW = OLD.replace(c=Float(0.0, 1.0))


def wave(a: float, b: float, c: float = 0.3) -> float:
    return float(np.sin(5 * a + 2 * c) + (b - 0.4) ** 2 + 0.5 * c)


def source(
    name: str, change: Callable[[float], float] = lambda y: y, count: int = 25
) -> Experiment:
    rng = np.random.default_rng(1)
    trials = [
        Trial({"a": a, "b": b}, change(wave(a, b))) for a, b in rng.random((count, 2)).tolist()
    ]
    return Experiment(name, OLD, trials, goal="minimize")


def shuffled(name: str) -> Experiment:
    """The true source with its values in another order."""
    true = source(name)
    order = np.random.default_rng(7).permutation(len(true.trials))
    values = [true.trials[index].value for index in order]
    trials = [replace(t, value=v) for t, v in zip(true.trials, values, strict=True)]
    return Experiment(name, OLD, trials, goal="minimize")


def started(*sources: Experiment, trials: int = 12, method: str = "auto") -> Optimizer:
    tuner = Optimizer(NEW, sources=sources, method=method, seed=3, goal="minimize")
    rng = np.random.default_rng(2)
    for a, b, c in rng.random((trials, 3)).tolist():
        tuner.tell({"a": a, "b": b, "c": c}, wave(a, b, c))
    return tuner


@pytest.fixture(scope="module")
def both() -> Explanation:
    return started(source("true"), shuffled("nonsense")).explain()


def test_weights_are_shares(both: Explanation) -> None:
    assert sum(both.models.values()) == pytest.approx(1.0)
    assert min(both.models.values()) >= 0
    assert "vanilla" in both.models
    assert len(both.models) >= 3
    assert all(0 <= trust <= 1 for trust in both.sources.values())
    assert all(-1 <= r.low <= r.high <= 1 for r in both.correlations.values())


def test_vanilla_keeps_a_share_where_the_sources_predict_better() -> None:
    told = started(source("true"), trials=16).explain()
    # A tenth, before the shares are made to add up to 1 again.
    assert told.models["vanilla"] == pytest.approx(0.1 / 1.1, abs=0.005)


@pytest.mark.parametrize(("trials", "active"), [(1, False), (4, False), (5, True)])
def test_models_without_sources_wait_while_there_are_sources(trials: int, active: bool) -> None:
    told = started(source("true"), trials=trials).explain()
    assert ("vanilla" in told.models) is active
    assert sum(told.models.values()) == pytest.approx(1.0)


def test_the_sentence_names_every_source(both: Explanation) -> None:
    assert list(both.sources) == list(both.correlations) == ["nonsense", "true"]
    assert "'true'" in both.sentence
    assert "'nonsense'" in both.sentence
    assert str(both) == both.sentence


def test_a_source_with_shuffled_values_is_trusted_less(both: Explanation) -> None:
    assert both.sources["nonsense"] < 0.6 * both.sources["true"]


def test_learned_values_are_told_with_their_uncertainty() -> None:
    told = started(source("true"), shuffled("nonsense"), method="learned-imputation").explain()
    learned = {value.experiment: value for value in told.learned}
    true = learned["true"]
    assert isinstance(true, LearnedNumber)
    assert true.parameter == "c"
    assert true.low <= true.estimate <= true.high
    assert true.low <= 0.3 <= true.high
    assert "The c of 'true' seems to have been about" in told.sentence


def test_what_the_trials_cannot_tell_is_no_finding() -> None:
    told = started(source("past"), trials=1).explain()
    assert not told.correlations["past"].known
    assert "its correlation with the target is not known yet" in told.sentence
    assert told.sentence.count("correlation") == 1
    assert not set("+0123456789") & set(told.sentence)
    assert str(told.correlations["past"]) == "not known yet"


def test_the_headline_agrees_with_its_details(both: Explanation) -> None:
    verdicts = {
        "rest mostly on the sources": "is followed closely",
        "rest partly on the sources": "is followed with caution",
        "rest on the target's own trials": "hardly counts",
    }
    for told in (both, started(shuffled("past")).explain(), started(source("past")).explain()):
        said = [words for head, words in verdicts.items() if head in told.sentence]
        assert len(said) == 1
        assert said[0] in told.sentence
        stronger = list(verdicts.values())[: list(verdicts.values()).index(said[0])]
        assert not any(words in told.sentence for words in stronger)


def test_a_negated_source_goes_the_other_way() -> None:
    explanation = started(source("against", lambda y: -y), method="learned-imputation").explain()
    assert explanation.correlations["against"].high < -0.3
    assert explanation.sources["against"] > 0.5
    assert "the other way round" in explanation.sentence
    along = started(source("along"), method="learned-imputation").explain()
    assert along.correlations["along"].low > 0.3
    assert "the other way round" not in along.sentence


def test_auto_trusts_the_target_alone_if_the_only_source_is_nonsense() -> None:
    good = started(source("past"), trials=10).explain()
    bad = started(shuffled("past"), trials=10).explain()
    assert bad.models["vanilla"] > good.models["vanilla"]
    assert bad.sources["past"] < good.sources["past"]


def test_categories_are_learned_as_well() -> None:
    space = OLD.replace(k=Categorical("x", "y"))
    tuner = Optimizer(
        space, sources=[source("past")], method="learned-imputation", seed=0, goal="minimize"
    )
    for index, (a, b) in enumerate(np.random.default_rng(5).random((8, 2)).tolist()):
        # The source ran with y: with x the objective is another one.
        value = wave(a, b) if index % 2 else 2 * a - 3 * b
        tuner.tell({"a": a, "b": b, "k": "y" if index % 2 else "x"}, value)
    explanation = tuner.explain()
    (learned,) = explanation.learned
    assert isinstance(learned, LearnedChoice)
    assert learned.estimate == "y"
    assert sum(probability for _, probability in learned.probabilities) == pytest.approx(1.0)
    assert "The k of 'past' seems to have been 'y'" in explanation.sentence


@pytest.mark.parametrize("method", ["auto", "common", "vanilla"])
def test_looking_changes_nothing(method: str) -> None:
    looked, other = started(source("past"), method=method), started(source("past"), method=method)
    before = looked.to_json()
    assert looked.explain().sentence == looked.explain().sentence
    assert looked.to_json() == before
    assert looked.ask() == other.ask()


def test_before_any_model_is_active() -> None:
    explanation = Optimizer(NEW, seed=0, goal="minimize").explain()
    assert explanation.models == {}
    assert "covered" in explanation.sentence
    assert (
        "Random search"
        in Optimizer(NEW, seed=0, method="random", goal="minimize").explain().sentence
    )


def test_without_sources_the_target_decides() -> None:
    explanation = started().explain()
    assert explanation.models == {"vanilla": pytest.approx(1.0)}
    assert explanation.sources == {}
    assert "no sources" in explanation.sentence


def test_before_the_first_trial_the_sources_decide() -> None:
    explanation = started(source("past"), trials=0).explain()
    assert sum(explanation.models.values()) == pytest.approx(1.0)
    assert explanation.sources["past"] > 0.3
    assert "vanilla" not in explanation.models


def test_a_source_that_tuned_nothing_in_common_says_little() -> None:
    tried = [Trial({"other": n / 10}, float(n)) for n in range(10)]
    held = Experiment("held", Space(other=Float(0, 1)), tried, fixed={"a": 0.5}, goal="minimize")
    with pytest.warns(SourceWarning, match="'held' tuned no parameter that is tuned now"):
        tuner = started(held, trials=1)
    told = tuner.explain().sentence
    assert "'held' tuned no parameter that is tuned now" in told
