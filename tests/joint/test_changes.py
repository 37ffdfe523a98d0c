import pytest
import rich.console
from hypothesis import given
from hypothesis import strategies as st

from hetbo import Categorical, Experiment, Float, Int, JointSpace, Space, Trial
from hetbo.joint import Change, ChangeKind
from hetbo.joint._notes import unshared_sentence
from hetbo.spaces import Parameter, Value
from strategies import ODD_NAMES, Family, mergeable

FLOAT = Float(0, 1)


def old(*tried: Value, parameter: Parameter | None = None, **fixed: Value) -> Experiment:
    """Return a source that tunes `x` as given, or tunes something else."""
    if parameter is None:
        return Experiment("old", Space(other=Int(0, 1)), fixed=fixed, goal="minimize")
    return Experiment(
        "old",
        Space(x=parameter),
        [Trial({"x": x}, 1.0) for x in tried],
        fixed=fixed,
        goal="minimize",
    )


def change_of_x(target: Parameter, source: Experiment) -> list[Change]:
    joint = JointSpace.merge(Space(x=target), [source])
    return [change for change in joint.changes if change.parameter == "x"]


KINDS: list[tuple[Parameter, Experiment, tuple[str, str, str, str]]] = [
    (
        FLOAT,
        old(parameter=FLOAT),
        ("same", "0 … 1", "0 … 1", "compared value by value"),
    ),
    (
        Categorical("a", "b"),
        old(parameter=Categorical("b", "a")),
        ("same", "'b' | 'a'", "'a' | 'b'", "compared value by value"),
    ),
    (
        FLOAT,
        old(),
        (
            "added",
            "-",
            "0 … 1",
            "nothing: the source is not used",
        ),
    ),
    (
        FLOAT,
        old(x=0.25),
        ("fixed", "always 0.25", "0 … 1", "new; the source's trials count as made at that value"),
    ),
    (
        Float(0.1, 1, log=True),
        old(x=0),
        (
            "fixed",
            "always 0",
            "0.1 … 1 log",
            "new; the source's trials count as made at the low end of the log scale",
        ),
    ),
    (
        FLOAT,
        old(0.5, 1.5, 2, parameter=Float(-1, 2)),
        (
            "re-ranged",
            "-1 … 2",
            "0 … 1",
            "narrower; the source's trials outside of it (2) still count",
        ),
    ),
    (
        FLOAT,
        old(0.5, parameter=Float(0.25, 0.75)),
        ("re-ranged", "0.25 … 0.75", "0 … 1", "wider; all of the source's trials lie inside"),
    ),
    (
        FLOAT,
        old(0.5, parameter=Float(0.5, 1.5)),
        ("re-ranged", "0.5 … 1.5", "0 … 1", "moved; all of the source's trials lie inside"),
    ),
    (
        FLOAT,
        old(2, 3, parameter=Float(2, 3)),
        (
            "re-ranged",
            "2 … 3",
            "0 … 1",
            "moved away; the source's trials outside of it (2) still count",
        ),
    ),
    (
        Float(1, 9, log=True),
        old(parameter=Float(1, 9)),
        ("re-scaled", "1 … 9", "1 … 9 log", "compared on the target's log scale"),
    ),
    (
        Float(1, 9),
        old(parameter=Float(1, 9, log=True)),
        ("re-scaled", "1 … 9 log", "1 … 9", "compared on the target's linear scale"),
    ),
    (
        Float(1, 9),
        old(parameter=Int(1, 9)),
        ("retyped", "int 1 … 9", "1 … 9", "compared as numbers"),
    ),
    (
        Categorical("a", "b"),
        old("a", parameter=Categorical("a")),
        ("choices", "'a'", "'a' | 'b'", "new: 'b', on which the source says nothing"),
    ),
    (
        Categorical("a"),
        old("a", "c", "c", parameter=Categorical("a", "c")),
        (
            "choices",
            "'a' | 'c'",
            "'a'",
            "gone: 'c'; 2 trials used one and only inform about the rest",
        ),
    ),
    (
        Categorical(1),
        old(parameter=Categorical(*(True,))),
        (
            "choices",
            "True",
            "1",
            "new: 1, on which the source says nothing; "
            "gone: True; 0 trials used one and only inform about the rest",
        ),
    ),
]


@pytest.mark.parametrize(("target", "source", "expected"), KINDS)
def test_each_change_has_its_text(
    target: Parameter, source: Experiment, expected: tuple[str, str, str, str]
) -> None:
    [change] = change_of_x(target, source)
    assert change.source == "old"
    assert (change.kind, change.before, change.after, change.meaning) == expected


def test_several_differences_are_told_one_by_one() -> None:
    changes = change_of_x(Float(1e-3, 1, log=True), old(0, 1, 3, parameter=Int(0, 3)))
    assert [(change.kind, change.meaning) for change in changes] == [
        ("retyped", "compared as numbers"),
        ("re-ranged", "narrower; the source's trials outside of it (2) still count"),
        (
            "re-scaled",
            "compared on the target's log scale (zero and below stand at its low end)",
        ),
    ]


@pytest.mark.parametrize(
    ("before", "after", "move"),
    [
        (Float(0, 1), Float(0, 2), "wider"),
        (Float(0, 1), Float(-1, 1), "wider"),
        (Float(0, 2), Float(0, 1), "narrower"),
        (Float(-1, 1), Float(0, 1), "narrower"),
        (Float(0, 2), Float(1, 3), "moved"),
        (Float(1, 2), Float(2, 3), "moved"),
        (Float(2, 3), Float(1, 2), "moved"),
        (Float(0, 1), Float(2, 3), "moved away"),
        (Float(2, 3), Float(0, 1), "moved away"),
    ],
)
def test_a_range_is_told_where_it_went(before: Float, after: Float, move: str) -> None:
    [change] = change_of_x(after, old(parameter=before))
    assert change.meaning == f"{move}; all of the source's trials lie inside"


def test_what_only_the_source_has_comes_after_the_parameters_of_the_target() -> None:
    source = Experiment(
        "old", Space(a=Int(0, 1), b=Int(0, 1), x=FLOAT), fixed={"seed": 7}, goal="minimize"
    )
    joint = JointSpace.merge(Space(x=FLOAT), [source], fixed={"b": 1})
    told = [(c.parameter, c.kind, c.before, c.after, c.meaning) for c in joint.changes]
    assert told == [
        ("x", "same", "0 … 1", "0 … 1", "compared value by value"),
        (
            "a",
            "dropped",
            "int 0 … 1",
            "-",
            "no longer tuned; which value the target has is not known and is learned",
        ),
        (
            "b",
            "dropped",
            "int 0 … 1",
            "always 1",
            "no longer tuned; the source's trials near that value count most",
        ),
        ("seed", "fixed", "always 7", "-", "not tuned by the target either"),
    ]


def test_many_choices_are_cut_short() -> None:
    [change] = change_of_x(Categorical(*range(7)), old(parameter=Categorical(*range(6))))
    assert change.before == "0 | 1 | 2 | 3 | 4 | 5"
    assert change.after == "0 | 1 | 2 | 3 | 4 | … 7 in all"


@given(mergeable())
def test_every_parameter_of_a_source_and_of_the_target_is_told(family: Family) -> None:
    joint = family.joint
    for source in family.sources:
        told = {change.parameter for change in joint.changes if change.source == source.name}
        assert told == {*family.target, *source.space, *source.fixed}
        same = {
            c.parameter
            for c in joint.changes
            if c.source == source.name and c.kind is ChangeKind.SAME
        }
        assert same >= {name for name, p in source.space.items() if family.target.get(name) == p}


def described(width: int) -> str:
    source = Experiment(
        "churn-2024",
        Space(learning_rate=Float(0.1, 1), depth=Int(1, 9), subsample=Float(0.5, 1)),
        [Trial({"learning_rate": 0.5, "depth": 9, "subsample": 1}, 0.5)],
        goal="minimize",
    )
    target = Space(
        learning_rate=Float(0.1, 1), depth=Int(1, 6), booster=Categorical("tree", "dart")
    )
    return JointSpace.merge(target, [source]).describe(width=width)


def test_a_description_is_a_table_that_a_person_likes_to_read() -> None:
    assert described(120).splitlines() == [
        "churn-2024 → target   (1 trial with a value)",
        "  same in both: learning_rate",
        "",
        "  parameter   change      churn-2024   target            what it means",
        " " + "─" * 118,
        "  depth       re-ranged   int 1 … 9    int 1 … 6         narrower; the source's trials"
        " outside of it (1) still count",
        "  booster     added       -            'tree' | 'dart'   new; which value the source used"
        " is not known and is learned",
        "  subsample   dropped     0.5 … 1      -                 no longer tuned; which value the"
        " target has is not known and",
        " " * 57 + "is learned",
    ]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_description_keeps_to_its_width_and_its_lines_end_cleanly(width: int) -> None:
    lines = described(width).splitlines()
    assert max(map(len, lines)) <= width
    assert lines == [line.rstrip() for line in lines]
    assert lines[-1]


@pytest.mark.parametrize("width", [100, 200])
def test_long_names_are_folded_not_cut(width: int) -> None:
    names = [f"{'long_' * 12}{number}" for number in (1, 2)]
    source = Experiment(
        "old",
        Space.from_mapping({names[0]: Categorical("a" * 60)}),
        goal="minimize",
        fixed={"x": 1},
    )
    target = Space.from_mapping({names[1]: Categorical("b" * 60), "x": FLOAT})
    lines = JointSpace.merge(target, [source]).describe(width=width).splitlines()
    edge = next(line.index("change") for line in lines if "what it means" in line)
    first_column = "".join(line[:edge].strip() for line in lines)
    assert all(name in first_column for name in names)


def test_names_are_printed_as_they_are() -> None:
    source = Experiment(
        "[red]old[/red]",
        Space.from_mapping({"[bold]": Int(0, 1), "x": FLOAT}),
        goal="minimize",
    )
    target = Space.from_mapping({":smile:": Int(0, 1), "x": FLOAT})
    text = JointSpace.merge(target, [source], target_name="[link=x]new").describe()
    for name in ("[red]old[/red] → [link=x]new", "[bold]", ":smile:"):
        assert name in text


def test_names_cannot_break_lines_or_move_the_cursor() -> None:
    joint = JointSpace.merge(
        Space.from_mapping(dict.fromkeys(ODD_NAMES, FLOAT)),
        [
            Experiment(
                "two\u202elines",
                Space.from_mapping(dict.fromkeys(ODD_NAMES, FLOAT)),
                goal="minimize",
            )
        ],
    )
    text = joint.describe(width=1000)
    assert text.replace("\n", "").isprintable()
    assert "two\\u202elines → target" in text
    assert len(text.splitlines()) == 2


def test_a_source_that_shares_nothing_is_pointed_out() -> None:
    joint = JointSpace.merge(Space(x=FLOAT), [old()])
    assert {change.meaning for change in joint.changes} == {"nothing: the source is not used"}
    _, reason, remedy = joint.describe().splitlines()
    assert "Not used: no parameter in common" in reason
    assert "If only names differ, rename them." in remedy
    assert "no parameter in common" not in described(100)


def test_names_that_differ_in_case_or_blanks_only_are_asked_about() -> None:
    space = Space.from_mapping({"M": FLOAT, " x": FLOAT, "y": FLOAT})
    source = Experiment("old", space, goal="minimize", fixed={"N": 1})

    def asked(*names: str) -> str:
        target = Space.from_mapping(dict.fromkeys(names, FLOAT))
        described = JointSpace.merge(target, [source]).describe().splitlines()[-1].strip()
        assert unshared_sentence(source, target).endswith(described)
        return described

    assert asked("m", "X", "n") == "Do you mean rename={'M': 'm', ' x': 'X', 'N': 'n'}?"
    assert asked("z", "m") == "Do you mean rename={'M': 'm'}?"
    for names in (("z",), ("m", "M ")):
        assert asked(*names) == "If only names differ, rename them."


def test_a_target_without_sources_is_described_too() -> None:
    joint = JointSpace.merge(Space(x=FLOAT), target_name="new")
    assert joint.describe() == "new has no sources: nothing to transfer"


def test_a_description_is_returned_in_a_notebook_too(monkeypatch: pytest.MonkeyPatch) -> None:
    outside = described(100)
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    assert described(100) == outside


@given(mergeable(), st.integers(40, 150))
def test_any_joint_space_can_be_described(family: Family, width: int) -> None:
    text = family.joint.describe(width=width)
    assert all(source.name in text for source in family.sources)
