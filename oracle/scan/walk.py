"""Walk a repository: which files it has, without what git ignores. No link is followed, no program started.

A folder that git would not enter is not entered. Files are named by their path below the repository, in order.
"""

from __future__ import annotations

import os
from collections import Counter

from oracle.scan import formats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pathspec import GitIgnoreSpec

ASIDE = frozenset(
    """.git .hg .svn .jj node_modules bower_components __pycache__ .venv venv .tox .nox .mypy_cache .ruff_cache .pytest_cache
    .gradle .idea .terraform .build DerivedData Pods .next .nuxt .turbo .eggs""".split()
)
"""Folders that hold what programs made, whatever git says."""

MOST_FILES = 500_000
_MOST_LINES = 5000
_DEEPEST = 64


class Tree:
    """The files of a repository that people keep: paths, and what was left out."""

    __slots__ = ("_known", "bytes", "complete", "files", "ignored", "links", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.files: list[str] = []
        self.bytes = 0
        self.links = 0
        self.ignored = 0
        self.complete = True
        self._known: frozenset[str] = frozenset()

    def text(self, name: str) -> str | None:
        """Return the text of a file, None where it is none or too large."""
        return formats.read_text(f"{self.path}/{name}")

    def has(self, name: str) -> bool:
        """Tell whether a path names a file that was kept."""
        if len(self._known) != len(self.files):
            self._known = frozenset(self.files)
        return name in self._known

    def named(self, *patterns: str) -> list[str]:
        """Return the files whose own name matches one of the patterns (`*` stands for anything), nearest to the top first."""
        from fnmatch import fnmatchcase

        plain = {pattern for pattern in patterns if "*" not in pattern}
        wild = [pattern for pattern in patterns if "*" in pattern]
        names = Counter(path.rpartition("/")[2] for path in self.files)
        wanted = {name for name in names if name in plain or any(fnmatchcase(name, one) for one in wild)}
        found = [path for path in self.files if path.rpartition("/")[2] in wanted] if wanted else []
        return sorted(found, key=lambda path: (path.count("/"), path))

    def below(self, *folders: str) -> list[str]:
        """Return the files in or under folders given by their path."""
        starts = tuple(f"{folder}/" for folder in folders)
        return [path for path in self.files if path.startswith(starts)]


class _Rules:
    """The rules of the `.gitignore` files between the top and one folder; the nearest that says something counts."""

    __slots__ = ("_specs",)

    def __init__(self, specs: Sequence[tuple[str, GitIgnoreSpec]] = ()) -> None:
        self._specs = tuple(specs)

    def with_file(self, folder: str, text: str | None) -> _Rules:
        """Return the rules that hold in a folder with a `.gitignore` of its own."""
        spec = _compiled((text or "").splitlines()[:_MOST_LINES])
        return _Rules(((folder, spec), *self._specs)) if spec is not None else self

    def ignore(self, path: str) -> bool:
        """Tell whether git leaves out a path; that of a folder ends in `/`."""
        if not path.isascii():
            path = path.encode("utf-8", "replace").decode("utf-8")  # a name may hold bytes that are no text
        for folder, spec in self._specs:
            found = spec.check_file(path[len(folder) :]).include
            if found is not None:
                return found
        return False


def _compiled(lines: Sequence[str]) -> GitIgnoreSpec | None:
    """Compile patterns into expressions that take linear time, whatever a pattern is; a line that is none is passed over."""
    from pathspec import GitIgnoreSpec

    meant = [line for line in lines if line.strip() and not line.startswith("#")]
    if not meant:
        return None
    try:
        return GitIgnoreSpec.from_lines(meant, backend="re2")
    except ValueError:
        sound = [line for line in meant if _is_pattern(line)]
        return GitIgnoreSpec.from_lines(sound, backend="re2") if sound else None


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def walk(path: str) -> Tree:
    """Return the files of a repository in order."""
    tree = Tree(path)
    exclude = formats.read_text(f"{path}/.git/info/exclude")
    folders = [("", _Rules().with_file("", exclude))]
    while folders:
        folder, rules = folders.pop()
        if len(tree.files) >= MOST_FILES:
            tree.complete = False
            break
        folders += _enter(tree, folder, rules)
    tree.files.sort()
    return tree


def _enter(tree: Tree, folder: str, rules: _Rules) -> Iterable[tuple[str, _Rules]]:
    """Take the files of one folder and return the folders below it that are to be entered."""
    try:
        entries = list(os.scandir(f"{tree.path}/{folder}"))
    except OSError:
        tree.complete = False
        return []
    if any(entry.name == ".gitignore" for entry in entries):
        rules = rules.with_file(folder, tree.text(f"{folder}.gitignore"))
    below: list[tuple[str, _Rules]] = []
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        name = f"{folder}{entry.name}/" if is_folder else f"{folder}{entry.name}"
        if is_folder and (entry.name in ASIDE or name.count("/") > _DEEPEST):
            continue
        if rules.ignore(name):
            tree.ignored += 1
        elif is_folder:
            below.append((name, rules))
        elif entry.is_file(follow_symlinks=False):
            try:
                size = entry.stat(follow_symlinks=False).st_size
            except OSError:  # gone since the folder was read
                tree.complete = False
                continue
            tree.files.append(name)
            tree.bytes += size
        else:
            tree.links += entry.is_symlink()
    return below
