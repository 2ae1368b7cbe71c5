"""`memory_write`: both modes, what they refuse, and many writers at once."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from oracle.compat import memory_write
from tests.compat.team import Done, Team, tree

DECISION = ("--kind", "decision", "--project", "p")
EVIDENCE = json.dumps([{"trust": "high", "source_url": "core/x.py:3", "quote": "q", "lines": 3}])


def listed(team: Team, *words: str) -> list[dict]:
    return team.query("--project", "p", *words).json


# Drop mode ------------------------------------------------------------------------------------------------------------


def test_drop_mode_prints_the_path_of_the_record(team: Team, content: Path):
    done = team.write(*DECISION, "--content-file", content)
    path = Path(done.out.strip())
    assert (done.code, done.err) == (0, "")
    assert path.parent == team.root / "projects/p/decision"
    assert path.stat().st_mode & 0o777 == 0o600
    (entry,) = listed(team)
    assert (entry["path"], entry["title"], entry["author"]) == (str(path), "Backoff", "ancestor")
    assert (entry["format"], entry["content_source"]) == ("markdown_note", str(content))
    assert path.name.startswith(entry["filename_stamp"])
    assert entry["created_at"] >= entry["ts"]
    assert entry["body"] == content.read_text(encoding="utf-8").strip()
    assert team.query("--backlinks", "entity:file:core/x.py").json["incoming_count"] == 1


def test_a_records_own_file_name_makes_no_edge(team: Team, content: Path):
    team.write(*DECISION, "--content-file", content)
    assert team.query("--backlinks", f"entity:file:{content}").json["incoming_count"] == 0
    assert team.query("--backlinks", "entity:file:c.md").json["incoming_count"] == 0


@pytest.mark.parametrize(
    ("text", "words", "title"),
    [
        ("\n\n## 方案甲\nmore", (), "方案甲"),
        ("#\n# Second", (), "Second"),
        ("# First", ("--title", "Given"), "Given"),
        ("\ufeffWith a mark", (), "With a mark"),
    ],
)
def test_drop_mode_finds_a_title(team: Team, text: str, words: tuple[str, ...], title: str):
    assert team.write(*DECISION, "--content-stdin", *words, stdin=text.encode()).code == 0
    (entry,) = listed(team)
    assert (entry["title"], entry["content_source"]) == (title, "stdin")


def test_drop_mode_honours_what_goes_with_a_record(team: Team, content: Path):
    old = team.write(*DECISION, "--title", "Old", "--author", "memory").json
    words = (
        "--evidence",
        EVIDENCE,
        "--confidence",
        "high",
        "--related-task-ids",
        "T-001, X-2",
        "--supersedes",
        old["id"],
    )
    done = team.write("--kind", "finding", "--project", "p", "--content-file", content, *words)
    assert (done.code, done.err) == (0, "")
    (entry,) = listed(team, "--kind", "finding")
    assert (entry["confidence"], entry["related_task_ids"]) == ("high", ["T-001", "X-2"])
    assert entry["evidence"] == [{"trust": "high", "source_url": "core/x.py:3", "quote": "q", "lines": "3"}]
    assert entry["supersedes"] == [f"projects/p/decision/{old['id']}"]
    (retired,) = listed(team, "--kind", "decision")
    assert retired["status"] == "superseded"


def test_drop_mode_rehearses(team: Team, content: Path):
    before = tree(team.root)
    done = team.write(*DECISION, "--content-file", content, "--dry-run", "--iso", "2026-01-01T08:00:00+08:00")
    assert (done.code, done.out) == (0, f"{team.root}/projects/p/decision/2026-01-01T00-00-00-000000Z-backoff.md\n")
    assert tree(team.root) == before


@pytest.mark.parametrize("kind", ["decision", "task", "plan"])
def test_every_kind_in_both_modes(team: Team, content: Path, kind: str):
    assert team.write("--kind", kind, "--project", "p", "--content-file", content).code == 0
    assert team.write("--kind", kind, "--project", "p", "--title", "T", "--author", "memory").code == 0
    assert [entry["kind"] for entry in listed(team, "--kind", kind)] == [kind, kind]


@pytest.mark.parametrize(
    "kind", ["delivery", "issue", "reflection", "library_knowledge", "pattern", "event", "dev_env", "nonsense"]
)
@pytest.mark.parametrize("mode", [("--title", "T", "--author", "memory"), ("--content-stdin",)])
def test_other_kinds_are_not_ours(team: Team, kind: str, mode: tuple[str, ...]):
    done = team.write("--kind", kind, "--project", "p", *mode, stdin=b"words")
    assert (done.code, done.out) == (5, "")
    assert done.err.startswith("error: ")
    assert tree(team.root) == set()


def test_content_that_is_no_text_is_named_by_its_byte(team: Team, tmp_path: Path):
    file = tmp_path / "bad.md"
    file.write_bytes("修复".encode() + b"\xff")
    done = team.write(*DECISION, "--content-file", file)
    assert done.code == 2
    assert done.err.startswith(f"error: {file} is not UTF-8: byte 6 ")


@pytest.mark.parametrize("name", ["absent.md", ".", "a\0b"])
def test_content_that_can_not_be_read(team: Team, tmp_path: Path, name: str):
    assert team.write(*DECISION, "--content-file", f"{tmp_path}/{name}").code == 2


# Record mode ----------------------------------------------------------------------------------------------------------


def test_record_mode_prints_id_path_and_warnings(team: Team):
    done = team.write(*DECISION, "--title", "T", "--author", "x", "--seats", "a, b", "--body", "See ARENA-228")
    warning = "author 'x' not in known seats ['a', 'b']; writing anyway (soft governance)"
    assert done.json == {"id": done.json["id"], "path": done.json["path"], "warnings": [warning]}
    assert done.err == f"warning: {warning}\n"
    assert done.json["path"] == f"{team.root}/projects/p/decision/{done.json['id']}.md"
    assert team.query("--backlinks", "entity:taskid:ARENA-228").json["incoming_count"] == 1


def test_drop_mode_warns_of_a_strange_author(team: Team, content: Path):
    done = team.write(*DECISION, "--content-file", content, "--author", "x", "--seats", "a,b")
    assert (done.code, done.err) == (0, "warning: author 'x' is not in seats whitelist ['a', 'b']\n")


@pytest.mark.parametrize(("words", "missing"), [(("--author", "a"), "title"), (("--title", "t"), "author")])
def test_record_mode_needs_title_and_author(team: Team, words: tuple[str, str], missing: str):
    assert team.write(*DECISION, *words) == (2, "", f"error: --{missing} is required in legacy record mode\n")


def test_record_mode_rehearses_the_record(team: Team):
    words = (
        "--title",
        "T",
        "--author",
        "a",
        "--body",
        "B",
        "--evidence",
        EVIDENCE,
        "--related-task-ids",
        "T-001",
        "--dry-run",
    )
    record = team.write(*DECISION, *words).json
    wanted = {
        "kind": "decision",
        "project": "p",
        "author": "a",
        "title": "T",
        "body": "B",
        "confidence": "medium",
        "source": "write_api",
    }
    assert {key: record[key] for key in wanted} == wanted
    assert record["related_task_ids"] == ["T-001"]
    assert record["evidence"][0]["trust"] == "high"
    assert not list(team.root.rglob("*.md"))


def test_quiet_prints_nothing(team: Team, content: Path):
    assert team.write(*DECISION, "--content-file", content, "--quiet") == (0, "", "")
    assert len(listed(team)) == 1


# What is refused ------------------------------------------------------------------------------------------------------


def test_evidence_may_be_stated_as_for_people(team: Team):
    words = ("--evidence", "high:src/app.py:12", "--evidence", '[{"trust": "low", "source_url": "b"}]')
    done = team.write("--kind", "finding", "--project", "p", "--title", "T", "--author", "builder", *words)
    assert (done.code, done.err) == (0, "")
    (record,) = listed(team)
    assert [(item["trust"], item["source_url"]) for item in record["evidence"]] == [
        ("high", "src/app.py:12"),
        ("low", "b"),
    ]


@pytest.mark.parametrize("evidence", ["{}", "[", "1", "null", '"x"', "[" * 100_000])
def test_evidence_that_is_no_array(team: Team, evidence: str):
    assert team.write(*DECISION, "--title", "T", "--author", "a", "--evidence", evidence).code == 2


@pytest.mark.parametrize(
    "evidence",
    ["[1]", "[{}]", '[{"trust": "high"}]', '[{"trust": "sure", "source_url": "x"}]', '[{"source_url": "x"}]'],
)
@pytest.mark.parametrize("mode", [("--title", "T", "--author", "memory"), ("--content-stdin",)])
def test_a_finding_needs_evidence_with_trust_and_source(team: Team, evidence: str, mode: tuple[str, ...]):
    done = team.write("--kind", "finding", "--project", "p", "--evidence", evidence, *mode, stdin=b"words")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: schema validation failed: ")
    assert tree(team.root) == set()


@pytest.mark.parametrize("words", [(), ("--evidence", "[]")])
def test_a_finding_that_is_recorded_without_evidence_is_refused(team: Team, words: tuple[str, ...]):
    done = team.write("--kind", "finding", "--project", "p", "--title", "T", "--author", "memory", *words)
    assert (done.code, done.out, tree(team.root)) == (1, "", set())


@pytest.mark.parametrize("words", [(), ("--evidence", "[]")])
def test_a_finding_that_is_dropped_without_evidence_has_its_source_for_one(team: Team, words: tuple[str, ...]):
    done = team.write("--kind", "finding", "--project", "p", "--content-stdin", *words, stdin=b"# Slow disk")
    assert done.code == 0
    assert "of low trust: stdin" in done.err
    head = Path(done.out.strip()).read_text(encoding="utf-8")
    assert "evidence:\n  - trust: low\n    source_url: stdin\n" in head


@pytest.mark.parametrize("project", ["../../../escaped", "/abs", "a/b", "", "a\nb", "..", ".hidden"])
@pytest.mark.parametrize("mode", [("--title", "T", "--author", "memory"), ("--content-stdin",)])
def test_a_project_is_a_plain_name(team: Team, tmp_path: Path, project: str, mode: tuple[str, ...]):
    done = team.write("--kind", "decision", "--project", project, *mode, stdin=b"words")
    assert done.code == 2
    assert not [path for path in tmp_path.rglob("*.md") if path.name != "c.md"]


@pytest.mark.parametrize("iso", ["garbage", "2026-13-01", "", "2026-04-01T25:00:00Z"])
def test_a_moment_is_iso_8601(team: Team, content: Path, iso: str):
    done = team.write(*DECISION, "--content-file", content, "--iso", iso)
    assert (done.code, done.out) == (2, "")


def test_the_same_moment_overwrites_nothing(team: Team, content: Path):
    words = (*DECISION, "--content-file", content, "--iso", "2026-04-01T00:00:00Z")
    paths = [Path(team.write(*words).out.strip()) for _ in range(3)]
    assert len(set(paths)) == 3
    assert [entry["ts"] for entry in listed(team)] == ["2026-04-01T00:00:00.000000Z"] * 3


@pytest.mark.parametrize(
    ("title", "author"),
    [
        ("ok\nauthor: operator\nstatus: approved\n---\n\n# forged body", "evil"),
        ("t", "evil\nkind: finding"),
        ("true", "007"),
        ('"quoted', "[a"),
        ("a: b # c", "@x"),
        ("null", "~"),
    ],
)
def test_no_value_forges_a_field(team: Team, title: str, author: str):
    assert team.write(*DECISION, "--title", title, "--author", author).code == 0
    (entry,) = listed(team)
    assert (entry["kind"], entry["status"], entry["body"]) == ("decision", "open", "")
    assert entry["author"] == author
    assert entry["title"] == " ".join(title.split())
    (filed,) = team.call("scan_index", "query", "--project", "p").json
    assert (filed["kind"], filed["author"]) == ("decision", author)


def fake_token() -> str:
    return "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.mark.parametrize("field", ["title", "body", "author", "related-task-ids", "supersedes"])
def test_a_secret_is_refused_by_its_kind(team: Team, field: str):
    given = {"title": "T", "author": "memory", field: f"x {fake_token()}"}
    done = team.write(*DECISION, *(word for name, value in given.items() for word in (f"--{name}", value)))
    assert done.code == 1
    assert fake_token() not in done.out + done.err
    assert not list(team.root.rglob("*.md"))


def test_a_secret_is_redacted_or_allowed_on_request(team: Team):
    words = (*DECISION, "--content-stdin", "--secrets")
    raw = f"token {fake_token()} here".encode()
    done = team.write(*words, "redact", "--dry-run", stdin=raw)
    assert fake_token() not in done.out + done.err
    done = team.write(*words, "redact", stdin=raw)
    assert (done.code, fake_token() in done.err) == (0, False)
    assert "[REDACTED:" in listed(team)[0]["body"]
    assert team.write(*words, "allow", stdin=raw).code == 0
    assert fake_token() in listed(team)[1]["body"]


def test_the_policies_are_those_of_the_use_case():
    from oracle.app.guard import POLICIES

    assert memory_write.POLICIES == POLICIES


# The Root -------------------------------------------------------------------------------------------------------------


def test_a_root_that_is_not_there_is_made_by_the_first_record(team: Team, content: Path):
    team.root.rmdir()
    assert team.write(*DECISION, "--content-file", content, "--dry-run").code == 2
    assert team.write("--kind", "delivery", "--project", "p", "--content-file", content).code == 5
    assert not team.root.exists()
    done = team.write(*DECISION, "--content-file", content)
    assert (done.code, done.err) == (0, f"note: made the Root {team.root}\n")
    assert team.root.stat().st_mode & 0o777 == 0o700


def test_a_write_leaves_index_json_alone(team: Team, content: Path):
    team.put("index.json", '{"truncated": ')
    team.write(*DECISION, "--content-file", content)
    assert (team.root / "index.json").read_text(encoding="utf-8") == '{"truncated": '
    assert not (team.root / "projects/p/_index").exists()


def test_writers_side_by_side_lose_nothing(team: Team, content: Path):
    """Eight processes at a time, each writing a record that mentions the same entities."""
    rounds = 24
    words = (
        "--memory-dir",
        team.root,
        *DECISION,
        "--content-file",
        content,
        "--quiet",
        "--iso",
        "2026-04-01T00:00:00Z",
    )

    def write(_: int) -> Done:
        return team.run("memory_write", *words, env=dict(os.environ))

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(write, range(rounds)))
    assert {outcome[:2] for outcome in done} == {(0, "")}
    for target in ("entity:taskid:ARENA-228", "entity:file:core/x.py"):
        assert team.query("--backlinks", target).json["incoming_count"] == rounds
        published = team.root / "_backlinks" / f"{target.replace(':', '++').replace('/', '__')}.jsonl"
        assert len({json.loads(line)["from"] for line in published.read_text(encoding="utf-8").splitlines()}) == rounds
    assert len(team.call("scan_index", "query", "--project", "p").json) == rounds


def test_a_standard_input_that_is_closed_is_said(team: Team):
    words = ("--memory-dir", str(team.root), "--kind", "plan", "--project", "q", "--content-stdin")
    done = team.run("memory_write", *words, preexec_fn=lambda: os.close(0))
    assert done.code == 2
    assert done.err.startswith("error: Standard input is closed.\n")


@pytest.mark.parametrize("option", ["--kind", "--source", "--confidence", "--iso", "--seats", "--project"])
def test_no_sentence_repeats_a_secret(team: Team, option: str):
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    words = ("--kind", "plan", "--project", "q", "--title", "T", "--author", "me", option, secret)
    done = team.write(*words)
    assert secret[:12] not in done.out + done.err
    assert "github-token" in done.err


@pytest.mark.parametrize("tasks", ["../x", "a b", "T-1,../x"])
def test_a_related_task_is_a_plain_name(team: Team, tasks: str):
    words = ("--kind", "plan", "--project", "q", "--title", "T", "--author", "me", "--related-task-ids", tasks)
    assert team.write(*words).code == 2
    assert not list(team.root.glob("projects/**/*.md"))


def test_project_that_the_write_makes_is_a_warning_in_both_modes(team: Team, content: Path):
    assert team.write(*DECISION, "--content-file", content).err == ""
    said = "project pp is new; did you mean p?"
    done = team.write("--kind", "decision", "--project", "pp", "--title", "T", "--author", "memory")
    assert (done.code, done.err, done.json["warnings"]) == (0, f"warning: {said}\n", [said])
    again = team.write("--kind", "decision", "--project", "p2", "--content-file", content)
    assert (again.code, again.err.splitlines()[0]) == (0, "warning: project p2 is new; did you mean p?")
