import pytest
from hypothesis import given

from helpers import refused
from hetbo import Categorical, Float, Int, Space, SpaceError
from hetbo.encoding import Columns
from strategies import spaces

SPACE = Space(lr=Float(0, 1), booster=Categorical("tree", *(True,), None), depth=Int(1, 9))


def test_a_number_has_one_column_and_a_category_one_per_choice() -> None:
    columns = Columns(SPACE)
    assert columns.labels == ("lr", "booster=tree", "booster=True", "booster=None", "depth")
    assert [column.parameter for column in columns] == ["lr", *["booster"] * 3, "depth"]
    assert [column.choice for column in columns] == [None, 0, 1, 2, None]
    assert repr(columns) == "Columns(lr, booster=tree, booster=True, booster=None, depth)"


def test_columns_are_found_by_name() -> None:
    columns = Columns(SPACE)
    assert columns.of("depth") == [4]
    assert columns.of("booster") == [1, 2, 3]
    assert columns.of("depth", "lr") == [4, 0]
    assert columns.of() == []


def test_a_name_without_columns_is_refused() -> None:
    with refused(SpaceError, "'width'", "'lr', 'booster', 'depth'"):
        Columns(SPACE).of("lr", "width")


def test_columns_of_one_category_form_a_group() -> None:
    assert Columns(SPACE).groups == (0, 1, 1, 1, 2)


def test_columns_are_a_sequence() -> None:
    columns = Columns(SPACE)
    assert columns[0].label == "lr"
    assert columns[-1].label == "depth"
    assert [column.label for column in columns[1:3]] == ["booster=tree", "booster=True"]
    with pytest.raises(IndexError):
        columns[5]


@given(spaces())
def test_every_column_belongs_to_exactly_one_parameter(space: Space) -> None:
    columns = Columns(space)
    assert columns.of(*space) == list(range(len(columns)))
    for number, name in enumerate(space):
        assert [columns.groups[index] for index in columns.of(name)] == [number] * len(
            columns.of(name)
        )


def test_more_columns_than_memory_has_room_for_are_refused() -> None:
    choices = Categorical(*(f"v{number}" for number in range(20_000)))
    with refused(SpaceError, "20001", "20000", "'many'", "10000"):
        Columns(Space(x=Float(0.0, 1.0), many=choices))
