"""Where a commit stands in a project's repository: asked of git, read only, in a bounded time. App room."""

from __future__ import annotations

import re

from oracle.app.git import ask_git

IN_LINEAGE, DIVERGENT, UNKNOWN = "in-lineage", "divergent", "unknown"
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")


def is_commit(text: str) -> bool:
    """Tell whether a text is the name of a commit: 7 to 64 hex digits."""
    return _COMMIT.fullmatch(text) is not None


def lineage_of(repo: str, commit: str) -> str:
    """Return whether HEAD contains a commit: `in-lineage`, `divergent`, or `unknown` when git can't tell."""
    if not is_commit(commit):
        return UNKNOWN
    code, _ = ask_git(repo, "merge-base", "--is-ancestor", commit, "HEAD")
    return {0: IN_LINEAGE, 1: DIVERGENT}.get(code, UNKNOWN)


def is_missing(repo: str, commit: str) -> bool:
    """Tell whether a repository is there and git finds no such commit in it."""
    if is_commit(commit) and ask_git(repo, "cat-file", "-e", f"{commit}^{{commit}}")[0] == 0:
        return False
    return ask_git(repo, "rev-parse", "--git-dir")[0] == 0


def remote_main(repo: str) -> str:
    """Return the end of the main line as the remote has it, as far as the repository knows, else ""."""
    for name in ("clawseat/main", "origin/main", "origin/master"):
        code, said = ask_git(repo, "rev-parse", "--verify", "--quiet", f"refs/remotes/{name}^{{commit}}")
        if code == 0:
            return said
    return ""


def tip_of(repo: str, branch: str) -> str:
    """Return the commit at the end of a branch, "" when git can't tell."""
    code, said = ask_git(
        repo, "rev-parse", "--verify", "--quiet", "--end-of-options", f"refs/heads/{branch}^{{commit}}"
    )
    return said if code == 0 else ""


def base_of(repo: str, branch: str) -> str:
    """Return the commit where a branch left the main line, "" when git can't tell."""
    for main in ("clawseat/main", "origin/main", "main", "origin/master", "master"):
        code, said = ask_git(repo, "merge-base", main, f"refs/heads/{branch}")
        if code == 0:
            return said
    return ""
