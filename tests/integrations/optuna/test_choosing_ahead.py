"""Workers of one study choose for each other; who works alone chooses when a trial begins."""

import datetime as dt
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import combinations
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.storages import InMemoryStorage
from optuna.study import Study, create_study, load_study
from optuna.trial import Trial, TrialState, create_trial

import hetbo as hb
from hetbo._processes import process_token
from hetbo.integrations.optuna import _choosing
from hetbo.integrations.optuna._ahead import Ahead, Batch
from hetbo.integrations.optuna._storage_access import worker_token
from hetbo.integrations.optuna._suggester import Suggester
from hetbo.optuna import TransferSampler

SPACE: dict[str, BaseDistribution] = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}
OLD = hb.Experiment(
    "old",
    hb.Space(x=hb.Float(0, 1)),
    [hb.Trial({"x": x}, (x - 0.7) ** 2) for x in (0.1, 0.3, 0.5, 0.75, 0.9)],
    goal="minimize",
)
QUICK = 0.01


def made(*, seconds: float = QUICK, space: dict[str, BaseDistribution] | None = None) -> Study:
    """Return a study with two ended trials that took so long."""
    space = SPACE if space is None else space
    study = create_study(
        sampler=TransferSampler([OLD], space=space, seed=1, method="learned-imputation")
    )
    now = dt.datetime(2026, 1, 1)  # noqa: DTZ001  # Optuna's times have no zone
    for value in (0, 1):
        trial = create_trial(
            params=dict.fromkeys(space, value), distributions=space, value=float(value)
        )
        trial.datetime_start, trial.datetime_complete = now, now + dt.timedelta(seconds=seconds)
        study.add_trial(trial)
    return study


def sampler_of(study: Study) -> TransferSampler:
    """Return the sampler of a study."""
    assert isinstance(study.sampler, TransferSampler)
    return study.sampler


Begin = Callable[[Study], None]


@pytest.fixture
def begin_elsewhere() -> Iterator[Begin]:
    """Begins a trial in another worker, which stays."""
    with ExitStack() as workers:

        def begin(study: Study) -> None:
            worker = workers.enter_context(ThreadPoolExecutor(1))
            worker.submit(study.ask, SPACE).result()

        yield begin


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[range]:
    """For which trials something was chosen, each time."""
    seen, suggest = list[range](), Suggester.suggest

    def counted(self: Suggester, study: Study, numbers: range, *rest: Any, **options: Any) -> Any:  # noqa: ANN401
        seen.append(numbers)
        return suggest(self, study, numbers, *rest, **options)

    monkeypatch.setattr(Suggester, "suggest", counted)
    return seen


def test_who_works_alone_chooses_when_a_trial_begins(fits: list[range]) -> None:
    study = made()
    for _ in range(3):
        study.ask(SPACE)
    assert fits == [range(n, n + 1) for n in (2, 3, 4)]
    assert Ahead.read(study) == Ahead()


def test_who_chooses_while_others_work_does_so_for_the_next_trials_too(
    fits: list[range], begin_elsewhere: Begin
) -> None:
    study = made()
    begin_elsewhere(study)
    begin_elsewhere(study)  # it sees the first one at work, and knows how long choosing takes
    ahead = sampler_of(study).chosen_ahead(study)
    assert ahead >= 1
    before = len(fits)
    planned = [Ahead.read(study).proposal(n) for n in range(4, 4 + ahead)]
    asked = [study.ask(SPACE) for _ in range(ahead)]
    assert [trial.params for trial in asked] == planned
    assert all(numbers.start >= 4 + ahead for numbers in fits[before:])
    points = {tuple(trial.params.values()) for trial in study.get_trials()}
    assert len(points) == 4 + ahead


def test_nothing_is_chosen_ahead_of_long_trials(fits: list[range], begin_elsewhere: Begin) -> None:
    study = made(seconds=3600.0)
    for _ in range(3):
        begin_elsewhere(study)
    assert [len(numbers) for numbers in fits] == [1, 1, 1]
    assert sampler_of(study).chosen_ahead(study) == 0


def test_each_suggestion_of_a_batch_keeps_away_from_the_others() -> None:
    study = made()
    sampler = sampler_of(study)
    sampler.choose_ahead(study, workers=8, idle=4)
    assert sampler.chosen_ahead(study) == 4
    points = [study.ask(SPACE).params for _ in range(4)]
    assert len({(round(p["x"], 3), round(p["y"], 3)) for p in points}) == 4
    assert sampler.chosen_ahead(study) == 0


def test_what_another_worker_has_tried_meanwhile_is_not_tried_again(fits: list[range]) -> None:
    space: dict[str, BaseDistribution] = {"x": FloatDistribution(0, 1), "n": IntDistribution(0, 3)}
    study = made(space=space)
    sampler = sampler_of(study)
    sampler.choose_ahead(study, workers=8, idle=1)
    planned = Ahead.read(study).proposal(2)
    assert planned is not None
    study.add_trial(create_trial(params=planned, distributions=space, value=0.5))
    again = replaced(Ahead.read(study), 3)
    again.write(study)
    fits.clear()
    assert study.ask(space).params != planned
    assert fits == [range(3, 4)]


def replaced(ahead: Ahead, number: int) -> Ahead:
    """Return a batch as if it were for another trial."""
    (batch,) = ahead.batches
    return Ahead((Batch(number, 1, batch.by, batch.proposals),))


def test_what_no_longer_fits_is_chosen_anew(fits: list[range]) -> None:
    study = made()
    Ahead((Batch(2, 1, "x", ({"x": 7.0, "y": 0.5},)),)).write(study)
    assert study.ask(SPACE).params["x"] <= 1
    assert fits == [range(2, 3)]


def test_a_chooser_that_was_killed_is_not_waited_for(fits: list[range]) -> None:
    study = made()
    host = worker_token().rsplit(" ", 3)[0]
    Ahead((Batch(2, 3, f"{host} 999999999 1 2"),)).write(study)
    study.ask(SPACE)
    assert fits == [range(2, 3)]


def test_a_chooser_elsewhere_is_waited_for_a_while(
    fits: list[range], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = made()
    monkeypatch.setattr(_choosing, "_LONGEST_WAIT", 0.1)
    Ahead((Batch(2, 3, "elsewhere 12 34 5"),)).write(study)
    study.ask(SPACE)
    assert fits == [range(2, 3)]


def test_who_waits_takes_what_is_chosen_meanwhile(
    fits: list[range], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = made()
    another = f"{process_token()} 5"  # a thread of this process
    Ahead((Batch(2, 1, another),)).write(study)

    def chosen(_: float) -> None:
        Ahead((Batch(2, 1, another, ({"x": 0.25, "y": 0.5},)),)).write(study)

    monkeypatch.setattr("hetbo.integrations.optuna._choosing.time.sleep", chosen)
    assert study.ask(SPACE).params == {"x": 0.25, "y": 0.5}
    assert fits == []


def test_who_cannot_choose_says_so_to_those_who_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    study = made()

    def broken(*_: object, **__: object) -> NoReturn:
        raise MemoryError

    sampler = sampler_of(study)
    monkeypatch.setattr(Suggester, "suggest", broken)
    with pytest.raises(MemoryError):
        sampler.choose_ahead(study, workers=2, idle=2)
    assert Ahead.read(study).batches == ()


def test_two_samplers_of_one_study_share_what_was_chosen(fits: list[range]) -> None:
    storage = InMemoryStorage()
    studies = []
    for _ in range(2):
        sampler = TransferSampler([OLD], space=SPACE, seed=1, method="learned-imputation")
        studies.append(
            create_study(study_name="s", storage=storage, sampler=sampler, load_if_exists=True)
        )
    one, other = studies
    sampler_of(one).choose_ahead(one, workers=4, idle=3)
    fits.clear()
    for study in (one, other, one):
        study.ask(SPACE)
    assert fits == []
    points = {tuple(t.params.values()) for t in load_study(study_name="s", storage=storage).trials}
    assert len(points) == 3


def test_branches_are_chosen_ahead_as_well() -> None:
    study = create_study(sampler=TransferSampler(seed=1, n_initial=1))

    def objective(trial: Trial) -> float:
        if trial.suggest_categorical("kind", ["svm", "forest"]) == "svm":
            return abs(trial.suggest_float("C", 0.1, 10.0) - 3)
        return abs(trial.suggest_int("depth", 1, 9) - 4)

    study.optimize(objective, n_trials=8)
    sampler = sampler_of(study)
    sampler.choose_ahead(study, workers=1, idle=3)
    assert sampler.chosen_ahead(study) == 3
    study.optimize(objective, n_trials=3)
    assert all(trial.state is TrialState.COMPLETE for trial in study.trials)
    points = {tuple(sorted(trial.params.items())) for trial in study.trials}
    assert len(points) == 11


BATCHES = st.builds(
    lambda start, proposals, chosen: Batch(
        start, len(proposals), "me", tuple(proposals) if chosen else ()
    ),
    st.integers(0, 20),
    st.lists(st.fixed_dictionaries({"x": st.floats(0, 1), "c": st.text(max_size=3)}), min_size=1),
    st.booleans(),
)


@given(st.lists(BATCHES, max_size=5))
def test_what_is_stored_is_read(batches: list[Batch]) -> None:
    study = create_study()
    ahead = Ahead(tuple(batches), {"learned": (0.5, -1.0)}, 2.5)
    ahead.write(study)
    assert Ahead.read(study) == ahead


@given(st.lists(BATCHES, max_size=5), st.integers(0, 30))
def test_the_first_free_trial_is_the_first_that_nobody_chooses_for(
    batches: list[Batch], number: int
) -> None:
    ahead = Ahead(tuple(batches))
    free = ahead.next_free(number)
    taken = {n for b in batches for n in range(b.start, b.start + b.count)}
    assert free == min(set(range(number, 200)) - taken)
    for n in range(number, free):
        latest = [b for b in batches if n in b][-1]
        assert (ahead.proposal(n) is None) == (not latest.proposals)


def test_what_another_version_stored_is_ignored() -> None:
    study = create_study()
    study._storage.set_study_system_attr(study._study_id, "hetbo:ahead", {"batches": 3})
    assert Ahead.read(study) == Ahead()


def test_trials_that_begin_together_do_not_try_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first one does not see the others, which have not begun; they must see what it chooses.
    storage = InMemoryStorage()
    studies = []
    for _ in range(4):
        sampler = TransferSampler([OLD], space=SPACE, seed=1, method="learned-imputation")
        studies.append(
            create_study(study_name="s", storage=storage, sampler=sampler, load_if_exists=True)
        )
    suggest, together = Suggester.suggest, threading.Barrier(4, timeout=60)

    def slow(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        chosen = suggest(*arguments, **options)
        time.sleep(0.5)
        return chosen

    def begin(study: Study) -> None:
        together.wait()
        study.ask(SPACE)

    monkeypatch.setattr(Suggester, "suggest", slow)
    with ThreadPoolExecutor(4) as workers:
        list(workers.map(begin, studies))
    points = [
        (trial.params["x"], trial.params["y"])
        for trial in load_study(study_name="s", storage=storage).trials
    ]
    assert len(points) == 4
    assert min(math.dist(a, b) for a, b in combinations(points, 2)) > 0.01
