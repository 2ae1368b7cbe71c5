"""`query_memory`: every mode, the layouts it reads, and what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from oracle.compat.query_memory import verify_claims
from tests.compat.team import SCRIPTS, Team, tree

NOTE = "---\nproject: q\nkind: {kind}\ntitle: {title}\nts: {ts}\n---\n\nBody of {title}.\n"


def note(title: str, *, kind: str = "decision", ts: str = "2026-04-01T00:00:00Z") -> str:
    return NOTE.format(kind=kind, title=title, ts=ts)


def titles(team: Team, *words: str) -> list[str]:
    return [entry["title"] for entry in team.query(*words).json]


@pytest.mark.parametrize("option", ["--project", "--kind", "--seat", "--since"])
def test_a_filter_with_nothing_in_it_is_no_wish_for_everything(team: Team, option: str):
    team.put("projects/q/decision/a.md", note("A"))
    done = team.query("--kind", "decision", option, "")
    assert (done.code, done.out) == (2, "")
    assert f"argument {option}: it is empty" in done.err


# Facts ----------------------------------------------------------------------------------------------------------------


def test_key_prints_scalars_bare_and_the_rest_as_json(team: Team):
    team.put("machine/net.json", '{"a": {"b": [10, {"c": "text"}], "t": true, "n": null}}')
    assert team.query("--key", "net.a.b.0") == (0, "10\n", "")
    assert team.query("--key", "net.a.b.1.c").out == "text\n"
    assert team.query("--key", "net.a.t").out == "True\n"
    assert team.query("--key", "net.a.b").json == [10, {"c": "text"}]
    assert team.query("--file", "net", "--section", "a.b").json == [10, {"c": "text"}]
    assert team.query("--file", "net.json").json["a"]["t"] is True


@pytest.mark.parametrize("key", ["net.a.x", "net.a.n"])
def test_unknown_and_null_keys_are_said_to_be_absent(team: Team, key: str):
    team.put("machine/net.json", '{"a": {"n": null}}')
    assert team.query("--key", key) == (1, "", f"not_found: {key}\nnot_in_memory_db: {key}\n")


@pytest.mark.parametrize("words", [("--key", "absent.a"), ("--file", "absent")])
def test_absent_file_is_named_with_where_it_was_looked_for(team: Team, words: tuple[str, str]):
    done = team.query(*words)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        f"error: memory file not found: absent.json (checked machine/ and flat layout under {team.root})",
        f"not_in_memory_db: {words[1]}",
    ]


def test_flat_layout_is_a_marked_fallback(team: Team):
    team.put("net.json", '{"a": 1}')
    done = team.query("--key", "net.a")
    assert (done.code, done.out) == (0, "1\n")
    assert done.err.startswith("legacy: net.json ")
    assert team.query("--search", "a").err.startswith("legacy: net.json ")
    team.put("machine/net.json", '{"a": 2}')
    assert team.query("--key", "net.a") == (0, "2\n", "")


def test_broken_fact_file_is_an_error_of_one_sentence(team: Team):
    team.put("machine/net.json", "{")
    done = team.query("--key", "net.a")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: machine/net.json is not valid JSON")


def test_search_finds_keys_values_and_records(team: Team):
    team.put("machine/net.json", '{"Proxy": {"host": "x"}, "other": "no PROXY here"}')
    team.put("projects/q/builder/a.md", note("The proxy"))
    team.put("projects/other/builder/a.md", note("Proxy elsewhere").replace("project: q", "project: other"))
    found = team.query("--search", "proxy").json
    assert (found["term"], found["count"]) == ("proxy", 4)
    assert [(match["file"], match["path"], match["match"]) for match in found["matches"][:2]] == [
        ("machine/net", "Proxy", "key"),
        ("machine/net", "other", "value"),
    ]
    assert {match["match"] for match in found["matches"][2:]} == {"record"}
    assert team.query("--search", "proxy", "--files", "net").json["count"] == 2
    only = team.query("--search", "proxy", "--project", "q").json
    assert [match["file"] for match in only["matches"]] == ["projects/q/builder/a.md"]


def test_search_without_a_hit(team: Team):
    assert team.query("--search", "nowhere") == (1, "", "no matches for: nowhere\n")


def test_search_masks_secrets(team: Team):
    secret = "sk-ant-api03-" + "Zq8Lw2Rt6Yp4Kd9Xs3Vb7Nm1Hc5Jf0Ga" * 2 + "-QwErTy78AA"
    team.put(
        "machine/credentials.json", json.dumps({"keys": {"MINIMAX_API_KEY": {"value": secret}}, "minimax": secret})
    )
    done = team.query("--search", "minimax")
    assert done.code == 0
    assert secret[:30] not in done.out
    assert "[REDACTED:" in done.out


@pytest.mark.parametrize("term", ["hunter", "password", "db", "tokens", "Vault"])
def test_search_hides_what_stands_under_a_key_that_names_a_credential(team: Team, term: str):
    values = {
        "db": {"password": "hunter2hunter2", "user": "ann", "password_policy": "hunters may not"},
        "Vault": {"apiKey": {"value": "hunter3", "source": "env of hunter"}, "tokens": ["hunter4", 12345, None]},
        "max_tokens": 4096,
    }
    team.put("machine/service.json", json.dumps(values))
    done = team.query("--search", term)
    assert done.code == 0
    assert not re.search(r"hunter\d|12345", done.out)
    assert "[REDACTED:credential]" in done.out
    shown = {match["path"]: match["value"] for match in team.query("--search", "hunter").json["matches"]}
    assert shown["db.password_policy"] == "hunters may not"
    assert shown["Vault.apiKey.source"] == "env of hunter"
    assert [match["value"] for match in team.query("--search", "max_tokens").json["matches"]] == ["4096"]
    assert team.query("--key", "service.db.password") == (0, "hunter2hunter2\n", "")


def test_status_names_what_there_is(team: Team):
    for name in ("machine/net.json", "old.json", "projects/q/decision/a.md"):
        team.put(name, "{}")
    team.put("index.json", '{"own": 1}')
    done = team.query("--status")
    assert done.code == 0
    assert done.json == {
        "exists": True,
        "path": str(team.root),
        "flat_files": ["old.json"],
        "machine_files": ["net.json"],
        "projects": ["q"],
        "index": {"own": 1},
    }


# Wrong calls ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("--file", "../../x"),
        ("--file", "/etc/passwd"),
        ("--key", "../../x.a"),
        ("--project", "../.."),
        ("--project", "../../secret", "--kind", "decision"),
        ("--project", "../..", "--kind", "reflection"),
        ("--seat", "a/b"),
        ("--since", "yesterday"),
        ("--graph", "a", "--depth", "-1"),
        ("--graph", "a", "--depth", "x"),
        ("--backlinks", "../x"),
        ("--backlinks", "/etc/passwd"),
        ("--key", "a", "--file", "b"),
        ("--search", " "),
        ("--search", "x", "--project", "../.."),
    ],
)
def test_wrong_call_is_refused(team: Team, words: tuple[str, ...]):
    team.put("machine/net.json", "{}")
    done = team.query(*words)
    assert done.code == 2
    assert done.out == ""
    assert "error:" in done.err


def test_nothing_asked_prints_help(team: Team):
    done = team.query()
    assert done.code == 2
    assert done.out.startswith("usage: query_memory")
    assert done.err.startswith("error: specify one of: --key, --file,")


def test_ask_names_its_successors(team: Team):
    done = team.query("--ask", "what?", "--profile", "x", "--timeout", "1")
    assert (done.code, done.out) == (2, "")
    assert "oracle ask" in done.err
    assert "oracle search" in done.err


# Links ----------------------------------------------------------------------------------------------------------------


def test_backlinks_and_graph(team: Team):
    team.put("projects/q/decision/a.md", "See ARENA-228 and [[b]].\n")
    team.put("projects/q/decision/b.md", "See ARENA-228 and [[c]].\n")
    found = team.query("--backlinks", "entity:taskid:ARENA-228").json
    assert found["incoming_count"] == 2
    assert [entry["from"] for entry in found["incoming"]] == ["projects/q/decision/a", "projects/q/decision/b"]
    for name in ("projects/q/decision/b.md", team.root / "projects/q/decision/b.md", "projects/q/decision/b"):
        assert team.query("--backlinks", name).json["incoming_count"] == 1
    near, far = (team.query("--graph", "projects/q/decision/a", "--depth", depth).json for depth in "12")
    assert list(near) == ["root", "depth", "node_count", "edge_count", "nodes", "edges"]
    assert "projects/q/decision/c" not in near["nodes"]
    assert "projects/q/decision/c" in far["nodes"]
    assert far["nodes"] == sorted(far["nodes"])
    assert {edge["depth"] for edge in far["edges"]} == {1, 2}


def test_backlinks_of_nothing_are_an_empty_success(team: Team):
    assert team.query("--backlinks", "entity:taskid:NONE-1").json == {
        "target": "entity:taskid:NONE-1",
        "incoming_count": 0,
        "incoming": [],
    }


def test_a_target_may_be_named_by_the_words_of_its_title(team: Team):
    slug = "projects/q/decision/2026-04-01T00-00-00Z-retry-webhooks"
    team.put(f"{slug}.md", "See ARENA-228.\n")
    team.put("projects/q/decision/a.md", "See [[Retry webhooks]].\n")
    for name in ("retry-webhooks", "Retry webhooks", slug):
        found = team.query("--backlinks", name)
        assert (found.code, found.err, found.json["target"], found.json["incoming_count"]) == (0, "", slug, 1)
        assert team.query("--graph", name).json["nodes"] == sorted([slug, "entity:taskid:ARENA-228"])


@pytest.mark.parametrize("mode", ["--backlinks", "--graph"])
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (
            "ARENA-999",
            "To ask for an entity, type entity:taskid:ARENA-999 (no backlinks)."
            " Did you mean entity:taskid:ARENA-228 (1 backlink)?",
        ),
        ("decisino", "Did you mean projects/q/decision/decision?"),
        ("entity:taskid:arena-228", "Did you mean entity:taskid:ARENA-228 (1 backlink)?"),
    ],
)
def test_a_name_of_nothing_is_an_empty_success_that_says_what_to_type(team: Team, mode: str, name: str, hint: str):
    team.put("projects/q/decision/decision.md", "# A word\n\nSee ARENA-228.\n")
    done = team.query(mode, name)
    assert done.code == 0
    assert name in (done.json.get("target"), done.json.get("root"))
    first, second = done.err.splitlines()
    assert first.startswith("not_in_memory_db: no record ")
    assert second == f"hint: {hint}"


@pytest.mark.parametrize(("name", "meant"), [("ARENA-228", "entity:taskid:ARENA-228"), ("decisi", None)])
def test_a_target_is_taken_as_people_type_it(team: Team, name: str, meant: str | None):
    team.put("projects/q/decision/decision.md", "# A word\n\nSee ARENA-228.\n")
    done = team.query("--graph", name)
    assert (done.code, done.err) == (0, "")
    assert done.json["root"] == (meant or "projects/q/decision/decision")


def test_a_record_or_entity_without_links_is_no_reason_to_complain(team: Team):
    team.put("projects/q/decision/a.md", "See ARENA-228.\n")
    assert team.query("--backlinks", "projects/q/decision/a").err == ""
    assert team.query("--graph", "entity:taskid:ARENA-228").err == ""


def test_two_types_to_one_target_are_two_lines(team: Team):
    team.put("projects/q/decision/b.md", "B.\n")
    team.put("projects/q/decision/a.md", "---\nsupersedes: projects/q/decision/b\n---\nIt was [[b]].\n")
    found = team.query("--backlinks", "projects/q/decision/b").json
    assert [entry["type"] for entry in found["incoming"]] == ["references-record", "supersedes"]


def test_a_deleted_page_leaves_no_edge_and_no_ghost(team: Team):
    page = team.put("projects/q/decision/a.md", "See ARENA-228.\n")
    team.put("projects/q/decision/b.md", "B.\n")
    team.put(
        "index.json",
        json.dumps({"memory_notes": [{"path": str(page), "title": "ghost", "project": "q", "kind": "decision"}]}),
    )
    assert team.query("--backlinks", "entity:taskid:ARENA-228").json["incoming_count"] == 1
    page.unlink()
    assert team.query("--backlinks", "entity:taskid:ARENA-228").json["incoming_count"] == 0
    assert [entry["body"] for entry in team.query("--project", "q").json] == ["B."]


def test_slugs_that_look_alike_stay_apart(team: Team):
    team.put("projects/a__b/c/x.md", "TASK-111 in src__y.py\n")
    team.put("projects/a/b__c/x.md", "TASK-222 in src/y.py\n")
    assert "entity:taskid:TASK-111" in team.query("--graph", "projects/a__b/c/x").json["nodes"]
    for target in ("TASK-111", "TASK-222"):
        assert team.query("--backlinks", f"entity:taskid:{target}").json["incoming_count"] == 1
    for target in ("src__y.py", "src/y.py"):
        assert team.query("--backlinks", f"entity:file:{target}").json["incoming_count"] == 1


def test_long_targets_hide_nothing(team: Team):
    long = "https://z.example/" + "a" * 320
    team.put("projects/q/decision/a.md", f"TASK-111 {long} https://z.example/short [KEY: {'键' * 90}]\n")
    for target in (
        "entity:taskid:TASK-111",
        f"entity:url:{long}",
        "entity:url:https://z.example/short",
        f"entity:key:{'键' * 90}",
    ):
        assert team.query("--backlinks", target).json["incoming_count"] == 1
    assert team.query("--backlinks", "x" * 400).json["incoming_count"] == 0


def test_retired_sources_say_so(team: Team):
    team.put("projects/q/decision/old.md", "See ARENA-228.\n")
    team.put("projects/q/decision/new.md", "---\nsupersedes: projects/q/decision/old\n---\nSee ARENA-228.\n")
    new, old = team.query("--backlinks", "entity:taskid:ARENA-228").json["incoming"]
    assert "status" not in new
    assert (old["status"], old["retired_by"]) == ("superseded", "projects/q/decision/new")
    listed = {entry["title"]: entry for entry in team.query("--project", "q").json}
    assert listed["old"]["project"] == "q"
    assert [entry.get("status") for entry in team.query("--project", "q").json].count("superseded") == 1


# Listings -------------------------------------------------------------------------------------------------------------

FEDERATED = (
    "decision/a.md", "task/b.md", "plan/c.md", "builder/d.md", "builder-1/deep/e.md", "planner/f.md", "reviewer/findings/g.md",
    "patrol/test-results/h.md",
)  # fmt: skip


def test_every_seats_records_are_listed(team: Team):
    for path in FEDERATED:
        team.put(f"projects/q/{path}", note(path))
    assert titles(team, "--project", "q", "--kind", "decision") == sorted(FEDERATED)
    assert titles(team, "--project", "q", "--seat", "builder") == ["builder/d.md"]
    assert titles(team, "--project", "q", "--seat", "builder-1") == ["builder-1/deep/e.md"]
    assert titles(team, "--kind", "decision") == sorted(FEDERATED)
    assert titles(team, "--since", "2020-01-01") == sorted(FEDERATED)


def test_kind_and_seat_come_from_the_path_when_the_fields_are_silent(team: Team):
    team.put("projects/q/reviewer/findings/a.md", "Words.\n")
    (entry,) = team.query("--project", "q", "--kind", "finding", "--seat", "reviewer").json
    assert (entry["project"], entry["kind"], entry["seat"], entry["body"]) == ("q", "finding", "reviewer", "Words.")


def test_note_is_one_flat_object(team: Team):
    file = team.put(
        "projects/q/decision/a.md",
        '---\nschema_version: 1\nformat: markdown_note\nid: i\nproject: q\nkind: decision\ntitle: "T: \\"x\\""\nauthor: m\n'
        'ts: "2026-11-27T21:43:12Z"\ncontent_source: c.md\nseverity: HIGH\ntags: [a, b]\n---\n\nBody.\n\n',
    )
    (entry,) = team.query("--project", "q").json
    assert entry == {
        "schema_version": 1, "format": "markdown_note", "id": "i", "project": "q", "kind": "decision", "title": 'T: "x"',
        "author": "m", "ts": "2026-11-27T21:43:12Z", "created_at": None, "filename_stamp": None, "content_source": "c.md",
        "body": "Body.", "path": str(file), "source": "drop_cli", "seat": "memory", "status": None, "severity": "HIGH",
        "tags": ["a", "b"],
    }  # fmt: skip


def test_quoted_timestamps_are_instants(team: Team):
    team.put("projects/q/decision/a.md", note("quoted", ts='"2026-11-27T21:43:12Z"'))
    assert titles(team, "--project", "q", "--since", "2020-01-01") == ["quoted"]


def test_since_compares_instants(team: Team):
    team.put("projects/q/decision/a.md", note("march", ts="2026-04-01T07:00:00+08:00"))
    team.put("projects/q/decision/b.md", note("april", ts="2026-03-31T20:00:00-08:00"))
    assert titles(team, "--project", "q", "--since", "2026-04-01") == ["april"]
    assert titles(team, "--project", "q") == ["march", "april"]


def test_old_json_comes_back_as_it_stands(team: Team):
    record = {"schema_version": 1, "kind": "decision", "id": "d-1", "project": "q", "ts": "2026-01-01T00:00:00Z", "title": "Z",
              "evidence": [{"n": 1.5, "ok": True, "none": None}]}  # fmt: skip
    team.put("projects/q/decisions/d-1.json", json.dumps(record))
    assert team.query("--project", "q", "--kind", "decision").json == [record]
    team.put("projects/q/dev_env.json", '{"kind": "dev_env", "project": "q", "data": {"python": "3.11"}}')
    assert team.query("--project", "q", "--kind", "dev_env").json[0]["data"] == {"python": "3.11"}


def test_reflections_and_events_are_lines_of_their_files(team: Team):
    team.put(
        "projects/q/reflections.jsonl",
        '{"kind": "reflection", "project": "q", "ts": "2026-01-01T00:00:00Z", "title": "r"}\nbroken\n[]\n',
    )
    team.put(
        "events.log",
        '{"ts": "2026-01-02T00:00:00Z", "event": "x", "project": "other"}\n\n{"ts": "2026-01-03T00:00:00Z", "event": "y"}\n',
    )
    assert titles(team, "--project", "q", "--kind", "reflection") == ["r"]
    assert titles(team, "--project", "q") == ["r"]
    assert titles(team, "--kind", "reflection", "--since", "2026-01-02") == []
    assert [event["event"] for event in team.query("--kind", "event").json] == ["x", "y"]
    assert [event["event"] for event in team.query("--kind", "event", "--project", "q").json] == ["y"]


def test_shared_records(team: Team):
    team.put("shared/patterns/p.json", '{"kind": "pattern", "project": "_shared", "title": "shared json"}')
    team.put("shared/library_knowledge/l.md", "---\ntitle: shared note\n---\n")
    team.put("projects/_shared/decision/d.md", "---\ntitle: of no project\n---\n")
    team.put("projects/q/decision/d.md", note("not shared"))
    assert sorted(titles(team, "--project", "_shared")) == ["of no project", "shared json", "shared note"]
    assert titles(team, "--project", "_shared", "--kind", "pattern") == ["shared json"]


def test_index_blobs_are_no_records(team: Team):
    team.put("projects/q/decision/a.md", note("a"))
    assert team.call("scan_index", "rebuild", "--project", "q").code == 0
    assert titles(team, "--project", "q") == ["a"]


def test_one_bad_file_hides_no_other(team: Team):
    team.put("projects/q/decision/a.md", note("good"))
    team.put("projects/q/decision/b.md", b"---\ntitle: bad\n---\n\xff\xfe bytes\n")
    team.put("projects/q/decision/c.json", '{"title": ')
    team.put("projects/q/decision/d.md", "\ufeff--- \ntitle: with BOM\nkind: decision\n---\nBody\n")
    team.put("projects/q/decision/e.json", "[1, 2]")
    done = team.query("--project", "q")
    assert done.code == 0
    assert {entry["title"] for entry in done.json} >= {"good", "bad", "with BOM"}
    assert len(done.json) == 5
    assert "problem" in done.err


@pytest.mark.parametrize("depth", [300, 900, 5000])
def test_a_deep_file_hides_no_other(team: Team, depth: int):
    deep = '{"a":' * depth + "1" + "}" * depth
    team.put("projects/q/deep.json", deep)
    team.put("machine/deep.json", deep)
    team.put("machine/net.json", '{"needle": 1}')
    team.put("projects/q/decision/a.md", note("good"))
    done = team.query("--project", "q")
    assert (done.code, '"title": "good"' in done.out) == (0, True)
    assert team.query("--search", "needle").json["count"] == 1
    assert team.query("--file", "deep").code in (0, 1)


@pytest.mark.parametrize(
    "words", [("--project", "none"), ("--seat", "reviewer"), ("--project", "q", "--seat", "planner")]
)
def test_absent_places_are_not_an_empty_success(team: Team, words: tuple[str, ...]):
    team.put("projects/q/decision/a.md", note("a"))
    done = team.query(*words)
    assert (done.code, done.json) == (1, [])
    assert "not_in_federated_kb" in done.err


def test_nothing_found_is_an_empty_list(team: Team):
    team.put("projects/q/decision/a.md", note("a"))
    assert team.query("--project", "q", "--kind", "plan") == (1, "[]\n", "")


def test_text_is_read_at_this_moment(team: Team):
    file = team.put("projects/q/decision/a.md", note("before"))
    os.utime(file, (1, 1))
    assert titles(team, "--project", "q") == ["before"]
    file.write_text(note("changed"), encoding="utf-8")
    assert titles(team, "--project", "q", "--fresh") == ["changed"]


# Reading leaves no trace ----------------------------------------------------------------------------------------------

READS = (
    ("--key", "a.b"), ("--file", "a"), ("--search", "a"), ("--status",), ("--backlinks", "a"), ("--graph", "a"),
    ("--project", "q"), ("--kind", "event"), ("--since", "2026-01-01"),
)  # fmt: skip


@pytest.mark.parametrize("words", READS)
def test_a_root_that_is_not_there_is_not_made(team: Team, words: tuple[str, ...]):
    team.root.rmdir()
    done = team.query(*words)
    assert done.code == 1
    assert not team.root.exists()
    assert words != ("--status",) or done.json == {"exists": False, "path": str(team.root)}


@pytest.mark.parametrize("words", READS)
def test_reading_makes_nothing_but_what_is_derived(team: Team, words: tuple[str, ...]):
    team.put("projects/q/decision/a.md", "Plain.\n")
    before = tree(team.root)
    team.query(*words)
    assert tree(team.root) == before


# The process ----------------------------------------------------------------------------------------------------------

HEAVY = {"typing", "dataclasses", "pathlib", "inspect", "yaml", "frontmatter", "typer", "rich", "jsonschema", "tomllib",
         "hashlib", "tempfile", "shutil", "locale", "subprocess", "logging", "asyncio"}  # fmt: skip
OURS = {
    "_bootstrap", "oracle", "oracle.app", "oracle.app.context", "oracle.app.records",
    "oracle.app.records.graph", "oracle.compat", "oracle.compat.door", "oracle.compat.query_memory",
    "oracle.compat.rendering", "oracle.domain", "oracle.domain.timestamps", "oracle.domain.links", "oracle.domain.links.graph",
    "oracle.domain.names", "oracle.errors", "oracle.index", "oracle.index.listing",
    "oracle.index.db", "oracle.index.fresh", "oracle.index.read", "oracle.index.read.query", "oracle.index.scan",
    "oracle.index.schema", "oracle.store", "oracle.store.disk", "oracle.store.disk.folders", "oracle.store.root",
    "oracle.store.root.layout", "oracle.wording",
}  # fmt: skip


LOOKED = {"oracle.store.disk.files", "oracle.store.root.lock", "oracle.index.rounds"}
"""What a query needs besides when it was due to look at files, of which there are many."""


@pytest.mark.parametrize("looked", ["a moment ago", "long ago"])
@pytest.mark.parametrize(
    ("words", "more"),
    [
        (("--backlinks", "entity:taskid:ARENA-228"), set()),
        (("--graph", "projects/q/decision/a"), set()),
        (("--key", "net.a"), {"oracle.store.root.facts", "oracle.app.overview", "oracle.app.overview.status"}),
        (("--file", "net"), {"oracle.store.root.facts", "oracle.app.overview", "oracle.app.overview.status"}),
        (("--status",), {"oracle.store.root.facts", "oracle.app.overview", "oracle.app.overview.status"}),
    ],
)
def test_reads_import_only_what_they_need(team: Team, words: tuple[str, ...], more: set[str], looked: str):
    team.put("projects/q/decision/a.md", "See ARENA-228.\n")
    team.put("machine/net.json", '{"a": 1}')
    is_due = looked == "long ago"
    settle(team, at_ns=0 if is_due else time.time_ns())
    command = [
        sys.executable,
        "-X",
        "importtime",
        str(SCRIPTS / "query_memory.py"),
        "--memory-dir",
        str(team.root),
        *words,
    ]
    bare = subprocess.run([sys.executable, "-X", "importtime", "-c", ""], capture_output=True, text=True, check=True)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = imported(done.stderr) - imported(bare.stderr)
    assert {name for name in loaded if name.startswith(("oracle", "_bootstrap"))} <= OURS | more | (
        LOOKED if is_due else set()
    )
    assert not {name.partition(".")[0] for name in loaded} & HEAVY


def settle(team: Team, *, at_ns: int) -> None:
    """Bring the index up to date and make it believe that all files were looked at then, and at some cost."""
    from oracle.api import Oracle
    from oracle.index.db import immediate, set_meta

    for folder in ("projects/q/decision/a.md", "projects/q/decision", "projects/q", "projects"):
        os.utime(team.root / folder, (1, 1))
    with Oracle.open(str(team.root)) as oracle:
        oracle.reconcile()
        connection = oracle.index.database.connect()
        with immediate(connection):
            connection.execute("UPDATE record SET racy = 0")
            set_meta(connection, "full_look", f"{at_ns} 200000000")


def imported(trace: str) -> set[str]:
    lines = (line.rpartition("|")[2].strip() for line in trace.splitlines() if line.startswith("import time:"))
    return {name for name in lines if name != "imported package"}


def test_a_reader_that_goes_away_is_no_error(team: Team):
    for number in range(400):
        team.put(f"projects/q/decision/{number}.md", "See ARENA-228. " + "word " * 40)
    words = ("--memory-dir", team.root, "--project", "q")
    with team.start("query_memory", *words) as process:
        process.stdout.read(10)
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (0, "")


def test_an_output_that_is_full_is_one_sentence(team: Team):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, str(SCRIPTS / "query_memory.py"), "--memory-dir", str(team.root), "--status"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (70, "error: The answer could not be printed: No space left on device.\n")


def test_one_rule_chooses_the_root_for_writers_and_readers(team: Team, tmp_path: Path, content: Path):
    for variables in (
        {"HOME": "h1"},
        {"HOME": "h1", "AGENT_HOME": "h2"},
        {"AGENT_HOME": "h1", "CLAWSEAT_REAL_HOME": "h3"},
    ):
        env = {**os.environ, **{name: str(tmp_path / home) for name, home in variables.items()}}
        chosen = list(variables.values())[-1]
        written = team.run("memory_write", "--kind", "decision", "--project", "p", "--content-file", content, env=env)
        assert written.out.startswith(f"{tmp_path}/{chosen}/.agents/memory/projects/p/decision/")
        listed = team.run("query_memory", "--project", "p", env=env)
        assert written.out.strip() in [entry["path"] for entry in listed.json]
    assert not (tmp_path / "h1" / ".agents" / "memory" / "config").exists()


# Claims ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evidence", "holds"),
    [
        ({"file": "net.json", "path": "$.a[0]/b", "expected_value": 1}, True),
        ({"file": "machine/net.json", "path": "a.0.b", "expected_value": 1}, True),
        ({"file": "net", "path": "$['x.y']", "expected_value": "z"}, True),
        ({"file": "net", "path": "n", "expected_value": None}, True),
        ({"file": "projects/q/dev_env.json", "path": "$.v", "expected_value": [1, {"k": False}]}, True),
        ({"file": "net", "path": "a.0.b", "expected_value": True}, False),
        ({"file": "net", "path": "a.0.b", "expected_value": "1"}, False),
        ({"file": "net", "path": "a.9", "expected_value": None}, False),
        ({"file": "absent", "path": "a", "expected_value": 1}, False),
        ({"file": "../../net", "path": "a", "expected_value": 1}, False),
        ({"file": "net", "path": "a"}, False),
    ],
)
def test_claims_hold_when_the_disk_says_the_same(team: Team, evidence: dict, holds: bool):
    team.put("machine/net.json", '{"a": [{"b": 1}], "x.y": "z", "n": null}')
    team.put("projects/q/dev_env.json", '{"v": [1, {"k": false}]}')
    outcome = verify_claims({"claims": [{"statement": "s", "evidence": [evidence]}, evidence]}, team.root)
    assert outcome["all_verified"] is holds
    assert [result["verified"] for result in outcome["claim_results"]] == [holds, holds]


def test_a_claim_without_evidence_does_not_hold_and_old_responses_say_nothing(team: Team):
    assert verify_claims({"claims": [{"statement": "s"}]}, team.root)["all_verified"] is False
    assert verify_claims({"answer": "x"}, str(team.root)) == {
        "all_verified": None,
        "reason": "legacy_schema_no_evidence",
    }


@pytest.mark.parametrize("index", ["-1", "2", "9" * 5000, "²"])
def test_an_index_counts_from_the_first(team: Team, index: str):
    team.put("machine/net.json", '{"a": {"b": [10, 20]}}')
    assert team.query("--key", "net.a.b.1").out == "20\n"
    assert team.query("--key", f"net.a.b.{index}").code == 1


def test_a_long_search_that_finds_nothing_is_not_repeated_whole(team: Team):
    done = team.query("--search", "x" * 100_000)
    assert (done.code, done.err) == (1, f"no matches for: {'x' * 200}\n")


@pytest.mark.parametrize("fields", ["", "id:\n", 'id: ""\n'])
def test_a_record_without_an_id_has_its_file_name(team: Team, fields: str):
    team.put("projects/demo/builder/2026-05-01-a.b.md", f"---\nkind: finding\ntitle: T\n{fields}---\n\nx\n")
    (found,) = team.query("--project", "demo", "--kind", "finding").json
    assert found["id"] == "2026-05-01-a.b"


def test_an_id_in_the_frontmatter_is_kept(team: Team):
    team.put("projects/demo/builder/a.md", "---\nkind: finding\nid: F-1\ntitle: T\n---\n\nx\n")
    (found,) = team.query("--project", "demo").json
    assert found["id"] == "F-1"
