"""The catalogues of messages: what there is to translate, and how they are renewed.

`python -m tests.catalogues` writes both catalogues anew from the sources: translations are kept, sentences that are gone are
dropped, new ones are added without a translation and named, for a person to fill in.
"""

from __future__ import annotations

import ast
import string
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import polib
import typer

from oracle.cli.application import build
from oracle.cli.helping import help_texts
from oracle.cli.speaking import HELP
from oracle.wording import LIST

CHECKOUT = Path(__file__).resolve().parent.parent
SOURCES = CHECKOUT / "oracle"
LANGUAGES = ("en", "zh")
FORMS = {"en": "nplurals=2; plural=(n != 1);", "zh": "nplurals=1; plural=0;"}
WORDING = "oracle/wording.py"
SAYERS = {"say": 1, "say_many": 2, "joined": 1, "say_each": None, "templates": None}
"""The functions of `oracle.wording` and how many of their first words are templates; None is all of them."""


def path_of(language: str) -> Path:
    return SOURCES / "locale" / language / "LC_MESSAGES" / "oracle.po"


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    """Return each module's path below the checkout, and its tree."""
    paths = sorted(SOURCES.rglob("*.py"))
    return tuple((path.relative_to(CHECKOUT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in paths)


def sayings(tree: ast.Module) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    """Yield each call of a function that takes templates, and those templates."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAYERS:
            count = SAYERS[node.func.id]
            yield node, node.args if count is None else node.args[:count]


def constant(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@dataclass
class Text:
    """Something to translate, in English: its form for many, and where it stands."""

    many: str = ""
    places: list[str] = field(default_factory=list)


@cache
def texts() -> dict[tuple[str, str], Text]:
    """Return every text there is to translate by its context and its English, in the order of their places."""
    found: dict[tuple[str, str], Text] = {("", LIST): Text(places=[WORDING])}
    for path, tree in modules():
        for call, given in sorted(sayings(tree), key=lambda item: (item[0].lineno, item[0].col_offset)):
            known = [text for text in map(constant, given) if text]
            if path != WORDING and known and call.func.id == "say_many":
                _add(found, ("", known[0]), path, many=known[1])
            elif path != WORDING:
                for text in known:
                    _add(found, ("", text), path)
    for text in help_texts(typer.main.get_command(build())):
        _add(found, (HELP, text), "oracle/cli")
    return found


def _add(found: dict[tuple[str, str], Text], key: tuple[str, str], place: str, many: str = "") -> None:
    text = found.setdefault(key, Text())
    text.many = text.many or many
    if place not in text.places:
        text.places.append(place)


def placeholders(template: str) -> list[str]:
    """Return the values of a template with how each is printed, in any order."""
    parts = string.Formatter().parse(template)
    return sorted({f"{name}!{how or ''}:{spec}" for _, name, spec, how in parts if name is not None})


def renew(language: str) -> list[str]:
    """Write a catalogue anew and return what has no translation yet."""
    path = path_of(language)
    old = polib.pofile(str(path)) if path.exists() else polib.POFile()
    known = {(entry.msgctxt or "", entry.msgid): entry.msgstr or entry.msgstr_plural.get(0, "") for entry in old}
    new = polib.POFile(wrapwidth=120)
    new.header = old.header
    new.metadata = {
        "Project-Id-Version": "memory-oracle",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": FORMS[language],
    }
    for (context, english), text in texts().items():
        told = english if language == "en" else known.get((context, english), "")
        places = [(place, "") for place in text.places]
        entry = polib.POEntry(msgctxt=context or None, msgid=english, msgid_plural=text.many, occurrences=places)
        if not text.many:
            entry.msgstr = told
        else:
            entry.msgstr_plural = {0: english, 1: text.many} if language == "en" else {0: told}
        new.append(entry)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(str(new) + "\n", encoding="utf-8")
    return [entry.msgid for entry in new.untranslated_entries()]


if __name__ == "__main__":
    for name in LANGUAGES:
        for text in renew(name):
            sys.stdout.write(f"{name}: {text}\n")
