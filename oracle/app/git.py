"""Ask git about a project's repository: read only, with a time limit, never through a shell.

A repository may come from elsewhere, so no program that its configuration names is run: no hook, filter, external diff, text
converter, file watcher or signature check. The child gets only PATH and HOME of the environment, and no pager or prompt.
`ORACLE_INTERNAL` keeps the hooks of this product silent. A name can't be read as an option: it follows `-e`, `--` or a fixed
prefix.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Sequence
from functools import cached_property

from oracle.store.disk import programs

PATIENCE = 5.0
"""Seconds for one answer of git."""

HISTORY_PATIENCE = 2.0
"""Seconds for one search of the history. After one that takes longer, the history is not searched again."""

_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never"),
    *("log.showSignature=false", "submodule.recurse=false"),
)
_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))
_QUIET_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")
"""A submodule has a configuration of its own, so git must not look into it."""

_VALUES = {"ORACLE_NOTHING": "", "ORACLE_NO": "false"}
"""Values of settings, passed by the environment: the name of a filter may hold an equals sign."""

_FILTERS = ("config", "-z", "--show-scope", "--name-only", "--get-regexp", r"^filter\.")
_MOST_RENAMES = 8
"""Renames of one file that are followed."""
_NO_CODE = (
    "md mdx rst adoc txt log csv tsv json jsonl yaml yml toml ini cfg conf env properties xml html lock sql po".split()
)
"""Endings of documents, data and settings."""
_MOST = 64 << 20
"""Bytes that git may print: the names of half a million files."""
_MOST_CHANGES = 8
"""Last changes of a word that are looked at: each may be one of a longer word that holds it."""


class OutOfTime(Exception):
    """The time for questions to one repository is used up, or git gave no answer in its own."""


def ask_git(repo: str, *words: str, patience: float = PATIENCE) -> tuple[int, str]:
    """Return git's exit code and what it said; -1 if it could not be asked in `patience` seconds, or said too much."""
    if "diff" in words:  # it compares files of the work tree, for which git runs filters
        code, named = _run(repo, _FILTERS, patience)
        if code not in (0, 1):
            return -1, ""
        at = words.index("diff")
        words = (*_without_filters(named), *words[:at], *_QUIET_DIFF, *words[at + 1 :])
    code, said = _run(repo, words, patience)
    return code, said.decode("utf-8", "replace").strip()


def _run(repo: str, words: Sequence[str], patience: float) -> tuple[int, bytes]:
    environ = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    environ |= {"LC_ALL": "C", "ORACLE_INTERNAL": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", **_VALUES}
    try:
        done = programs.run(["git", "-C", repo, *_OPTIONS, *words], environ=environ, patience=patience, most=_MOST)
    except (OSError, ValueError, programs.Stopped):
        return -1, b""
    return done.code, done.output


def _without_filters(named: bytes) -> Iterator[str]:
    """Yield the options that switch off the filters that the repository itself defines; `named` is from `_FILTERS`."""
    parts = os.fsdecode(named).split("\0")
    keys = {key for scope, key in zip(parts[::2], parts[1::2], strict=False) if scope in ("local", "worktree")}
    for name in sorted({key.rpartition(".")[0] for key in keys}):
        yield from (f"--config-env={name}.{key}=ORACLE_NOTHING" for key in ("clean", "smudge", "process"))
        yield f"--config-env={name}.required=ORACLE_NO"


class Repository:
    """One working tree for the length of a question; `budget` is the seconds that all answers of git may take together."""

    def __init__(self, path: str, *, budget: float) -> None:
        self.path = path
        self._real = os.path.realpath(path)
        self._end = time.monotonic() + budget
        self._is_history_slow = False

    @cached_property
    def is_git(self) -> bool:
        """Return whether the folder is in a working tree of git."""
        return self._ask("rev-parse", "--is-inside-work-tree") == (0, "true")

    @cached_property
    def is_bare(self) -> bool:
        """Return whether it has commits but no working tree."""
        return self._ask("rev-parse", "--is-bare-repository") == (0, "true")

    @cached_property
    def is_shallow(self) -> bool:
        """Return whether its history is cut off."""
        return self._ask("rev-parse", "--is-shallow-repository") == (0, "true")

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        """The files that git tracks, each with the letter of its state before it."""
        return tuple(self._ask("ls-files", "-t", "-z")[1].split("\0"))

    @cached_property
    def tracked(self) -> frozenset[str]:
        """The paths of the files that git tracks, as it spells them."""
        return frozenset(line[2:] for line in self._listed)

    @cached_property
    def left_out(self) -> frozenset[str]:
        """The paths of tracked files, and of their folders, that a sparse checkout leaves out of the work tree."""
        files = [line[2:] for line in self._listed if line.startswith("S ")]
        folders = {path[:at] for path in files for at, char in enumerate(path) if char == "/"}
        return frozenset((*files, *folders))

    @cached_property
    def branches(self) -> frozenset[str]:
        """The names of the branches, local and remote; a remote one goes by its own name too."""
        _, said = self._ask("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes")
        names = [line.split("/", 2)[2] for line in said.splitlines() if line.count("/") > 1]
        remote = [line.split("/", 3)[3] for line in said.splitlines() if line.startswith("refs/remotes/")]
        return frozenset((*names, *(name for name in remote if name != "HEAD")))

    def has_file(self, path: str) -> bool:
        """Return whether a path exists below the tree, tracked or not. Paths outside are not looked at."""
        place = os.path.normpath(os.path.join(self._real, path))
        if not place.startswith(f"{self._real.rstrip('/')}/"):
            return False
        inside = os.path.realpath(os.path.dirname(place))
        return f"{inside}/".startswith(f"{self._real.rstrip('/')}/") and os.path.lexists(place)

    def has(self, path: str) -> bool:
        """Return whether a path exists in the working tree, or is left out of it by a sparse checkout."""
        return self.has_file(path) or (self.is_git and path in self.left_out)

    def renamed(self, path: str) -> tuple[str, str]:
        """Return (the new path of a file that is gone, the commit that removed it); "" for what history does not say."""
        commit, now = "", path
        for _ in range(_MOST_RENAMES):
            _, removal = self._ask(
                "log", "-1", "--diff-filter=D", "--no-renames", "--format=%h", "HEAD", "--", f":(literal){now}"
            )
            if not removal:
                break
            commit = commit or removal
            now = self._renamed_in(removal, now)
            if not now or self.has(now):
                return now, commit
        return "", commit

    def _renamed_in(self, commit: str, path: str) -> str:
        words = (
            "--format=",
            "--name-status",
            "-z",
            "-M",
            "--diff-filter=R",
            "--no-ext-diff",
            "--no-textconv",
            "--relative",
        )
        parts = self._ask("show", *words, commit, "--")[1].split("\0")
        pairs = {parts[at + 1]: parts[at + 2] for at in range(0, len(parts) - 2, 3)}
        return pairs.get(path, "")

    def has_symbol(self, parts: tuple[str, ...], *, leaving_out: str = "") -> bool:
        """Return whether one tracked file holds every part as a whole word. Files below `leaving_out` do not count."""
        # by default git searches the work tree only
        return self._holds(parts, leaving_out) or (bool(self.left_out) and self._holds(parts, leaving_out, "--cached"))

    def had_word(self, word: str, *, leaving_out: str) -> bool:
        """Return whether the history of HEAD holds a word in code. Files below `leaving_out` do not count. Raises OutOfTime.

        What only documents, data and settings held is a field, a column or a setting, and no symbol.
        """
        if self._is_history_slow:
            raise OutOfTime
        look = ("log", f"-{_MOST_CHANGES}", "--format=%h", "--no-ext-diff", "--no-textconv", f"-S{word}", "HEAD")
        try:
            _, said = self._ask(*look, *_without(leaving_out, code_only=True), patience=HISTORY_PATIENCE)
        except OutOfTime:
            self._is_history_slow = True
            raise
        states = (state for commit in said.split() for state in (commit, f"{commit}^"))
        return any(self._holds((word,), leaving_out, state) for state in states)

    def _holds(self, parts: tuple[str, ...], leaving_out: str, state: str = "") -> bool:
        """Return whether a file holds every part, in the working tree, with `--cached` in the index, or in a commit."""
        words = [word for part in parts for word in ("-e", part)]
        where = [state] if state else []
        look = ("grep", "-I", "-l", "-w", "-F", "--all-match")
        options, commits = ([], where) if state != "--cached" else (where, [])
        code, _ = self._ask(*look, *options, *words, *commits, *_without(leaving_out, code_only=bool(commits)))
        if code not in (0, 1) and not commits:  # the first commit has none before it
            raise OutOfTime
        return code == 0

    def holds_commit(self, commit: str) -> tuple[bool, bool]:
        """Return (whether HEAD's history has a commit, whether the repository has it at all)."""
        code, _ = self._ask("merge-base", "--is-ancestor", f"{commit}^{{commit}}", "HEAD")
        return code == 0, code in (0, 1)

    def _ask(self, *words: str, patience: float = 0.0) -> tuple[int, str]:
        left = min(patience or PATIENCE, self._end - time.monotonic())
        code, said = ask_git(self.path, *words, patience=left) if left > 0 else (-1, "")
        if code == -1:
            raise OutOfTime
        return code, said


def _without(folder: str, *, code_only: bool) -> tuple[str, ...]:
    """Return the words by which git leaves out a folder, and files that hold no code."""
    left_out = [f":(exclude,literal){folder}"] if folder else []
    left_out += [f":(exclude,icase)*.{ending}" for ending in _NO_CODE if code_only]
    return ("--", ".", *left_out) if left_out else ("--",)


IN_LINEAGE, DIVERGENT, UNKNOWN = "in-lineage", "divergent", "unknown"
_COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")


def is_commit(text: str) -> bool:
    """Return whether a text is the name of a commit: 7 to 64 hex digits."""
    return _COMMIT.fullmatch(text) is not None


def lineage_of(repo: str, commit: str) -> str:
    """Return whether HEAD contains a commit: `in-lineage`, `divergent`, or `unknown` when git can't tell."""
    if not is_commit(commit):
        return UNKNOWN
    code, _ = ask_git(repo, "merge-base", "--is-ancestor", commit, "HEAD")
    return {0: IN_LINEAGE, 1: DIVERGENT}.get(code, UNKNOWN)


def is_missing(repo: str, commit: str) -> bool:
    """Return whether a repository is there and git finds no such commit in it."""
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
