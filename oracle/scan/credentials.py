"""Credentials of a machine: which there are and in which file, not what they are.

Read are files of `NAME=value` lines, first file wins. What is kept is name, file, length and fingerprint; the value is read
from its file at the moment somebody asks for it.
"""

from __future__ import annotations

import hashlib
import os

from oracle.scan import formats
from oracle.scan.plain import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from oracle.scan.machine import Content, Machine

FOLDERS = (
    ".agents/secrets",
    ".agent-runtime/secrets",
    ".gstack/secrets",
    ".openclaw/secrets",
    ".config/clawseat",
    ".config/openclaw",
)
"""Folders of the home whose `*.env` files hold credentials."""

OAUTH_FILE = ".claude/.credentials.json"
OAUTH_VARIABLE = "CLAUDE_CODE_OAUTH_TOKEN"
LEAST_TELLING = 16
"""Characters from which a value has a fingerprint: that of a short one could be tried out."""

_DIGITS = 12
_TEMPLATES = ("example", "sample", "template", "dist")
_DEEPEST = 4


def scan_credentials(machine: Machine) -> Content:
    """Return the credentials of the home: names, files, lengths and fingerprints; values only when they were asked for."""
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
        problems += [{"source": path, "line": line, "reason": "it is no NAME=value"} for line in wrong]
        for name, value in variables.items():
            if text(name) == name:
                keys.setdefault(name, _described(value, path, keeps_value=machine.keeps_values))
    found: Content = {"sources": sources, "keys": keys, **_oauth(machine)}
    return {**found, "problems": problems} if problems else found


def source_files(machine: Machine) -> Iterator[str]:
    """Yield the files of the home that hold credentials, strongest first; templates are none."""
    first = machine.path(".agents", ".env.global")
    if os.path.isfile(first):
        yield first
    try:
        names = sorted(os.listdir(machine.home))
    except OSError:
        names = []
    for name in names:
        if name.startswith(".env") and not name.endswith(_TEMPLATES) and os.path.isfile(machine.path(name)):
            yield machine.path(name)
    for folder in FOLDERS:
        yield from _env_files(machine.path(folder), _DEEPEST)


def read_value(machine: Machine, name: str, source: str) -> str | None:
    """Return the value that a file holds under a name now; None when it is gone, or the file is none of the home's."""
    if source not in source_files(machine):
        return None
    variables, _ = _read(source)
    return (variables or {}).get(name)


def fingerprint(value: str) -> str | None:
    """Return the first digits of a value's SHA-256, None for a value so short that they would tell it."""
    if len(value) < LEAST_TELLING:
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


def _described(value: str, source: str, *, keeps_value: bool) -> Content:
    return {
        "value": value if keeps_value else None,
        "source": source,
        "length": len(value),
        "fingerprint": fingerprint(value),
    }


def _oauth(machine: Machine) -> Content:
    """Say whether a session of Claude Code is signed in, by its file or by the environment; the token is never kept."""
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
