"""Try that a value behaves as a frozen dataclass with slots does."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import pytest

from oracle.domain.values import NOTHING, replace, value


@value
class Point:
    """A point."""

    x: int
    y: int = 2
    more: Mapping[str, int] = NOTHING

    @property
    def total(self) -> int:
        return self.x + self.y


@value
class Named(Point):
    name: str = "?"


@value
class Empty:
    pass


@dataclass(frozen=True, slots=True)
class Standard:
    x: int
    y: int = 2
    more: Mapping[str, int] = field(default_factory=dict)


def test_a_value_is_made_compared_hashed_and_printed_like_a_dataclass() -> None:
    point, standard = Point(1, y=3), Standard(1, y=3)
    assert repr(point) == repr(standard).replace("Standard", "Point")
    assert Point.__match_args__ == Standard.__match_args__ == tuple(one.name for one in fields(Standard))
    assert point == Point(1, 3)
    assert point != Point(1)
    assert point != standard
    assert {Empty(), Empty()} == {Empty()}
    assert point.total == 4
    assert Point.__doc__ == "A point."
    assert Empty() == Empty()


def test_a_value_can_not_be_changed_and_has_no_room_for_more() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match=r"Point\.x can't be changed"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del point.x
    assert not hasattr(point, "__dict__")
    with pytest.raises(TypeError, match="can't be changed"):
        point.more["a"] = 1  # type: ignore[index]
    assert point.more == {}


@pytest.mark.parametrize("arguments", [(1,), (1, 2)])
def test_the_initialiser_is_compiled_after_the_first_instances(arguments: tuple[int, ...]) -> None:
    @value
    class Pair:
        one: int
        two: int = 2

    before = Pair.__init__
    few = [Pair(*arguments) for _ in range(16)]
    assert Pair.__init__ is before
    assert {*few, Pair(*arguments), Pair(one=1, two=2)} == {Pair(1)}
    assert Pair.__init__.__code__.co_varnames == ("self", "one", "two")


@pytest.mark.parametrize("arguments", [(), (1, 2, {}, 4)])
def test_arguments_are_checked(arguments: tuple[object, ...]) -> None:
    with pytest.raises(TypeError, match="__init__"):
        Point(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("named", [{"one": 2}, {"three": 3}])
def test_names_of_arguments_are_checked_from_the_first_instance(named: dict[str, int]) -> None:
    @value
    class Pair:
        one: int
        two: int = 2

    with pytest.raises(TypeError, match=next(iter(named))):
        Pair(1, **named)
    assert Pair(1) == Pair(1, 2)


def test_a_subclass_has_the_fields_of_both_and_is_another_kind() -> None:
    named = Named(1, name="n")
    assert (named.x, named.y, named.name, named.total) == (1, 2, "n", 3)
    assert Named(1) != Point(1)
    assert isinstance(named, Point)


def test_a_value_is_replaced_copied_and_pickled() -> None:
    point = Point(1, 5)
    assert replace(point, x=2) == Point(2, 5)
    with pytest.raises(TypeError):
        replace(point, z=1)
    assert copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point  # noqa: S301


HOT = (
    "domain.delivery.markers domain.delivery.handoffs domain.records.verdicts store.delivery.handoffs store.delivery.responses"
    " store.delivery.inbox store.root.profile store.delivery.task_tree"
)


def test_what_a_delivery_imports_stays_out_of_the_standard_decorator() -> None:
    imports = "; ".join(f"import oracle.{name}" for name in HOT.split())
    heavy = "{'dataclasses', 'inspect', 'pathlib', 'tomllib'}"
    code = f"import sys; sys.path.insert(0, '.'); {imports}; print(*{heavy} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
