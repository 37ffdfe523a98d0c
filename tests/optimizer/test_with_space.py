"""Going on in a changed space."""

import numpy as np
import pytest

from helpers import refused
from hetbo import Categorical, Experiment, Float, Int, MergeError, Optimizer, Space, Trial

OLD = Space(a=Float(0.0, 1.0), b=Int(1, 5))


def started(*, trials: int = 8, **options: object) -> Optimizer:
    tuner = Optimizer(OLD, seed=1, goal="maximize", **options)  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    for a, b in zip(rng.random(trials), rng.integers(1, 6, trials), strict=True):
        tuner.tell({"a": float(a), "b": int(b)}, float(-((a - 0.4) ** 2) - 0.05 * b))
    return tuner


def test_trials_become_a_source() -> None:
    before = started()
    before.tell_failure({"a": 0.9, "b": 5})
    before.ask(2)
    state = before.to_json()
    after = before.with_space(OLD.replace(c=Float(0.0, 1.0)))
    (past,) = after._joint.sources
    assert past.name == "before"
    assert past.space == OLD
    assert past.goal == "maximize"
    # Pending trials are left behind: nobody will tell this optimizer how they end.
    assert past.trials == before.trials[:9]
    assert after.trials == ()
    assert before.to_json() == state


def test_added_parameters_are_suggested_and_what_was_learned_is_kept() -> None:
    after = started().with_space(OLD.replace(c=Float(0.0, 1.0), k=Categorical("x", "y")))
    suggestion = after.ask()
    assert after.space.check(suggestion.params) == suggestion.params
    assert suggestion.params["a"] == pytest.approx(0.4, abs=0.2)
    after.tell(suggestion, -0.1)
    assert after.best == after.trials[0]
    assert after.ask().number == 1


def test_dropped_parameters_are_gone() -> None:
    after = started().with_space(OLD.drop("b"), target_fixed={"b": 2})
    assert set(after.ask().params) == {"a"}
    assert after._joint.target.fixed == {"b": 2}
    unknown = started().with_space(OLD.drop("b"))
    assert set(unknown.ask().params) == {"a"}
    assert unknown._joint.target.fixed == {}


def test_what_was_not_tuned_is_fixed_or_unknown() -> None:
    wider = OLD.replace(c=Float(0.0, 1.0))
    said = started().with_space(wider, fixed={"c": 0.25})
    assert said._joint.sources[0].fixed == {"c": 0.25}
    assert said.explain().learned == ()
    silent = started().with_space(wider)
    assert silent._joint.sources[0].fixed == {}
    assert [value.parameter for value in silent.explain().learned] == ["c"]


def test_ranges_can_change() -> None:
    narrower = started().with_space(OLD.replace(a=Float(0.3, 0.5)))
    assert all(0.3 <= float(s.params["a"] or 0.0) <= 0.5 for s in narrower.ask(3))


def test_options_are_kept() -> None:
    before = started(method="conditional", n_initial=3)
    after = before.with_space(OLD).to_json()
    for key in ("method", "n_initial", "seed", "goal"):
        assert after[key] == before.to_json()[key]


def test_sources_are_kept_and_it_can_be_done_again() -> None:
    older = Experiment("older", Space(a=Float(0.0, 1.0)), [Trial({"a": 0.5}, 1.0)], goal="maximize")
    tuner = started(sources=[older])
    for _ in range(2):
        tuner = tuner.with_space(OLD)
        tuner.tell({"a": 0.4, "b": 1}, 0.0)
    tuner = tuner.with_space(OLD, name="last")
    names = [source.name for source in tuner._joint.sources]
    assert names == ["before", "before 2", "last", "older"]
    with refused(MergeError, "'last'"):
        tuner.with_space(OLD, name="last")


def past(tuner: Optimizer) -> Experiment:
    """The trials from before the space changed."""
    (found,) = [source for source in tuner._joint.sources if source.name == "before"]
    return found


def test_values_that_the_target_fixes_stay_fixed() -> None:
    older = Experiment("older", OLD.replace(z=Float(0.0, 1.0)), goal="maximize")
    tuner = started(sources=[older], fixed={"z": 0.7})
    after = tuner.with_space(OLD.drop("b"), target_fixed={"b": 3})
    assert after._joint.target.fixed == {"z": 0.7, "b": 3}
    assert past(after).fixed == {"z": 0.7}
    tuned = tuner.with_space(OLD.replace(z=Float(0.0, 1.0)))
    assert tuned._joint.target.fixed == {}
    assert past(tuned).fixed == {"z": 0.7}


def test_candidates_belong_to_a_space() -> None:
    tuner = started(candidates=[{"a": 0.1, "b": 1}, {"a": 0.9, "b": 2}])
    wider = OLD.replace(c=Int(1, 2))
    assert tuner.with_space(wider).to_json()["candidates"] is None
    pool = [{"a": 0.1, "b": 1, "c": 2}, {"a": 0.9, "b": 2, "c": 1}]
    assert tuner.with_space(wider, candidates=pool).ask().params in pool


def test_going_on_before_the_first_trial() -> None:
    fresh = Optimizer(OLD, seed=4, goal="minimize").with_space(Space(a=Float(0.0, 2.0)))
    assert set(fresh.ask().params) == {"a"}
