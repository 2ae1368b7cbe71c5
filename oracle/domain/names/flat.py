"""Target <-> file name: the names of the files under `_links/` and `_backlinks/`.

Ordinary slugs keep the well-known form (`/` -> `__`, `:` -> `++`); a literal `_` or `+` is percent-encoded only where it
would be ambiguous, so that no two targets share a file. Pure; imports nothing that costs start-up time.
"""

from __future__ import annotations

MAX_BYTES = 180
"""Longest flat name in bytes, suffix not counted; longer ones are cut and completed by a hash."""

_HEAD_BYTES = 120
_HASH_DIGITS = 24
_PAIRS = {"/": "__", ":": "++"}
_AMBIGUOUS = {"_": "/", "+": ":"}


def flatten(target: str) -> str:
    """Return the file name (without `.jsonl`) of `target`.

    Injective: different targets give different names; the hashed tail of names over 180 bytes is 24 hexadecimal digits of
    SHA-256. Lone surrogates raise UnicodeEncodeError (no target holds one).
    """
    if target.isascii() and "_" not in target and "+" not in target and "%" not in target and "~" not in target:
        flat = target.replace("/", "__").replace(":", "++")
        if len(flat) <= MAX_BYTES and not flat.startswith(".") and flat.isprintable():
            return flat
    flat = "".join(_encode(target, index, char) for index, char in enumerate(target))
    raw = flat.encode("utf-8")
    return flat if len(raw) <= MAX_BYTES else _shorten(target, raw)


def _encode(target: str, index: int, char: str) -> str:
    if char in _PAIRS:
        return _PAIRS[char]
    if char in _AMBIGUOUS:
        neighbours = target[max(0, index - 1) : index] + target[index + 1 : index + 2]
        return _percent(char) if char in neighbours or _AMBIGUOUS[char] in neighbours else char
    if char in "%~" or (char == "." and index == 0) or ord(char) < 32 or ord(char) == 127:
        return _percent(char)
    return char


def _percent(char: str) -> str:
    return f"%{ord(char):02X}"


def _shorten(target: str, raw: bytes) -> str:
    from hashlib import sha256

    head = raw[:_HEAD_BYTES].decode("utf-8", "ignore")
    return f"{head}~{sha256(target.encode('utf-8')).hexdigest()[:_HASH_DIGITS]}"
