"""Read a file of a source: never out of its folder, at most 1 MiB, without credentials."""

from __future__ import annotations

import errno
import os

from oracle.domain.markdown.documents import digest_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.domain.sources.source import Source

MAX_BYTES = 1 << 20
"""Bytes of a file that are read. The rest of a larger one is left out."""


def read(source: Source, path: str, *, known: bytes = b"") -> bytes:
    """Return the bytes of the file at an absolute path in a source, with each credential replaced by a marker.

    `known` is the digest of its record in the index, which was made of a text without credentials: if the bytes have it,
    they are not searched again. Lines keep their numbers. Raises OSError.
    """
    if not holds(source, path):
        raise PermissionError(errno.EACCES, "It is a symbolic link that leaves the source", path)
    with open(path, "rb", buffering=0) as stream:
        raw = stream.read(MAX_BYTES + 1)
    raw = raw[:MAX_BYTES]
    return raw if known and digest_of(raw) == known else _without_secrets(raw)


def holds(source: Source, path: str) -> bool:
    """Return whether the real path of `path` is in the folder of a source."""
    return os.path.realpath(path).startswith(os.path.realpath(source.folder).rstrip("/") + "/")


def _without_secrets(raw: bytes) -> bytes:
    from oracle.domain.safety.secrets import find_secrets

    text = text_of(raw)
    secrets = find_secrets(text)
    if not secrets:
        return raw
    pieces, at = [], 0
    for secret in secrets:
        lines = text.count("\n", secret.start, secret.end)
        pieces += [text[at : secret.start], f"[REDACTED:{secret.kind}]", "\n" * lines]
        at = secret.end
    return "".join([*pieces, text[at:]]).encode("utf-8", "replace")
