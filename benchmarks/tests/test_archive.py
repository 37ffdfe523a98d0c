"""Archives: known optima, wrappers that do what they say, experiments as the settings say."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from helpers import refused
from hetbo.errors import DataError
from hetbo.experiments import Experiment, Goal
from hetbo.spaces import Value
from hetbo_bench.problems.archive import ARCHIVES, RUN_ONCE, Archive, Settings, archive_suite
from hetbo_bench.problems.archive_tables import TABLES
from hetbo_bench.problems.functions import FUNCTIONS, not_tuned
from hetbo_bench.problems.named import problem_named
from hetbo_bench.problems.objectives import (
    Objective,
    held,
    negated,
    noisy,
    random_settings,
    random_trials,
    scaled,
    searched_trials,
    shifted,
    unrelated,
)
from hetbo_bench.problems.problem import FIRST_TRIALS, Problem
from hetbo_bench.running.replication import replicate

BEST: dict[str, dict[str, Value]] = {
    "hartmann": {
        f"x{i}": value
        for i, value in enumerate(
            (0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573), start=1
        )
    },
    "styblinski": {f"x{i}": -2.903534 for i in range(1, 6)},
    "levy": {f"x{i}": 1.0 for i in range(1, 5)},
    "branin-mixed": {"x": math.pi, "y": 2.275, "rate": 10**-2.3, "depth": 8, "kernel": "rbf"},
    "rosenbrock": {f"x{i}": 1.0 for i in range(1, 5)},
    "ackley": {f"x{i}": 0.0 for i in range(1, 9)},
}
"""Where the functions are best."""

WRAPPERS: dict[str, Callable[[Objective], Objective]] = {
    "shifted": lambda o: shifted(o, {"x": 0.1, "depth": -0.2}),
    "scaled": lambda o: scaled(o, 3.0, -7.0),
    "negated": lambda o: negated(o, goal=Goal.MAXIMIZE),
    "noisy": lambda o: noisy(o, 1.0, np.random.default_rng(0)),
    "unrelated": lambda o: unrelated(o, np.random.default_rng(0)),
}


def branin() -> Objective:
    return FUNCTIONS["branin-mixed"].objective()


def problem(name: str) -> Problem:
    try:
        return problem_named(name)
    except DataError as error:
        pytest.skip(f"NOT TESTED, the tables are not here: {error}")


def values(experiment: Experiment) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([trial.value for trial in experiment.trials], dtype=np.float64)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_optimum_is_reached_where_it_is_known_to_be(name: str) -> None:
    made = FUNCTIONS[name]
    assert made.at(made.space.check(BEST[name])) == pytest.approx(made.optimum, abs=1e-4)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_is_better_than_the_optimum(name: str) -> None:
    made = FUNCTIONS[name]
    rng = np.random.default_rng(0)
    rows = random_settings(made.objective(), 2000, rng)
    near = [{**BEST[name], n: row[n]} for row in rows[:200] for n in made.space]
    found = made.objective().values([*rows, *near])
    assert (made.goal.sign * found).max() <= made.goal.sign * made.optimum + 1e-4


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_know_parameters_by_name(name: str) -> None:
    made = FUNCTIONS[name]
    (row,) = random_settings(made.objective(), 1, np.random.default_rng(3))
    assert made.at({n: row[n] for n in reversed(made.space.names)}) == made.at(row)


def test_functions_are_the_written_out_ones() -> None:
    x = np.array([0.7, -1.2, 1.4, 0.3])
    rosenbrock = sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(3))
    named = {f"x{i}": float(v) for i, v in enumerate(x, start=1)}
    assert FUNCTIONS["rosenbrock"].at(named) == pytest.approx(math.log(1 + rosenbrock))
    w = [1 + (v - 1) / 4 for v in x]
    levy = math.sin(math.pi * w[0]) ** 2 + sum(
        (v - 1) ** 2 * (1 + 10 * math.sin(math.pi * v + 1) ** 2) for v in w[:-1]
    )
    levy += (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)
    assert FUNCTIONS["levy"].at(named) == pytest.approx(levy)


def test_what_is_held_is_not_tuned() -> None:
    kept = held(branin(), {"depth": 3, "kernel": "cosine"})
    assert kept.space.names == ("x", "y", "rate")
    row: dict[str, Value] = {"x": 1.0, "y": 2.0, "rate": 0.1}
    assert kept.value(row) == FUNCTIONS["branin-mixed"].at({**row, "depth": 3, "kernel": "cosine"})


def test_what_is_moved_has_its_hill_elsewhere() -> None:
    moved = shifted(branin(), {"x": 0.1, "rate": -0.25})
    row: dict[str, Value] = {"x": 1.0, "y": 2.0, "rate": 0.1, "depth": 3, "kernel": "rbf"}
    there: dict[str, Value] = {**row, "x": 2.5, "rate": 0.01}
    assert moved.value(row) == pytest.approx(branin().value(there))
    over: dict[str, Value] = {**row, "x": 9.0}
    back: dict[str, Value] = {**row, "x": 9.5, "rate": 0.01}
    assert moved.value(over) == pytest.approx(branin().value(back)), "reflected at 10"


def test_units_and_signs() -> None:
    rows = random_settings(branin(), 20, np.random.default_rng(0))
    plain = branin().values(rows)
    assert np.array_equal(scaled(branin(), 2.0, 5.0).values(rows), 5.0 + 2.0 * plain)
    turned = negated(branin(), goal=Goal.MAXIMIZE)
    assert turned.goal is Goal.MAXIMIZE
    assert np.array_equal(turned.values(rows), -plain)


def test_noise_has_the_deviation_that_is_asked_for() -> None:
    rows = random_settings(branin(), 4000, np.random.default_rng(0))
    found = noisy(branin(), 2.5, np.random.default_rng(1)).values(rows) - branin().values(rows)
    assert abs(found.mean()) < 0.15
    assert found.std() == pytest.approx(2.5, rel=0.05)


def test_unrelated_functions_are_unrelated_on_average() -> None:
    rows = random_settings(branin(), 200, np.random.default_rng(0))
    plain = branin().values(rows)
    found = [
        spearmanr(plain, unrelated(branin(), np.random.default_rng(seed)).values(rows)).statistic
        for seed in range(60)
    ]
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(60)
    assert np.std(found) < 0.5


@given(st.lists(st.sampled_from([*WRAPPERS]), max_size=5), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_wrappers_compose_and_leave_the_space_as_it_is(names: list[str], count: int) -> None:
    objective = branin()
    for name in names:
        objective = WRAPPERS[name](objective)
    assert objective.space == branin().space
    found = objective.values(random_settings(objective, count, np.random.default_rng(0)))
    assert found.shape == (count,)
    assert np.isfinite(found).all()


@given(st.integers(2, 12), st.integers(0, 1000))
def test_at_least_half_is_tuned_and_something_is_not(count: int, seed: int) -> None:
    names = [f"p{i}" for i in range(count)]
    dropped = not_tuned(names, np.random.default_rng(seed)) if count > 2 else ["p0"]
    assert 1 <= len(dropped) <= count // 2
    assert dropped == sorted(dropped, key=names.index)


def test_random_settings_of_a_pool_come_once_each() -> None:
    pool = random_settings(branin(), 30, np.random.default_rng(0))
    own = Objective(space=branin().space, goal=Goal.MINIMIZE, values=branin().values, pool=pool)
    found = random_settings(own, 100, np.random.default_rng(1))
    assert sorted(map(repr, found)) == sorted(map(repr, pool))
    searched = searched_trials(own, 100, lambda: 5)
    assert sorted(repr(dict(t.params)) for t in searched) == sorted(map(repr, pool))


def test_more_trials_begin_like_fewer() -> None:
    def drawn(count: int) -> list[object]:
        return [t.params for t in random_trials(branin(), count, np.random.default_rng(0))]

    assert drawn(20)[:7] == drawn(7)


def test_a_search_finds_better_trials_than_chance() -> None:
    search = searched_trials(branin(), 60, lambda: 0)
    chance = random_trials(branin(), 60, np.random.default_rng(0))
    late, random = (np.median([t.value or 0.0 for t in trials]) for trials in (search[30:], chance))
    assert late < random


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_shares_are_of_experiments(share: float) -> None:
    kinds = Settings(experiments=100, unrelated=share, negated=0.1).kinds(np.random.default_rng(0))
    assert kinds.count("unrelated") == round(100 * share)
    assert kinds.count("negated") == 10
    assert len(kinds) == 100


def start_of(name: str, replication: int = 0) -> tuple[Experiment, ...]:
    return problem(name).start(replication).sources


def test_experiments_differ_in_parameters_and_units() -> None:
    sources = start_of("hartmann-archive_30/experiments=30")
    assert len({source.space.names for source in sources}) > 10
    assert {len(source.space) for source in sources} == {3, 4, 5}
    spreads = [values(source).std() for source in sources]
    assert max(spreads) > 100 * min(spreads)
    assert not any(source.fixed for source in sources)


def test_related_experiments_are_the_function_held_somewhere() -> None:
    (source,) = start_of("hartmann-archive_40/experiments=1/known")
    plain = [FUNCTIONS["hartmann"].at({**t.params, **source.fixed}) for t in source.trials]
    slope, offset = np.polyfit(plain, values(source), 1)
    assert slope > 0
    assert np.allclose(values(source), offset + slope * np.array(plain))


def test_a_setting_changes_what_it_says_and_nothing_else() -> None:
    base = "hartmann-archive_20/experiments=10"
    plain = start_of(base)
    turned = start_of(f"{base}/negated=1")
    other_way = start_of(f"{base}/opposite=1")
    noised = start_of(f"{base}/noise=0.5")
    for a, b, c, d in zip(plain, turned, other_way, noised, strict=True):
        assert [t.params for t in a.trials] == [t.params for t in b.trials]
        assert spearmanr(values(a), values(b)).statistic == pytest.approx(-1)
        assert (b.goal, c.goal) == (Goal.MAXIMIZE, Goal.MINIMIZE)
        assert np.array_equal(values(b), values(c))
        assert [t.params for t in a.trials] == [t.params for t in d.trials]
        assert 0.0 < spearmanr(values(a), values(d)).statistic < 1.0
    assert start_of(f"{base}/known")[0].trials == plain[0].trials


def test_experiments_can_be_left_out() -> None:
    base = "hartmann-archive_5/experiments=40/unrelated=0.9"
    every = {source.name: source for source in start_of(base)}
    related = start_of(f"{base}/related")
    chosen = start_of(f"{base}/chosen=3")
    assert (len(every), len(related), len(chosen)) == (40, 4, 3)
    assert all(every[source.name] == source for source in (*related, *chosen))
    other = {source.name for source in start_of(f"{base}/chosen=3", 1)}
    assert other != {source.name for source in chosen}


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("origin", ["", "-searched"])
def test_starts_are_the_same_each_time_and_values_those_of_the_target(
    name: str, origin: str
) -> None:
    made = problem(f"{name}-archive{origin}_6/experiments=3/unrelated=0.4")
    start = made.start(1)
    assert start == made.start(1)
    assert start != made.start(2)
    assert len(start.trials) == FIRST_TRIALS
    assert all(made.evaluate(t.params) == t.value for t in start.trials)
    assert all(set(source.space) < set(made.space) or name in TABLES for source in start.sources)
    assert all(len(source.trials) == 6 for source in start.sources)
    spaces = [source.space for source in made.start(0).sources]
    assert [*made.source_spaces.values()] == spaces
    if not origin and name not in TABLES:
        noised = problem(f"{made.name}/noise=0.1")
        assert [*noised.source_spaces.values()] == spaces
        assert [source.space for source in noised.start(0).sources] == spaces


@pytest.mark.parametrize("name", TABLES)
def test_the_optimum_of_a_table_is_its_best_row(name: str) -> None:
    made = problem(f"{name}-archive")
    assert made.candidates is not None
    found = [made.goal.sign * made.evaluate(params) for params in made.candidates]
    assert made.goal.sign * made.optimum == max(found)


def test_methods_hear_noise_and_comparisons_do_not() -> None:
    noised = problem("branin-mixed-archive_5/experiments=2/noise=0.2")
    assert noised.noise > 0
    outcome = replicate(noised, "random", 3, evaluations=10)
    plain = problem("branin-mixed-archive_5/experiments=2")
    assert outcome.trace == replicate(plain, "random", 3, evaluations=10).trace
    assert plain.noise == 0


@pytest.mark.parametrize(
    ("options", "reasons"),
    [
        ("experiments=0", ["experiments=0", "at least 1"]),
        ("experiments=2.5", ["experiments=2.5", "whole number"]),
        ("unrelated=x", ["unrelated=x", "number"]),
        ("unrelated=1.5", ["unrelated=1.5", "from 0 to 1"]),
        ("unrelated=0.7/negated=0.7", ["1.4", "exceed 1"]),
        ("experiments=3/chosen=4", ["chosen=4", "experiments=3"]),
        ("known=yes", ["known=yes", "stands alone"]),
        ("noise=0.1/noise=0.2", ["noise occurs 2 times"]),
        ("sharp=1", ["sharp=1", "experiments=NUMBER", "related"]),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: str, reasons: list[str]) -> None:
    with refused(DataError, f"hartmann-archive/{options}", *reasons):
        problem_named(f"hartmann-archive/{options}")


def test_tables_cannot_be_moved() -> None:
    problem("rpart-archive")
    with refused(DataError, "shift=0.1", "tables"):
        problem_named("rpart-archive/shift=0.1")


def test_wrappers_of_the_same_name_still_wrap() -> None:
    base, turned = "hartmann-archive_5", "hartmann-archive_5/experiments=2/negated"
    assert len(start_of(base)) == 10
    assert [values(s).tolist() for s in start_of(turned)] == [
        (-values(s)).tolist() for s in start_of("hartmann-archive_5/experiments=2")
    ]


def test_the_suites_are_split_by_what_archives_are_made_from() -> None:
    looked_at, once = archive_suite(run_once=False), archive_suite(run_once=True)
    bases = {name.split("-archive")[0] for name in once}
    assert bases == set(RUN_ONCE) < set(ARCHIVES)
    assert {name.split("-archive")[0] for name in looked_at} == set(ARCHIVES) - bases
    for name in (*looked_at, *once):
        if name.startswith(("levy", "ranger")):  # all have the same forms
            problem(name.replace("experiments=100", "experiments=4"))


def test_an_archive_says_where_its_trials_come_from() -> None:
    made = Archive("levy", "-searched", Settings(experiments=2)).problem("levy", 3)
    assert "searches" in made.summary
    assert made.goal is Goal.MINIMIZE
