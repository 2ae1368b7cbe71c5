"""Credentials of a machine: their names, files, lengths and fingerprints.

They are read from files of `NAME=value` lines; the first file that has a name counts. Values are not kept: a value is read from its
file when a user asks for it.
"""

from __future__ import annotations

import hashlib
import os

from oracle.scan import formats
from oracle.scan.sanitize import text
from oracle.scan.tables import load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.scan.machine import Content, Machine

OAUTH_FILE = ".claude/.credentials.json"
OAUTH_VARIABLE = "CLAUDE_CODE_OAUTH_TOKEN"
MIN_FINGERPRINTED = 16
"""Characters that a value needs for a fingerprint: that of a shorter value could be found by trial."""

_DIGITS = 12
_MAX_DEPTH = 4


def scan_credentials(machine: Machine) -> Content:
    """Return the credentials of the home: names, files, lengths and fingerprints; values only when the caller allows it."""
    keys: dict[str, Content] = {}
    sources: list[str] = []
    problems: list[Content] = []
    for path in source_files(machine):
        variables, wrong = _read(path)
        if text(path) != path:
            problems.append({"source": text(path), "reason": "its name looks like a credential"})
            continue
        if variables is None:
            problems.append({"source": path, "reason": "it can't be read as text"})
            continue
        sources.append(path)
        problems += [{"source": path, "line": line, "reason": "the line is not NAME=value"} for line in wrong]
        for name, value in variables.items():
            if text(name) == name:
                keys.setdefault(name, _describe(value, path, keeps_value=machine.keeps_values))
    found: Content = {"sources": sources, "keys": keys, **_oauth(machine)}
    return {**found, "problems": problems} if problems else found


def source_files(machine: Machine) -> Iterator[str]:
    """Yield the files of the home that hold credentials; earlier files take precedence."""
    first = machine.path(".agents", ".env.global")
    if os.path.isfile(first):
        yield first
    try:
        names = sorted(os.listdir(machine.home))
    except OSError:
        names = []
    templates = tuple(load("machine")["template_endings"])
    for name in names:
        if name.startswith(".env") and not name.endswith(templates) and os.path.isfile(machine.path(name)):
            yield machine.path(name)
    for folder in load("machine")["credential_folders"]:
        yield from _env_files(machine.path(folder), _MAX_DEPTH)


def read_value(machine: Machine, name: str, source: str) -> str | None:
    """Return the current value of a name in a file; None when it is gone, or the file is not one of `source_files`."""
    if source not in source_files(machine):
        return None
    variables, _ = _read(source)
    return (variables or {}).get(name)


def fingerprint(value: str) -> str | None:
    """Return the first digits of a value's SHA-256, None for a value that is too short to keep them."""
    if len(value) < MIN_FINGERPRINTED:
        return None
    return f"sha256:{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"


def _env_files(folder: str, deepest: int) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if deepest > 1:
                yield from _env_files(entry.path, deepest - 1)
        elif entry.name.endswith(".env") and entry.is_file():
            yield entry.path


def _read(path: str) -> tuple[dict[str, str] | None, list[int]]:
    content = formats.read_text(path, follows_link=True)
    return (None, []) if content is None else formats.dotenv(content)


def _describe(value: str, source: str, *, keeps_value: bool) -> Content:
    return {
        "value": value if keeps_value else None,
        "source": source,
        "length": len(value),
        "fingerprint": fingerprint(value),
    }


def _oauth(machine: Machine) -> Content:
    """Return whether Claude Code is signed in, by its file or by the environment. The token is never kept."""
    path = machine.path(OAUTH_FILE)
    tokens = formats.dig(formats.json(formats.read_text(path, follows_link=True)), "claudeAiOauth")
    has_file = bool(formats.dig(tokens, "accessToken") or formats.dig(tokens, "refreshToken"))
    has_variable = bool(machine.environ.get(OAUTH_VARIABLE))
    sources = [*([path] if has_file else []), *([f"env:{OAUTH_VARIABLE}"] if has_variable else [])]
    return {
        "oauth": {
            "has_any": has_file or has_variable,
            "claude_credentials_json": has_file,
            "claude_code_oauth_token_env": has_variable,
        },
        "oauth_sources": sources,
    }
