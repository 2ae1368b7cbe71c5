"""The file to send: what is in it, what the guard keeps out of it, how large it is, and that nothing is overwritten."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.corpus import make_root
from oracle.app.context import Context
from oracle.app.pages import export
from oracle.app.records import listing
from oracle.cli.main import run
from oracle.errors import NotFound, NotInMemory, RecordExists, UsageError
from oracle.wording import speak
from tests.app.pages.test_graph import HOSTILE

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MAIL = "ada.lovelace@engines.org"


@pytest.fixture(autouse=True)
def english() -> None:
    """Speak English, whatever a test before has left."""
    speak(None)


class Page(HTMLParser):
    """The tags, the addresses and the articles of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, found in attrs:
            if name in ("href", "src", "action", "data", "srcset", "poster"):
                self.addresses.append(found or "")
            if name == "id":
                self.ids.append(found or "")
            assert not name.startswith("on")
            assert name != "style"


def write(root: Path, name: str, text: str, *, project: str = "shop", more: str = "") -> str:
    path = root / "projects" / project / "builder/notes" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nts: 2026-11-28T10:00:00Z\n{more}---\n\n{text}\n", encoding="utf-8", errors="surrogatepass")
    return f"projects/{project}/builder/notes/{name}"


def exported(root: Path, out: Path, **options: Any) -> tuple[export.Exported, str]:
    with Context.open(str(root)) as context:
        made = export.export(context, str(out), language="en", **options)
    return made, out.read_text(encoding="utf-8")


def titles(html: str) -> list[str]:
    return re.findall(r"<article[^>]*><h2>(.*?)</h2>", html)


@pytest.fixture
def shop(root: Path) -> Path:
    write(root, "a", "# First\n\nSee [[b]], [[elsewhere]] and [the other](b.md).")
    write(root, "b", "# Second\n\nSee [[c]].")
    write(root, "c", "# Third\n", more="supersedes: [projects/shop/builder/notes/old]\n")
    write(root, "old", "# Old\n")
    write(root, "d", "# Apart\n", project="bank")
    return root


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"First", "Second", "Third", "Old", "Apart"}),
        ({"project": "shop"}, {"First", "Second", "Third", "Old"}),
        ({"target": "b"}, {"First", "Second", "Third"}),
        ({"target": "b", "depth": 0}, {"Second"}),
        ({"target": "b", "depth": 2}, {"First", "Second", "Third", "Old"}),
        ({"target": "b", "depth": 2, "project": "shop"}, {"First", "Second", "Third", "Old"}),
    ],
)
def test_what_is_exported(shop: Path, tmp_path: Path, options: dict[str, Any], expected: set[str]) -> None:
    made, html = exported(shop, tmp_path / "out.html", **options)
    assert set(titles(html)) == expected
    assert made.records == len(expected)
    assert made.size == (tmp_path / "out.html").stat().st_size


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"project": "nowhere"}, NotFound),
        ({"target": "nowhere"}, NotInMemory),
        ({"target": "a", "project": "bank"}, NotInMemory),
    ],
)
def test_nothing_to_export_writes_nothing(
    shop: Path, tmp_path: Path, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        exported(shop, tmp_path / "out.html", **options)
    assert list(tmp_path.iterdir()) == [shop]


def test_links_between_exported_records_are_anchors(shop: Path, tmp_path: Path) -> None:
    _, html = exported(shop, tmp_path / "out.html", target="b", depth=1)
    page = Page(html)
    assert {address[1:] for address in page.addresses} <= set(page.ids)
    first = html[html.index("<h2>First") :].partition("</article>")[0]
    assert first.count("<a href=") == 2
    assert "elsewhere" in first
    third = html[html.index("<h2>Third") :].partition("</article>")[0]
    assert "<a " not in third


@pytest.mark.parametrize("options", [{"project": "bank"}, {"project": "bank", "target": "d", "depth": 2}])
def test_nothing_of_another_project_is_in_it(shop: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    write(shop, "e", "See [[d]] and [[shop/builder/notes/b]].", project="bank")
    write(shop, "f", "Says [[d]].", more="title: A plan of ours\n")
    _, html = exported(shop, tmp_path / "out.html", **options)
    assert set(titles(html)) == {"Apart", "e"}
    assert "A plan of ours" not in html
    assert "Second" not in html
    assert 'id="graph"' in html


def test_a_retired_record_is_marked_and_names_its_successor(shop: Path, tmp_path: Path) -> None:
    _, html = exported(shop, tmp_path / "out.html")
    [old] = re.findall(r'<article id="\w+" class="retired">.*?</article>', html, re.DOTALL)
    assert "<h2>Old</h2>" in old
    assert re.search(r'superseded → <a href="#r\w+">c</a>', old)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("place", ["title", "body", "kind", "status", "name"])
def test_a_hostile_text_stays_text(root: Path, tmp_path: Path, text: str, place: str) -> None:
    plain = text.replace("\0", "").replace("\ud800", "")
    fields = "".join(f"{name}: {json.dumps(plain)}\n" for name in ("title", "kind", "status") if place == name)
    name = re.sub(r"[/\x00-\x1f]", "", plain) if place == "name" else "a"
    write(root, name, text if place == "body" else "See [[b]].", more=fields)
    write(root, "b", "# B\n")
    _, html = exported(root, tmp_path / "out.html")
    page = Page(html)
    assert page.tags.count("script") == 1
    assert page.tags.count("style") == 1
    assert page.tags.count("meta") == 4
    assert not {"img", "image", "iframe", "object", "embed", "link", "base"}.intersection(page.tags)
    assert all(address.startswith("#") for address in page.addresses)
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b\x80-\x9f]", html)


def test_the_policy_lets_nothing_in(shop: Path, tmp_path: Path) -> None:
    _, html = exported(shop, tmp_path / "out.html")
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', html)
    assert policy.startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    for tag in ("style", "script"):
        [content] = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        assert f"&#39;sha256-{b64encode(sha256(content.encode()).digest()).decode()}&#39;" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"token: {SECRET}", SECRET),
        (f"Ask {MAIL}.", MAIL),
        ("See /home/ada/notes.", "/home/ada"),
        ("The Falcon deal is on.", "Falcon"),
        (f"token: {SECRET[:10]}**{SECRET[10:]}**", SECRET[10:]),
        ("The Fal**con** deal is on.", "con</strong>"),
        (f"| a | b |\n|---|---|\n| {MAIL.replace('@', '&#64;')} | c |", MAIL),
    ],
)
@pytest.mark.parametrize("place", ["body", "title"])
def test_the_guard_runs_over_it(root: Path, tmp_path: Path, text: str, hidden: str, place: str) -> None:
    (root / "machine").mkdir()
    (root / "machine/privacy.md").write_text("BLOCK: Falcon\n")
    is_title = place == "title" and "*" not in text and "|" not in text
    write(root, "a", "See [[b]]." if is_title else text, more=f"title: {json.dumps(text)}\n" if is_title else "")
    write(root, "b", "# B\n")
    made, html = exported(root, tmp_path / "out.html")
    assert hidden not in html
    assert hidden not in re.sub(r"<[^>]*>", "", html)
    assert "[REDACTED:" in html
    assert sum(made.replaced.values()) >= 1


@pytest.mark.parametrize("words", [80, 0])
def test_it_is_not_much_larger_than_its_records(root: Path, tmp_path: Path, words: int) -> None:
    make_root(root, 300, hot=100)
    if not words:
        for path in root.rglob("*.md"):
            head, rule, body = path.read_text().partition("\n---\n\n")
            path.write_text(f"{head}{rule}{body[-90:]}")
    size = sum(path.stat().st_size for path in root.rglob("*.md"))
    made, html = exported(root, tmp_path / "out.html")
    assert made.records == 300
    assert made.size <= 1.2 * size + 300_000
    assert 'id="graph"' in html


def test_force_replaces_no_pipe_and_no_link(shop: Path, tmp_path: Path) -> None:
    """A device stands for neither: only root could make one here. Replacing `/dev/null` breaks a machine."""
    (tmp_path / "kept.html").write_text("kept")
    (tmp_path / "link.html").symlink_to("kept.html")
    os.mkfifo(tmp_path / "pipe.html")
    for name in ("link.html", "pipe.html"):
        with Context.open(str(shop)) as context, pytest.raises(UsageError, match="not a regular file"):
            export.export(context, str(tmp_path / name), language="en", force=True)
    assert (tmp_path / "kept.html").read_text() == "kept"
    assert (tmp_path / "pipe.html").is_fifo()


def test_an_existing_file_is_replaced_only_by_force(shop: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    out.write_text("mine")
    with pytest.raises(RecordExists):
        exported(shop, out)
    assert out.read_text() == "mine"
    _, html = exported(shop, out, force=True)
    assert html.startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory", "out.html"]


@pytest.mark.parametrize("place", ["memory/out.html", "memory/projects/shop/out.html", "nowhere/out.html", "."])
def test_a_wrong_place_is_refused(shop: Path, tmp_path: Path, place: str) -> None:
    with Context.open(str(shop)) as context, pytest.raises(UsageError):
        export.export(context, str(tmp_path / place), language="en", force=True)
    assert not list(tmp_path.rglob("out.html"))


@pytest.mark.parametrize(("language", "word"), [("en", "Timeline"), ("zh", "时间线")])
def test_the_page_speaks_the_language_of_the_call(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str, word: str
) -> None:
    out = tmp_path / "out.html"
    assert run(["--memory-dir", str(shop), "--lang", language, "export", "html", str(out), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made == {
        "path": str(out),
        "records": 5,
        "bytes": out.stat().st_size,
        "redacted": {},
        "memories_left_out": {"personal": 0, "retired": 0},
    }
    html = out.read_text(encoding="utf-8")
    assert f'<html lang="{language}">' in html
    assert f">{word}</a>" in html


def test_the_data_is_that_of_the_list(shop: Path, tmp_path: Path) -> None:
    _, html = exported(shop, tmp_path / "out.html")
    with Context.open(str(shop)) as context:
        found = listing.list_records(context, {}, newest_first=True)
    assert titles(html) == [one.title for one in found]
    for one in found:
        assert f"{one.kind} · {one.seat} · {one.sort_ts[:10]}" in html
        assert one.slug in html


@pytest.mark.parametrize("most", [1, 5_000, 10**9])
def test_one_record_of_many_is_cleaned_alone(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int):
    """Records are looked at together, and none is taken for another."""
    monkeypatch.setattr("oracle.app.pages.cleaning._MOST_AT_ONCE", most)
    for number in range(90):
        write(root, f"n{number:02}", f"# Title {number}\n\nPlain **words** of part {number}.")
    write(root, "n17", f"# Leak\n\nThe token is {SECRET}, ask {MAIL}.")
    write(root, "n71", f"# Hidden\n\nThe token is {SECRET[:9]}**{SECRET[9:]}**.")
    made, html = exported(root, tmp_path / "many.html")
    assert SECRET not in html
    assert MAIL not in html
    assert sorted(made.replaced.values()) == [1, 2]
    assert html.count("<strong>words</strong>") == 88
    assert SECRET[9:] not in html


@pytest.fixture
def remembering(root: Path) -> Path:
    """A Root with a record, a memory of each type, forgotten and replaced ones, and those of other programs."""
    write(root, "a", "# Retry webhooks\n\nSee [[b]].")
    write(root, "b", "# Limits\n\nSee [[a]].")
    for kind, text in {"user": "Quince", "feedback": "Medlar", "project": "Sorbus", "reference": "Rowan"}.items():
        why = ["--why", "So it is.", "--how-to-apply", "Always."] if kind in ("feedback", "project") else []
        words = [f"{text} knows the ledger well", f"{text}gone left the {text}past team"]
        for said in words:
            assert run(["--memory-dir", str(root), "remember", said, "--type", kind, "--project", "shop", *why]) == 0
        assert run(["--memory-dir", str(root), "forget", words[1]]) == 0
    write(root, "rule", "# Loquat rule\n\nSee [[a]].", more="memory_type: preference\n")
    write(root, "note", "# Pomelo note\n\nSee [[a]].", more="name: pomelo\ndescription: d\nmetadata:\n  type: user\n")
    return root


PERSONAL = ("Quince knows", "Medlar knows", "Loquat rule", "Pomelo note")


@pytest.mark.parametrize("options", [{}, {"project": "shop"}, {"target": "a", "depth": 2}])
@pytest.mark.parametrize("with_memories", [False, True])
def test_memories_about_people_are_sent_only_when_asked(
    remembering: Path, tmp_path: Path, options: dict[str, Any], *, with_memories: bool
) -> None:
    made, html = exported(remembering, tmp_path / "out.html", with_memories=with_memories, **options)
    shown = [words for words in PERSONAL if words in html]
    whole = [words for words in PERSONAL if "target" not in options or words.split()[1] in ("rule", "note")]
    assert shown == (whole if with_memories else [])
    assert made.personal == (0 if with_memories else len(whole))
    assert "Retry webhooks" in html
    assert ("Sorbus knows" in html) == ("target" not in options)
    assert "gone" not in html.partition("<script>")[0].partition("<body>")[2].lower()
    assert made.retired == (0 if "target" in options else 4)


def test_a_link_to_what_is_left_out_says_so(remembering: Path, tmp_path: Path) -> None:
    write(remembering, "c", "# Links\n\nSee [[rule]], [the note](note.md), `rule`, [[nowhere]] and [[a|the first]].")
    absent = '<span class="absent" title="left out of this page">'
    for with_memories in (False, True):
        _, html = exported(remembering, tmp_path / f"{with_memories}.html", with_memories=with_memories)
        text = html[html.index("<h2>Links") :].partition("</article>")[0]
        assert text.count(absent) == (0 if with_memories else 2)
        assert (f"{absent}rule</span>" in text) is not with_memories
        assert (f"{absent}the note</span>" in text) is not with_memories
        assert "the first</a>" in text


def test_a_memory_that_was_retired_by_its_title_is_not_named(remembering: Path, tmp_path: Path) -> None:
    assert run(["--memory-dir", str(remembering), "retire", "note", "--reason", "It is over."]) == 0
    for with_memories in (False, True):
        made, html = exported(remembering, tmp_path / f"{with_memories}.html", with_memories=with_memories)
        assert "pomelo" not in html.lower()
        assert made.retired == 5


def test_a_memory_about_people_alone_is_nothing_to_send(
    remembering: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--memory-dir", str(remembering), "export", "html", str(tmp_path / "out.html")]
    assert run([*words, "--target", "rule"]) == 4
    assert "--with-memories" in capsys.readouterr().err
    assert run(words) == 0
    assert "4 memories about people are left out; --with-memories includes them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("size", "what"), [(9_000, "The texts of the records have 0.0 MB"), (10, "The page would have 0.")]
)
def test_a_page_that_would_be_too_large_is_refused_with_the_way_out(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    size: int,
    what: str,
) -> None:
    monkeypatch.setattr("oracle.store.disk.steps.MOST_BYTES", 5_000)
    write(root, "a", "words " * (size // 6))
    assert run(["--memory-dir", str(root), "export", "html", str(tmp_path / "out.html")]) == 2
    said = capsys.readouterr().err
    assert what in said
    for way in ("--project", "--target", "--depth"):
        assert way in said
    assert list(tmp_path.iterdir()) == [root]
