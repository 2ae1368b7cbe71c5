"""Translate sentences into the operator's language, as they are printed.

Sentences are English until then. English needs no catalogue; another language loads `LANGUAGE.po` of this folder when the first
sentence is printed in it.
"""

from __future__ import annotations

import os
import re
import string
from functools import cached_property, lru_cache

from oracle.wording import LIST, Joined, Retold, Said, render, templates

ENGLISH, CHINESE = "en", "zh"
CATALOGUES = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 -- pathlib is not loaded here
HELP = "help"
"""The context, in a catalogue, of texts that are printed as they stand, braces and all."""

SYSTEMS_WORDS = frozenset(
    templates(
        "Address already in use",
        "Connection refused",
        "Disk quota exceeded",
        "File exists",
        "File name too long",
        "File too large",
        "Input/output error",
        "Is a directory",
        "No space left on device",
        "No such file or directory",
        "Not a directory",
        "Not a plain file",
        "Operation not permitted",
        "Permission denied",
        "Read-only file system",
        "Too many levels of symbolic links",
    )
)
"""What the operating system gives for a reason, wherever it is a value; rarer ones come in its own words."""

_LEAST_LITERAL = 8
"""Characters that a template must have beside its values before a text from disk is taken for one of its sentences."""

_LONGEST = 2_000
"""Characters of a text that is looked for among the sentences: a longer one would take long to be none of them."""

_language = ENGLISH


def set_language(language: str) -> None:
    """Choose the language of everything that is printed from now on: `en` or `zh`."""
    global _language
    _language = language


def is_english() -> bool:
    """Tell whether sentences are printed as they are."""
    return _language == ENGLISH


def translate(text: str) -> str:
    """Return a sentence in the chosen language; text that is no sentence of the program's is returned as it is."""
    if _language == ENGLISH or not isinstance(text, Said):
        return text
    return load(_language).translate(text)


def translate_help(text: str) -> str:
    """Return in the chosen language a text of a help, which has no values: that of a command or of an option."""
    return text if _language == ENGLISH or not text else load(_language).translate_help(text)


@lru_cache
def load(language: str) -> Catalogue:
    """Read the catalogue of a language, once a process; without one that can be read, English is spoken."""
    import polib

    helps: dict[str, str] = {}
    sentences: dict[str, str] = {}
    path = f"{CATALOGUES}/{language}.po"
    try:
        entries = list(polib.pofile(path))
    except (OSError, ValueError):
        entries = []
    for entry in entries:
        known = helps if entry.msgctxt == HELP else sentences
        for english in filter(None, (entry.msgid, entry.msgid_plural)):
            known[english] = entry.msgstr or entry.msgstr_plural.get(0, "")
    return Catalogue(sentences, helps)


class Catalogue:
    """The templates of one language by their English ones. Those for one and for many have one translation: Chinese counts so."""

    def __init__(self, templates: dict[str, str], helps: dict[str, str]) -> None:
        self._templates = templates
        self._helps = helps

    def translate_help(self, text: str) -> str:
        """Return a text of a help in the other language, as it is when the catalogue does not know it."""
        return self._helps.get(text) or self.look_up(text)

    def look_up(self, template: str) -> str:
        """Return a template in the other language, as it is when the catalogue does not know it."""
        return self._templates.get(template) or template

    def translate(self, said: Said) -> str:
        """Return a sentence, and the sentences among its values, in the other language."""
        if isinstance(said, Retold):
            return self.recognise(str(said))
        if isinstance(said, Joined):
            return self.look_up(said.template).join(map(self._text, said.parts))
        known = self._templates.get(said.template)
        try:
            return render(known, said.values, show=self._show) if known else str.__str__(said)
        except (LookupError, ValueError, AttributeError):  # a translation that names other values
            return str.__str__(said)

    def _show(self, one: object) -> object:
        return self._text(one) if isinstance(one, str | tuple) else one

    def _text(self, one: object) -> str:
        if isinstance(one, Said):
            return self.translate(one)
        if one in SYSTEMS_WORDS:
            return self.look_up(str(one))
        return self.look_up(LIST).join(map(self._text, one)) if isinstance(one, tuple) else str(one)

    def recognise(self, text: str) -> str:
        """Return the sentence in the other language whose English rendering the text is; the text itself when there is none.

        Of several templates that fit, the one with the most literal characters is taken.
        """
        if " " not in text or len(text) > _LONGEST:
            return text  # a word by itself is a name or a value: `title` is a field, whatever a heading is called
        if text in self._templates:
            return self.look_up(text)
        for anchor, template in self._anchors:
            found = _shape_of(template).fullmatch(text) if anchor in text else None
            if found:
                values = {name: self.recognise(value) for name, value in found.groupdict().items()}
                return _without_conversions(self.look_up(template)).format_map(values)
        return text

    @cached_property
    def _anchors(self) -> list[tuple[str, str]]:
        """Templates with a piece of their own words each, those with the most words of their own first."""
        found = []
        for template in self._templates:
            literals = [literal for literal, *_ in string.Formatter().parse(template)]
            length = sum(map(len, literals))
            if length >= _LEAST_LITERAL and "{" in template:
                found.append((-length, max(literals, key=len), template))
        return [(anchor, template) for _, anchor, template in sorted(found)]


@lru_cache
def _shape_of(template: str) -> re.Pattern[str]:
    """Return the pattern of what a template becomes."""
    shape, seen = "", set()
    for literal, name, _, _ in string.Formatter().parse(template):
        shape += re.escape(literal)
        if name:
            shape += f"(?P={name})" if name in seen else f"(?P<{name}>.*?)"
            seen.add(name)
    return re.compile(shape, re.DOTALL)


def _without_conversions(template: str) -> str:
    """Return a template whose values are put in as they are: they have been printed once already."""
    return re.sub(r"(?<!\{)\{(\w+)(?:![rsa])?(?::[^{}]*)?\}", r"{\1}", template)
