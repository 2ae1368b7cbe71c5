"""Sanitize the texts of other programs: remove what looks like a credential, and keep settings without their contents."""

from __future__ import annotations

import re
from typing import Any

from oracle.domain.safety.secrets import redact
from oracle.domain.safety.secrets.assignments import names_secret

MAX_LENGTH = 300
_KEY = re.compile(r"[A-Za-z_][A-Za-z_.-]{0,30}\d{0,2}")  # a key with more digits may be a phone number or an id
_WORD = re.compile(r"[A-Za-z][\w.+-]{0,40}(?:/[A-Za-z][\w.+-]{0,40})?")
_CREDENTIAL = re.compile(
    r"(?i:passw|secret|token|credential|api_?key|(?:\b|_)key\b|(?:\b|_)pwd\b|\bauth|\blogin\b|\bcurl\b|\bwget\b|\bssh|://[^/\s]*@)|\s-u\b"
)
_PATH = re.compile(r"(?:/(?:[A-Za-z][A-Za-z.-]{0,15}|v\d{1,2}(?:\.\d)?))*/?")
DESCRIPTIVE_KEYS = frozenset(
    "id name model provider type kind mode version channel agent lang language locale theme".split()
)
"""Keys of a configuration whose short values describe what is set up."""

_MAX_NUMBER = 1_000_000  # a larger number may be a phone number or an id


def text(value: str) -> str:
    """Return a text with credentials replaced by their kind, cut to the greatest length."""
    kept = value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return redact(kept)[0][:MAX_LENGTH]


def clean(value: Any, key: str = "") -> Any:  # noqa: ANN401 -- any JSON
    """Return JSON with all keys and texts sanitized. A text that its key marks as a credential is replaced."""
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
    """Return a line for a shell, "" for one that mentions a credential or an address, since a secret may follow."""
    return "" if _CREDENTIAL.search(line) else line


def outline(value: Any, key: str = "") -> Any:  # noqa: ANN401 -- any JSON
    """Return the outline of a configuration: keys, switches, short names, small numbers, and the length of other texts."""
    if isinstance(value, dict):
        named = ((str(name), item) for name, item in value.items())
        return {
            name if _KEY.fullmatch(name) and text(name) == name else "(a key)": outline(item, name)
            for name, item in named
        }
    if isinstance(value, list):
        return [outline(item, key) for item in value[:50]]
    if isinstance(value, str):
        is_plain = key in DESCRIPTIVE_KEYS and _WORD.fullmatch(value) is not None and text(value) == value
        return value if is_plain else f"(text of {len(value)})"
    if isinstance(value, bool) or value is None or abs(value) < _MAX_NUMBER:
        return value
    return "(a number)"


def address(value: str) -> str | None:
    """Return a URL without user, password and query: scheme, host, port, and a path of plain words."""
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
