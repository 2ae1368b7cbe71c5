"""What a terminal shows fits into its columns, in both languages, and a name is as short as the listing allows."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from oracle.cli.commands.graph import as_tree
from oracle.cli.main import run
from oracle.domain import layout
from oracle.domain.layout import cells, hanging, shorten, wrap
from oracle.domain.links.graph import GraphStep, Walk
from tests.cli.test_output import Terminal

NORTH = "The settlement report for the northern region counts refunds twice that were issued on the same day"
CACHE = "Cache-invalidation-of-the-price-list-in-the-edge-nodes-of-every-region-where-we-sell"
CHINESE = "失败的回调请求在通知值班人员之前要按指数退避重试两次，并且写入队列的死信表以便之后人工重放"
RETRY = "Retry failed webhook deliveries twice with exponential backoff before the operator is paged in "
WORD = "averyverylongword" * 6
RECORDS = (
    ("decision", RETRY + "Europe", "We retry HARBOR-5. See [[no-record-of-this-rather-long-name-exists-in-the-root]]."),
    ("decision", RETRY + "Asia", "It is as in HARBOR-5 and in `src/pay/retry_policy_for_webhooks_of_every_region.py`."),
    ("decision", CHINESE, "见 HARBOR-5。每次重试之间等待三十秒，然后是五分钟。"),
    ("decision", CHINESE.replace("两次", "三次"), "见 HARBOR-5。", "--supersedes", CHINESE),
    ("finding", NORTH, "HARBOR-17 shows it.", "--evidence", "high:src/settlement/report_builder.py:120"),
    ("finding", NORTH.replace("north", "south"), "HARBOR-17 shows it.", "--contradicts", NORTH, "--evidence", "low:a"),
    ("task", "Cache", "A word."),
    ("plan", CACHE, "It is about [[cache]].", "--extends", "cache"),
    ("task", WORD, "A word without a break."),
)
LISTINGS = """
list
list --timeline
list --entities
list --full
show --links cache-invalidation-of-the
show HARBOR-5
search refunds counted twice
search 重试
search refunds --explain
ask --now 'Why are refunds counted twice in the report?'
backlinks HARBOR-5
backlinks HARBOR-5 --full
graph HARBOR-5 --depth 4 --direction both
graph HARBOR-5 --depth 4 --direction both --full
check
check --full
doctor
log
log --full
resume
project list
project show harbour
config list
index status
packet --role executor --goal 'settlement report' --project harbour
handoffs
team task list-pending --project harbour --owner-role builder
team peers list --project harbour
team compact --project harbour --fact 'A fact that no record of this project holds at all, however long one looks'
list --kind nothing-of-this-kind
show no-record-of-this-name-exists-in-the-whole-root
show retry-failed-webhook-deliveries
""".strip().splitlines()


@pytest.fixture(scope="module")
def shop(tmp_path_factory, world):
    """Give a Root of records with long names in two languages, a team and a question."""
    root = str(tmp_path_factory.mktemp("shop") / "memory")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ORACLE_ROOT", root)
        patch.setattr(sys, "stdout", Terminal())
        patch.setattr(sys, "stderr", Terminal())
        assert run(["init"]) == 0
        for kind, title, body, *more in RECORDS:
            assert run(["write", kind, "--project", "harbour", "--title", title, "--body", body, *more]) == 0
        assert run(["retire", "cache", "--reason", "It is done."]) == 0
        seats = "memory,planner,builder,reviewer"
        assert run(["project", "init", "harbour", "--seats", seats, "--repo", f"{root}/no/such/folder"]) == 0
        assert run(["ask", "--project", "harbour", "--from", "planner", RETRY + "?", "--no-notify"]) == 0
    return root


def must_be_whole(line: str) -> bool:
    """Tell whether a line is a place, a path or a command that is meant to be copied, or text of one word."""
    text = re.sub("\x1b\\[[0-9;]*m", "", line).strip()
    return bool(re.fullmatch(r"(?:\[f\d+\] )?\S+|`[^`]+`\S*|\$ .*", text))


@pytest.mark.parametrize("command", LISTINGS)
def test_no_line_of_a_listing_is_wider_than_the_terminal(shop, monkeypatch, command):
    monkeypatch.setenv("ORACLE_ROOT", shop)
    monkeypatch.setenv("TERM", "xterm-256color")
    for columns, language in itertools.product((40, 80), ("en", "zh")):
        out, err = Terminal(), Terminal()
        with monkeypatch.context() as patch:
            patch.setenv("COLUMNS", str(columns))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            run([*shlex.split(command), "--lang", language])
        lines = [re.sub("\x1b\\[[0-9;]*m", "", line) for text in (out, err) for line in text.getvalue().splitlines()]
        assert lines
        assert [line for line in lines if cell_len(line) > columns and not must_be_whole(line)] == []


@pytest.mark.parametrize("command", ["list", "list --timeline", "check", "graph cache-invalidation-of-the", "log"])
def test_names_are_whole_in_a_pipe_and_on_request(shop, monkeypatch, capsys, command):
    def printed(*words: str) -> str:
        capsys.readouterr()
        run([*command.split(), *words, "--memory-dir", shop])
        return re.sub("\x1b\\[[0-9;]*m|[\\s│]", "", capsys.readouterr().out)

    slug = re.search(r"projects/harbour/plan/\S+?-cache-invalidation-of-\w+[\w-]*", printed("--json"))[0]
    assert slug in printed()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    assert slug in printed("--full")
    assert slug not in printed()


# Short names ----------------------------------------------------------------------------------------------------------

HERE = "projects/shop/decision/"
A, B = "2026-11-28T01-00-00-000000Z-", "2026-11-28T02-00-00-000000Z-"


@pytest.mark.parametrize(
    ("names", "short"),
    [
        ([HERE + A + "cache"], ["cache"]),
        ([HERE + A + "a-name-of-more-than-thirty-two-columns"], ["a-name-of-more-than-thirty-two-columns"]),
        ([HERE + A + "a-name-of-more-than-thirty-eight-columns"], ["a-name-of-more-than-thirty-eight"]),
        ([HERE + A + "cache", HERE + B + "cache-keys"], ["cache", "cache-keys"]),
        (
            [
                HERE + A + "the-report-of-the-whole-northern-region-is-late",
                HERE + A + "the-report-of-the-whole-northern",
            ],
            ["the-report-of-the-whole-northern-region", "the-report-of-the-whole-northern"],
        ),
        (
            [f"{HERE}{A}the-settlement-report-for-the-{word}-region-counts-twice" for word in ("northern", "southern")],
            ["the-settlement-report-for-the-northern", "the-settlement-report-for-the-southern"],
        ),
        (
            [f"{HERE}{stamp}retry-failed-webhook-deliveries-twice-with-a-pause" for stamp in (A, B)],
            [f"{stamp}retry-failed-webhook-deliveries" for stamp in (A, B)],
        ),
        ([f"projects/shop/{seat}/note" for seat in ("builder", "planner")], ["builder/note", "planner/note"]),
        (["projects/shop/a/note", "projects/bank/a/note"], ["shop/a/note", "bank/a/note"]),
        (
            [
                f"{HERE}{A}失败的回调请求在通知值班人员之前要按指数退避重试{times}次然后放弃并写入队列"
                for times in "两三"
            ],
            [f"失败的回调请求在通知值班人员之前要按指数退避重试{times}" for times in "两三"],
        ),
        ([HERE + A + "失败的回调请求在通知值班人员之前重试"], ["失败的回调请求在通知值班人员之前重试"]),
        (["entity:taskid:T-1", "entity:key:cache", HERE + A + "cache"], ["T-1", "entity:key:cache", "cache"]),
        (["entity:taskid:A", "entity:key:A"], ["entity:taskid:A", "entity:key:A"]),
        (["no-record-of-this-name-exists-in-the-whole-root"], ["no-record-of-this-name-exists-in-the-whole-root"]),
    ],
)
def test_a_name_is_shortened_to_what_is_unique(names, short):
    assert list(shorten(names).items()) == list(zip(names, short, strict=True))


SLUGS = st.builds(
    "projects/{}/decision/{}{}".format,
    st.sampled_from(["shop", "bank"]),
    st.sampled_from(["", A, B]),
    st.lists(st.sampled_from(["retry", "the", "webhooks", "重试", "Cache", "决定"]), min_size=1, max_size=12).map(
        "-".join
    ),
)


@given(st.lists(SLUGS, unique=True, max_size=8))
def test_short_names_differ_and_are_parts_of_the_slugs(names):
    short = shorten(names)
    assert len({name.casefold() for name in short.values()}) == len({name.casefold() for name in names})
    assert all(form in name for name, form in short.items())


def test_a_command_takes_every_short_name_of_the_listing(shop, capsys):
    run(["list", "--json", "--memory-dir", shop])
    names = [record["slug"] for record in json.loads(capsys.readouterr().out)["records"]]
    for name, form in shorten(names).items():
        assert run(["show", form, "--links", "--json", "--memory-dir", shop]) == 0
        assert json.loads(capsys.readouterr().out)["slug"] == name


# A tree ---------------------------------------------------------------------------------------------------------------


def chain_of(length: int) -> Walk:
    names = [f"projects/shop/decision/{A}a-rather-long-name-of-a-record-{number}" for number in range(length + 1)]
    steps = tuple(GraphStep(names[at], names[at + 1], "extends", "", at + 1) for at in range(length))
    return Walk(names[0], length, tuple(names), steps)


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("length", [0, 1, 5, 32])
def test_a_tree_of_any_depth_fits(monkeypatch, columns, length):
    monkeypatch.setenv("COLUMNS", str(columns))
    walk = chain_of(length)
    for is_full in (False, True):
        lines = as_tree(walk, {}, is_full=is_full).splitlines()
        assert max(map(cell_len, lines)) <= columns
        assert sum("─ " in line for line in lines) == length
    if length == 32:
        assert "32: extends" in lines[-6] + "".join(lines[-5:])


def test_a_tree_draws_branches_marks_and_directions(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    a, b, c, d = (f"projects/shop/decision/{A}{name}" for name in ("alpha", "beta", "gamma", "delta"))
    steps = (
        GraphStep(a, b, "extends", "", 1),
        GraphStep(c, a, "supports", "", 1),
        GraphStep(b, d, "extends", "", 2),
        GraphStep(b, a, "x", "", 2),
    )
    tree = as_tree(Walk(a, 2, (a, b, c, d), steps), {d: "missing", c: "retired"})
    assert tree.splitlines() == [
        "alpha",
        "├─ extends → beta",
        f"│  ├─ extends → {d}",
        "│  │  [missing]",
        "│  └─ x → alpha",
        "└─ supports ← gamma [retired]",
    ]


# Lines ----------------------------------------------------------------------------------------------------------------

TEXTS = st.text("aé决🚀 `-/,。（", max_size=120)


@given(TEXTS, st.integers(2, 60))
def test_wrapping_loses_nothing_and_fits(text, width):
    lines = wrap(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cells(line) <= width for line in lines)


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        (
            "hint: See `oracle list --project shop`, or ask.",
            ["hint: See", "  `oracle list --project shop`, or", "  ask."],
        ),
        ("  $ oracle deliver --project shop --task-id T-7", ["  $ oracle deliver --project shop --task-id T-7"]),
        ("    said in four words or more of them", ["    said in four words or more", "      of them"]),
        (
            "提示：见 `oracle list`，也可以用标题来指定一条记录。",
            ["提示：见 `oracle list`，也可以用", "  标题来指定一条记录。"],
        ),
        (f"see {'x' * 50}", ["see", f"  {'x' * 50}"]),
    ],
)
def test_a_sentence_goes_on_indented_and_keeps_what_is_copied(line, lines):
    assert hanging(line, 34) == lines


def test_marks_that_join_a_letter_take_no_column():
    assert [cells(text) for text in ("e\u0301", "决定", "abc", "🚀", layout.padded("决", 4))] == [1, 4, 3, 2, 4]
