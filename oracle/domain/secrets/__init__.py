"""Find credentials in text that is about to be written into a record (domain: pure, touches nothing outside).

Three families are looked for: token shapes that vendors publish (`shapes`), values whose place gives them away
(`places`), and random-looking values assigned to a name (`assignments`); `opaque` judges a value by itself.
Each search starts from a literal found with `str.find`, and every repetition that starts there is bounded or ends at
the next literal, so the cost stays linear in the text. Patterns are compiled when their literal is first seen.
"""

from __future__ import annotations

import re
import unicodedata

from oracle.domain.secrets.assignments import find_assignments, names_secret
from oracle.domain.secrets.opaque import MASK, Secret, compiled
from oracle.domain.secrets.places import (
    find_headers,
    find_password_lines,
    find_phrases,
    find_private_keys,
    find_userinfo,
)
from oracle.domain.secrets.shapes import MARKERS, find_shapes

__all__ = ["MASK", "Secret", "find_secrets", "names_secret", "redact"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the credentials of a text in order, none overlapping another.

    A value found once is reported wherever it stands. Markers left by `redact` count as a wall that no value crosses,
    and the search is repeated on what is left, so that a redacted text holds no further find.
    """
    work = _masked_markers(text)
    found: list[Secret] = []
    while round_ := _merged(_scan_as_read(work)):
        found += round_
        work = _replaced(work, round_, mark=lambda secret: MASK * (secret.end - secret.start))
    return tuple(sorted(found, key=lambda secret: secret.start))


def redact(text: str) -> tuple[str, tuple[Secret, ...]]:
    """Replace each credential by `[REDACTED:<kind>]`; return the text and what `find_secrets` found in the original."""
    secrets = find_secrets(text)
    return _replaced(text, secrets, mark=lambda secret: f"[REDACTED:{secret.kind}]"), secrets


def _masked_markers(text: str) -> str:
    if "[REDACTED:" not in text:
        return text
    return compiled("|".join(map(re.escape, MARKERS))).sub(lambda found: MASK * len(found[0]), text)


_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"


def _scan_as_read(text: str) -> list[Secret]:
    """Scan a text as a reader sees it: letters of full width as plain ones, and nothing where nothing is seen.

    What is invisible may also part two words, so the text is searched with blanks in its place as well.
    """
    if text.isascii():
        return _repeated(text, _scan(text))
    folded = _folded(text)
    if not any(character in folded for character in _INVISIBLE):
        return _repeated(folded, _scan(folded))
    kept = [at for at, character in enumerate(folded) if character not in _INVISIBLE]
    joined = "".join([folded[at] for at in kept])
    parted = folded.translate(dict.fromkeys(map(ord, _INVISIBLE), " "))
    return [
        *(
            Secret(secret.kind, kept[secret.start], kept[secret.end - 1] + 1)
            for secret in _repeated(joined, _scan(joined))
        ),
        *_repeated(parted, _scan(parted)),
    ]


def _folded(text: str) -> str:
    """Replace the variants of plain letters, digits and the marks of tokens (NFKC), one character by one."""
    table = {}
    for character in set(text):
        if not character.isascii():
            plain = unicodedata.normalize("NFKC", character)
            if len(plain) == 1 and plain.isascii() and (plain.isalnum() or plain in "-_+/=."):
                table[ord(character)] = plain
    return text.translate(table) if table else text


def _scan(text: str) -> list[Secret]:
    """Return every find, overlapping or not, the most telling kind first."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when lowered, and offsets would shift
        lower = text.translate({upper: upper + 32 for upper in range(65, 91)})
    found = [*find_private_keys(text), *find_shapes(text)]
    if "://" in text and "@" in text:
        found += find_userinfo(text)
    found += find_password_lines(text)
    found += find_headers(text, lower)
    found += find_phrases(text, lower)
    found += find_assignments(text, lower)
    return found


def _repeated(text: str, found: list[Secret]) -> list[Secret]:
    """Add the other places where a found value stands; one pass, however many values there are."""
    if not found:
        return found
    heads: dict[str, dict[int, dict[str, str]]] = {}
    for secret in reversed(found):
        value = text[secret.start : secret.end]
        heads.setdefault(value[:4], {}).setdefault(len(value), {})[value] = secret.kind
    everywhere = list(found)
    for at in range(len(text) - 3):
        sizes = heads.get(text[at : at + 4])
        if sizes:
            for size, kinds in sizes.items():
                kind = kinds.get(text[at : at + size])
                if kind:
                    everywhere.append(Secret(kind, at, at + size))
    return everywhere


def _merged(found: list[Secret]) -> list[Secret]:
    """Join finds that overlap into one, under the kind that was listed first."""
    ranked = sorted(enumerate(found), key=lambda pair: pair[1].start)
    merged: list[tuple[int, Secret]] = []
    for rank, secret in ranked:
        if merged and secret.start < merged[-1][1].end:
            best, last = merged[-1]
            kind = last.kind if best <= rank else secret.kind
            merged[-1] = (min(best, rank), Secret(kind, last.start, max(last.end, secret.end)))
        else:
            merged.append((rank, secret))
    return [secret for _, secret in merged]


def _replaced(text: str, secrets: tuple[Secret, ...] | list[Secret], *, mark: Callable[[Secret], str]) -> str:
    parts: list[str] = []
    done = 0
    for secret in secrets:
        parts += (text[done : secret.start], mark(secret))
        done = secret.end
    return "".join((*parts, text[done:]))
