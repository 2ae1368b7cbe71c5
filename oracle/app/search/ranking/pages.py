"""A record's file as the ranking reads it: its passages, which words stand in which, who speaks, what days it names. Pure.

A page is made of the bytes as they are on disk; the same bytes give the same page, so it may be kept for the next question.
"""

from __future__ import annotations

from collections import Counter

from oracle.app.search.ranking.dates import Day, days_in
from oracle.domain.markdown import passages
from oracle.domain.markdown.embedding_chunks import Stretch, is_conversation, stretches
from oracle.domain.markdown.passages import Passage
from oracle.index.read.tokens import tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.search.ranking.sentences import Sayings

_HEAD = 300
"""Characters at the head of a record in which the day it tells of may stand."""
_KEPT_CHARACTERS = 20_000_000


class Page:
    """The passages of one file; `shift` is added to their lines, `postings` say in which passages a word stands, once each time."""

    __slots__ = (
        "_stretches", "asks", "days", "headings", "is_conversation", "lengths", "lines", "passages", "postings", "sayings",
        "shift", "speakers", "title", "whole",
    )  # fmt: skip

    def __init__(self, text: str, title: str, *, shift: int = 0, whole: int = 0, dated: str = "") -> None:
        self.lines = text.split("\n")
        self.shift = shift
        self.whole = whole
        self.title = tokens(title)
        self.passages = passages.cut(text)
        self.postings: dict[str, list[int]] = {}
        self.lengths: list[int] = []
        self.headings: dict[tuple[str, ...], list[str]] = {}
        self.speakers: list[str] = []
        self.asks: list[bool] = []
        self._stretches: list[Stretch] = []
        self.sayings: Sayings | None = None
        self.days: list[Day] = days_in(f"{dated}\n{title}\n{text[:_HEAD]}")
        for number, passage in enumerate(self.passages):
            self._take(number, passage)
        self.is_conversation = is_conversation(self.passages, self.speakers)

    def _take(self, number: int, passage: Passage) -> None:
        words = tokens(passage.text)
        self.lengths.append(len(words) or 1)
        for word in words:
            self.postings.setdefault(word, []).append(number)
        if passage.headings not in self.headings:
            self.headings[passage.headings] = tokens(" ".join(passage.headings))
        self.speakers.append(passages.speaker_of(passage))
        self.asks.append(passage.text.rstrip().endswith(("?", "？")))

    def words(self) -> set[str]:
        """Return the different words of the page, its title and its headings."""
        found = set(self.postings)
        found.update(self.title)
        for words in self.headings.values():
            found.update(words)
        return found

    def parties(self) -> set[str]:
        """Return the words of the names of those who speak in a conversation; who speaks once may be a field, as `Date: …` is."""
        if not self.is_conversation:
            return set()
        return {word for name, times in Counter(self.speakers).items() if times > 1 for word in name.split()}

    def stretches(self, title: str) -> list[Stretch]:
        """Return what vectors are made of, cut when it is first asked for; `title` is the record's, as it is written."""
        if not self._stretches:
            self._stretches = stretches(title, self.passages)
        return self._stretches

    def place(self, passage: Passage) -> tuple[int, int]:
        """Return the first and the last line of a passage in the file."""
        if self.whole:
            return 1, self.whole
        return passage.first_line + self.shift, passage.last_line + self.shift


class Shelf:
    """Pages kept for the next question, each for the bytes that it was made of, up to a number of characters."""

    def __init__(self) -> None:
        self._pages: dict[str, tuple[bytes, Page]] = {}
        self._size = 0

    def page(self, name: str, raw: bytes, make: Callable[[], Page]) -> Page:
        """Return the page of these bytes."""
        kept = self._pages.get(name)
        if kept is not None and kept[0] == raw:
            return kept[1]
        page = make()
        if self._size + len(raw) > _KEPT_CHARACTERS:
            self._pages.clear()
            self._size = 0
        self._pages[name] = (raw, page)
        self._size += len(raw)
        return page
