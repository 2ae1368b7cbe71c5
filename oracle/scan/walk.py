"""Walk a repository: list the files that git does not ignore. Links are not followed, and no program is started."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from oracle.scan import formats
from oracle.scan.formats import load_data, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_FILES = 500_000
_MAX_LINES = 5000
_MAX_DEPTH = 64


class SourceTree:
    """The files of a repository by their paths, in order, and what was left out."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.files: list[str] = []
        self.bytes = 0
        self.links = 0
        self.ignored = 0
        self.complete = True

    def text(self, name: str) -> str | None:
        """Return the text of a file; None when it can't be read, is binary or too large."""
        return formats.read_text(f"{self.path}/{name}")

    def has(self, name: str) -> bool:
        """Return whether there is a file at a path."""
        return name in self._paths

    def named(self, *patterns: str) -> list[str]:
        """Return the files whose own name matches a pattern (`*` stands for anything), nearest to the top first."""
        from fnmatch import filter as matching

        found = {pattern for pattern in patterns if pattern in self._by_name}
        found.update(*(matching(self._by_name, pattern) for pattern in patterns if "*" in pattern))
        paths = [path for name in found for path in self._by_name[name]]
        return sorted(paths, key=lambda path: (path.count("/"), path))

    def by_owner(self, patterns: Mapping[str, Sequence[str]], *, with_copies: bool = True) -> dict[str, list[str]]:
        """Return the files of each owner, given the names of its files; without `with_copies`, no examples or copies."""
        found = {owner: self.named(*own) for owner, own in patterns.items()}
        kept = {owner: [one for one in paths if with_copies or not is_copy(one)] for owner, paths in found.items()}
        return {owner: paths for owner, paths in kept.items() if paths}

    def below(self, *folders: str) -> list[str]:
        """Return the files in or under folders given by their path."""
        starts = tuple(f"{folder}/" for folder in folders)
        return [path for path in self.files if path.startswith(starts)]

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(self.files)

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(path.rpartition("/")[2], []).append(path)
        return found


def is_copy(path: str) -> bool:
    """Return whether a file is an example, a fixture, a template or a copy from another project."""
    folders = path.lower().split("/")[:-1]
    prefixes = tuple(load_data("folders")["copy_prefixes"])
    return not names("folders", "copies").isdisjoint(folders) or any(one.startswith(prefixes) for one in folders)


def is_supporting(path: str) -> bool:
    """Return whether a file is a copy, or belongs to tests or documentation: a manifest there is not the project's."""
    folders = path.lower().split("/")[:-1]
    suffixes = tuple(load_data("folders")["supporting_suffixes"])
    in_tests = any(one.endswith(suffixes) for one in folders[:-1])
    return in_tests or not names("folders", "supporting").isdisjoint(folders) or is_copy(path)


class _IgnoreRules:
    """The rules of the `.gitignore` files from the top to one folder. The nearest file that has a rule decides."""

    __slots__ = ("_specs",)

    def __init__(self, specs: Sequence[tuple[str, GitIgnoreSpec]] = ()) -> None:
        self._specs = tuple(specs)

    def with_file(self, folder: str, text: str | None) -> _IgnoreRules:
        """Return the rules of a folder that has a `.gitignore` of its own."""
        spec = _compile((text or "").splitlines()[:_MAX_LINES])
        return _IgnoreRules(((folder, spec), *self._specs)) if spec is not None else self

    def ignore(self, path: str) -> bool:
        """Return whether git ignores a path. The path of a folder ends in `/`."""
        if not path.isascii():
            path = path.encode("utf-8", "replace").decode("utf-8")  # a name may hold bytes that are not UTF-8
        for folder, spec in self._specs:
            found = spec.check_file(path[len(folder) :]).include
            if found is not None:
                return found
        return False


def _compile(lines: Sequence[str]) -> GitIgnoreSpec | None:
    """Compile patterns, without those that are invalid, into expressions that take linear time."""
    from pathspec import GitIgnoreSpec

    stated = [line for line in lines if line.strip() and not line.startswith("#")]
    try:
        return GitIgnoreSpec.from_lines(stated, backend="re2") if stated else None
    except ValueError:
        valid = [line for line in stated if _is_pattern(line)]
        return GitIgnoreSpec.from_lines(valid, backend="re2") if valid else None


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True


def walk(path: str) -> SourceTree:
    """Return the files of a repository."""
    tree = SourceTree(path)
    exclude = formats.read_text(f"{path}/.git/info/exclude")
    folders = [("", _IgnoreRules().with_file("", exclude))]
    while folders:
        folder, rules = folders.pop()
        if len(tree.files) >= MAX_FILES:
            tree.complete = False
            break
        folders += _enter(tree, folder, rules)
    tree.files.sort()
    return tree


def _enter(tree: SourceTree, folder: str, rules: _IgnoreRules) -> Iterable[tuple[str, _IgnoreRules]]:
    """Add the files of one folder and return the folders below it that are to be entered."""
    try:
        entries = list(os.scandir(f"{tree.path}/{folder}"))
    except OSError:
        tree.complete = False
        return []
    if any(entry.name == ".gitignore" for entry in entries):
        rules = rules.with_file(folder, tree.text(f"{folder}.gitignore"))
    below: list[tuple[str, _IgnoreRules]] = []
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        name = f"{folder}{entry.name}/" if is_folder else f"{folder}{entry.name}"
        if is_folder and (entry.name in names("folders", "generated") or name.count("/") > _MAX_DEPTH):
            continue
        if rules.ignore(name):
            tree.ignored += 1
        elif is_folder:
            below.append((name, rules))
        elif entry.is_file(follow_symlinks=False):
            try:
                tree.bytes += entry.stat(follow_symlinks=False).st_size
            except OSError:  # gone since the folder was read
                tree.complete = False
                continue
            tree.files.append(name)
        else:
            tree.links += entry.is_symlink()
    return below
