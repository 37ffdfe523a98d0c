"""Spaces in TOML files: what they mean, and errors that name file, table and key."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helpers import refused
from hetbo import Categorical, DataError, Float, Goal, Int, Space
from hetbo.cli._names import check_space
from hetbo.cli._space_files import read_space_file, toml_lines
from hetbo.spaces import Value
from strategies import choices, names, spaces


def test_a_file_says_what_is_tuned(tmp_path: Path) -> None:
    path = tmp_path / "space.toml"
    path.write_text(
        """goal = "maximize"
        value = "yield"
        [parameters]
        lr = { low = 1e-5, high = 1, log = true }
        layers = { low = 1, high = 8 }
        dropout = { low = 0, high = 1, integer = false }
        width = { low = 8.0, high = 512.0, log = true, integer = true }
        booster = { choices = ["gbtree", "dart", 3, true, { none = true }] }
        [parameters."min.node size"]
        low = 0.0
        high = 0.5
        [fixed]
        subsample = 0.8
        kind = "[b]old[/b]"
        nothing = { none = true }
        """,
        encoding="utf-8",
    )
    read = read_space_file(path)
    assert read.space == Space.from_mapping(
        {
            "lr": Float(1e-5, 1.0, log=True),
            "layers": Int(1, 8),
            "dropout": Float(0.0, 1.0),
            "width": Int(8, 512, log=True),
            "booster": Categorical("gbtree", "dart", 3, True, None),  # noqa: FBT003
            "min.node size": Float(0.0, 0.5),
        }
    )
    assert (read.goal, read.value) == (Goal.MAXIMIZE, "yield")
    assert read.fixed == {"subsample": 0.8, "kind": "[b]old[/b]", "nothing": None}


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("[parameters]", "no parameter")),
        ("[parameters]", ("[parameters]", "no parameter")),
        ("goal = 'up'", ("goal", "'up'")),
        ("value = 3", ("value = 3",)),
        ("parameters = 3", ("parameters = 3", "table")),
        ("lr = { low = 0.0, high = 1.0 }", ("'lr'", "top")),
        ("[parameters]\nlr = 3", ("[parameters] 'lr' = 3", "low")),
        ("[parameters]\nlr = { low = 3 }", ("[parameters] 'lr'", "high is missing")),
        ("[parameters]\nlr = { low = 3, hi = 4 }", ("[parameters] 'lr'", "'hi'")),
        ("[parameters]\nlr = { low = 3, high = 3 }", ("[parameters] 'lr'", "below high=3")),
        ("[parameters]\nlr = { low = 0, high = 3, log = true }", ("'lr'", "above 0")),
        ("[parameters]\nlr = { low = 0, high = 3, log = 1 }", ("'lr'", "log = 1")),
        ("[parameters]\nlr = { low = 'a', high = 3 }", ("'lr'", "'a'")),
        ("[parameters]\nlr = { low = 1, high = inf }", ("'lr'", "inf")),
        ("[parameters]\nlr = { low = 1.5, high = 3, integer = true }", ("'lr'", "1.5")),
        ("[parameters]\nb = { choices = 'x' }", ("'b'", "must be a list")),
        ("[parameters]\nb = { choices = [] }", ("'b'", "no choices")),
        ("[parameters]\nb = { choices = ['x', 'x'] }", ("'b'", "duplicate choice 'x'")),
        ("[parameters]\nb = { choices = [1, true] }", ("'b'", "true from 1")),
        ("[parameters]\nb = { choices = [[1]] }", ("'b'", "[1]")),
        ("[parameters]\nb = { choices = ['x'], low = 3 }", ("'b'", "'low'")),
        ("[parameters]\n'' = { low = 1, high = 3 }", ("not empty",)),
        (f"[parameters]\n{'n' * 600} = {{ low = 1, high = 3 }}", ("500 characters",)),
        (f"[parameters]\nb = {{ choices = ['{'n' * 600}', 'x'] }}", ("500 characters",)),
        ('[parameters]\n"a\\nb" = { low = 1, high = 3 }', ("control character",)),
        ('[parameters]\n"a\\u202eb" = { low = 1, high = 3 }', ("cannot be printed",)),
        ("[parameters]\nb = { choices = ['x', { none = false }] }", ("'b'", "{'none': False}")),
        ("[parameters]\nlr = { low = 1, high = 3 }\n[fixed]\nz = { none = 1.5 }", ("[fixed] 'z'",)),
        ("[parameters]\nlr = { low = 1, high = 3 }\n[fixed]\nlr = 2", ("'lr'",)),
        ("[parameters]\nlr = { low = 1, high = 3 }\n[fixed]\nz = [2]", ("[fixed] 'z'",)),
        ("not TOML", ("not a TOML file", "line 1")),
        ("\0", ("not a TOML file",)),
        ("#" * 1_000_001, ("1 MB",)),
    ],
)
def test_what_has_no_meaning_is_refused(tmp_path: Path, text: str, parts: tuple[str, ...]) -> None:
    path = tmp_path / "space.toml"
    path.write_text(text, encoding="utf-8")
    with refused(DataError, "space.toml", *parts):
        read_space_file(path)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with refused(DataError, "nowhere.toml", "No such file"):
        read_space_file(tmp_path / "nowhere.toml")
    with refused(DataError, "directory"):
        read_space_file(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"goal = '\xe9'")
    with refused(DataError, "latin.toml", "not a TOML file"):
        read_space_file(tmp_path / "latin.toml")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    space=spaces(),
    fixed=st.dictionaries(names(), choices(), max_size=4),
    goal=st.sampled_from(Goal),
    value=names(),
)
@example(
    space=Space(
        a=Categorical(None, "a", 1e22, -5e-324, 10**30, "none"),
        b=Float(-1e307, 1e307),
        c=Categorical("'", '"', "\\", "# x", "[", "\u00a0", "\u202e", "\U0001f600", ""),
        d=Int(-(2**53), 2**53),
        e=Float(5e-324, 1e-300),
        f=Categorical(*(f"choice number {number}" for number in range(200))),
    ),
    fixed={"none": None, "f'\"#": True, "x.y": 1e22, "": 3, "t": "= \\ é"},
    goal=Goal.MAXIMIZE,
    value='a "b" \\',
)
def test_what_is_printed_can_be_read_back(
    tmp_path: Path, space: Space, fixed: dict[str, Value], goal: Goal, value: str
) -> None:
    fixed = {name: v for name, v in fixed.items() if name.strip() and name not in space}
    try:
        check_space(space)
    except DataError as error:  # import refuses these before it prints anything
        assert any(known in str(error) for known in ("printed", "true from 1"))  # noqa: PT017
        return
    path = tmp_path / "space.toml"
    lines = toml_lines(space, fixed, goal=goal, value=value)
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    read = read_space_file(path)
    assert read.space == space
    assert repr(dict(read.fixed)) == repr(fixed)
    assert read.goal is goal
    assert read.value == (value if value.isprintable() else None)
