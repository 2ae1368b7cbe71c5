"""Frontmatter in and out: whatever the bytes, nothing raises; whatever the title, nothing is forged."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

import frontmatter
import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oracle.domain.markdown.documents import Document, Value, as_list, as_text
from oracle.domain.records.records import interpret
from oracle.errors import InvalidRecord
from oracle.store.markdown import any_yaml, markdown, yaml_subset
from tests.growth import costs_at_most


def read(text: str) -> Document:
    return markdown.parse(text.encode("utf-8"))


def render(fields: dict[str, Value], body: str) -> str:
    return markdown.render(fields, body)[0].decode()


def fields(block: str) -> dict[str, Value]:
    return dict(read(f"---\n{block}\n---\nbody\n").fields)


@pytest.mark.cases("frontmatter", "more_frontmatter")
def test_case(case):
    document = markdown.parse(base64.b64decode(case["raw_b64"]))
    expect = dict(case["expect"])
    problem = expect.pop("problem", None)
    if problem is not None:
        assert bool(document.problems) is problem
    if "body" in expect:
        assert document.body.strip() == expect.pop("body")
    if "searchable" in expect:
        assert expect.pop("searchable") in document.body
    record = interpret(document, "projects/p/x/case", "projects/p/x/case.md", mtime_ns=0)
    for key in {"title", "ts"} & expect.keys() - document.fields.keys():
        assert getattr(record, key) == expect.pop(key)
    for key, value in expect.items():
        found = as_list(document.fields[key]) if isinstance(value, list) else document.fields[key]
        assert found == value


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("a: 2026-05-26\nb: yes\nc: 1.0\nd: 007\ne: 0x1F\nf: 1_000", ["2026-05-26", "yes", "1.0", "007", "0x1F", "1_000"]),
        ("a: null\nb: ~\nc:\nd: Null\ne: ''", ["", "", "", "", ""]),
        ("a: !!python/object/apply:os.system ['echo hi']\nb: !custom x\nc: !!int 12", [["echo hi"], "x", "12"]),
        ("a: &x [1, 2]\nb: *x", [["1", "2"], ["1", "2"]]),
        ("a: |\n  one\n  two\nb: >-\n  one\n  two", ["one\ntwo\n", "one two"]),
        ("a:\n  - trust: high\n    url: http://x/y#z\n  - 3\nb: {c: {d: 1}}",
         [[{"trust": "high", "url": "http://x/y#z"}, "3"], {"c": {"d": "1"}}]),
        ('a: "tab\\there \\u4e2d"\nb: \'it\'\'s\'', ["tab\there 中", "it's"]),
        ('ts: "2026-11-27T21:43:12Z"\ntitle: "in \\"task\\""\nissue_id: 4', ["2026-11-27T21:43:12Z", 'in "task"', "4"]),
        ("a: x # comment\n# comment\nb: y#z", ["x", "y#z"]),
        ('{"a": "x", "b": ["y"]}', ["x", ["y"]]),
        ('a: "\\ud83d\\ude00"\nb:\n  - 1', ["😀", ["1"]]),
        ("a: x\u2028author:y\nb: 'p\u0085q' # r", ["x\u2028author:y", "p\u0085q"]),
        ("  a: x\n  b: y", ["x", "y"]),
    ],
)  # fmt: skip
def test_every_scalar_keeps_its_text(block, expected):
    document = read(f"---\n{block}\n---\nbody\n")
    assert list(document.fields.values()) == expected
    assert document.problems == ()


def test_a_key_that_is_no_text_becomes_text():
    assert fields("1: a\nnull: b\ntrue: c\n2026-01-01: d") == {"1": "a", "null": "b", "true": "c", "2026-01-01": "d"}


@pytest.mark.parametrize(
    ("block", "expected", "lines"),
    [
        ("title: Fix: use option B\ntags:\n  - a\n  - b", {"title": "Fix: use option B", "tags": ["a", "b"]}, [2]),
        ("kind: finding\ntitle: *Italic*", {"kind": "finding", "title": "*Italic*"}, [3]),
        ("title: x\nnote: `C:\\agent\\x`", {"title": "x", "note": "`C:\\agent\\x`"}, [3]),
        ("title: x\nkind: a\nkind: b", {"title": "x", "kind": "b"}, [4]),
        ("date: {{date}}\ntitle: x\ntags: [{{tag}}, b]", {"date": "{{date}}", "title": "x", "tags": "[{{tag}}, b]"}, [2, 4]),
        ("<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> x\nkind: k", {"title": "b", "kind": "k"}, [2, 4, 5, 6]),
        ('title: "a \\ud800 b"\nkind: k', {"title": "a \ufffd b", "kind": "k"}, [2]),
        ('title: "never closed\nkind: k', {"title": '"never closed', "kind": "k"}, [2]),
        ("title: @at\nkind: k", {"title": "@at", "kind": "k"}, [2]),
        ("title: x\ntags:\n\t- a\n\t- b", {"title": "x", "tags": ["a", "b"]}, [3]),
        ("title: x\nwhat is this\nkind: k", {"title": "x", "kind": "k"}, [3]),
        ("title: a\x1b[31mb\nkind: k", {"title": "a\ufffd[31mb", "kind": "k"}, [2]),
        ("title: *nowhere\nkind: k", {"title": "*nowhere", "kind": "k"}, [2]),
        ("title: x\n--- y\nkind: k", {"title": "x", "kind": "k"}, [3]),
    ],
)  # fmt: skip
def test_broken_frontmatter_gives_what_can_be_recovered_and_names_the_line(block, expected, lines):
    document = read(f"---\n{block}\n---\nneedle\n")
    assert document.fields == expected
    assert [problem.line for problem in document.problems] == lines
    assert document.body == "needle\n"


@pytest.mark.parametrize(
    "text",
    [
        "---\n\n# Heading\n\nNote: this is prose\n\n---\n\nneedle\n",
        "---\n\nA paragraph under a rule.\n\n---\nneedle\n",
        "---\nneedle\n",
        "---\n# only a comment\n---\nneedle\n",
        "\n\n---\n\nneedle\n",
        "---",
        "needle\n---\ntitle: x\n---\n",
        "--- needle\ntitle: x\n---\n",
        "",
        "\n",
    ],
)
def test_a_rule_is_no_frontmatter(text):
    document = read(text)
    assert (document.fields, document.body, document.body_line, document.problems) == ({}, text, 1, ())


@pytest.mark.parametrize("block", ["- a\n- b", "just words", "- a: b"])
def test_frontmatter_that_is_no_mapping_is_text_with_a_problem(block):
    text = f"---\n{block}\n---\nneedle\n"
    document = read(text)
    assert (document.fields, document.body) == ({}, text)
    assert [problem.line for problem in document.problems] == [2]


def test_prose_before_a_later_rule_is_body_not_frontmatter():
    document = read("---\ntitle: never closed\n\n# Head\n\nneedle one\n\n---\n\nneedle two\n")
    assert document.fields == {"title": "never closed"}
    assert document.body == "\n# Head\n\nneedle one\n\n---\n\nneedle two\n"
    assert (document.body_line, [problem.line for problem in document.problems]) == (3, [3])


@pytest.mark.parametrize(
    ("raw", "body_line", "body"),
    [
        (b"---\ntitle: x\n---\nb\n", 4, "b\n"),
        (b"---\r\ntitle: x\r\n---\r\n\r\nb\r\n", 4, "\nb\n"),
        (b"---\rtitle: x\r---\rb\r", 4, "b\n"),
        (b"\xef\xbb\xbf---  \ntitle: x\n... \nb", 4, "b"),
        (b"---\ntitle: x\n---", 4, ""),
        (b"---\ntitle: x\n---\n", 4, ""),
        (b"\n \n---\ntitle: x\n---\nb", 6, "b"),
    ],
)
def test_delimiters_and_line_numbers(raw, body_line, body):
    document = markdown.parse(raw)
    assert dict(document.fields) == {"title": "x"}
    assert (document.body_line, document.body, document.problems) == (body_line, body, ())
    assert document.key_lines == {"title": body_line - 2}


def test_empty_frontmatter_is_frontmatter():
    assert read("---\n---\nb\n") == Document({}, "b\n", 3, {}, ())
    assert read("---\n\n---\nb\n") == Document({}, "b\n", 4, {}, ())


def test_the_line_of_the_first_bad_byte_is_named():
    document = markdown.parse(b"---\r\ntitle: x\r\n---\r\nok\r\nbad \xff needle\r\n")
    assert [problem.line for problem in document.problems] == [5]
    assert document.fields == {"title": "x"}
    assert "needle" in document.body
    assert [problem.line for problem in markdown.parse(b"a\nb\0c\n\0").problems] == [2]


def test_a_conflict_around_the_opening_line_leaves_the_fields():
    document = read("<<<<<<< HEAD\n---\ntitle: a\n---\nneedle\n")
    assert (dict(document.fields), [problem.line for problem in document.problems]) == ({"title": "a"}, [1])


HOSTILE = {
    "brackets": "a: " + "[" * 10_000,
    "closed brackets": "a: " + "[" * 10_000 + "]" * 10_000,
    "json brackets": 'a: "x" ' + "[" * 10_000,
    "braces": "a: " + "{a: " * 5_000,
    "dashes": "a:\n" + "- " * 10_000 + "x",
    "laughs": "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    + "\n".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
    "itself": "a: &a [*a]\nb: c: d",
    "5 MB": "title: x\nlong: " + "y" * 5_000_000,
    "5 MB of lines": "title: x\n" + "key: a: b\n" * 500_000,
    "5 MB of keys": "title: x\n" + "\n".join(f"k{i}: v" for i in range(500_000)),
    "many errors": "title: x\n" + "\n".join(f"k{i}: *" for i in range(20_000)),
}  # fmt: skip


LARGE = "---\n" + "".join(f"key{i}: [a, 'b', {{c: d}}]\n" for i in range(2_000)) + f"---\n{'word ' * 1_000_000}\n"
"""An honest record about as large as may be."""


@pytest.mark.slow
@pytest.mark.parametrize("block", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_frontmatter_is_a_problem_in_bounded_time_and_size(block):
    document = read(f"---\n{block}\n---\nneedle\n")
    assert document.problems
    assert len(document.problems) <= markdown.MAX_PROBLEMS
    assert document.body == "needle\n"
    assert sum(len(as_text(value)) for value in document.fields.values()) < 2 * yaml_subset.MAX_FRONTMATTER
    assert costs_at_most(40, lambda: read(f"---\n{block}\n---\nneedle\n"), than=lambda: read(LARGE))


def test_reasons_quote_nothing_but_key_names():
    secret = "ghp_" + "A1b2" * 9
    text = f"---\ntoken: *{secret}\nother: {{{{{secret}}}}}\n{secret} x\n!{secret}\ntoken: a: {secret}\n---\nb\n"
    document = read(text)
    assert len(document.problems) >= 4
    assert not any(secret in problem.reason for problem in document.problems)


@pytest.mark.parametrize("loader", ["CBaseLoader", "BaseLoader"])
def test_the_pure_parser_gives_the_same(monkeypatch, loader):
    if loader == "BaseLoader":
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)
    block = "title: 'x' # c\nkind: ~\nlist: [a, {b: 1}]\nlone: \"\\ud800\"\ndup: 1\ndup: 2\nbad: a: b"
    document = read(f"---\n{block}\n---\nb\n")
    assert document.fields == {
        "title": "x", "kind": "", "list": ["a", {"b": "1"}], "lone": "\ufffd", "dup": "2", "bad": "a: b",
    }  # fmt: skip
    assert [problem.line for problem in document.problems] == [5, 7, 8]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
@example(b"---\n? \n---\n")
@example(b'---\na: "\\UFFFFFFFF"\n---\n')
@example(b"---\n%YAML 9.9\n---\n")
@example(b"---\na: !<x\n---\n")
def test_no_bytes_raise(raw):
    for data in (raw, b"---\n" + raw + b"\n---\n", b"---\ntitle: " + raw + b"\n---\nb"):
        document = markdown.parse(data)
        json.dumps(dict(document.fields), ensure_ascii=False).encode("utf-8")
        document.body.encode("utf-8")
        assert all(1 <= line <= data.count(b"\n") + data.count(b"\r") + 1 for line in document.key_lines.values())


PIECES = st.sampled_from(
    ["a: ", "b:", "title: ", "- ", "  ", " ", "\n", "\n", "\n", "x", "007", "null", "~", '"', '"q \\n\\u4e2d"', "'", "''", "'s'",
     "[", "]", ", ", "{", "}", ":", ": ", "#", " #", "&a ", "*a", "!t ", "|", ">", "\t", "%", "@", "`", "\\", "?", "? ",
     "---", "...", "中", "é", "\xa0", "\u2028", "\u0085", "\ufeff", "😀", "\\ud800", "<<: ", "=", "[a, 'b', \"c\"]", "\x07"]
)  # fmt: skip
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
LINES = st.one_of(
    st.builds("{}: {}\n".format, st.sampled_from("abcd"), WORDS),
    st.builds("{}: [{}]\n".format, st.sampled_from("abcd"), st.lists(WORDS, max_size=3).map(", ".join)),
    st.builds('{}: "{}"\n'.format, st.sampled_from("abcd"), WORDS),
    st.builds("{}:\n{}".format, st.sampled_from("abcd"),
              st.lists(st.builds("{}- {}{}\n".format, st.sampled_from(["", " ", "  "]), st.sampled_from(["", "k: ", "k:"]), WORDS),
                       max_size=3).map("".join)),
    st.builds("{}{}: {}\n".format, st.sampled_from(["  ", "    "]), st.sampled_from("kl"), WORDS),
    st.builds("{}: {} {}\n".format, st.sampled_from("abcd"), st.sampled_from(["", "x", "'s'", '"d"', "[a]", "y#"]),
              st.sampled_from(["# c", " # c", "#", "c # # d", "#c: d"])),
    st.just("\n"), st.just("# c\n"),
)  # fmt: skip
SHORT = st.text("ab7 .:#-'\"[],{}&*!|>%@`?~=<\\/中\xa0\u2028\t", max_size=6)
QUOTED = st.builds(json.dumps, SHORT | WORDS, ensure_ascii=st.booleans()) | st.builds("'{}'".format, SHORT)
SCALARS = st.sampled_from(["", "x", "null", "~", "a b", "007", "a:b", "x#y", "http://x/y?z=1"]) | QUOTED | SHORT
ENDS = st.sampled_from(["", "", "", " ", " # c", "# c", " #"])
ITEMS = st.builds("{}{}{}{}\n".format, st.sampled_from(["  - ", "  - ", "- ", "  -   "]), st.sampled_from(["", "", "m: ", "m:"]),
                  SCALARS, st.sampled_from(["", "", "\n    n: y", "\n      n:", "\n    - z"]))  # fmt: skip
TAILS = st.one_of(
    st.builds(" {}{}\n".format, SCALARS, ENDS),
    st.builds(" [{}]{}\n".format, st.lists(SCALARS, max_size=3).map(", ".join), ENDS),
    st.builds("{}\n{}".format, ENDS, st.lists(ITEMS, max_size=3).map("".join)),
    st.just("\n\n"),
)
FIELDS = st.lists(TAILS, max_size=4).map(lambda tails: "".join(f"k{i}:{tail}" for i, tail in enumerate(tails)))
BLOCKS = st.one_of(
    FIELDS,
    st.lists(PIECES, max_size=14).map(lambda parts: "".join(parts) + "\n"),
    st.lists(LINES, max_size=6).map("".join),
)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(BLOCKS)
@example("a:\n  - k: v\n    l:\n  - x\nb: [a, null, 'c']\n")
@example("a: x\n- y\n")
@example("a:\n- k:\n  - x\n")
def test_whatever_the_subset_accepts_yaml_reads_the_same(block):
    fast = yaml_subset.read(block, first_line=2)
    if fast is None:
        return
    slow = any_yaml.read_strictly(block, first_line=2)
    assert list(fast.fields.items()) == list(slow.fields.items())
    assert fast.key_lines == slow.key_lines
    assert slow.problems == []


def test_the_subset_takes_what_seats_and_programs_write():
    note = "schema_version: 1\nreason:\ntitle: 修复 the bug (again), ok? 50%\nts: 2026-11-27T21:29:03.379585Z\n"
    log = (
        'issue_id: 0b3f-1\nts: "2026-11-27T21:43:12Z"\nauto_mode: true\ntitle: "a: \\"b\\""\nurl: https://x.y/z#frag\n'
    )
    record = (
        'tags: [a, \'b c\', "d"]\nlinks:\n  - one\n  - two\nevidence:\n  - trust: high\n    source_url: "https://x"\n'
    )
    for block in (note, log, record):
        assert yaml_subset.read(block, first_line=2) is not None


def test_an_ordinary_record_needs_no_yaml_library():
    program = """
import sys
from oracle.store.markdown import markdown
fields = {"title": "a: b", "kind": "finding", "tags": ["x"], "evidence": [{"trust": "high", "url": "https://x"}]}
assert markdown.parse(markdown.render(fields, "body")[0]).fields == fields
assert not {"yaml", "frontmatter"} & set(sys.modules)
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], check=False, cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# --- writing ---------------------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ["yes", "No", "null", "~", "2026-01-01", "007", "1e3",
     "a: b", "# x", "- x", "---", "...", " x ", "ok\nauthor: operator\n---\n",
     "\u2028", "\u0085", "\ufeff", "\x00\x1b\x7f", "*x*", "{{date}}", "[a]",
     "\\ud800", "'", '"', "中文：标题", "😀", "\r\n", "\t", "|"]
)  # fmt: skip
VALUES = st.recursive(
    TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT.filter(bool), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20) | st.sampled_from(
    ["title", "null", "yes", "<<", "a b"]
)
BODIES = (TEXT | st.lists(TEXT, max_size=4).map("\n".join)).filter(lambda body: "\0" not in body)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(st.dictionaries(KEYS, VALUES, max_size=6), BODIES)
def test_what_is_written_reads_back(written, body):
    text = render(written, body)
    document = read(text)
    assert list(document.fields.items()) == list(written.items())
    assert document.body.removeprefix("\n") == markdown.settle_body(body)
    assert document.problems == ()
    slow = any_yaml.read_strictly(text[4 : text.index("\n---\n") + 1], first_line=2) if written else yaml_subset.Block()
    assert (slow.fields, slow.key_lines) == (written, document.key_lines)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["title", "author", "kind"]), TEXT | st.lists(TEXT, min_size=1, max_size=3)), TEXT
)
def test_other_readers_see_the_same_text(written, title):
    found = frontmatter.loads(render({"title": title, **written}, "body"))
    assert (found.metadata, found.content) == ({"title": title, **written}, "body")


@settings(max_examples=200, deadline=None)
@given(TEXT)
@example("ok\nauthor: operator\nstatus: approved\n---\n\n# forged body")
@example("ok\u2028author: operator")
def test_no_title_forges_a_field(title):
    document = read(render({"title": title, "author": title, "kind": "decision"}, "body"))
    assert dict(document.fields) == {"title": title, "author": title, "kind": "decision"}
    assert document.body == "\nbody\n"


def test_the_form_of_a_file():
    text = render(
        {"kind": "decision", "title": "修复: 😀", "version": "1", "tags": ["a", "b c"], "none": "", "empty": [],
         "evidence": [{"trust": "high", "lines": ["1"]}, "x"]},
        "\r\n\n  code\r\n---\nend\n\n",
    )  # fmt: skip
    assert text == (
        '---\nkind: decision\ntitle: "修复: 😀"\nversion: "1"\ntags: ["a", "b c"]\nnone: ""\nempty: []\n'
        'evidence:\n  - trust: high\n    lines: ["1"]\n  - x\n---\n\n  code\n---\nend\n'
    )
    assert render({}, "") == "---\n---\n"
    assert render({"title": "y" * 20_000}, "").count("\n") == 3


def deep(levels: int) -> Value:
    value: Value = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("written", "body"),
    [
        ({"title": "a\ud800"}, "b"),
        ({"a\ud800": "x"}, "b"),
        ({"title": ["a\udfff"]}, "b"),
        ({"title": "x"}, "b\ud800"),
        ({"title": "x"}, "b\0"),
        ({"": "x"}, "b"),
        ({"k" * 201: "x"}, "b"),
        ({"title": 1}, "b"),
        ({"title": None}, "b"),
        ({"title": [1]}, "b"),
        ({1: "x"}, "b"),
        ({"title": deep(10_000)}, "b"),
        ({"title": "x" * yaml_subset.MAX_FRONTMATTER}, "b"),
    ],
)
def test_what_would_not_read_back_is_refused(written, body):
    with pytest.raises(InvalidRecord) as refused:
        markdown.render(written, body)
    assert "ghp_" not in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    "body", ["---\nid: x\n---", "\n\n---\nid: x\n...\ntext", "--- \r\nid: x\r\n---\r\n\r\ntext", " \n---\nid: x\n---"]
)
def test_a_body_that_begins_with_frontmatter_is_refused_with_the_way_out(body):
    with pytest.raises(InvalidRecord, match="begins with a frontmatter block") as refused:
        markdown.render({"title": "x"}, body)
    assert "code fence" in refused.value.hint
    for accepted in (f"```\n{body}\n```", f"A note:\n{body}"):
        assert not markdown.render({"title": "x"}, accepted)[1].problems


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", []),
        ("single", ["single"]),
        ("a, b", ["a, b"]),
        ('["a","b"]', ["a", "b"]),
        ("[1, 2.0, true, null]", ["1", "2.0", "true"]),
        ("[x](y)", ["[x](y)"]),
        ('["\\ud800"]', ["\ufffd"]),
        ("[" * 100_000, ["[" * 100_000]),
        (["a", "", ["b", "c"], {"k": "v"}], ["a", "b, c", "k: v"]),
        ({}, []),
    ],
)
def test_as_list(value, expected):
    assert as_list(value) == expected
