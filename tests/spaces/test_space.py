import copy
import json
import re
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import evaluated, pickled, refused
from hetbo import Categorical, Float, Int, Space, SpaceError
from hetbo.spaces import Value
from strategies import ODD_NAMES, params, spaces

Make: TypeAlias = Callable[[], object]
SPACE = Space(
    learning_rate=Float(1e-5, 1e-1, log=True), depth=Int(2, 12), booster=Categorical("tree", "dart")
)
INSIDE: dict[str, Value] = {"learning_rate": 0.01, "depth": 3, "booster": "dart"}


def test_a_space_is_an_ordered_mapping() -> None:
    assert SPACE.names == ("learning_rate", "depth", "booster")
    assert list(SPACE) == list(SPACE.names)
    assert SPACE["depth"] == Int(2, 12)
    assert len(SPACE) == 3
    assert "depth" in SPACE
    assert "width" not in SPACE


def test_spaces_in_another_order_are_different() -> None:
    one, other = Space(a=Int(0, 1), b=Int(0, 2)), Space(b=Int(0, 2), a=Int(0, 1))
    assert one != other
    assert one == Space(a=Int(0, 1), b=Int(0, 2))
    assert one != {"a": Int(0, 1), "b": Int(0, 2)}


def test_any_text_can_be_a_name() -> None:
    space = Space.from_mapping(dict.fromkeys(ODD_NAMES, Int(0, 1)))
    assert space.names == ODD_NAMES


@pytest.mark.parametrize("name", ["", "  ", 3, None])
def test_what_is_no_name_is_refused(name: object) -> None:
    with refused(SpaceError, "name", repr(name)):
        Space.from_mapping({name: Int(0, 1)})  # type: ignore[dict-item]


@pytest.mark.parametrize("character", ["\0", "\n", "\x1b", "\x85", "\u2028", "\u2029", "\ud800"])
def test_control_characters_are_refused_wherever_a_space_comes_from(character: str) -> None:
    name = f"a{character}b"
    good = Space(x=Int(0, 1))
    bad: list[Make] = [
        lambda: Space.from_mapping({name: Int(0, 1)}),
        lambda: Space(**{name: Int(0, 1)}),
        lambda: good.rename({"x": name}),
        lambda: good.replace(**{name: Int(0, 1)}),
        lambda: Space.from_json([{"name": name, "type": "int", "low": 0, "high": 1}]),
        lambda: Categorical("a", name),
        lambda: Space.from_json([{"name": "x", "type": "categorical", "choices": [name]}]),
    ]
    for make in bad:
        with refused(SpaceError, repr(name), "control character"):
            make()


def test_what_is_no_parameter_is_refused() -> None:
    with refused(SpaceError, "'depth'", "(2, 12)", "Float, Int or Categorical"):
        Space(depth=(2, 12))  # type: ignore[arg-type]


def test_a_space_without_parameters_is_refused() -> None:
    with refused(SpaceError, "at least one parameter"):
        Space()


def test_a_space_is_frozen() -> None:
    with pytest.raises(AttributeError, match=re.escape("space.replace(...)")):
        SPACE._parameters = {}
    with pytest.raises(TypeError):
        SPACE["depth"] = Int(0, 1)  # type: ignore[index]
    with pytest.raises(TypeError):
        SPACE._parameters["depth"] = Int(0, 1)  # type: ignore[index]


def test_a_space_does_not_follow_the_mapping_that_it_was_made_from() -> None:
    given_ = {"a": Int(0, 1)}
    space = Space.from_mapping(given_)
    given_["b"] = Int(0, 2)
    assert space.names == ("a",)


def test_check_returns_plain_values_in_the_order_of_the_space() -> None:
    checked = SPACE.check({"booster": np.str_("tree"), "depth": np.int64(3), "learning_rate": 0.1})
    assert list(checked.items()) == [("learning_rate", 0.1), ("depth", 3), ("booster", "tree")]
    assert type(checked["depth"]) is int


@given(spaces().flatmap(lambda space: st.tuples(st.just(space), params(space))))
def test_values_inside_are_kept(given_: tuple[Space, dict[str, Value]]) -> None:
    space, values = given_
    assert repr(space.check(values)) == repr({name: values[name] for name in space})


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"depth": 13}, ["'depth'", "13", "above high=12"]),
        ({"booster": "linear"}, ["'booster'", "'linear'", "'tree', 'dart'"]),
        ({"learning_rate": None}, ["'learning_rate'", "None", "not a number"]),
        ({"width": 1}, ["'width'", "unknown parameter", "'depth'"]),
    ],
)
def test_params_that_do_not_fit_are_refused(change: dict[str, object], parts: list[str]) -> None:
    with refused(SpaceError, *parts):
        SPACE.check({**INSIDE, **change})


def test_a_missing_parameter_is_named() -> None:
    with refused(SpaceError, "'depth'", "no value"):
        SPACE.check({"learning_rate": 0.01, "booster": "dart"})


def test_replace_exchanges_in_place_and_adds_at_the_end() -> None:
    changed = SPACE.replace(depth=Int(1, 3), width=Int(1, 2))
    assert changed.names == ("learning_rate", "depth", "booster", "width")
    assert changed["depth"] == Int(1, 3)
    assert SPACE["depth"] == Int(2, 12)


def test_drop_leaves_the_others() -> None:
    assert SPACE.drop("depth").names == ("learning_rate", "booster")
    with refused(SpaceError, "'width'", "unknown parameter"):
        SPACE.drop("width")
    with refused(SpaceError, "at least one parameter"):
        SPACE.drop(*SPACE.names)


def test_rename_keeps_the_order() -> None:
    swapped = SPACE.rename({"depth": "booster", "booster": "depth"})
    assert swapped.names == ("learning_rate", "booster", "depth")
    assert swapped["booster"] == Int(2, 12)


def test_rename_refuses_what_it_cannot_do() -> None:
    with refused(SpaceError, "'width'", "unknown parameter"):
        SPACE.rename({"width": "w"})
    with refused(SpaceError, "two parameters", "'booster'"):
        SPACE.rename({"depth": "booster"})
    with refused(SpaceError, "name", "''"):
        SPACE.rename({"depth": ""})


@given(spaces())
def test_a_space_survives_copying_and_another_process(space: Space) -> None:
    for same in (copy.copy(space), copy.deepcopy(space), pickled(space)):
        assert same == space
        assert hash(same) == hash(space)
        assert repr(same) == repr(space)


@given(spaces())
def test_the_repr_of_a_space_evaluates_to_it(space: Space) -> None:
    again = evaluated(repr(space))
    assert again == space
    assert repr(again) == repr(space)


def test_a_repr_has_a_line_for_each_parameter() -> None:
    assert repr(SPACE) == (
        "Space(\n"
        "    learning_rate=Float(1e-05, 0.1, log=True),\n"
        "    depth=Int(2, 12),\n"
        "    booster=Categorical('tree', 'dart'),\n"
        ")"
    )
    assert repr(Space.from_mapping({"min.node.size": Int(1, 9)})) == (
        "Space.from_mapping({\n    'min.node.size': Int(1, 9),\n})"
    )


@given(spaces())
def test_a_space_survives_json(space: Space) -> None:
    again = Space.from_json(json.loads(json.dumps(space.to_json())))
    assert again == space
    assert repr(again) == repr(space)


@pytest.mark.parametrize(
    ("data", "parts"),
    [
        ({}, ["list of parameters", "{}"]),
        ([], ["at least one parameter"]),
        ([{"type": "int", "low": 0, "high": 1}], ["no name"]),
        ([3], ["3", "no name"]),
        ([{"name": "a", "type": "int", "low": 2, "high": 1}], ["'a'", "low=2", "high=1"]),
        ([{"name": "", "type": "int", "low": 0, "high": 1}], ["name", "''"]),
        ([{"name": "a", "type": "int", "low": 0, "high": 1}] * 2, ["duplicate parameter 'a'"]),
    ],
)
def test_json_that_describes_no_space_is_refused(data: object, parts: list[str]) -> None:
    with refused(SpaceError, *parts):
        Space.from_json(data)
