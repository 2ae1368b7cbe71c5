"""Renew every catalogue from the sources: `python -m tests.catalogues`. With a language, such as `fr`, begin its catalogue.

It keeps the translations, drops the entries of sentences that are gone, and adds new sentences without a translation. It prints
what it dropped and what has no translation.
"""

from __future__ import annotations

import ast
import gc
import string
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import polib

from oracle.cli.application import command, walk
from oracle.cli.i18n.translate import HELP
from oracle.wording import LIST, Sentence

CHECKOUT = Path(__file__).resolve().parent.parent
SOURCES = CHECKOUT / "oracle"
FOLDER = SOURCES / "cli" / "i18n"
WORDING = "oracle/wording.py"
SAYERS = {"say": 1, "say_many": 2, "joined": 1, "say_each": None, "templates": None}
"""The functions of `oracle.wording` and how many of their first words are templates; None is all of them."""


@cache
def modules() -> tuple[tuple[str, ast.Module], ...]:
    """Return each module's path below the checkout, and its tree."""
    paths = sorted(SOURCES.rglob("*.py"))
    gc.disable()  # to search a million nodes for garbage, again and again, would take three times as long as to make them
    try:
        return tuple((path.relative_to(CHECKOUT).as_posix(), ast.parse(path.read_bytes())) for path in paths)
    finally:
        gc.freeze()
        gc.enable()


def sayings(tree: ast.Module) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    """Yield each call of a function that takes templates, and those templates."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAYERS:
            count = SAYERS[node.func.id]
            yield node, node.args if count is None else node.args[:count]


def templates() -> Iterator[tuple[str, list[str]]]:
    """Yield the function that takes templates and those templates, for each call of one in the pages."""
    reader = jinja2.Environment(autoescape=True)
    for path in sorted(SOURCES.rglob("*.html")):
        for call in reader.parse(path.read_text(encoding="utf-8")).find_all(jinja2.nodes.Call):
            if isinstance(call.node, jinja2.nodes.Name) and call.node.name in SAYERS:
                given = call.args[: SAYERS[call.node.name]]
                yield call.node.name, [one.value for one in given if isinstance(one, jinja2.nodes.Const)]


def constant(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


@cache
def texts() -> dict[tuple[str, str], str]:
    """Return every text to translate: (context, English) and its English plural, "" without one."""
    found: dict[tuple[str, str], str] = {("", LIST): ""}
    said = [
        (call.func.id, [text for text in map(constant, given) if text])
        for path, tree in modules()
        for call, given in (sayings(tree) if path != WORDING else ())
    ]
    for name, known in (*said, *templates()):
        if name == "say_many" and len(known) == 2:
            found[("", known[0])] = known[1]
        else:
            found.update({("", text): found.get(("", text), "") for text in known})
    found.update({(HELP, text): "" for text in help_texts(command())})
    return found


def placeholders(template: str) -> list[str]:
    """Return the values of a template with how each is printed, in any order."""
    parts = string.Formatter().parse(template)
    return sorted({f"{name}!{how or ''}:{spec}" for _, name, spec, how in parts if name is not None})


def paths() -> list[Path]:
    """Return the catalogues, one a language."""
    return sorted(FOLDER.glob("*.po"))


def forms_of(catalogue: polib.POFile) -> int:
    """Return how many grammatical numbers the language of a catalogue has."""
    return int(catalogue.metadata["Plural-Forms"].partition("nplurals=")[2].partition(";")[0])


def begin(language: str) -> Path:
    """Return the path of a language's catalogue, made without entries when it is new; two forms until its header says else."""
    path = FOLDER / f"{language}.po"
    if not path.exists():
        new = polib.POFile(wrapwidth=120)
        new.metadata = {
            "Project-Id-Version": "memory-oracle",
            "Language": language,
            "MIME-Version": "1.0",
            "Content-Type": "text/plain; charset=UTF-8",
            "Content-Transfer-Encoding": "8bit",
            "Plural-Forms": "nplurals=2; plural=(n != 1);",
        }
        path.write_text(f"{new}\n", encoding="utf-8")
    return path


def renew(path: Path) -> tuple[list[str], list[str]]:
    """Write a catalogue and return the sentences without a translation and the stale ones that were dropped."""
    catalogue = polib.pofile(str(path))
    old = {(entry.msgctxt or "", entry.msgid): entry for entry in catalogue}
    new = polib.POFile(wrapwidth=120)
    new.metadata = catalogue.metadata
    for (context, english), many in sorted(texts().items(), key=lambda item: (item[0][1].casefold(), item[0])):
        known = old.pop((context, english), None)
        told = [known.msgstr, *known.msgstr_plural.values()] if known else []
        entry = polib.POEntry(msgctxt=context or None, msgid=english, msgid_plural=many)
        if many:
            forms = known.msgstr_plural if known else {}
            one = next(filter(None, told), "") if forms_of(catalogue) == 1 else ""
            entry.msgstr_plural = {form: forms.get(form, one) for form in range(forms_of(catalogue))}
        else:
            entry.msgstr = next(filter(None, told), "")
        new.append(entry)
    path.write_text(f"{new}\n", encoding="utf-8")
    return [entry.msgid for entry in new.untranslated_entries()], [english for _, english in old]


def help_texts(root: Any) -> Iterator[str]:
    """Yield the help texts that are translated: `oracle.cli.help.translate_command` looks them up."""
    for one_command in (root, *(one for _, one in walk(root, hidden=True))):
        yield from (text for text in (one_command.help, one_command.epilog) if text and not isinstance(text, Sentence))
        yield from filter(None, (getattr(parameter, "help", None) for parameter in one_command.params))


if __name__ == "__main__":
    for catalogue in sorted({*paths(), *map(begin, sys.argv[1:])}):
        missing, stale = renew(catalogue)
        name = "" if catalogue.stem == "zh" else f"{catalogue.stem}: "
        sys.stdout.writelines(
            [*(f"{name}not translated: {text}\n" for text in missing), *(f"{name}dropped: {text}\n" for text in stale)]
        )
