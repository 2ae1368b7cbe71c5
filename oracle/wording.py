"""Sentences for people: what is printed in English remembers of what it was made, so that a door may say it in another language.

`Said` is the English text and prints, compares, sorts and serialises as such: nobody but a door that translates has to know
that it is more. Joining two of them with `+` or `join` forgets what they were made of: make one template, or use `joined`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LIST = ", "
"""What stands between the values of a list."""


class Said(str):
    """A rendered sentence with its template (`many` is that of other counts than one) and the values in it."""

    __slots__ = ("many", "template", "values")

    template: str
    many: str
    values: Mapping[str, object]

    def __reduce__(self) -> tuple[object, ...]:
        """Survive a copy and a pickle."""
        return _again, (self.template, self.many, self.values)

    def through(self, change: Callable[[str], str]) -> Said:
        """Return the sentence with each text among its values changed, so that it may be shown where not all text can be."""
        return _again(self.template, self.many, {name: _changed(one, change) for name, one in self.values.items()})


class Joined(Said):
    """Several texts in a row; `template` is what stands between them, `parts` are those texts."""

    __slots__ = ("parts",)

    parts: tuple[object, ...]

    def __reduce__(self) -> tuple[object, ...]:
        """Survive a copy and a pickle."""
        return joined, (self.template, self.parts)

    def through(self, change: Callable[[str], str]) -> Said:
        """Return the same row with each of its texts changed."""
        return joined(self.template, [_changed(one, change) for one in self.parts])


class Retold(Said):
    """A sentence that went through a file or the index, which keep its English alone."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        """Survive a copy and a pickle."""
        return retold, (str(self),)

    def through(self, change: Callable[[str], str]) -> Said:
        """Return the same sentence changed."""
        return retold(change(self))


def say(template: str, /, **values: object) -> Said:
    """Return a sentence: `{name}` in the template is the value of that name, a list of values is told as `a, b, c`.

    Only the template is looked at for braces (a literal one is written twice): values are data.
    """
    return _again(template, "", {name: _kept(one) for name, one in values.items()})


def say_many(one: str, many: str, /, *, n: int, **values: object) -> Said:
    """Return the sentence for one thing, or for any other number of things; both know the number as `{n}`."""
    return _again(one, many, {"n": n, **{name: _kept(item) for name, item in values.items()}})


def say_each(*words: str) -> tuple[Said, ...]:
    """Return words that are to be translated one by one, as the headings of a table are."""
    return tuple(map(say, words))


def templates(*texts: str) -> tuple[str, ...]:
    """Return templates that somebody else fills, as they are: to name them here is to have them in the catalogues."""
    return texts


def joined(between: str, parts: Iterable[object], /) -> Said:
    """Return texts in a row with `between` them, which is translated as the texts are."""
    kept = tuple(parts)
    row = Joined(between.join(map(english, kept)))
    row.template, row.many, row.values, row.parts = between, "", {}, kept
    return row


def retold(text: str) -> Said:
    """Return a sentence of ours as it was read back; a door that translates has to recognise it."""
    if isinstance(text, Said):
        return text
    sentence = Retold(text)
    sentence.template, sentence.many, sentence.values = "", "", {}
    return sentence


def render(template: str, values: Mapping[str, object], *, show: Callable[[object], object]) -> str:
    """Fill a template, each value as `show` has it."""
    return template.format_map({name: show(one) for name, one in values.items()})


def english(one: object) -> str:
    """Return a value as English has it."""
    return str(_in_english(one))


def _in_english(one: object) -> object:
    return LIST.join(map(english, one)) if isinstance(one, tuple) else one


def _again(template: str, many: str, values: Mapping[str, object]) -> Said:
    said = Said(render(many if many and values["n"] != 1 else template, values, show=_in_english))
    said.template, said.many, said.values = template, many, values
    return said


def _kept(one: object) -> object:
    """Return a value as it is kept: lists as tuples of what they hold now, anything unknown by its text."""
    if one is None or isinstance(one, str | int | float):
        return one
    if isinstance(one, Exception):  # ours carry a sentence, which knows its template
        return getattr(one, "sentence", None) or str(one)
    if isinstance(one, bytes) or not hasattr(one, "__iter__"):
        return str(one)
    return tuple(map(_kept, one))


def _changed(one: object, change: Callable[[str], str]) -> object:
    if isinstance(one, Said):
        return one.through(change)
    if isinstance(one, tuple):
        return tuple(_changed(item, change) for item in one)
    return change(one) if isinstance(one, str) else one
