"""Drive random histories of a Root: whatever happened, the index grown step by step equals one built from nothing.

The clock that the oracle is given runs ahead of the real one by steps, so that files are met both young (their stat can't
be trusted yet) and settled; time that passes on it makes the clock of the file system tick as well.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from oracle.api import Oracle
from oracle.domain.records.drafts import Draft
from oracle.errors import InvalidRecord, NotInMemory, UsageError
from oracle.index.write import projections
from tests.laws.ledger import Clock, assert_like_rebuilt, pass_a_tick, slugs_on_disk

FOLDERS = ("projects/a/builder", "projects/a/decision", "projects/b/builder", "projects/b/builder/sub", "learnings")
NAMES = ("x.md", "y.md", "X.md", "x.json", "x.json.md", "x.json.json", "é.md", "e\u0301.md", "bad\n.md", "z w.md")
PIECES = (
    "see [[x]]",
    "see [[y]] and [[decision/x]]",
    "[up](../x.md) and [beside](./y.md)",
    "projects/a/builder/x is old",
    "[[é]] [[x.json]] [[sub/x]]",
    "closes ARENA-1",
    "closes ARENA-2 in src/app.py",
    "```\nARENA-9\n",
    "[[learnings/x]] [[z w]]",
    "\x00 broken",
)
HEADS = (
    "",
    "---\ntitle: One\nsupersedes: x\n---\n",
    "---\ntitle: Two\nretires: [projects/a/builder/y, learnings/x]\nts: 2026-01-02T00:00:00Z\n---\n",
    "---\ntitle: Three\nsupersedes: [x, y]\nts: 2026-01-03\n---\n",
    "---\ncontradicts: entity:taskid:ARENA-1\nsupports: y\ntask_id: ARENA-2\n---\n",
    "---\ntitle: Never: closed: here\n---\n",
    "---\ntitle: unclosed\n",
    '{"title": "JSON", "body": "see [[y]] for ARENA-1", "supersedes": "x"}',
)
STEPS = st.sampled_from((0.0, 0.0, 1.0, 2.5, 20.0, -5.0, -60.0))
paths = st.builds("{}/{}".format, st.sampled_from(FOLDERS), st.sampled_from(NAMES))
texts = st.builds(
    lambda head, body: head + "\n".join(body), st.sampled_from(HEADS), st.lists(st.sampled_from(PIECES), max_size=3)
)


class History(RuleBasedStateMachine):
    """One Root, one oracle that stays open, and everything that seats, operators and bad luck do to them."""

    @initialize(is_amending=st.booleans())
    def begin(self, *, is_amending: bool) -> None:
        self.drawn = projections._LARGE, projections._SHARE
        if is_amending:
            projections._LARGE, projections._SHARE = 1, 0
        self.top = Path(tempfile.mkdtemp(prefix="oracle-machine-"))
        self.root = self.top / "memory"
        self.root.mkdir()
        (self.top / "outside").mkdir()
        (self.top / "outside" / "x.md").write_text("outside OUTSIDE-1")
        self.clock = Clock()
        self.warnings: list[str] = []
        self.oracle = Oracle.open(str(self.root), clock=self.clock, warn=self.warnings.append)
        self.number = 0

    def teardown(self) -> None:
        if hasattr(self, "oracle"):
            self.oracle.close()
            shutil.rmtree(self.top)
            projections._LARGE, projections._SHARE = self.drawn

    def path(self, name: str) -> Path:
        """Return a path to write to; what stands in the way of its folder is removed, as `git checkout` would."""
        path = self.root / name
        for folder in reversed(path.relative_to(self.root).parents):
            if (self.root / folder).is_symlink() or (self.root / folder).is_file():
                (self.root / folder).unlink()
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def changed(self) -> None:
        """Let the file system's clock pass when the oracle's runs ahead: for it two seconds are over after each step."""
        if self.clock.offset_ns > 0:
            pass_a_tick(self.top)

    # what seats do ------------------------------------------------------------------------------------------------

    @rule(name=paths, text=texts)
    def create(self, name: str, text: str) -> None:
        path = self.path(name)
        if not os.path.lexists(path):
            path.write_bytes(text.encode())
        self.changed()

    @rule(name=paths, text=texts)
    def edit_in_place(self, name: str, text: str) -> None:
        path = self.root / name
        if path.is_file() and not path.is_symlink():
            path.write_bytes(text.encode())
        self.changed()

    @rule(name=paths)
    def edit_keeping_size_and_mtime(self, name: str) -> None:
        path = self.root / name
        if path.is_file() and not path.is_symlink():
            before, raw = path.stat(), path.read_bytes()
            with path.open("r+b") as stream:
                stream.write(raw.replace(b"ARENA-1", b"ARENA-3").replace(b"[[y]]", b"[[x]]"))
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.changed()

    @rule(name=paths, seconds=st.integers(-(10**9), 10**9))
    def touch(self, name: str, seconds: int) -> None:
        path = self.root / name
        if path.is_file():
            os.utime(path, (1_700_000_000 + seconds, 1_700_000_000 + seconds))
        self.changed()

    @rule(name=paths, text=texts)
    def replace_atomically(self, name: str, text: str) -> None:
        path = self.path(name)
        if not path.is_dir():
            scratch = path.parent / ".scratch"
            scratch.write_text(text)
            scratch.rename(path)
        self.changed()

    @rule(old=paths, new=paths)
    def rename(self, old: str, new: str) -> None:
        if (self.root / old).is_file() and not (self.root / new).is_dir():
            target = self.path(new)
            if (self.root / old).is_file():
                (self.root / old).rename(target)
        self.changed()

    @rule(folder=st.sampled_from(FOLDERS), one=st.sampled_from(NAMES), other=st.sampled_from(NAMES))
    def swap(self, folder: str, one: str, other: str) -> None:
        first, second = self.root / folder / one, self.root / folder / other
        if one != other and first.is_file() and second.is_file():
            first.rename(first.parent / ".aside")
            second.rename(first)
            (first.parent / ".aside").rename(second)
        self.changed()

    @rule(folder=st.sampled_from(FOLDERS))
    def rename_case_only(self, folder: str) -> None:
        if (self.root / folder / "x.md").is_file():
            (self.root / folder / "x.md").rename(self.root / folder / "X.md")
        self.changed()

    @rule(name=paths)
    def delete(self, name: str) -> None:
        if os.path.lexists(self.root / name):
            (self.root / name).unlink()
        self.changed()

    @rule(old=st.sampled_from(FOLDERS), new=st.sampled_from((*FOLDERS, "projects/c", "projects/c/x.md")))
    def move_folder(self, old: str, new: str) -> None:
        source, target = self.root / old, self.root / new
        if source.is_dir() and not os.path.lexists(target) and not new.startswith(old):
            target = self.path(new)
            if source.is_dir():
                source.rename(target)
        self.changed()

    @rule(folder=st.sampled_from((*FOLDERS, "projects/a", "projects/b", "projects/c", "projects")))
    def delete_folder(self, folder: str) -> None:
        path = self.root / folder
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        self.changed()

    @rule(folder=st.sampled_from(("projects/a", "projects/a/builder", "projects/b/builder")))
    def move_folder_out_and_link_it(self, folder: str) -> None:
        path = self.root / folder
        if path.is_dir() and not path.is_symlink():
            self.number += 1
            away = self.top / "outside" / str(self.number)
            path.rename(away)
            path.symlink_to(away)
        self.changed()

    @rule(name=paths, aim=st.sampled_from((*(f"{folder}/x.md" for folder in FOLDERS), *FOLDERS)))
    def link_inside(self, name: str, aim: str) -> None:
        path = self.path(name)
        if not os.path.lexists(path):
            path.symlink_to(os.path.relpath(self.root / aim, path.parent))
        self.changed()

    @rule(name=paths)
    def link_outside(self, name: str) -> None:
        path = self.path(name)
        if not os.path.lexists(path):
            path.symlink_to(self.top / "outside" / "x.md")
        self.changed()

    @rule(name=paths)
    def make_a_pipe(self, name: str) -> None:
        path = self.path(name)
        if not os.path.lexists(path):
            os.mkfifo(path)
        self.changed()

    @rule(
        where=st.sampled_from(("", "projects/a/")), text=st.sampled_from(('task_prefixes = ["ARENA"]', "= broken", ""))
    )
    def configure(self, where: str, text: str) -> None:
        self.path(f"{where}link-patterns.toml").write_text(text)
        self.changed()

    # what memory does ---------------------------------------------------------------------------------------------

    @rule(text=texts, title=st.sampled_from(("x", "ARENA-1 again", "Ünïcode 标题")), old=st.none() | paths)
    def write(self, text: str, title: str, old: str | None) -> None:
        for folder in ("projects", "projects/a", "projects/a/decision"):
            if (self.root / folder).is_symlink():
                return
        supersedes = (old.rpartition(".")[0],) if old and "\n" not in old else ()
        draft = Draft("decision", "a", title, body=text.replace("\0", ""), supersedes=supersedes)
        self._emptied_is_fine()
        try:
            written = self.oracle.write(draft)
        except InvalidRecord:  # the text begins with a frontmatter of its own
            assert "---" in text
            return
        except UsageError as error:  # it stands no longer, and several records go by its name
            if not error.sentence.endswith(" records."):
                raise
            return
        assert Path(written.path).is_file()
        self.changed()

    @rule(name=paths)
    def retire(self, name: str) -> None:
        slug = name.rpartition(".")[0]
        if "\n" in name or slug not in slugs_on_disk(self.root) or (self.root / "projects").is_symlink():
            return
        self._emptied_is_fine()
        for folder in ("projects/a", "projects/b", "projects/a/decision", "projects/b/decision"):
            if (self.root / folder).is_symlink():
                return
        if slug.startswith("projects/"):
            try:
                self.oracle.retire(slug, "over")
            except NotInMemory:
                assert not (self.root / name).exists()
        self.changed()

    # bad luck -----------------------------------------------------------------------------------------------------

    @rule(what=st.sampled_from(("state", "database", "truncated", "torn", "wal", "links", "backlink", "stray", "all")))
    def lose(self, what: str) -> None:
        state = self.root / "_state"
        database = state / "oracle.db"
        if what in ("state", "all"):
            shutil.rmtree(state, ignore_errors=True)
        if what == "all":
            shutil.rmtree(self.root / "_links", ignore_errors=True)
            shutil.rmtree(self.root / "_backlinks", ignore_errors=True)
        if not database.exists():
            return
        if what == "database":
            database.unlink()
        elif what == "truncated":
            self.oracle.close()
            os.truncate(database, database.stat().st_size // 2)
        elif what == "torn":
            self.oracle.close()
            with database.open("r+b") as stream:
                stream.write(b"not a database, whatever its name says" * 20)
        elif what == "wal":
            self.oracle.close()
            for suffix in ("-wal", "-shm"):
                Path(f"{database}{suffix}").unlink(missing_ok=True)

    @rule(seconds=STEPS)
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        pass_a_tick(self.top)

    @rule()
    def reopen(self) -> None:
        self.oracle.close()
        self.oracle = Oracle.open(str(self.root), clock=self.clock, warn=self.warnings.append)

    # what must hold -----------------------------------------------------------------------------------------------

    @rule()
    def ask(self) -> None:
        """Every query sees what was created, renamed, deleted or replaced, at once."""
        self._emptied_is_fine()
        self._settle_links()
        assert {record.slug for record in self.oracle.records({})} == slugs_on_disk(self.root)

    @rule()
    def ask_fresh(self) -> None:
        """A fresh query sees edits in place as well."""
        self._emptied_is_fine()
        self.oracle.records({}, fresh=True)
        assert_like_rebuilt_but_for_stats(self.oracle, self.clock)

    @rule()
    def reconcile(self) -> None:
        self.oracle.reconcile(full=True, accept_removals=True)
        assert_like_rebuilt(self.oracle, self.clock)

    @invariant()
    def nothing_from_outside(self) -> None:
        if hasattr(self, "root"):
            backlinks = self.root / "_backlinks"
            assert not (backlinks / "entity++taskid++OUTSIDE-1.jsonl").exists()

    def _emptied_is_fine(self) -> None:
        """Say yes to removals before a query that would refuse them: that question has tests of its own."""
        if self.oracle.index.database.in_memory or not (self.root / "_state" / "oracle.db").exists():
            self.oracle.reconcile(accept_removals=True)
            return
        self.oracle.reconcile(accept_removals=True)

    def _settle_links(self) -> None:
        """Links show what they point at: a change elsewhere is an edit in place for them, seen by a full look."""
        if any(path.is_symlink() for tree in ("projects", "learnings") for path in (self.root / tree).rglob("*")):
            self.oracle.records({}, fresh=True)


def assert_like_rebuilt_but_for_stats(oracle: Oracle, clock: Clock) -> None:
    """A query may leave a folder's row behind the folder's mtime while it is young; nothing else."""
    assert_like_rebuilt(oracle, clock)


TestHistory = pytest.mark.slow(History.TestCase)
TestHistory.settings = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
