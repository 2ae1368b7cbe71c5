"""The pages that a search keeps: what they hold of their words, which are given up, and how words are read."""

from __future__ import annotations

import gc
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.app.records.views import Summary
from oracle.app.search.ranking import pages
from oracle.app.search.ranking.pages import RecordPage, Shelf
from oracle.domain.values import fields_of
from oracle.index.fold import RUN, WORD, lower, pairs, tokens


def looked_at(page: RecordPage) -> int:
    """Return how many objects of a page the search for garbage looks into."""
    kept = {name: getattr(page, name) for name in page.__slots__ if name != "passages"}
    found: dict[int, object] = {}
    rest: list[object] = [kept]
    while rest:
        one = rest.pop()
        if id(one) not in found and gc.is_tracked(one) and not isinstance(one, type):
            found[id(one)] = one
            rest += gc.get_referents(one)
    return len(found)


def test_a_page_that_is_kept_costs_no_object_for_each_word() -> None:
    few, many = ("\n\n".join([" ".join(f"word{at}" for at in range(number))] * 3) for number in (10, 90))
    assert looked_at(RecordPage(many, "A title")) == looked_at(RecordPage(few, "A title"))


def test_a_page_finds_its_words_by_their_beginnings() -> None:
    page = RecordPage("# Retry\n\nRetries retried.\n\nNobody retries twice, retries!", "The retrying")
    assert list(page.words_from(["retri", "tw"])) == ["retried", "retries", "twice"]
    assert list(page.words_from(["retry"])) == ["retry", "retrying"]
    assert list(page.holding("retries")) == [1, 2, 2]
    assert list(page.holding("never")) == []


def summary(name: str) -> Summary:
    path = f"projects/p/s/{name}.md"
    known = {"slug": path[:-3], "path": path, "title": name}
    return Summary(**{field: known.get(field, "") for field in fields_of(Summary)})


def test_the_shelf_gives_up_what_was_asked_for_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_KEPT_CHARACTERS", 100)
    shelf, text = Shelf(), b"x" * 40
    one, two = (shelf.page(summary(name), text) for name in ("one", "two"))
    assert shelf.page(summary("one"), text) is one
    shelf.page(summary("three"), text)
    assert shelf.page(summary("one"), text) is one
    assert shelf.page(summary("two"), text) is not two


def test_the_shelf_reads_a_file_that_changed_anew() -> None:
    shelf = Shelf()
    before = shelf.page(summary("one"), b"before")
    after = shelf.page(summary("one"), b"after")
    assert (before.text, after.text) == ("before", "after")
    assert shelf.page(summary("one"), b"after") is after


def test_the_shelf_keeps_one_page_that_is_larger_than_all_it_may_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_KEPT_CHARACTERS", 100)
    shelf = Shelf()
    large = shelf.page(summary("large"), b"y" * 500)
    assert shelf.page(summary("large"), b"y" * 500) is large


def read_slowly(text: str) -> list[str]:
    found: list[str] = []
    for at, piece in enumerate(re.split(RUN, lower(text))):
        found += [*pairs(piece), *piece] if at % 2 else re.findall(WORD, piece)
    return found


def test_signs_of_every_sort_part_words_as_they_always_did() -> None:
    for code in range(0x30000):
        text = f"Zig{chr(code)}Zag9"
        assert tokens(text) == read_slowly(text), hex(code)


@given(st.text(st.sampled_from("aZ9 _-.\n\t’“—…é\u0301\u00a0、。漢字ひ\u200d😀Σς")))
def test_words_are_the_same_whatever_is_beside_them(text: str) -> None:
    found, expected = ([word.replace("ς", "σ") for word in words] for words in (tokens(text), read_slowly(text)))
    assert found == expected  # whether a sigma is the last letter of its word is seen by lower() alone


def test_a_record_may_have_more_passages_than_there_are_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_POSTED", 1)
    page = RecordPage("first\n\nsecond", "Title")
    assert [list(page.holding(word)) for word in ("first", "second")] == [[0], []]
