"""Which prompts get context: the query that a prompt becomes, and the prompts that get none. Pure."""

from __future__ import annotations

from oracle.domain import tables
from oracle.domain.compiling import compiled
from oracle.domain.injection import envelope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHORTEST, LONGEST = 5, 4000
"""Characters of a query. A longer prompt is cut in its middle, where pasted text is most often."""

_CRON = ":cron:"
"""What the id of a session holds that a schedule started."""


def prepare_query(prompt: str) -> str:
    """Return what to search for, "" for a prompt that gets no context: too short, a program's text, or without memory."""
    text = envelope.strip(prompt).strip()
    if len(text) < SHORTEST or is_system_text(text) or asks_for_none(text):
        return ""
    if len(text) > LONGEST:
        half = LONGEST // 2 - 1
        text = f"{text[:half]}\n{text[-half:]}"
    return text


def is_system_text(prompt: str) -> bool:
    """Return whether a program wrote the prompt, as `<task-notification>` or a wake-up."""
    begins = prompt.lstrip()[:500].lower()
    return _may_find("system", begins) and compiled(_pattern("system")).match(begins) is not None


def asks_for_none(prompt: str) -> bool:
    """Return whether the prompt asks to leave memory out."""
    return _finds("ignore", prompt)


def states_rule(prompt: str) -> bool:
    """Return whether the prompt seems to state a rule that is to last."""
    return _finds("lasting", prompt)


def _finds(name: str, prompt: str) -> bool:
    small = prompt.lower()
    return _may_find(name, small) and compiled(_pattern(name)).search(small) is not None


def _may_find(name: str, small: str) -> bool:
    """Return whether a text in small letters may match a pattern: it has one of its words, as few have."""
    return any(word in small for word in tables.load("prompts")["words"][name].split())


def is_bypassed(patterns: Sequence[str], session_id: str, folder: str) -> bool:
    """Return whether a session is left alone: a pattern matches its id or its folder. `*` stands for anything, `?` for one."""
    if not patterns:
        return False
    from fnmatch import fnmatchcase

    return any(fnmatchcase(name, pattern) for pattern in patterns for name in (session_id, folder) if name)


def is_cron(session_id: str, environ: Mapping[str, str]) -> bool:
    """Return whether a schedule started the session: its id holds `:cron:`, or `ORACLE_CRON` is 1."""
    return _CRON in session_id or environ.get("ORACLE_CRON") == "1"


def _pattern(name: str) -> str:
    return f"(?:{tables.expand(tables.load('prompts')['patterns'][name])})"
