"""What of a foreign text may be kept: nothing that looks like a credential, nothing that nobody can read."""

from __future__ import annotations

import re

from oracle.domain.safety.secrets import redact
from oracle.domain.safety.secrets.assignments import names_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST = 300
_KEY = re.compile(r"[A-Za-z_][A-Za-z_.-]{0,30}\d{0,2}")  # what has more digits may be somebody's number
_WORD = re.compile(r"[A-Za-z][\w.+-]{0,40}(?:/[A-Za-z][\w.+-]{0,40})?")
_CREDENTIAL = re.compile(
    r"(?i:passw|secret|token|credential|api_?key|(?:\b|_)key\b|(?:\b|_)pwd\b|\bauth|\blogin\b|\bcurl\b|\bwget\b|\bssh|://[^/\s]*@)|\s-u\b"
)
_PATH = re.compile(r"(?:/(?:[A-Za-z][A-Za-z.-]{0,15}|v\d{1,2}(?:\.\d)?))*/?")
TELLING = frozenset("id name model provider type kind mode version channel agent lang language locale theme".split())
"""Keys of a foreign configuration whose short values say what is set up."""

_LARGEST = 1_000_000  # a number above may be somebody's


def text(value: str) -> str:
    """Return a text as it may be kept: credentials replaced by their kind, what is too long cut."""
    kept = value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return redact(kept)[0][:LONGEST]


def clean(value: Any, key: str = "") -> Any:  # noqa: ANN401 -- any JSON
    """Return JSON with every text in it cleaned, keys too; what stands under a key that names a credential is left out."""
    if isinstance(value, dict):
        return {text(str(name)): clean(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item, key) for item in value]
    if isinstance(value, str):
        if key and not value.isspace() and names_secret(key) and redact(f"{key}: {value}")[1]:
            return "[REDACTED:assignment]"
        return text(value)
    return value


def command(line: str) -> str:
    """Return a line for a shell, "" where it names a credential: what follows on such a line may be one."""
    return "" if _CREDENTIAL.search(line) else line


def outline(value: Any, key: str = "") -> Any:  # noqa: ANN401 -- any JSON
    """Return what a foreign configuration sets up without what it says: its keys, switches and names.

    A text stands as its length unless its key tells what is set up; large numbers are left out, they may be somebody's.
    """
    if isinstance(value, dict):
        named = ((str(name), item) for name, item in value.items())
        return {
            name if _KEY.fullmatch(name) and text(name) == name else "(a key)": outline(item, name)
            for name, item in named
        }
    if isinstance(value, list):
        return [outline(item, key) for item in value[:50]]
    if isinstance(value, str):
        is_plain = key in TELLING and _WORD.fullmatch(value) is not None and text(value) == value
        return value if is_plain else f"(text of {len(value)})"
    if isinstance(value, bool) or value is None or abs(value) < _LARGEST:
        return value
    return "(a number)"


def address(value: str) -> str | None:
    """Return where a URL leads, without who asks and what for: scheme, host, port and a path of plain words."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(value if "://" in value else f"//{value}")
        host = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
    except ValueError:
        return None
    if not host or text(host) != host:
        return None
    path = parts.path if _PATH.fullmatch(parts.path) else ""
    return f"{parts.scheme}://{host}{path}" if parts.scheme else f"{host}{path}"
