"""Values: frozen classes with slots, made of their annotations. It imports only `operator` at run time.

They behave as `@dataclass(frozen=True, slots=True)` does, and type checkers read them as such. The standard decorator imports
`inspect` and compiles six methods a class, which a hook that runs after every turn can't afford.
"""

from __future__ import annotations

from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")

    class Value:
        """What `value` adds to a class."""

        _fields_: tuple[str, ...]
        _contents_: Callable[[object], object]
else:

    def dataclass_transform(**_named: object) -> Callable[[T], T]:
        """Stand in for the decorator that tells type checkers what `value` does."""
        return lambda decorated: decorated


class _Nothing(dict):  # type: ignore[type-arg]
    """The empty mapping, which can't be filled."""

    __slots__ = ()

    def __setitem__(self, key: object, value: object) -> None:
        raise TypeError("This mapping is a default and can't be changed.")


NOTHING: Mapping[str, Any] = _Nothing()
"""The default of a field that is a mapping."""

_FEW = 16
"""Instances of a class before its initialiser is compiled."""


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Return the class with slots for its annotated fields, an initialiser, equality, a hash and a printed form."""
    own = [name for name in cls.__annotations__ if name != "__slots__"]
    names = [*_inherited(cls), *own]
    defaults = {name: _default(cls, name) for name in names if hasattr(cls, name) and _has_default(cls, name)}
    body = {key: item for key, item in cls.__dict__.items() if key not in (*own, "__dict__", "__weakref__")}
    body |= {
        "__slots__": tuple(own),
        "__match_args__": tuple(names),
        "_fields_": tuple(names),
        "_defaults_": defaults,
        "_contents_": staticmethod(_contents(names)),
        "__eq__": _equals,
        "__hash__": _hash,
        "__repr__": _print,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__reduce__": _reduce,
    }
    made: type[T] = type(cls).__new__(type, cls.__name__, cls.__bases__, body)

    known, rest = frozenset(names), iter(range(_FEW))

    def first(self: object, *given: object, **named: object) -> None:
        """Fill the fields of the first instances one by one: a short command makes no more, and compiling takes as long as many."""
        own = dict(zip(names, given, strict=False)) | named
        contents = defaults | own
        is_right = len(own) == len(given) + len(named) and contents.keys() == known
        if is_right and next(rest, None) is not None:
            for name, item in contents.items():
                object.__setattr__(self, name, item)
        else:
            made.__init__ = initialiser = _initialiser(names, defaults)  # type: ignore[method-assign]
            initialiser(self, *given, **named)  # it says what is wrong

    made.__init__ = first  # type: ignore[method-assign]
    return made


def fields_of(instance: object) -> tuple[str, ...]:
    """Return the names of a value's fields, or of a class of values, in order."""
    names: tuple[str, ...] = instance._fields_  # type: ignore[attr-defined]
    return names


def contents_of(instance: object) -> dict[str, Any]:
    """Return a value's fields by name, in order; what they hold is left as it is."""
    return {name: getattr(instance, name) for name in fields_of(instance)}


def json_of(instance: object) -> dict[str, Any]:
    """Return a value's fields by name as JSON has them: a tuple is a list, a value with a JSON form has that form."""
    return {name: _json_item(item) for name, item in contents_of(instance).items()}


def _json_item(item: Any) -> Any:  # noqa: ANN401 -- JSON holds anything
    if isinstance(item, list | tuple):
        return [_json_item(one) for one in item]
    return item.as_json() if hasattr(item, "as_json") else item


class AsJson:
    """A value whose JSON form is its fields."""

    __slots__ = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return json_of(self)


def replace(instance: T, **changes: object) -> T:
    """Return a copy of a value with some fields changed. Raises TypeError for a field that it does not have."""
    return type(instance)(**{**contents_of(instance), **changes})


def _inherited(cls: type) -> tuple[str, ...]:
    return getattr(cls.__mro__[1], "_fields_", ())


def _has_default(cls: type, name: str) -> bool:
    return name in cls.__dict__ or name in getattr(cls.__mro__[1], "_defaults_", {})


def _default(cls: type, name: str) -> object:
    return cls.__dict__[name] if name in cls.__dict__ else cls.__mro__[1]._defaults_[name]  # type: ignore[attr-defined]


def _contents(names: list[str]) -> Callable[[object], Any]:
    if names:
        return attrgetter(*names)
    return lambda _: ()


def _initialiser(names: list[str], defaults: dict[str, object]) -> Callable[..., None]:
    """Compile `__init__`, so that it takes arguments as written and costs no more than one written by hand."""
    parameters = ", ".join(f"{name}=_defaults[{name!r}]" if name in defaults else name for name in names)
    lines = [f"    _set(self, {name!r}, {name})" for name in names] or ["    pass"]
    scope: dict[str, Any] = {"_set": object.__setattr__, "_defaults": defaults}
    source = f"def __init__(self{', ' if names else ''}{parameters}):\n" + "\n".join(lines)
    exec(source, scope)  # noqa: S102 -- made of the class's own field names
    made: Callable[..., None] = scope["__init__"]
    return made


def _equals(self: Value, other: object) -> object:
    if type(other) is not type(self):
        return NotImplemented
    return self._contents_(self) == self._contents_(other)


def _hash(self: Value) -> int:
    return hash((type(self), self._contents_(self)))


def _print(self: Value) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields_)
    return f"{type(self).__name__}({fields})"


def _refuse(self: object, name: str, _given: object = None) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} can't be changed.")


def _reduce(self: Value) -> tuple[object, ...]:
    return type(self), tuple(getattr(self, name) for name in self._fields_)
