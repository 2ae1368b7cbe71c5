"""The kinds of sources: what Claude Code, OpenClaw, Obsidian and beads keep, as records."""

from __future__ import annotations

import json
import pathlib
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

import oracle as oracle_package
from oracle.api import Oracle
from oracle.app.answers.answer import answer
from oracle.app.memories.remember import Note, remember
from oracle.app.prompting.context_for import SessionPrompt, context_for
from oracle.app.records.listing import list_records
from oracle.app.sources import registry
from oracle.app.sources.places import find_folder
from oracle.daemon.index_loop import Changes, folders_to_watch
from oracle.domain.records.remembered import memory_type_in
from oracle.domain.sources.beads import read_issues
from oracle.domain.sources.claude_code import find_faults, without_lines
from oracle.errors import NotInMemory, UsageError
from oracle.store.markdown import records
from tests.app.test_sources import TOKEN, found, put
from tests.laws.ledger import assert_like_rebuilt

if TYPE_CHECKING:
    from pathlib import Path

INDEX = """# Memory

- [User role](user_role.md) — who the user is
- [No mocks](feedback_mocks.md) — a real database in tests
* [Gone](gone.md) - it was removed

The wombat note belongs to no file.
"""


@pytest.fixture
def memories(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude" / "projects" / "-src-shop" / "memory"
    put(folder, "MEMORY", INDEX)
    put(folder, "user_role", "---\nname: User role\ndescription: who it is\ntype: user\n---\nA quokka expert.\n")
    put(
        folder,
        "feedback_mocks",
        "---\nname: No mocks\ndescription: tests hit a database\ntype: feedback\n---\nUse a real database.\n\n"
        "**Why:** a mocked test passed and the migration failed.\n\n**How to apply:** in integration tests.\n",
    )
    put(
        folder,
        "project_freeze",
        "---\nname: Freeze\ndescription: no merges\ntype: project\n---\nFrozen until 2026-03-05.\n",
    )
    return folder


def titles(oracle: Oracle) -> dict[str, str]:
    return {item.slug.rpartition("/")[2]: item.title for item in list_records(oracle, {})}


def test_memories_of_claude_code_keep_their_names_and_types(root: Path, memories: Path) -> None:
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "claude-code", str(memories.parent), project="shop")
        assert (state.source.folder, state.source.name) == (str(memories), "claude-code")
        assert titles(oracle)["feedback_mocks"] == "No mocks"
        assert {item.kind for item in list_records(oracle, {})} == {"memory"}
        for name in ("user_role", "feedback_mocks", "project_freeze"):
            path = f"sources/shop/claude-code/{name}.md"
            fields = records.parse(path, records.load(oracle.root, path)).fields
            assert memory_type_in(fields) == name.split("_")[0]
        assert found(oracle, "mocked migration") == ["sources/shop/claude-code/feedback_mocks"]
        assert found(oracle, "wombat") == ["sources/shop/claude-code/MEMORY"]
        assert "who the user is" not in oracle.show("sources/shop/claude-code/MEMORY").text
        assert [(path.rpartition("/")[2], line) for path, line, _ in state.problems] == [
            ("MEMORY.md", 5),
            ("project_freeze.md", 1),
        ]
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize(
    ("text", "files", "count"),
    [
        (None, ["a.md"], 1),
        (None, [], 0),
        ("- [A](a.md) — x\n", ["a.md", "MEMORY.md"], 0),
        ("- [A](./a.md)\n", ["a.md"], 0),
        ("* [A](sub/a.md)\n", ["sub/a.md"], 0),
        ("- [A](a.md)\n- [B](b.md)\n", ["a.md", "c.md"], 2),
        ("- [A](https://example.org/a.md)\n", [], 1),
        ("x\n" * 201, [], 1),
        ("x" * 26_000, [], 1),
        ("记" * 9_000, [], 1),
        ("x\n" * 199, [], 0),
    ],
)
def test_the_list_of_memories_and_the_files_are_compared(text: str | None, files: list[str], count: int) -> None:
    assert len(list(find_faults(text, files))) == count


def test_lines_keep_their_numbers() -> None:
    assert without_lines("a\n- [B](b.md) x\nc\n") == "a\n\nc\n"


def test_worktrees_of_one_repository_share_their_memories(tmp_path: Path) -> None:
    main, tree = tmp_path / "my shop", tmp_path / "tree"
    git = ["git", "-C", str(main), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", str(main)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", str(tree)], check=True, capture_output=True)
    environ = {"CLAUDE_CONFIG_DIR": "/config"}
    places = {find_folder("claude-code", str(place), environ) for place in (main, tree)}
    (place,) = places
    assert place.startswith("/config/projects/-")
    assert place.endswith("-my-shop/memory")


def test_memories_of_agents_are_folders_of_their_own(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "agent-memory"
    put(folder, "reviewer/MEMORY", "- [A](a.md) — x\n- [B](b.md) — y\n")
    put(folder, "reviewer/a", "The reviewer likes numbats.\n")
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "claude-code", str(folder), project="shop", seat="reviewer", name="agents")
        assert found(oracle, "numbats") == ["sources/shop/agents/reviewer/a"]
        assert [(path, line) for path, line, _ in state.problems] == [("sources/shop/agents/reviewer/MEMORY.md", 2)]


def test_the_private_memory_of_openclaw_is_read_only_if_its_owner_says_so(root: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    put(workspace, "MEMORY", "The owner's dingo is called Rex.\n")
    put(workspace, "SOUL", "A soul of a bilby.\n")
    put(workspace, "memory/2026-03-10", "Met the vendor of kiwis.\n")
    put(workspace, "memory/2026-03-11-vendor-pitch", "A snapshot on emus.\n")
    put(workspace, "memory/2026-03-12-1430", "A snapshot on geckos.\n")
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "openclaw", str(workspace), project="home")
        assert (state.records, found(oracle, "dingo"), found(oracle, "bilby")) == (3, [], [])
        assert found(oracle, "emus") == ["sources/home/openclaw/memory/2026-03-11-vendor-pitch"]
        times = sorted(item.sort_ts[:10] for item in list_records(oracle, {}))
        assert times == ["2026-03-10", "2026-03-11", "2026-03-12"]
        registry.remove(oracle, "openclaw")
        with pytest.raises(UsageError, match="needs the seat"):
            registry.add(oracle, "openclaw", str(workspace), project="home", long_term=True)
        registry.add(oracle, "openclaw", str(workspace), project="home", seat="main", long_term=True)
        oracle.seat = "main"
        assert found(oracle, "dingo") == ["sources/home/openclaw/MEMORY"]
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize("seat", ["main", "Main", "planner", "memory", ""])
def test_a_private_memory_is_seen_by_its_seat_alone(root: Path, tmp_path: Path, seat: str) -> None:
    workspace = tmp_path / "workspace"
    put(workspace, "MEMORY", "# Rex\n\nThe owner's dingo Rex has ARENA-77, see [[2026-03-10]].\n")
    put(workspace, "memory/2026-03-10", "Met the vendor of dingos.\n")
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "openclaw", str(workspace), project="home", seat="main", long_term=True)
        oracle.reader = seat
        private, shown = "sources/home/openclaw/MEMORY", seat.lower() == "main"
        seen = {
            "search": private in found(oracle, "dingo Rex"),
            "list": private in {record.slug for record in list_records(oracle, {})},
            "show": is_shown(oracle, private),
            "entity": bool(oracle.backlinks("entity:taskid:ARENA-77")),
            "backlinks": bool(oracle.backlinks("sources/home/openclaw/memory/2026-03-10")),
            "ask": "Rex" in json.dumps(answer(oracle, "Whose dingo is Rex?").as_json()["claims"]),
            "prompt": "Rex"
            in context_for(oracle, SessionPrompt("What is it with Rex the dingo of the owner?", project="home")),
        }
        assert seen == dict.fromkeys(seen, shown)
        assert "sources/home/openclaw/memory/2026-03-10" in found(oracle, "vendor")


@pytest.mark.parametrize("seat", ["planner", "memory", ""])
def test_an_answer_quotes_no_private_memory_that_contradicts_it(root: Path, tmp_path: Path, seat: str) -> None:
    workspace = tmp_path / "workspace"
    put(root, "projects/home/planner/dingo", "# The dingo of the office\n\nThe dingo of the office is called Max.\n")
    put(workspace, "MEMORY", "---\ncontradicts: dingo\n---\n# Dingo\n\nThe dingo of the office is called Rex.\n")
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "openclaw", str(workspace), project="home", seat="main", long_term=True)
        oracle.reader = seat
        claims = json.dumps(answer(oracle, "What is the dingo of the office called?").as_json()["claims"])
        assert ("Max" in claims, "Rex" in claims) == (True, False)


def is_shown(oracle: Oracle, slug: str) -> bool:
    try:
        return bool(oracle.show(slug).text)
    except NotInMemory:
        return False


def test_a_vault_is_named_by_its_files(root: Path, tmp_path: Path) -> None:
    vault = tmp_path / "My Vault"
    put(vault, ".obsidian/plugins/readme", "Not a kookaburra.\n")
    put(
        vault,
        "Projects/Big plan",
        "# Another heading\nSee [[people/Ann Lee#^note|Ann]], ![[Sketch]] and [[AL]]. #idea\n",
    )
    put(vault, "people/Ann Lee", "---\naliases: [AL]\ntags: [person]\n---\nA kookaburra fan. ^note\n")
    put(vault, "Sketch", "A sketch.\n")
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "obsidian", str(vault), project="home")
        assert titles(oracle) == {"Big plan": "Big plan", "Ann Lee": "Ann Lee", "Sketch": "Sketch"}
        assert found(oracle, "kookaburra") == ["sources/home/my-vault/people/Ann Lee"]
        linked = {target for _, target, *_ in oracle.links("sources/home/my-vault/Projects/Big plan")}
        assert {"sources/home/my-vault/people/Ann Lee", "sources/home/my-vault/Sketch"} <= linked
        assert_like_rebuilt(oracle)


ISSUES = [
    {"id": "bd-1", "title": "Fix login", "description": "The platypus fails.", "status": "open", "priority": 1},
    {"id": "bd-2", "title": "Ship", "status": "closed", "created_at": "2026-03-01T10:00:00Z", "dependencies": [
        {"issue_id": "bd-2", "depends_on_id": "bd-1", "type": "blocks"}]},
    {"id": "bd-3", "title": "Dropped", "status": "tombstone"},
]  # fmt: skip


def test_each_issue_of_beads_is_a_record(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "repo" / ".beads" / "issues.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(issue) + "\n" for issue in ISSUES))
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "beads", str(tmp_path / "repo"), project="shop")
        assert (state.records, state.problems) == (2, ())
        assert titles(oracle) == {"bd-1": "Fix login", "bd-2": "Ship"}
        assert found(oracle, "platypus") == ["sources/shop/beads/bd-1"]
        assert [slug for slug, *_ in oracle.backlinks("sources/shop/beads/bd-1")] == ["sources/shop/beads/bd-2"]
        assert {item.status for item in list_records(oracle, {"kind": "issue"})} == {"open", "closed"}
        with path.open("a") as stream:
            stream.write('{"id": "bd-4", "title": "Echidna"}\nnot json\n')
        assert found(oracle, "echidna") == ["sources/shop/beads/bd-4"]
        assert [reason for *_, reason in registry.list_sources(oracle)[0].problems] == ["Lines that hold no issue: 5."]
        assert_like_rebuilt(oracle)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"5",
        b'{"id": 5}',
        b'{"id": "../../x"}',
        b'{"id": ""}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"id": "a/b"}',
    ],
)
def test_a_line_that_is_no_issue_is_named(line: bytes) -> None:
    assert read_issues([b'{"id": "bd-1"}\n', line]) == ({"bd-1.md": b'---\naliases: ["bd-1"]\n---\n\n'}, [2])


def test_a_source_is_not_in_the_published_list_of_memories(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    put(folder, "Claim", "---\nmemory_type: user\n---\nThe numbat is mine. [KEY: memory/user]\n")
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(folder), project="shop")
        remember(oracle, Note("user", "The user is a botanist.", project="shop"))
        oracle.close()
    text = (root / "projects/shop/_index/MEMORY.md").read_text()
    assert ("botanist" in text, "numbat" in text, "Claim" in text) == (True, False, False)


def test_a_session_is_what_was_said_in_it(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".claude" / "projects" / "-src-shop"
    folder.mkdir(parents=True)
    path = folder / "5b2c.jsonl"
    put(folder, "memory/MEMORY", "- nothing of a session\n")
    lines = [
        {"type": "user", "timestamp": "2026-03-01T10:00:00Z", "message": {"content": "Why is the capybara slow?"}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "content": "a marmot"}]}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": f"Its key is {TOKEN}, too long."}]}},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    slug = "sources/shop/sessions/5b2c.jsonl"
    with Oracle.open(str(root)) as oracle:
        state = registry.add(oracle, "transcripts", str(folder), project="shop", name="sessions")
        assert (state.records, state.problems, found(oracle, "capybara")) == (1, (), [slug])
        (record,) = list_records(oracle, {"kind": "session"})
        assert (record.title, record.sort_ts[:10]) == ("Why is the capybara slow?", "2026-03-01")
        assert found(oracle, "marmot") == []
        assert TOKEN not in oracle.show(slug).text
        said = json.dumps({"type": "user", "message": {"content": "And the vicuna?"}})
        with path.open("a") as stream:
            stream.write(said + "\n" + said.replace("vicuna", "alpaca")[:30])
        assert found(oracle, "vicuna") == [slug]
        assert_like_rebuilt(oracle)
        path.write_text(said.replace("vicuna", "llama") + "\n")
        assert (found(oracle, "llama"), found(oracle, "capybara")) == ([slug], [])


def test_the_daemon_follows_a_source(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    path = put(folder, "deep/er/Note", "A note.\n")
    with Oracle.open(str(root)) as oracle:
        registry.add(oracle, "folder", str(folder), project="shop")
        watched, _ = folders_to_watch(oracle)
        assert str(folder) in watched
        changes = Changes()
        changes.add(oracle.root, str(path), is_edit=True)
        changes.add(oracle.root, str(folder), is_edit=False)
        assert (changes.records, changes.edited) == (True, {"sources/shop/notes/deep/er"})
        other = Changes()
        other.add(oracle.root, str(folder.with_name("notes2") / "x.md"), is_edit=True)
        assert (other.records, other.edited) == (False, set())
        registry.remove(oracle, "notes")
        assert str(folder) not in folders_to_watch(oracle)[0]


def test_no_module_reads_a_record_past_its_source() -> None:
    """A record is read by `records.load`, which knows sources and leaves credentials out."""
    package = pathlib.Path(oracle_package.__file__).parent
    texts = {path: path.read_text() for path in package.rglob("*.py") if "store" not in path.parts}
    assert [str(path) for path, text in texts.items() if re.search(r"records\.read\((?!whole\))", text)] == []
