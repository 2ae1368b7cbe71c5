"""Sentences for people: English text that knows its template and its values, so that the command line can translate it.

A `Sentence` is a string. It prints, compares, sorts and serialises as its English text; only code that translates looks further.
Adding two sentences with `+` or `str.join` gives plain text: use one template, or `joined`.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Mapping

LIST = ", "
"""The separator between the values of a list."""

_LONGEST_FORMAT = 8
"""The longest format of a value in a sentence read from JSON: a longer one could ask for a text of any size."""


class Sentence(str):
    """An English sentence, its template and its values. `many` is the template for counts other than one."""

    __slots__ = ("many", "template", "values")

    template: str
    many: str
    values: Mapping[str, object]

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle with the template and the values."""
        return _sentence, (self.template, self.many, self.values)

    def map_text(self, change: Callable[[str], str]) -> Sentence:
        """Return the sentence with `change` applied to each text among its values."""
        return _sentence(self.template, self.many, {name: _map_text(one, change) for name, one in self.values.items()})


class Joined(Sentence):
    """Several texts (`parts`) with a separator (`template`) between them."""

    __slots__ = ("parts",)

    parts: tuple[object, ...]

    def __reduce__(self) -> tuple[object, ...]:
        """Copy and pickle with the parts."""
        return joined, (self.template, self.parts)

    def map_text(self, change: Callable[[str], str]) -> Sentence:
        """Return the same row with `change` applied to each of its texts."""
        return joined(self.template, [_map_text(one, change) for one in self.parts])


def say(template: str, /, **values: object) -> Sentence:
    """Fill `{name}` in the template with the value of that name. A list becomes `a, b, c`; write a literal brace twice."""
    return _sentence(template, "", {name: _frozen(one) for name, one in values.items()})


def say_many(one: str, many: str, /, *, n: int, **values: object) -> Sentence:
    """Fill the template `one` if `n` is 1, else `many`. Both know the number as `{n}`."""
    return _sentence(one, many, {"n": n, **{name: _frozen(item) for name, item in values.items()}})


def say_each(*words: str) -> tuple[Sentence, ...]:
    """Return several sentences without values, such as the headings of a table."""
    return tuple(map(say, words))


def templates(*texts: str) -> tuple[str, ...]:
    """List templates that are filled elsewhere, so that the catalogue has them."""
    return texts


def joined(separator: str, parts: Iterable[object], /) -> Sentence:
    """Join texts. The separator is translated, and so is each part that is a sentence."""
    kept = tuple(parts)
    row = Joined(separator.join(str(_english(one)) for one in kept))
    row.template, row.many, row.values, row.parts = separator, "", {}, kept
    return row


def to_json(one: object) -> object:
    """Return a sentence as JSON can hold it, with its template and values; any other value unchanged."""
    if isinstance(one, Joined):
        return {"separator": one.template, "parts": list(map(to_json, one.parts))}
    if isinstance(one, Sentence):
        many = {"many": one.many} if one.many else {}
        return {"template": one.template, **many, "values": {name: to_json(item) for name, item in one.values.items()}}
    return list(map(to_json, one)) if isinstance(one, tuple) else one


def from_json(stored: object) -> str:
    """Return what `to_json` was given. Anything that is not a stored sentence comes back as plain text."""
    try:
        found = _from_json(stored)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError):
        found = stored
    return found if isinstance(found, str) else str(found)


def render(template: str, values: Mapping[str, object], *, show: Callable[[object], object]) -> str:
    """Fill a template with `show(value)` for each value."""
    return template.format_map({name: show(one) for name, one in values.items()})


def _sentence(template: str, many: str, values: Mapping[str, object]) -> Sentence:
    sentence = Sentence(render(many if many and values["n"] != 1 else template, values, show=_english))
    sentence.template, sentence.many, sentence.values = template, many, values
    return sentence


def _english(one: object) -> object:
    return LIST.join(str(_english(item)) for item in one) if isinstance(one, tuple) else one


def _frozen(one: object) -> object:
    """Return a value that cannot change later: a list as a tuple, an error as its sentence, any other object as its text."""
    if one is None or isinstance(one, str | int | float):
        return one
    if isinstance(one, Exception):
        return getattr(one, "sentence", None) or str(one)
    if isinstance(one, bytes) or not hasattr(one, "__iter__"):
        return str(one)
    return tuple(map(_frozen, one))


def _map_text(one: object, change: Callable[[str], str]) -> object:
    if isinstance(one, Sentence):
        return one.map_text(change)
    if isinstance(one, tuple):
        return tuple(_map_text(item, change) for item in one)
    return change(one) if isinstance(one, str) else one


def _from_json(stored: object) -> object:
    if isinstance(stored, list):
        return tuple(map(_from_json, stored))
    if not isinstance(stored, dict):
        return stored
    if "parts" in stored:
        return joined(stored["separator"], map(_from_json, stored["parts"]))
    template, many = stored["template"], stored.get("many", "")
    if not (_is_plain(template) and _is_plain(many)):
        raise ValueError(template)
    return _sentence(template, many, {name: _from_json(item) for name, item in stored["values"].items()})


def _is_plain(template: str) -> bool:
    """Check that a template only names values, with short formats: it may come from a file that anybody wrote."""
    from string import Formatter

    fields = [(name, spec or "") for _, name, spec, _ in Formatter().parse(template) if name is not None]
    return all(name.isidentifier() and len(spec) <= _LONGEST_FORMAT and "{" not in spec for name, spec in fields)


# Printing --------------------------------------------------------------------------------------------------------------

_translation: Callable[[Sentence], str] | None = None


def speak(translation: Callable[[Sentence], str] | None) -> None:
    """Print every sentence from now on as `translation` says it, None: in English."""
    global _translation
    _translation = translation


def is_english() -> bool:
    """Return whether sentences are printed in English."""
    return _translation is None


def spoken(text: str) -> str:
    """Return a sentence in the chosen language. Plain text is returned unchanged."""
    return text if _translation is None or not isinstance(text, Sentence) else _translation(text)


# Characters that steer a terminal -------------------------------------------------------------------------------------

_STEERING = (
    "\x00-\x1f\x7f-\x9f"  # C0, DEL, C1: 0x9b alone begins an escape sequence on some terminals
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks that turn the order of what is read
    "\u2028\u2029\ufff9-\ufffb\ud800-\udfff"
)
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


@cache
def _steering(*, in_lines: bool) -> re.Pattern[str]:
    """Return the pattern of these characters; line ends and tabs are left out of the one for several lines."""
    import re

    return re.compile(f"[{_STEERING}]".replace("\x00-\x1f", "\x00-\x08\x0b-\x1f" if in_lines else "\x00-\x1f"))


def spelled(text: str) -> str:
    r"""Return text on one line, with every character that steers a terminal spelled out (`\x1b`, `\n`, `\u202e`)."""
    return _steering(in_lines=False).sub(_spell, text)


def spelled_lines(text: str, spell: Callable[[re.Match[str]], str] | None = None) -> str:
    """Return text of several lines, with every character that steers a terminal spelled out but line ends and tabs."""
    return _steering(in_lines=True).sub(spell or _spell, text)


def visible(text: str) -> str:
    r"""Return `text` in the operator's language, on one line, what steers a terminal spelled out (`\x1b`, `\n`, `\u202e`)."""
    return spelled(spoken(text))


def visible_lines(text: str) -> str:
    """Return text of several lines in the operator's language, its line ends and tabs kept, what else steers spelled out."""
    return spelled_lines(spoken(text))


def _spell(match: re.Match[str]) -> str:
    char = match[0]
    return _NAMED.get(char) or (f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}")
