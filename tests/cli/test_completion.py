"""What the shell is offered: names of the index as it stands, and never a word too much."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from oracle.api import Oracle
from oracle.app.memories.keep import remember
from oracle.app.overview import completion as vocabulary
from oracle.cli import completion
from oracle.cli.completion import read
from oracle.cli.main import run
from oracle.domain.records.drafts import Draft
from oracle.domain.records.memories import Given
from tests.app.squad import Squad
from tests.forked import run_python

CHECKOUT = Path(__file__).parents[2]
START = "import sys; from oracle.cli.main import run; sys.exit(run())"


@pytest.fixture
def filled(root: Path) -> Path:
    (root / "machine").mkdir(exist_ok=True)
    (root / "machine" / "network.json").write_text("{}")
    path = root / "projects/arena/builder/issues/重试.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nstatus: blocked\nauthor: ada\n---\n\nARENA-7, see GH#12.\n")
    with Oracle.open(str(root)) as oracle:
        slug = oracle.write(Draft("decision", "arena", "Retry three times", "ARENA-12 says so.")).slug
        oracle.retire(slug, "Too many.")
    return root


def environment(root: Path, line: str) -> dict[str, str]:
    """Return what a shell sets to ask for the words that may follow those typed so far."""
    asking = {"_ORACLE_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    return {"ORACLE_ROOT": str(root), **asking, "_TYPER_COMPLETE_ARGS": line}


def offered(root: Path, line: str) -> list[str]:
    """Return what a shell is told for the words typed so far."""
    known = {**os.environ, **environment(root, line)}
    done = run_python(["-c", START], env=known, cwd=CHECKOUT)
    assert done.stderr == ""
    return [word.partition("\t")[0] for word in done.stdout.split("\n") if word]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("oracle list --kind ", ["decision", "issue"]),
        ("oracle list --kind iss", ["issue"]),
        ("oracle list --project a", ["arena"]),
        ("oracle list --seat b", ["builder"]),
        ("oracle list --status ret", ["retired"]),
        ("oracle list --status b", ["blocked"]),
        ("oracle list --timeline --author a", ["ada"]),
        ("oracle search x --task ARENA-", ["ARENA-12", "ARENA-7"]),
        ("oracle show projects/arena/b", ["projects/arena/builder/issues/重试"]),
        ("oracle show 重", ["重试"]),
        ("oracle backlinks entity:taskid:ARENA-1", ["entity:taskid:ARENA-12"]),
        ("oracle graph x --direction ", ["out", "in", "both"]),
        ("oracle graph x --format m", ["mermaid"]),
        ("oracle show --links x --type sup", ["supersedes", "supports"]),
        ("oracle list --entities --namespace c", ["commit", "component"]),
        ("oracle show net", ["network"]),
        ("oracle write f", ["finding"]),
        ("oracle write decision --confidence h", ["high"]),
        ("oracle write decision --supersedes projects/arena/builder/", ["projects/arena/builder/issues/重试"]),
        ("oracle hook install --events s", ["stop", "start", "subagent"]),
        ("oracle hook install --events stop,p", ["stop,prompt"]),
        ("oracle write decision --related-task-ids ARENA-7,ARENA-1", ["ARENA-7,ARENA-12"]),
        ("oracle hub join x --projects x,a", ["x,arena"]),
        ("oracle list --kind nothing", []),
    ],
)
def test_values_are_offered(filled: Path, line: str, words: list[str]):
    assert offered(filled, line) == words


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ("backlinks entity : taskid : ARENA-1", ["ARENA-12"]),
        ("backlinks entity : task", ["taskid:ARENA-12", "taskid:ARENA-7", "taskid:GH#12"]),
        ("backlinks entity : taskid :", ["ARENA-12", "ARENA-7", "GH#12"]),
        ("backlinks ent", ["entity:taskid:ARENA-12", "entity:taskid:ARENA-7", "entity:taskid:GH#12"]),
        ("list --kind = iss", ["issue"]),
        ("write decision --title a : b --confidence h", ["high"]),
        ("list --kind ", ["decision", "issue"]),
    ],
)
def test_bash_which_parts_words_at_colons_is_offered_what_is_left(filled: Path, parts: str, words: list[str]):
    assert offered_by_bash(filled, ["oracle", *parts.split(" ")]) == words


def offered_by_bash(root: Path, typed: list[str]) -> list[str]:
    """Return what bash is told for the words that it hands over."""
    asking = {"_ORACLE_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(typed), "COMP_CWORD": str(len(typed) - 1)}
    done = run_python(["-c", START], env={**os.environ, "ORACLE_ROOT": str(root), **asking}, cwd=CHECKOUT)
    assert done.stderr == ""
    return done.stdout.splitlines()


HARD = (
    "notes (copy) #2",
    "it's a note & more",
    "会议纪要 11-27",
    'cost $5 `x` "q" !b',
    "me@home {a,b} *s?[1]",
    "back\\slash",
    "~t; <u> | v",
)


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_what_bash_is_told_it_reads_as_the_name(root: Path, name: str, quote: str):
    folder = root / "projects/shop/planner"
    folder.mkdir(parents=True)
    (folder / f"{name}.md").write_text("# A title\n\nText.\n")
    with Oracle.open(str(root)) as oracle:
        oracle.reconcile()
    (told,) = offered_by_bash(root, ["oracle", "show", f"{quote}projects/shop/planner/{name[:2]}"])
    line = f"printf '%s\\n' {quote}{told}{quote}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"projects/shop/planner/{name}\n", "")


@pytest.mark.parametrize(
    ("raw", "text", "start", "quote"),
    [
        ("it\\'s\\ a", "it's a", 0, ""),
        ("entity:task", "entity:task", 7, ""),
        ("--kind=", "--kind=", 7, ""),
        ("me@ho", "me@ho", 2, ""),
        ("'a:b c", "a:b c", 0, "'"),
        ('a/"b \\$c', "a/b $c", 2, '"'),
        ('"a\\$b\\c', "a$b\\c", 0, '"'),
        ("'it'\\''s", "it's", 3, "'"),
        ("a\\", "a", 0, ""),
        ("''", "", 0, ""),
    ],
)
def test_words_of_bash_are_read_as_it_reads_them(raw: str, text: str, start: int, quote: str):
    found = read(raw)
    assert (found.text, found.start, found.quote) == (text, start, quote)


@pytest.fixture
def team(tmp_path: Path) -> Path:
    """Give the Root of a team that has handed something over, and whose records say nothing of it."""
    squad = Squad(tmp_path)
    squad.ask("T-1", "planner", "builder")
    squad.ask(DECISION, "memory", "planner")
    return squad.path


DECISION = "0f3c2a4e-1111-4222-8333-0123456789ab"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("oracle list --project d", ["demo"]),
        ("oracle ask q --project demo --from p", ["planner"]),
        ("oracle ask q --project demo --reply-to ", ["builder", "memory", "planner", "reviewer"]),
        ("oracle ask q --to b", ["builder"]),
        ("oracle deliver --project demo --to r", ["reviewer"]),
        ("oracle deliver --project demo --task-id ", [DECISION, "T-1"]),
        ("oracle deliver --task-id T", ["T-1"]),
        ("oracle deliver --project nobody --task-id ", []),
        ("oracle handoffs ", ["show"]),
        ("oracle handoffs show T", ["T-1"]),
        ("oracle handoffs --state claim", ["claimed", "claim-expired"]),
        ("oracle log --task T", ["T-1"]),
        ("oracle ack T", ["T-1"]),
        ("oracle ack check T", ["T-1"]),
        ("oracle ack --project demo --from p", ["planner"]),
        ("oracle team integrate T", ["T-1"]),
        ("oracle team integrate T-1 --lane h", ["heavy"]),
        ("oracle team rehearse ", ["start", "verify"]),
        ("oracle team rehearse start --task-id T", ["T-1"]),
        ("oracle team decision resolve ", [DECISION]),
        ("oracle team decision send ", []),
        ("oracle team task update-status --project demo T", ["T-1"]),
        ("oracle team task update-status --project demo T-1 build ", ["pending", "in_progress", "done", "blocked"]),
        ("oracle team task list-pending --owner-role b", ["builder"]),
        ("oracle team task create T-1 --workflow-template ", ["brief-driven"]),
        ("oracle project init --seats memory,p", ["memory,planner", "memory,patrol"]),
        ("oracle team push x --project demo --verdict ", ["PASS", "FAIL", "BLOCKED"]),
        ("oracle team push x --project demo --task-id T", ["T-1"]),
        ("oracle write decision --secrets ", ["refuse", "redact", "allow"]),
        ("oracle write decision --seat m", ["memory"]),
        ("oracle scan machine --only git", ["github"]),
        ("oracle scan machine --only network,gi", ["network,github"]),
        ("oracle project add x --tool ", ["claude", "codex", "gemini"]),
        ("oracle --lang ", ["auto", "zh", "en"]),
        ("oracle handoffs --lang z", ["zh"]),
        ("oracle handoffs --lang zh --state ack", ["acked"]),
        ("oracle help han", ["handoffs"]),
        ("oracle team reh", ["rehearse"]),
        ("oracle check --only orphans,st", ["orphans,stale"]),
        ("oracle compat dispatch", ["dispatch_task"]),
    ],
)
def test_what_a_team_goes_by_is_offered(
    team: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, words: list[str]
):
    for name, value in environment(team, line).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match="0"):
        run([])
    assert [word.partition("\t")[0] for word in capsys.readouterr().out.split("\n") if word] == words


def test_what_is_kept_of_an_author_and_a_session_is_offered(filled: Path):
    with Oracle.open(str(filled)) as oracle:
        remember(oracle, Given("preference", "Tabs", "Use tabs.", "arena", session_id="s-42"))
    assert offered(filled, "oracle packet --session-id s") == ["s-42"]
    assert offered(filled, "oracle write decision --author a") == ["ada"]


@pytest.fixture
def facts(root: Path) -> Path:
    (root / "machine").mkdir(exist_ok=True)
    (root / "projects/arena").mkdir(parents=True)
    box = {"deploy": {"host": "web-1", "ports": [80, 443], "none": None}, "details": 1, "a.b": {"c": "x"}, "port": 2}
    (root / "machine/box.json").write_text(json.dumps(box))
    (root / "projects/arena/box.json").write_text('{"arena": "yes"}')
    (root / "projects/arena/build.json").write_text("{}")
    (root / "machine/torn.json").write_text("{")
    (root / "machine/many.json").write_text(json.dumps({f"k{number}": number for number in range(300)}))
    return root


@pytest.mark.parametrize(
    ("beginning", "project", "words"),
    [
        ("b", "", ["box"]),
        ("b", "arena", ["box", "build"]),
        ("box.", "", ["box.a.b", "box.deploy", "box.details", "box.port"]),
        ("box.de", "", ["box.deploy", "box.details"]),
        ("box.deploy.", "", ["box.deploy.host", "box.deploy.ports"]),
        ("box.deploy.ports.", "", ["box.deploy.ports.0", "box.deploy.ports.1"]),
        ("box.a.", "", ["box.a.b"]),
        ("box.a.b.", "", ["box.a.b.c"]),
        ("box.deploy.host.", "", []),
        ("box.", "arena", ["box.arena"]),
        ("torn.", "", []),
        ("none.x", "", []),
        (".", "", []),
        ("../box.", "", []),
    ],
)
def test_keys_of_facts_are_offered_level_by_level(facts: Path, beginning: str, project: str, words: list[str]):
    with Oracle.open(str(facts)) as oracle:
        assert vocabulary.offer(oracle, "fact", beginning, project=project) == words


def test_of_many_keys_some_are_offered_and_of_a_huge_file_none(facts: Path, monkeypatch: pytest.MonkeyPatch):
    with Oracle.open(str(facts)) as oracle:
        assert len(vocabulary.offer(oracle, "fact", "many.k")) == vocabulary.MAX_OFFERED
        monkeypatch.setattr(vocabulary, "_MOST_BYTES", 100)
        assert vocabulary.offer(oracle, "fact", "many.k") == []


def test_a_profile_that_can_not_be_read_hides_no_other(team: Path):
    (team.parent / "profiles" / "broken-profile-dynamic.toml").write_text("= no")
    assert offered(team, "oracle deliver --task-id T") == ["T-1"]


FREE = {
    *(
        "title",
        "name",
        "body",
        "body-file",
        "evidence",
        "detail",
        "reason",
        "since",
        "until",
        "limit",
        "lines",
        "goal",
        "constraint",
        "why",
        "how-to-apply",
        "source",
    ),
    *(
        "failure",
        "question",
        "depth",
        "top",
        "repo",
        "summary",
        "response-inline",
        "response-file",
        "workspace",
        "by",
        "fact",
    ),
    *(
        "settings-path",
        "from-transcript",
        "last",
        "days",
        "apply",
        "payload-file",
        "session",
        "choose",
        "age-days",
        "remote",
        "branch",
        "commit",
        "transcript",
        "text",
        "situation",
        "approach",
        "reflect",
        "extra",
        "budget",
    ),
    *("template", "tmux", "file", "seconds", "port", "memory-dir", "home", "clawseat-root", "team", "machine"),
}
"""Options that hold what only the person knows: texts, numbers, dates, files, names of the world outside."""


def test_every_other_option_offers_its_values():
    from oracle.cli.application import command as build
    from oracle.cli.application import walk

    silent = {
        f"{name} {option.opts[0]}"
        for name, command in walk(build(), hidden=True)
        for option in command.params
        if option.param_type_name == "option" and not option.is_flag and option._custom_shell_complete is None
        if option.opts[0].removeprefix("--") not in FREE
    }
    assert silent == set()


def test_the_root_that_was_named_is_asked(filled: Path, tmp_path: Path):
    line = f"oracle list --memory-dir {filled} --project "
    assert offered(tmp_path / "nowhere", line) == ["arena"]
    assert offered(tmp_path / "nowhere", f"oracle --memory-dir {filled} list --project ") == ["arena"]


@pytest.mark.parametrize("state", ["no root", "no index", "damaged"])
def test_nothing_is_offered_made_or_said_where_nothing_is_known(tmp_path: Path, state: str):
    root = tmp_path / "memory"
    if state != "no root":
        (root / "projects" / "arena").mkdir(parents=True)
    if state == "damaged":
        (root / "_state").mkdir()
        (root / "_state" / "oracle.db").write_bytes(b"no database" * 100)
    before = sorted(tmp_path.rglob("*"))
    for line in ("oracle show p", "oracle list --kind d", "oracle show x", "oracle backlinks e"):
        assert offered(root, line) == []
    assert sorted(tmp_path.rglob("*")) == before


def test_whatever_goes_wrong_is_an_empty_offer():
    context = SimpleNamespace(params={"memory_dir": "\0"}, parent=None)
    for offer in (completion.slugs, completion.targets, completion.kinds, completion.tasks, completion.facts):
        assert offer(context, "x") == []
