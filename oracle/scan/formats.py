"""Read and parse the files of others, and the data files of the scanners.

Of the files of others the size is limited, links and devices are refused, and a bad file raises nothing.
"""

from __future__ import annotations

import os
import stat
from functools import cache
from typing import Any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from configparser import ConfigParser
    from typing import Any
    from xml.etree.ElementTree import Element


MOST_BYTES = 1 << 20
"""Larger files are not read: nobody writes them by hand."""

MAX_DOTS = 1000
"""TOML with more dots on a line is refused: a key with many parts takes minutes to parse."""


def read_text(path: str, *, follows_link: bool = False) -> str | None:
    """Return the text of a regular file; None when it is missing, too large or binary."""
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
    """Return what `load` makes of a text, None when it fails."""
    if text is None:
        return None
    try:
        return load(text)
    except (ValueError, RecursionError, LookupError, SyntaxError, MemoryError):
        return None


def json(text: str | None) -> Any:  # noqa: ANN401
    """Return the value of a JSON text. Comments and trailing commas are allowed, as in tsconfig.json."""
    from json import loads

    found = parse(text, loads)
    return parse(_without_comments(text), loads) if found is None and text else found


def toml(text: str | None) -> dict[str, Any]:
    """Return the table of a TOML text, {} for an invalid one."""
    import tomllib

    if any(line.count(".") > MAX_DOTS for line in (text or "").splitlines()):
        return {}
    return table(parse(text, tomllib.loads))


def yaml(text: str | None) -> list[Any]:
    """Return the documents of a YAML text, [] for an invalid one. Values with unknown tags are null."""
    import yaml as library

    class Loader(getattr(library, "CSafeLoader", library.SafeLoader)):  # type: ignore[misc]
        """The safe loader, without its error for unknown tags."""

    Loader.add_multi_constructor("", lambda _loader, _suffix, _node: None)
    if text is None or text.count("*") > 2000:  # aliases of aliases can expand to more than memory holds
        return []
    try:
        return list(library.load_all(text, Loader))
    except (library.YAMLError, ValueError, RecursionError, TypeError):
        return []


def first_table(text: str | None) -> dict[str, Any]:
    """Return the first document of a YAML text if it is a mapping, else {}."""
    return table(next(iter(yaml(text)), None))


def xml(text: str | None) -> Element | None:
    """Return the root element of an XML text, None for an invalid one. A text that defines entities is refused."""
    from xml.etree import ElementTree

    if text is None or "<!ENTITY" in text:
        return None
    try:
        return ElementTree.fromstring(text)  # noqa: S314 -- entities, which make it unsafe, are refused above
    except (ElementTree.ParseError, ValueError):
        return None


def tag(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def text_of(element: Element, name: str) -> str:
    """Return the text of the first child of a name, "" when there is none."""
    return next(((child.text or "").strip() for child in element if tag(child) == name), "")


def ini(text: str | None) -> ConfigParser:
    """Return the sections of an INI text, none for an invalid one. Values are as written."""
    import configparser

    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True, delimiters=("=", ":"))
    if text is not None:
        try:
            parser.read_string(text)
        except configparser.Error:
            parser.clear()
    return parser


def git_config(text: str | None) -> Iterator[tuple[str, str, str, str]]:
    """Yield (section, subsection, key, value) of a git configuration. The last value of a key counts."""
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
    """Return the variables of a file of `NAME=value` lines, and the numbers of invalid lines."""
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
    """Return a mapping with its keys as text, {} for anything else."""
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def dig(value: object, *keys: str) -> Any:  # noqa: ANN401
    """Return the value at a path of keys in nested mappings, None when there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def word(value: object) -> str:
    """Return a text, "" for anything else."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> list[str]:
    """Return the texts of a list, or a single text as a list; [] for anything else."""
    return [item for item in ([value] if isinstance(value, str) else items(value)) if isinstance(item, str)]


def items(value: object) -> list[Any]:
    """Return a list, [] for anything else."""
    return value if isinstance(value, list) else []


def _without_comments(text: str) -> str:
    """Return a JSON text without comments and without trailing commas, outside of its strings."""
    import re

    uncommented = re.sub(r'("(?:[^"\\]|\\.)*+"?)|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)', lambda found: found[1] or "", text)
    return re.sub(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*[\]}])', lambda found: found[1] or "", uncommented)


# The data files of the scanners ----------------------------------------------------------------------------------------


@cache
def load_data(name: str) -> dict[str, Any]:
    """Return the content of `data/<name>.toml`. A file is read when a scanner first needs it."""
    import tomllib

    with open(f"{os.path.dirname(__file__)}/data/{name}.toml", "rb") as stream:
        return tomllib.load(stream)


@cache
def names(name: str, key: str) -> frozenset[str]:
    """Return a list of a data file as a set."""
    return frozenset(load_data(name)[key])


@cache
def owners(name: str, key: str) -> dict[str, str]:
    """Return the owner of each name in a table that lists names by their owner."""
    return {one: owner for owner, own in load_data(name)[key].items() for one in own}
