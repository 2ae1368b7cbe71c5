"""Find credentials in a text before it is written down or sent.

`shapes` finds tokens in the formats that vendors publish, `places` finds values that their place gives away, and
`assignments` finds random-looking values with a telling name. The patterns are in the TOML files beside them. Each
search starts from a literal, and every repetition is bounded, so the time grows no faster than the text.
"""

from __future__ import annotations

import re

from oracle.domain.safety.secrets.assignments import find_assignments, names_secret
from oracle.domain.safety.secrets.declared import find_declared
from oracle.domain.safety.secrets.places import find_cookies, find_places, find_private_keys
from oracle.domain.safety.secrets.readings import ReadText, decoded, fold, may_be_encoded, part
from oracle.domain.safety.secrets.rules import MASK, Secret, compiled
from oracle.domain.safety.secrets.shapes import find_shapes, long_words, markers

__all__ = ["MASK", "Secret", "find_secrets", "names_secret", "redact"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the credentials of a text in order, none overlapping another.

    A value that is found once is reported wherever it occurs. No value crosses a marker that `redact` left. The search is
    repeated on the rest, so a redacted text holds no further credential.
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
    return compiled("|".join(map(re.escape, markers()))).sub(lambda found: MASK * len(found[0]), text)


def _scan_as_read(text: str) -> list[Secret]:
    """Scan a text as a reader sees it: full-width letters as plain ones, and without invisible characters.

    An invisible character may also separate two words, so the text is searched with blanks in place of them too.
    """
    folded = fold(text)
    read = ReadText(folded)
    parted = part(folded)
    found = _repeated(parted, _scan(parted))
    if read.plain:
        found = [*read.locate(_repeated(read.plain, _scan(read.plain))), *found]
    return found


def _scan(text: str) -> list[Secret]:
    """Return all finds, also those that overlap, the most telling kind first."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when lowered, and offsets would shift
        lower = text.translate({upper: upper + 32 for upper in range(65, 91)})
    words = long_words(text)
    return [
        *find_private_keys(text),
        *find_shapes(text, words),
        *find_places(text, lower),
        *find_cookies(text, lower),
        *find_assignments(text, lower),
        *find_declared(text, lower),
        *_find_encoded(text, words),
    ]


def _find_encoded(text: str, words: str) -> Iterator[Secret]:
    """Find Base64 of a text with a credential, such as a file of environment variables: all of it is the credential."""
    for start, end, plain in decoded(text) if may_be_encoded(words) else ():
        for secret in _scan(plain)[:1]:
            yield Secret(secret.kind, start, end)


def _repeated(text: str, found: list[Secret]) -> list[Secret]:
    """Add the other places of each found value, in one pass however many values there are."""
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
    """Join finds that overlap into one, of the kind that was listed first."""
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
