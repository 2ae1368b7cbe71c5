"""The language of a page: the one that was stated for `oracle`, else the first of the browser's that there is."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

from oracle.wording import Sentence, speak

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ENGLISH = "en"

_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


class Languages:
    """The translations that there are, by language. `stated` is the language of every page, "" to ask the browser."""

    def __init__(self, translations: Mapping[str, Callable[[Sentence], str]], stated: str = "") -> None:
        self._translations = translations
        self._stated = stated
        speak(self._translate)

    def choose(self, accepted: str) -> str:
        """Return the language for a browser that accepts these, as its header `Accept-Language` says it."""
        if self._stated:
            return self._stated
        ranked = sorted((_read(part) for part in accepted[:200].split(",")), reverse=True)
        known = (ENGLISH, *self._translations)
        return next((name for weight, name in ranked if weight > 0 and name in known), ENGLISH)

    def _translate(self, sentence: Sentence) -> str:
        translation = self._translations.get(_language.get())
        return translation(sentence) if translation else str.__str__(sentence)


def use(language: str) -> None:
    """Print every sentence of this request in a language."""
    _language.set(language)


def current() -> str:
    """Return the language of this request."""
    return _language.get()


def _read(part: str) -> tuple[float, str]:
    name, _, parameters = part.partition(";")
    weight = parameters.strip().removeprefix("q=") or "1"
    try:
        return float(weight), name.strip().partition("-")[0].lower()
    except ValueError:
        return 0.0, ""
