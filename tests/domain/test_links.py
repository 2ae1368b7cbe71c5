"""Try what a text mentions, which records it points at, and where those words lead."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.links.links import (
    EDGE_TYPES,
    RELATIONS,
    Patterns,
    reference_key,
)
from oracle.domain.links.references import extract
from oracle.domain.links.resolution import Namesakes, namesakes, stamp_of, unresolved_target
from oracle.domain.names import NAMESPACES
from oracle.domain.records.drafts import name_of
from oracle.domain.records.records import names_of
from oracle.store.markdown import markdown
from tests.growth import grows_linearly

SOURCE = "projects/arena/decision/2026-01-01-a"


def edges(
    text: str, records: tuple[str, ...] = (), *, source: str = SOURCE, files: dict[str, str] | None = None
) -> list[tuple[str, str]]:
    """Return (type, target) as the index would have them: references resolved, self links dropped."""
    found = extract(text)
    pairs = [(mention.type, mention.target) for mention in found.mentions]
    texts = {path.removesuffix(".md"): content for path, content in (files or {}).items()}
    names = [(name, slug) for slug, content in texts.items() for name in names_of(markdown.parse(content.encode()))]
    for reference in found.references:
        key = reference_key(reference.ref)
        candidates = [slug for slug in (*records, *texts) if reference_key(slug) == key]
        named = [pair for pair in names if reference_key(pair[0]) == key]
        target = Namesakes(candidates, named).resolve(reference.ref, source) or unresolved_target(reference.ref, source)
        if target != source:
            pairs.append((reference.type, target))
    return pairs


def resolve(ref: str, source: str, candidates: Collection[str]) -> str | None:
    return Namesakes(candidates).resolve(ref, source)


def values(text: str, namespace: str, patterns: Patterns | None = None) -> list[str]:
    prefix = f"entity:{namespace}:"
    found = extract(text, patterns or Patterns()).mentions
    return [mention.target.removeprefix(prefix) for mention in found if mention.target.startswith(prefix)]


def refs(text: str) -> list[str]:
    return [reference.ref for reference in extract(text).references]


def test_every_case_gives_just_its_edges(cases: Callable[[str], list[dict[str, Any]]]) -> None:
    wrong = {}
    for case in [*cases("links"), *cases("more_links")]:
        found = edges(
            case["text"],
            tuple(case.get("records", ())),
            source=case.get("slug", SOURCE),
            files=case.get("files"),
        )
        wanted = {tuple(edge) for edge in case["edges"]}
        allowed = {tuple(edge) for key in ("also_ok", "maybe") for edge in case.get(key, [])}
        if len(found) != len(set(found)) or not wanted <= set(found) <= wanted | allowed:
            wrong[case["id"]] = found
    assert wrong == {}


# Entities: each text gives just these values of the namespace, and nothing else ---------------------------------------

ONLY = [
    # tasks
    ("課題ARENA-228を修正しました", "taskid", ["ARENA-228"]),
    ("ARENA-228를 고쳤다", "taskid", ["ARENA-228"]),
    ("修复#123后，见GH#9。", "taskid", ["#123", "GH#9"]),
    ("T-001，T-002、「T-003」（T-004）", "taskid", ["T-001", "T-002", "T-003", "T-004"]),
    ("| ARENA-1 | **T-2** | \"Q-17\" | 'T-3', |", "taskid", ["ARENA-1", "T-2", "Q-17", "T-3"]),
    ("ARENA-1/ARENA-2, ARENA-3–ARENA-4; ARENA-5’s.", "taskid", ["ARENA-1", "ARENA-2", "ARENA-3", "ARENA-4", "ARENA-5"]),
    ("# ARENA-5 in a heading", "taskid", ["ARENA-5"]),
    ("[ARENA-5](https://tracker.example/ARENA-6)", "taskid+url", ["ARENA-5", "https://tracker.example/ARENA-6"]),
    ('(#45) [#46] "#47" #48, #49.', "taskid", ["#45", "#46", "#47", "#48", "#49"]),
    ("#45, #46 done", "taskid", ["#45", "#46"]),
    ("#123已修复", "taskid", ["#123"]),
    ("- #45 fixed\n> #46 too\n1. #47", "taskid", ["#45", "#46", "#47"]),
    ("#1 Title\n\n#2\n\n  #3. Third\n\n# Real #4 heading", "taskid", ["#4"]),
    ("AB-12-CD 2026-01 x_ARENA-1 ARENA-1x ARENA-1_b -ARENA-2 éARENA-3", "taskid", []),
    ("an A320-200 beside a B737-800", "taskid", []),
    ("CVE-2024-1234, CVE-2024, CWE-79, COVID-19, Q1-2026, UTC-8, P-256", "taskid", []),
    ("RS-232, RJ-45, WPA-2, EAN-13, ERC-20, JEP-444, a TOP-10", "taskid", []),
    ("UTF-8编码 GPT-4o GPT-4.1 BASE-64 WCAG-2 IEEE-754 TLS-1 PEP-8 ECMA-262", "taskid", []),
    ('foo#12 owner/repo#12 &#123; page#3 ##4 #12-34 #1st <a href="#12">', "taskid", []),
    ("background: #336699; color: #fff; border: 1px solid #333333", "taskid", []),
    ("color #123456 and #654321, the colour is #112233", "taskid", []),
    ("颜色改为#336699，背景 #123", "taskid", []),
    ('fill="#123456" --accent: #445566; #000000', "taskid", []),
    ("issue #336699 about the border", "taskid", ["#336699"]),
    ("[jump](#12) and [other](x#13)", "taskid", []),
    # files
    ("run $HOME/x.sh, $ROOT/a/b.md and src/$id/edit.tsx", "file", ["src/$id/edit.tsx"]),
    ("见core/x.py的实现", "file", ["core/x.py"]),
    ("`x.py` is code; *b.py*, **c.py**, (d.py), e.py: f.py.", "file", ["b.py", "c.py", "d.py", "e.py", "f.py"]),
    ("a.py:12 b.py:3:4 c.py#L10 d.md#12", "file", ["a.py", "b.py", "c.py", "d.md"]),
    ("~/x/y.py ../z.rs ./k.go /srv/a.sql", "file", ["~/x/y.py", "z.rs", "k.go", "/srv/a.sql"]),
    ("docs/ADR-12.md and ADR-13.md", "file", ["docs/ADR-12.md", "ADR-13.md"]),
    (
        "2026-01-01-a.md v1.2.md foo.d.ts .eslintrc.json",
        "file",
        ["2026-01-01-a.md", "v1.2.md", "foo.d.ts", ".eslintrc.json"],
    ),
    ("tsconfig.jsonc app/page.astro db/x.prisma", "file", ["tsconfig.jsonc", "app/page.astro", "db/x.prisma"]),
    ("src/Makefile and ops/Dockerfile, not Makefile", "file", ["src/Makefile", "ops/Dockerfile"]),
    ("Cargo.lock, not mutex.lock", "file", ["Cargo.lock"]),
    (
        "src/App.js .github/workflows/ci.yml @scope/pkg/index.js",
        "file",
        ["src/App.js", ".github/workflows/ci.yml", "@scope/pkg/index.js"],
    ),
    (
        "a.rs b.java c.kt d.rb e.php f.cpp g.hpp h.cs i.swift j.vue k.css l.html m.jsx n.mjs o.ini p.csv q.proto",
        "file",
        [
            f"{c}.{e}"
            for c, e in zip(
                "abcdefghijklmnopq",
                "rs java kt rb php cpp hpp cs swift vue css html jsx mjs ini csv proto".split(),
                strict=True,
            )
        ],
    ),
    ("Node.js Vue.js Next.js D3.js node.js three.js e.g.py i.e.md 3.md", "file", []),
    ("*.py foo/*.md {a}/b.py <root>/c.md a.py.bak x.pyc résumé.md", "file", []),
    ("a@b.md user@host.py github.com/a/b.py www.x.com/a.js localhost:8080/x/index.html", "file", []),
    ("[x](../src/a.py) [y](./b.ts) [z](<my file.py>)", "file", ["src/a.py", "b.ts", "my file.py"]),
    ("![shot](shot.png) [top](#a) [m](mailto:a@b.md) [p](//x.y/a.md)", "file", []),
    # URLs
    (
        "see <https://a.b/c?d=e#f>, **https://a.b/d** (https://a.b/e)!",
        "url",
        ["https://a.b/c?d=e#f", "https://a.b/d", "https://a.b/e"],
    ),
    (
        "（https://a.b/c）「https://a.b/d」‘https://a.b/e’ “https://a.b/f”…",
        "url",
        ["https://a.b/c", "https://a.b/d", "https://a.b/e", "https://a.b/f"],
    ),
    ("https://a.b/c？https://a.b/d，https://a.b/e后文", "url", ["https://a.b/c", "https://a.b/d", "https://a.b/e"]),
    ("https://a.b/c_(d)_(e(f)), https://a.b/g)", "url", ["https://a.b/c_(d)_(e(f))", "https://a.b/g"]),
    ("[https://a.b/c](https://a.b/d 'T') | https://a.b/e|", "url", ["https://a.b/c", "https://a.b/d", "https://a.b/e"]),
    ("[id]: https://a.b/c_(d)\n[two]: <https://a.b/x y>", "url", ["https://a.b/c_(d)", "https://a.b/x"]),
    (
        "http://[::1]:80/a http://a.b/{id}/c {http://a.b/d} HTTPS://A.B/e",
        "url",
        ["http://[::1]:80/a", "http://a.b/{id}/c", "http://a.b/d", "HTTPS://A.B/e"],
    ),
    (
        "https://a.b/ARENA-1/x.py#45 ftp://x/a.py s3://b/ARENA-2.json file:///etc/x.conf",
        "url",
        ["https://a.b/ARENA-1/x.py#45"],
    ),
    ("https:// http://) xhttps://a.b", "url", []),
    ("<https://a.b/`ARENA-1`>", "url", ["https://a.b/`ARENA-1`"]),
    # commits
    (
        "commits abc1234, def5678 and 1234abc; reverted 0123456; merge fedcba9",
        "commit",
        ["abc1234", "def5678", "1234abc", "0123456", "fedcba9"],
    ),
    ("commit: abc1234, Commit ABCDEF1", "commit", ["abc1234", "ABCDEF1"]),
    ("提交abc1235已合并，见（abc1236）。", "commit", ["abc1235", "abc1236"]),
    ("done (abc1234), (abc1235). (abc1236)", "commit", ["abc1234", "abc1235", "abc1236"]),
    ("commit deadbee and commit 1234567", "commit", ["deadbee", "1234567"]),
    ("(deadbeef) (1234567) (20260401) f(abc1234) (abc1234)(x) merged 20260401 recommit abc1234", "commit", []),
    (
        "merged as abc1234, fixed in [abc1235](u), landed by abc1236 and abc1237",
        "commit",
        ["abc1234", "abc1235", "abc1236", "abc1237"],
    ),
    ("the commit effaced it, commits defaced and acceded", "commit", []),
    ("merged with defaced, fixed in 1234567, committed as 20260401, prefixed in abc1234, fixed abc1234", "commit", []),
    (f"commit {'a1' * 20} commit {'b2' * 21} commit abc123", "commit", ["a1" * 20]),
    # keys
    ("[KEY:  a  b ] [KEY: a\nb] [KEY:] [KEY: ] [key: c]", "key", ["a b"]),
    (f"[KEY: {'x' * 200}] [KEY: {'y' * 201}]", "key", ["x" * 200]),
    # components
    ("PhysicsEngine组件 HudLayers Engine MyView_2 aHudLayer (HudLayer)", "component", ["PhysicsEngine", "HudLayer"]),
    # projects
    (
        "~/.agents/memory/projects/install, ~/.agents/memory/projects/竞技场/x /.agents/memory/projects/no",
        "project",
        ["install", "竞技场"],
    ),
]


@pytest.mark.parametrize(("text", "namespace", "wanted"), ONLY, ids=[f"{n}: {t[:50]}" for t, n, _ in ONLY])
def test_entities(text: str, namespace: str, wanted: list[str]) -> None:
    targets = [mention.target.split(":", 2)[1:] for mention in extract(text).mentions]
    assert [value for _, value in targets] == wanted
    assert {name for name, _ in targets} <= set(namespace.split("+"))
    assert refs(text) == []


def test_the_order_is_by_pattern_then_by_place() -> None:
    text = "HudLayer [KEY: k] https://a.b x.py commit abc1234 #2 ARENA-1 ~/.agents/memory/projects/p"
    kinds = [mention.type.removeprefix("references-") for mention in extract(text).mentions]
    assert kinds == ["task", "task", "commit", "file", "url", "key", "project", "component"]
    assert values(text, "taskid") == ["#2", "ARENA-1"]


def test_the_first_hit_keeps_snippet_and_line() -> None:
    text = "one\r\ntwo\rthree  \n ARENA-1\tis\nhere\n" + "x " * 100 + "ARENA-1"
    (mention,) = extract(text).mentions
    assert (mention.line, mention.snippet.startswith("one two three ARENA-1 is here x x")) == (4, True)
    assert len(mention.snippet) <= 60 + len("ARENA-1") + 60


def test_snippets_come_from_the_text_as_written_and_stay_short() -> None:
    long = extract("`code` before https://a.b/" + "x" * 500).mentions[0]
    assert long.snippet.startswith("`code` before https://a.b/xxx")
    assert len(long.snippet) <= 200


def test_listed_prefixes_are_the_only_ones_and_may_be_small() -> None:
    text = "ARENA-1 UTF-8 chain-rehearsal-20260430 Chain-rehearsal-1 xchain-rehearsal-2 修chain-rehearsal-3。 #4"
    patterns = Patterns(task_prefixes=frozenset({"UTF", "chain-rehearsal", "chain"}))
    assert values(text, "taskid", patterns) == ["UTF-8", "chain-rehearsal-20260430", "chain-rehearsal-3", "#4"]
    assert values(text, "taskid", Patterns(task_prefixes=frozenset())) == ["#4"]
    assert values("a.b-1 axb-1", "taskid", Patterns(task_prefixes=frozenset({"a.b"}))) == ["a.b-1"]


def test_component_suffixes_are_configured() -> None:
    assert values("FooPanel HudLayer Foo_Panel", "component", Patterns(component_suffixes=("Panel",))) == ["FooPanel"]
    assert values("HudLayer", "component", Patterns(component_suffixes=())) == []


def test_values_are_composed_and_bounded() -> None:
    assert values("https://a.b/cafe\u0301 https://a.b/caf\u00e9", "url") == ["https://a.b/caf\u00e9"]
    assert values("https://a.b/" + "x" * 1988, "url") == ["https://a.b/" + "x" * 1988]
    assert values("https://a.b/" + "x" * 1989 + " x/" + "y" * 2000 + ".py", "url") == []
    assert not extract("x/" + "y" * 3000 + ".py").mentions


def test_edge_types_are_told_apart() -> None:
    assert len(set(EDGE_TYPES)) == len(EDGE_TYPES) == 17
    assert set(RELATIONS) < set(EDGE_TYPES)


# Records --------------------------------------------------------------------------------------------------------------

LINKS = [
    ("[[x]] [[y|alias]] [[z#heading]] ![[w]] [[v#^block]] [[ u ]]", ["x", "y", "z", "w", "v", "u"]),
    ("| [[a\\|alias]] | [[b/c.md]] |", ["a", "b/c"]),
    ("[[#heading]] [[]] [[ ]] [[|x]] ![[shot.png]] [[paper.pdf#page=2]] ![[clip.MP4]]", []),
    (
        "[[Node.js]] [[v1.2]] [[2026-01-02]] [[Bob's note]] [[决定/修复]] [[a (b)]]",
        ["Node.js", "v1.2", "2026-01-02", "Bob's note", "决定/修复", "a (b)"],
    ),
    ('[[ -n "$h" ]] [[ $a == b ]] [[ -f x ]] [[ a -nt b ]] [[ ! -e y ]] [[ a && b ]] [[ a || b ]] [[ x = y ]]', []),
    ("[[1, 2], [3, 4]] and [[1, 2]]", []),
    ("[[https://a.b]]x [[a\nb]]", []),
    (
        "[a](./b.md) [c](../finding/x.md#f) [d](<../finding/my note.md> \"t\") [e](y.md 'T')",
        ["./b", "../finding/x", "../finding/my note", "y"],
    ),
    ("[a](b%20c.md?raw=1) [d](%E4%BF%AE.mdx) [e](%zz.md) [f](%FF.md)", ["b c", "修", "%zz", "%FF"]),
    ("[a](b%0Ac.md) [d](%00.md) [e](.md) [f](../)", []),
    ("[a](x_(1).md) [b](y\\_z.md)", ["x_(1)", "y_z"]),
    ('[id]: ../finding/x.md "T"\n   [b]: <my y.md>\n> [c]: z.md', ["../finding/x", "my y", "z"]),
    (
        "[a](projects/arena/finding/x) [b](/projects/arena/finding/y.md) [c](~/.agents/memory/projects/arena/finding/z.md)",
        ["projects/arena/finding/x", "projects/arena/finding/y", "projects/arena/finding/z"],
    ),
    ("[a](/home/u/.agents/memory/shared/patterns/x.json) [b](../finding/y)", ["shared/patterns/x", "../finding/y"]),
    (
        "see projects/arena/finding/x.md, projects/arena/finding/y. (projects/arena/finding/z#l)",
        ["projects/arena/finding/x", "projects/arena/finding/y", "projects/arena/finding/z"],
    ),
    (
        "见projects/arena/finding/x的实现 projects/arena/finding/2026-修复-登录。",
        ["projects/arena/finding/x", "projects/arena/finding/2026-修复-登录"],
    ),
    (
        "projects/arena/reviewer/findings/x projects/arena/builder-1/a/b.md",
        ["projects/arena/reviewer/findings/x", "projects/arena/builder-1/a/b"],
    ),
    (
        "projects/arena/decisions/old.json shared/patterns/p learnings/l.md",
        ["projects/arena/decisions/old", "shared/patterns/p", "learnings/l"],
    ),
    (
        "projects/arena/decision projects/arena/decision/ projects/arena/reviewer/findings projects/arena/decision/*.md",
        [],
    ),
    ("projects/arena/decision/<ts>.md xprojects/a/b/c src/projects/a/b/c learnings/so-far", []),
    ("[a](b.md) [[a]] `[[c]]` [d](https://a.b/e.md)", ["b", "a"]),
]


@pytest.mark.parametrize(("text", "wanted"), LINKS, ids=[text[:50] for text, _ in LINKS])
def test_links_to_records(text: str, wanted: list[str]) -> None:
    assert refs(text) == wanted


def test_emphasis_around_a_slug_is_no_wildcard() -> None:
    assert refs("**projects/a/decision/x** *projects/a/decision/y.md*") == [
        "projects/a/decision/x",
        "projects/a/decision/y",
    ]


def test_a_link_to_a_record_gives_no_file_or_task() -> None:
    for text in (
        "[a](../ARENA-1/ARENA-2.md)",
        "[[decision/ARENA-3-x]]",
        "projects/a/decision/ARENA-4.md",
        "[x]: ARENA-1.md",
    ):
        assert [kind for kind, _ in edges(text)] == ["references-record"]


def test_an_alias_is_prose_and_a_note_named_like_a_task_is_both() -> None:
    assert values("[[x|ARENA-5 done]]", "taskid") == ["ARENA-5"]
    assert (values("[[ARENA-228]]", "taskid"), refs("[[ARENA-228]]")) == (["ARENA-228"], ["ARENA-228"])


def test_a_path_under_the_root_names_its_project_and_its_record() -> None:
    assert edges("~/.agents/memory/projects/arena/finding/x.md") == [
        ("references-project", "entity:project:arena"),
        ("references-record", "projects/arena/finding/x"),
    ]


@pytest.mark.parametrize(
    ("ref", "candidates", "wanted"),
    [
        ("b", ["projects/arena/decision/b", "projects/arena/b", "b"], "projects/arena/decision/b"),
        ("./b", ["projects/arena/decision/b", "projects/arena/finding/b"], "projects/arena/decision/b"),
        ("../finding/x", ["projects/arena/finding/x", "projects/other/finding/x"], "projects/arena/finding/x"),
        ("../finding/x", ["projects/other/finding/x"], None),
        ("finding/x", ["finding/x", "projects/arena/finding/x"], "projects/arena/finding/x"),
        (
            "projects/other/finding/x",
            ["projects/other/finding/x", "projects/arena/finding/x"],
            "projects/other/finding/x",
        ),
        ("/shared/patterns/x", ["shared/patterns/x"], "shared/patterns/x"),
        ("x", ["projects/other/a/x", "projects/arena/reviewer/findings/x"], "projects/arena/reviewer/findings/x"),
        ("x", ["projects/zoo/finding/x", "projects/arenas/f/x", "projects/b/finding/x"], "projects/arenas/f/x"),
        ("x", ["projects/b/finding/x", "projects/a/finding/x"], "projects/a/finding/x"),
        ("x", ["projects/arena/decision/X", "projects/other/finding/x"], "projects/other/finding/x"),
        ("Foo", ["projects/arena/decision/foo"], "projects/arena/decision/foo"),
        ("cafe\u0301", ["projects/arena/decision/caf\u00e9"], "projects/arena/decision/caf\u00e9"),
        ("ing/x", ["projects/arena/finding/x"], None),
        ("2026-01-01-a", [SOURCE, "projects/b/finding/2026-01-01-a"], SOURCE),
        ("x", [], None),
        ("..", ["projects/arena"], None),
    ],
)
def test_resolve_follows_the_order(ref: str, candidates: list[str], wanted: str | None) -> None:
    assert resolve(ref, SOURCE, candidates) == wanted
    assert resolve(ref, SOURCE, candidates[::-1]) == wanted


@pytest.mark.parametrize(
    ("ref", "wanted"),
    [
        ("x", "projects/arena/decision/x"),
        ("./x", "projects/arena/decision/x"),
        ("../finding/x", "projects/arena/finding/x"),
        ("../../../../../etc/x", "etc/x"),
        ("finding/x", "projects/arena/finding/x"),
        ("projects/b/finding/x", "projects/b/finding/x"),
        ("shared/patterns/x", "shared/patterns/x"),
        ("a/../../../../../x", "x"),
        ("", SOURCE),
        ("..", SOURCE),
    ],
)
def test_an_unresolved_link_points_where_its_words_do(ref: str, wanted: str) -> None:
    assert unresolved_target(ref, SOURCE) == wanted


def test_a_link_to_oneself_is_no_edge() -> None:
    assert edges("[[2026-01-01-a]] [me](./2026-01-01-a.md) [[#here]]", (SOURCE,)) == []


OLD = "projects/arena/decision/2026-01-05T10-00-00Z-retry-webhooks"
NEW = "projects/arena/decision/2026-03-05T10-00-00-123456Z-retry-webhooks"
AWAY = "projects/other/decision/2026-06-01-retry-webhooks"


@pytest.mark.parametrize(
    ("ref", "candidates", "wanted"),
    [
        ("retry-webhooks", [OLD], OLD),
        ("Retry webhooks", [OLD, NEW], NEW),
        ("retry_Webhooks!", [OLD, NEW, AWAY], NEW),
        ("retry webhooks", [AWAY, "projects/zoo/plan/2026-05-01-retry-webhooks"], AWAY),
        ("retry-webhooks", [NEW, "projects/other/plan/retry-webhooks"], "projects/other/plan/retry-webhooks"),
        ("Retry webhooks", [NEW, "projects/arena/plan/retry_webhooks"], "projects/arena/plan/retry_webhooks"),
        ("2026-01-05T10-00-00Z retry webhooks", [OLD, NEW], OLD),
        ("2026-02-02-retry-webhooks", [OLD], OLD),
        ("Decision/Retry webhooks", [OLD], OLD),
        ("finding/retry-webhooks", [OLD], None),
        ("projects/other/decision/retry-webhooks", [OLD, NEW, AWAY], AWAY),
        ("./retry webhooks", [OLD, NEW, AWAY], NEW),
        ("./retry-webhooks", [AWAY], None),
        ("../finding/retry-webhooks", [OLD], None),
        ("../decision/retry-webhooks", [OLD, AWAY], OLD),
        ("webhooks", [OLD], None),
        (
            "修复 登录",
            ["projects/arena/task/2026-01-05T10-00-00Z-修复-登录"],
            "projects/arena/task/2026-01-05T10-00-00Z-修复-登录",
        ),
        ("x" * 100, [f"projects/arena/task/2026-01-05-{'x' * 80}"], f"projects/arena/task/2026-01-05-{'x' * 80}"),
        ("x" * 100, [f"projects/arena/task/2026-01-05-{'x' * 90}"], None),
        ("…", ["projects/arena/task/!"], None),
    ],
)
def test_a_name_without_its_stamp_or_the_words_of_it_will_do(
    ref: str, candidates: list[str], wanted: str | None
) -> None:
    assert resolve(ref, SOURCE, candidates) == wanted
    assert resolve(ref, SOURCE, candidates[::-1]) == wanted
    if wanted is not None:
        assert reference_key(ref) == reference_key(wanted)


def test_a_record_means_its_namesake_by_their_title_and_itself_when_alone() -> None:
    assert resolve("retry webhooks", NEW, [OLD, NEW]) == OLD
    assert resolve("retry webhooks", OLD, [OLD, NEW]) == NEW
    assert resolve("retry webhooks", NEW, [NEW, AWAY]) == NEW
    assert resolve(NEW.rpartition("/")[2], NEW, [OLD, NEW]) == NEW


@pytest.mark.parametrize(
    ("name", "key", "stamp"),
    [
        ("2026-04-27T18-30-00Z-Foo_bar", "foo-bar", "20260427183000"),
        ("2026-04-27T18-30-00-462985Z-foo", "foo", "20260427183000462985"),
        ("2026-04-27_18-30-00-foo", "foo", "20260427183000"),
        ("2026-04-27-foo", "foo", "20260427"),
        ("2026-04-27 12 factors", "12-factors", "20260427"),
        ("20260427T183000Z-foo", "foo", "20260427183000"),
        ("2026-04-27", "2026-04-27", ""),
        ("2026-04-27T18-30-00Z-2026-01-01-foo", "foo", "2026042718300020260101"),
        ("v1.2", "v1-2", ""),
        ("2026-plan", "2026-plan", ""),
        ("Stra\u00dfe", "strasse", ""),
        ("Ａ／Ｂ", "a-b", ""),
        ("---", "---", ""),
    ],
)
def test_the_key_is_the_words_without_the_stamp(name: str, key: str, stamp: str) -> None:
    assert reference_key(f"projects/arena/decision/{name}") == key
    assert stamp_of(f"projects/arena/decision/{name}") == stamp


def test_namesakes_are_those_of_the_best_spelling_newest_first() -> None:
    assert namesakes("Retry webhooks", [OLD, AWAY, NEW]) == [AWAY, NEW, OLD]
    assert namesakes("arena/decision/retry-webhooks", [OLD, AWAY, NEW]) == [NEW, OLD]
    assert namesakes("retry-webhooks", [OLD, "projects/b/plan/retry-webhooks"]) == ["projects/b/plan/retry-webhooks"]
    assert namesakes("webhooks", [OLD]) == []


def test_thousands_of_namesakes_are_resolved_in_linear_time() -> None:
    def resolve_all(numbers: range) -> None:
        slugs = [f"projects/arena/decision/2026-01-01T00-00-00-{n:06}Z-daily" for n in numbers]
        names = Namesakes(slugs)
        for slug in slugs:
            assert names.resolve(slug.rpartition("/")[2], SOURCE) == slug
            assert names.resolve("daily", SOURCE) == slugs[-1]
        assert names.resolve("daily", slugs[-1]) == slugs[-2]

    assert grows_linearly(resolve_all, range(500), to=range(2_000))


# Properties -----------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    "ARENA-1|#12|GH#3|https://a.b/c|http://|x.py|src/|.md|[[|]]|](|)|[|]|(|<|>|`|```|~~~|commit |abc1234|[KEY: |HudLayer"
    "|projects/arena/finding/x|~/.agents/memory/|修复|。|\n|\r\n|\r|\t|    |- |> |\\|%20|#|.|/|-|_|*|:|'|\"|\x00|\x01|\x7f|\ud800"
    "|\u2028|\u0130|é|\U00020000".split("|")
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))
PARTS = st.lists(
    st.sampled_from(["a", "B", "修", "é", "e\u0301", "..", ".", "", "projects", "arena", "x.y"]), min_size=1, max_size=6
)
REFS = PARTS.map("/".join)
SLUGS = st.lists(st.sampled_from(["a", "A", "修", "é", "e\u0301", "x.y", "arena"]), min_size=1, max_size=3).map(
    lambda parts: "projects/" + "/".join(parts)
)


@given(TEXTS)
def test_any_text_is_read_and_every_edge_is_sound(text: str) -> None:
    found = extract(text)
    lines = len(re.findall(r"\r\n|\r|\n", text)) + 1
    for edge in (*found.mentions, *found.references):
        assert 1 <= edge.line <= lines
        assert edge.snippet == " ".join(edge.snippet.split())
        assert len(edge.snippet) <= 200
        assert edge.type in EDGE_TYPES
        value = edge[1]
        assert 0 < len(value) <= 2000 + len("entity:component:")
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\ud800-\udfff]", value)
    assert len({edge[:2] for edge in (*found.mentions, *found.references)}) == len(found.mentions) + len(
        found.references
    )


@given(TEXTS.filter(lambda text: "`" not in text), st.sampled_from(["```", "~~~~", "> ```"]))
def test_nothing_comes_from_inside_a_fence(text: str, fence: str) -> None:
    start = "> " if fence.startswith(">") else ""
    body = re.sub(r"\r\n|\r|\n", "\n" + start, text.replace("~", ""))
    found = extract(f"before ARENA-77\n\n{fence}\n{start}{body}\n{fence}\n\nafter ARENA-88")
    assert [mention.target for mention in found.mentions] == ["entity:taskid:ARENA-77", "entity:taskid:ARENA-88"]
    assert found.references == ()


@given(REFS, SLUGS, st.lists(SLUGS, max_size=6))
def test_the_order_of_candidates_is_of_no_account(ref: str, source: str, candidates: list[str]) -> None:
    wanted = resolve(ref, source, candidates)
    assert resolve(ref, source, sorted(candidates)) == wanted == resolve(ref, source, set(candidates))
    assert wanted is None or wanted in candidates


@given(st.text(max_size=60).filter(lambda title: "/" not in title))
def test_a_title_means_the_record_that_was_named_by_it(title: str) -> None:
    name = name_of(title)
    slug = f"projects/arena/decision/2026-01-05T10-00-00-000001Z-{name}"
    if name != "untitled" and title.strip():
        assert reference_key(slug) == reference_key(title)
        assert resolve(title, SOURCE, [slug]) == slug
        assert namesakes(title, [slug]) == [slug]


WORDS = st.sampled_from(
    ["a", "A b", "a-b", "2026-01-01-a", "2026-02-01T00-00-00Z-a-b", "é", "e\u0301", "./a", "../x/a", "x/a"]
)
STAMPED = st.tuples(
    st.sampled_from(["projects/p/x", "projects/p/y", "projects/q/x", "shared"]),
    st.sampled_from(["", "2026-01-01-", "2026-02-01T00-00-00Z-", "2026-02-01T00-00-00-000001Z-"]),
    st.sampled_from(["a", "A", "a-b", "a b", "é", "e\u0301"]),
).map(lambda parts: f"{parts[0]}/{parts[1]}{parts[2]}")


@given(WORDS, STAMPED, st.lists(STAMPED, max_size=6))
def test_namesakes_are_chosen_whatever_their_order(ref: str, source: str, candidates: list[str]) -> None:
    wanted = resolve(ref, source, candidates)
    assert resolve(ref, source, sorted(candidates)) == wanted == resolve(ref, source, set(candidates))
    assert wanted is None or reference_key(wanted) == reference_key(ref)
    keyed = [slug for slug in candidates if reference_key(slug) == reference_key(ref)]
    assert resolve(ref, source, keyed) == wanted


@given(REFS, SLUGS)
def test_a_record_that_appears_where_the_words_point_is_found(ref: str, source: str) -> None:
    target = unresolved_target(ref, source)
    assert resolve(ref, source, [target]) == target
    assert not {"", ".", ".."} & set(target.split("/")) or target == source
    if target != source:
        assert reference_key(target) == reference_key(ref)


@given(TEXTS)
def test_every_reference_can_be_placed(text: str) -> None:
    for reference in extract(text).references:
        target = unresolved_target(reference.ref, SOURCE)
        assert resolve(reference.ref, SOURCE, [target]) == target
        assert reference_key(target) == reference_key(reference.ref)


UNITS = (
    "[|(|`|#|a|a/|A-|h|http://|[[|A|1|-|.|/|.py./|a.py |](|](<|[[a|[a]:|\\|projects/|projects/a/b/c |[KEY:|commit |(abc1234) |#1 "
    "|color #123456, |{|http://(|http://)|A-1 |HudLayer |修|修复A-1|](a(|[[a]] |%20|://|<http://|://a|~/.agents/memory/projects/"
    "|$a|$$|$a$ |\\(|\\[|\\begin{a}|\\end{a}|[//]: # (|https://a.b/&gt;|[a.js](https://a.b/c) |a.js/|a/./|../|step #1 |L1-1 "
).split("|")  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear_in_one_long_line(unit: str) -> None:
    assert grows_linearly(extract, unit * (10_000 // len(unit)), to=unit * (40_000 // len(unit)))


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("Edited src/组件/a.tsx and docs/é/x.md", ["src/组件/a.tsx", "docs/é/x.md"]),
        ("请看src/组件/a.tsx。", ["src/组件/a.tsx"]),
        ("Edited 文档/a.md", ["文档/a.md"]),
        ("src/组件a.tsx", []),
        ("docs/naïve/x.md", ["docs/naïve/x.md"]),
        ("naïve/x.md", []),
        ("方案改为，用文档/a.md", []),
        ("按A/B方案改/src/a.tsx", []),
        ("按A/B方案改src/a.tsx", []),
        ("详见/home/a/x.md", ["/home/a/x.md"]),
        ("和/或src/a.tsx", ["src/a.tsx"]),
        ("修改了a.ts和src/b.ts", ["a.ts", "src/b.ts"]),
        ("更新docs/架构.md的第三节，见docs/设计-v2.md", ["docs/架构.md", "docs/设计-v2.md"]),
        ("放在docs/里的.md文件，docs/中.md结尾的", []),
        ("按A/B方案改.md", []),
        ("见设计.md", []),
    ],
)
def test_a_path_with_folders_in_other_scripts_is_whole_or_none(text: str, files: list[str]) -> None:
    assert values(text, "file") == files


@pytest.mark.parametrize("text", ["_T-7_", "__T-7__", "**T-7**", "_see T-7_", "_T-7 is done_, as is ___T-8___"])
def test_emphasis_hides_no_task(text: str) -> None:
    assert values(text, "taskid")[0] == "T-7"


@pytest.mark.parametrize("text", ["FOO_T-7", "T-7_x", "é_T-7"])
def test_an_underscore_inside_a_word_is_no_emphasis(text: str) -> None:
    assert values(text, "taskid") == []


def test_emphasis_stays_in_the_snippet_and_hides_no_commit() -> None:
    assert values("_commit abc1234_", "commit") == ["abc1234"]
    assert extract("_T-7_").mentions[0].snippet == "_T-7_"


@pytest.mark.parametrize("dots", ["..", "..."])
def test_a_range_of_commits_names_both_its_ends(dots: str) -> None:
    assert values(f"commit abc1234{dots}def5678", "commit") == ["abc1234", "def5678"]


@pytest.mark.parametrize("text", ["[[:alpha:]]", "a [[:alpha:]]+ b", "arr[[0]]", "x[[i]]"])
def test_character_classes_and_subscripts_are_no_links(text: str) -> None:
    assert refs(text) == []


@pytest.mark.parametrize("written", ["..\\finding\\x.md", "..\\\\finding\\\\x.md", "../finding/x.md"])
def test_a_link_with_backslashes_means_the_path_with_slashes(written: str) -> None:
    assert refs(f"[f]({written})") == ["../finding/x"]
    assert refs("[f](\\\\server\\share\\x.md)") == []


def test_there_are_seven_namespaces():
    text = (
        "See ARENA-228, commit 1a2b3c4d, PhysicsEngine, core/x.py, https://a.example/b, [KEY: retry] "
        "and ~/.agents/memory/projects/demo.\n"
    )
    found = {mention.target.split(":", 2)[1]: mention.target.split(":", 2)[2] for mention in extract(text).mentions}
    assert found == {
        "taskid": "ARENA-228",
        "commit": "1a2b3c4d",
        "component": "PhysicsEngine",
        "file": "core/x.py",
        "url": "https://a.example/b",
        "key": "retry",
        "project": "demo",
    }
    assert set(found) == set(NAMESPACES)
