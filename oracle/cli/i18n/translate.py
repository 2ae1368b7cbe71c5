"""Translate sentences into the operator's language, as they are printed.

Sentences are English until then. English needs no catalogue; another language loads `LANGUAGE.po` of this folder when the first
sentence is printed in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache

from oracle.wording import LIST, Joined, Sentence, is_english, render, speak, templates

ENGLISH = "en"
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

Forms = tuple[str, ...]
"""The translations of one text: one, or those for each of the language's grammatical numbers."""

_language = ENGLISH


def set_language(language: str) -> None:
    """Print everything from now on in this language."""
    global _language
    _language = language
    speak(None if language == ENGLISH else lambda sentence: load(language).translate(sentence))


def current_language() -> str:
    """Return the language in which sentences are printed."""
    return ENGLISH if is_english() else _language


def translate_help(text: str) -> str:
    """Return the help text of a command or an option in the chosen language."""
    return text if is_english() or not text else load(_language).translate_help(text)


@lru_cache
def load(language: str) -> Catalogue:
    """Read the catalogue of a language. If it cannot be read, it is empty and everything stays English."""
    import polib

    helps: dict[str, Forms] = {}
    sentences: dict[str, Forms] = {}
    try:
        file = polib.pofile(f"{CATALOGUES}/{language}.po")
    except (OSError, ValueError):
        file = polib.POFile()
    for entry in file:
        known = helps if entry.msgctxt == HELP else sentences
        known[entry.msgid] = tuple(entry.msgstr_plural[form] for form in sorted(entry.msgstr_plural)) or (entry.msgstr,)
    return Catalogue(sentences, helps, file.metadata.get("Plural-Forms", ""))


def plural_rule(stated: str) -> Callable[[int], int]:
    """Return the function of a catalogue's `Plural-Forms` that chooses the form for a number."""
    rule = stated.rpartition(" plural=")[2].strip(" ;")
    if rule in ("", "0"):
        return lambda _: 0
    from gettext import c2py

    return c2py(rule)


class Catalogue:
    """The translations of English templates and help texts, and the rule by which a language chooses the form for a number."""

    def __init__(self, templates: dict[str, Forms], helps: dict[str, Forms], plural_forms: str) -> None:
        self._templates = templates
        self._helps = helps
        self._form_of = plural_rule(plural_forms)

    def translate_help(self, text: str) -> str:
        """Return the translation of a help text, or the text itself."""
        return self._helps.get(text, ("",))[0] or self.look_up(text)

    def look_up(self, template: str) -> str:
        """Return the translation of a template, or the template itself."""
        return self._templates.get(template, ("",))[0] or template

    def translate(self, sentence: Sentence) -> str:
        """Translate a sentence and the sentences among its values."""
        if isinstance(sentence, Joined):
            return self.look_up(sentence.template).join(map(self._text, sentence.parts))
        forms = self._templates.get(sentence.template, ("",))
        try:
            known = forms[self._form_of(sentence.values["n"])] if sentence.many else forms[0]  # type: ignore[arg-type]
            return render(known, sentence.values, show=self._show) if known else str.__str__(sentence)
        except (LookupError, ValueError, TypeError, AttributeError):  # the translation names other values
            return str.__str__(sentence)

    def _show(self, one: object) -> object:
        return self._text(one) if isinstance(one, str | tuple) else one

    def _text(self, one: object) -> str:
        if isinstance(one, Sentence):
            return self.translate(one)
        if one in SYSTEM_ERRORS:
            return self.look_up(str(one))
        return self.look_up(LIST).join(map(self._text, one)) if isinstance(one, tuple) else str(one)
