"""Translate sentences into the operator's language, as they are printed.

Sentences are English until then. English needs no catalogue; another language loads `LANGUAGE.po` of this folder when the first
sentence is printed in it.
"""

from __future__ import annotations

import os
from functools import lru_cache

from oracle.wording import LIST, Joined, Sentence, is_english, render, speak, templates

ENGLISH, CHINESE = "en", "zh"
CATALOGUES = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 -- pathlib is not loaded here
HELP = "help"
"""The context of help texts in a catalogue. Help texts are not templates: braces in them mean nothing."""

SYSTEM_ERRORS = frozenset(
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
"""The commonest reasons that the operating system gives. They are translated wherever they are a value."""

_language = ENGLISH


def set_language(language: str) -> None:
    """Print everything from now on in `en` or `zh`."""
    global _language
    _language = language
    speak(None if language == ENGLISH else lambda sentence: load(language).translate(sentence))


def translate_help(text: str) -> str:
    """Return the help text of a command or an option in the chosen language."""
    return text if is_english() or not text else load(_language).translate_help(text)


@lru_cache
def load(language: str) -> Catalogue:
    """Read the catalogue of a language. If it cannot be read, it is empty and everything stays English."""
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
    """The translations of English templates and help texts. Chinese has one form for one and for many."""

    def __init__(self, templates: dict[str, str], helps: dict[str, str]) -> None:
        self._templates = templates
        self._helps = helps

    def translate_help(self, text: str) -> str:
        """Return the translation of a help text, or the text itself."""
        return self._helps.get(text) or self.look_up(text)

    def look_up(self, template: str) -> str:
        """Return the translation of a template, or the template itself."""
        return self._templates.get(template) or template

    def translate(self, sentence: Sentence) -> str:
        """Translate a sentence and the sentences among its values."""
        if isinstance(sentence, Joined):
            return self.look_up(sentence.template).join(map(self._text, sentence.parts))
        known = self._templates.get(sentence.template)
        try:
            return render(known, sentence.values, show=self._show) if known else str.__str__(sentence)
        except (LookupError, ValueError, AttributeError):  # the translation names other values
            return str.__str__(sentence)

    def _show(self, one: object) -> object:
        return self._text(one) if isinstance(one, str | tuple) else one

    def _text(self, one: object) -> str:
        if isinstance(one, Sentence):
            return self.translate(one)
        if one in SYSTEM_ERRORS:
            return self.look_up(str(one))
        return self.look_up(LIST).join(map(self._text, one)) if isinstance(one, tuple) else str(one)
