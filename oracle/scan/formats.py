"""Read files of others: bounded, never through a link or a device, each format by the library that knows it.

The one door of the parsers of this package. A file that can't be read or parsed gives None: one bad file hides nothing.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from configparser import ConfigParser
    from typing import Any
    from xml.etree.ElementTree import Element

MOST_BYTES = 1 << 20
"""What is larger was written by no hand, and is not read."""


def read_text(path: str, *, follows_link: bool = False) -> str | None:
    """Return the text of a regular file; None when there is none, or it is too large, or holds no text."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follows_link else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
        with open(handle, "rb") as stream:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            raw = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        return None
    if len(raw) > MOST_BYTES or b"\0" in raw:
        return None
    return raw.decode("utf-8-sig", "replace")


def parse(text: str | None, load: Callable[[str], Any]) -> Any:  # noqa: ANN401 -- what a foreign file holds has no type
    """Return what `load` makes of a text, None where it can't."""
    if text is None:
        return None
    try:
        return load(text)
    except (ValueError, RecursionError, LookupError, SyntaxError, MemoryError):
        return None


def json(text: str | None) -> Any:  # noqa: ANN401
    """Return the value of a JSON text; comments and trailing commas, as tsconfig.json has them, are no matter."""
    from json import loads

    found = parse(text, loads)
    return parse(_without_comments(text), loads) if found is None and text else found


def toml(text: str | None) -> dict[str, Any]:
    """Return the table of a TOML text, {} where it is none."""
    import tomllib

    return table(parse(text, tomllib.loads))


def yaml(text: str | None) -> list[Any]:
    """Return the documents of a YAML text; tags that only their own program knows count as null."""
    import yaml as library

    class Loader(getattr(library, "CSafeLoader", library.SafeLoader)):  # type: ignore[misc]
        """The safe loader, which would stop at an unknown tag."""

    Loader.add_multi_constructor("", lambda _loader, _suffix, _node: None)
    if text is None or text.count("*") > 2000:  # aliases of aliases stand for more than can be held
        return []
    try:
        return list(library.load_all(text, Loader))
    except (library.YAMLError, ValueError, RecursionError, TypeError):
        return []


def xml(text: str | None) -> Element | None:
    """Return the root element of an XML text. One that defines entities is not read: they can stand for anything."""
    from xml.etree import ElementTree

    if text is None or "<!ENTITY" in text:
        return None
    try:
        return ElementTree.fromstring(text)  # noqa: S314 -- entities are what makes it unsafe
    except (ElementTree.ParseError, ValueError):
        return None


def tag(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: Element, name: str) -> str:
    """Return the text of the first child of this name, "" where there is none."""
    return next(((child.text or "").strip() for child in element if tag(child) == name), "")


def ini(text: str | None) -> ConfigParser:
    """Return the sections of an INI text, none where it is none; values stand as written."""
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True, delimiters=("=", ":"))
    if text is not None:
        try:
            parser.read_string(text)
        except configparser.Error:
            parser.clear()
    return parser


def git_config(text: str | None) -> Iterator[tuple[str, str, str, str]]:
    """Yield (section, subsection, key, value) of a git configuration; of a key that stands twice, the last value."""
    import configparser

    parser = configparser.ConfigParser(
        interpolation=None,
        strict=False,
        allow_no_value=True,
        delimiters=("=",),
        inline_comment_prefixes=("#", ";"),
        default_section="\0",
    )
    try:
        parser.read_string("\n".join(line.strip() for line in (text or "").splitlines()))
    except configparser.Error:
        return
    for name in parser.sections():
        section, _, rest = name.partition(" ")
        for key, value in parser.items(name):
            yield section.lower(), rest.strip().strip('"'), key, (value or "").strip('"')


def dotenv(text: str | None) -> tuple[dict[str, str], list[int]]:
    """Return the variables of a file of `NAME=value` lines, and the numbers of the lines that are none."""
    import io

    from dotenv.parser import parse_stream

    variables: dict[str, str] = {}
    wrong: list[int] = []
    for binding in parse_stream(io.StringIO(text or "")):
        if binding.error:
            wrong.append(binding.original.line)
        elif binding.key and binding.value is not None:
            variables[binding.key] = binding.value
    return variables, wrong


def table(value: object) -> dict[str, Any]:
    """Return a mapping as one with text for keys, {} for anything else."""
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def dig(value: object, *keys: str) -> Any:  # noqa: ANN401
    """Return what lies at a path of keys in nested mappings, None where it leads nowhere."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def word(value: object) -> str:
    """Return a text as it is, "" for anything else."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """Return the texts of a list, or a lone text as a list; anything else has none."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _without_comments(text: str) -> str:
    """Return a JSON text without comments, and without the commas before a closing bracket, outside of its strings."""
    import re

    uncommented = re.sub(r'("(?:[^"\\]|\\.)*+"?)|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)', lambda found: found[1] or "", text)
    return re.sub(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*[\]}])', lambda found: found[1] or "", uncommented)
