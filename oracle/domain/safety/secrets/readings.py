"""Turn a text into what a reader sees: plain letters for their variants, without escapes and invisible characters."""

from __future__ import annotations

import unicodedata

from oracle.domain.safety.secrets.rules import Secret, compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_UNUSUAL = "[^\x00-\x7f\u3000-\u9fff\uac00-\ud7a3\uff01-\uff0a\uff0c\uff1a-\uff1c]"  # Chinese, Korean and their marks
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_PARTED = (  # a literal in two lines
    r"(?P<quote>[\"'])[ \t]{0,20}[+\\]?[ \t]{0,20}\r?\n[ \t]{0,80}+[+.]?[ \t]{0,9}(?P=quote)"
)
_DROPPED = (  # what a reader doesn't see, the escapes of Markdown and of line ends, and references to characters
    rf"[{_INVISIBLE}]|\\(?:(?=[_*~#=-])|\r?\n)|{_PARTED}"
    r"|&(?:#0{0,4}(?P<decimal>[3-9]\d|1[01]\d|12[0-6])|#[xX]0{0,4}(?P<hex>[2-6][0-9A-Fa-f]|7[0-9A-Ea-e])|lowbar|hyphen);"
)


def fold(text: str) -> str:
    """Replace the variants of plain letters, digits and the marks of tokens (NFKC), one character by one."""
    if text.isascii():
        return text
    table = {}
    for character in set(compiled(_UNUSUAL).findall(text)):
        plain = unicodedata.normalize("NFKC", character)
        if len(plain) == 1 and plain.isascii() and (plain.isalnum() or plain in "-_+/=."):
            table[ord(character)] = plain
    return text.translate(table) if table else text


def part(text: str) -> str:
    """Put a blank in the place of each invisible character, which may separate two words."""
    if text.isascii() or not any(character in text for character in _INVISIBLE):
        return text
    return text.translate(dict.fromkeys(map(ord, _INVISIBLE), " "))


class Joined:
    """A text without escapes, references and invisible characters, and where each of its characters was."""

    def __init__(self, text: str) -> None:
        """Read a text. `plain` is what a reader sees, or "" if that is the text itself."""
        parts: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        done = 0
        for found in compiled(_DROPPED).finditer(text) if _may_differ(text) else ():
            self._keep(range(done, found.start()))
            parts.append(text[done : found.start()])
            if found[0][0] == "&":
                parts.append(_character(found[0], decimal=found["decimal"], hexadecimal=found["hex"]))
                self._starts.append(found.start())
                self._ends.append(found.end())
            done = found.end()
        if done:
            self._keep(range(done, len(text)))
            parts.append(text[done:])
        self.plain = "".join(parts)

    def _keep(self, places: range) -> None:
        self._starts += places
        self._ends += range(places.start + 1, places.stop + 1)

    def locate(self, secrets: Iterable[Secret]) -> Iterator[Secret]:
        """Yield what was found in `plain`, with its place in the text."""
        for secret in secrets:
            yield Secret(secret.kind, self._starts[secret.start], self._ends[secret.end - 1])


def _may_differ(text: str) -> bool:
    if "\n" in text and compiled(_PARTED).search(text):
        return True
    if "\\" in text and compiled(r"\\[_*~#=\r\n-]").search(text):
        return True
    if "&" in text and any(reference in text for reference in ("&#", "&lowbar;", "&hyphen;")):
        return True
    return not text.isascii() and any(character in text for character in _INVISIBLE)


def _character(said: str, *, decimal: str | None, hexadecimal: str | None) -> str:
    if decimal:
        return chr(int(decimal))
    if hexadecimal:
        return chr(int(hexadecimal, 16))
    return "_" if said == "&lowbar;" else "-"
