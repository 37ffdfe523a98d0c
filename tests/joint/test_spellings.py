"""Choices that differ in case and blanks only count as one, across experiments."""

import warnings

import optuna
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hetbo import Categorical, Experiment, HetboWarning, Int, JointSpace, Optimizer, Space, Trial
from hetbo.joint._changes import ChangeKind
from hetbo.optuna import TransferSampler
from hetbo.spaces import Value

TARGET = Space(x=Categorical("gbtree", "dart", None), y=Int(0, 1))


def old(*choices: Value, name: str = "old") -> Experiment:
    trials = [Trial({"x": choice}, number) for number, choice in enumerate(choices)]
    return Experiment(name, Space(x=Categorical(*choices)), trials, goal="minimize")


def test_a_choice_in_another_spelling_is_the_targets() -> None:
    with pytest.warns(HetboWarning) as caught:
        joint = JointSpace.merge(TARGET, [old("GBTree", " dart ", "linear")])
    assert [str(warning.message) for warning in caught] == [
        f"{theirs!r} of 'x' in 'old' differs from the target's {own!r} in case or blanks only and "
        "counts as the same choice"
        for theirs, own in {"GBTree": "gbtree", " dart ": "dart"}.items()
    ]
    assert caught[0].filename == __file__
    assert joint.space["x"] == Categorical("gbtree", "dart", None, "linear")
    (source,) = joint.sources
    assert [trial.params["x"] for trial in source.trials] == ["gbtree", "dart", "linear"]
    assert {change.kind for change in joint.changes} == {ChangeKind.CHOICES, ChangeKind.ADDED}


@pytest.mark.parametrize(
    ("target", "theirs"),
    [
        (Categorical("a", "A"), (" a ", "b")),
        (Categorical("a", "A"), ("a", "b")),
        (Categorical("a"), ("A", " a ")),
        (Categorical("a"), ("a", "A")),
        (Categorical("ab"), ("a b", "c")),
        (Categorical(None, *(True,)), ("none", "true")),
    ],
)
def test_what_could_be_meant_stays_different(target: Categorical, theirs: tuple[str, ...]) -> None:
    joint = JointSpace.merge(Space(x=target), [old(*theirs)])
    kinds = joint.space["x"]
    assert isinstance(kinds, Categorical)
    assert set(kinds.choices) == {*target.choices, *theirs}
    assert joint.sources == (old(*theirs),)


def test_fixed_values_count_too() -> None:
    source = Experiment("old", Space(y=Int(0, 1)), goal="minimize", fixed={"x": "DART"})
    with pytest.warns(HetboWarning, match="'DART' of 'x' in 'old'"):
        joint = JointSpace.merge(TARGET, [source])
    assert joint.space["x"] == TARGET["x"]
    assert joint.members[1].fixed == {"x": "dart"}
    with pytest.warns(HetboWarning, match="'SQRT' of 'x' in 'old'"):
        joint = JointSpace.merge(Space(y=Int(0, 1)), [old("SQRT", "log2")], fixed={"x": "sqrt"})
    assert joint.space["x"] == Categorical("sqrt", "log2")


def test_a_merged_space_is_merged_again_without_a_word() -> None:
    with pytest.warns(HetboWarning):
        first = JointSpace.merge(TARGET, [old("GBTREE", "b")])
    assert JointSpace.merge(TARGET, first.sources) == first


def test_an_optimizer_says_it_once_and_keeps_it() -> None:
    with pytest.warns(HetboWarning) as caught:
        optimizer = Optimizer(TARGET, sources=[old("GBTREE", "b")], goal="minimize", seed=0)
    assert len(caught) == 1
    again = Optimizer.from_json(optimizer.to_json())
    assert again.ask().params == optimizer.ask().params


spellings = st.lists(
    st.sampled_from(["a", "A", " a", "b", "B ", "c", "a b", "A  B", 1, None]),
    min_size=1,
    max_size=4,
    unique=True,
)


@given(spellings, st.lists(spellings, max_size=3), st.randoms())
def test_the_order_of_sources_does_not_matter_and_nothing_is_lost(
    own: list[Value], theirs: list[list[Value]], random: object
) -> None:
    target = Space(x=Categorical(*own))
    sources = [old(*choices, name=f"s{i}") for i, choices in enumerate(theirs)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        joint = JointSpace.merge(target, sources)
        random.shuffle(sources)  # type: ignore[attr-defined]
        assert JointSpace.merge(target, sources) == joint
    kinds = joint.space["x"]
    assert isinstance(kinds, Categorical)
    assert kinds.choices[: len(own)] == tuple(own)
    for source, before in zip(joint.sources, theirs, strict=True):
        after = source.space["x"]
        assert isinstance(after, Categorical)
        assert len(after.choices) == len(before)
        assert [trial.params["x"] for trial in source.trials] == list(after.choices)


def test_an_optuna_source_may_spell_otherwise() -> None:
    source = optuna.create_study(study_name="old")
    distribution = optuna.distributions.CategoricalDistribution(["Dart", "gbtree"])
    for number, choice in enumerate(distribution.choices):
        source.add_trial(
            optuna.create_trial(
                params={"x": choice}, distributions={"x": distribution}, value=float(number)
            )
        )
    own: dict[str, optuna.distributions.BaseDistribution] = {
        "x": optuna.distributions.CategoricalDistribution(["gbtree", "dart"])
    }
    with pytest.warns(HetboWarning, match="'Dart' of 'x' in 'old'"):
        sampler = TransferSampler([source], space=own, seed=0, method="random")
    study = optuna.create_study(sampler=sampler)
    with pytest.warns(HetboWarning, match="counts as the same choice"):
        trial = study.ask(own)
    assert trial.params["x"] in {"gbtree", "dart"}
