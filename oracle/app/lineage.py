"""Where a commit stands in a project's repository: asked of git, read only, in a bounded time. App room.

The child gets nothing of our environment but PATH and HOME, no shell, no hooks, no pager and no prompt; `ORACLE_INTERNAL` keeps
our own hooks silent below it.
"""

from __future__ import annotations

import os
import re

IN_LINEAGE, DIVERGENT, UNKNOWN = "in-lineage", "divergent", "unknown"
PATIENCE = 5.0
"""Seconds for one answer of git."""

_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_OPTIONS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.allow=never")


def lineage_of(repo: str, commit: str, *, head: str = "HEAD") -> str:
    """Return whether `head` contains a commit: `in-lineage`, `divergent`, or `unknown` when git can't tell."""
    if not _COMMIT.fullmatch(commit):
        return UNKNOWN
    code, _ = _ask(repo, "merge-base", "--is-ancestor", commit, head)
    return {0: IN_LINEAGE, 1: DIVERGENT}.get(code, UNKNOWN)


def tip_of(repo: str, branch: str) -> str:
    """Return the commit at the end of a branch, "" when git can't tell."""
    code, said = _ask(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"refs/heads/{branch}^{{commit}}")
    return said if code == 0 else ""


def base_of(repo: str, branch: str) -> str:
    """Return the commit where a branch left the main line, "" when git can't tell."""
    for main in ("origin/main", "main", "origin/master", "master"):
        code, said = _ask(repo, "merge-base", main, f"refs/heads/{branch}")
        if code == 0:
            return said
    return ""


def _ask(repo: str, *words: str) -> tuple[int, str]:
    import subprocess

    environ = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    environ |= {"LC_ALL": "C", "ORACLE_INTERNAL": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", repo, *_OPTIONS, *words],
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return -1, ""
    return done.returncode, done.stdout.decode("utf-8", "replace").strip()
