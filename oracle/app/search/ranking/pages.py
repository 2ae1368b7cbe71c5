"""A record's file as the ranking reads it: its passages, which words are in which, who speaks, what days it names.

The same bytes give the same page, so a page may be kept for the next question.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from oracle.app.records.views import Summary
from oracle.app.search.ranking.query import Day, days_in
from oracle.domain.markdown import passages
from oracle.domain.markdown.documents import Document, Value, lines_of
from oracle.domain.markdown.passages import EmbeddingChunk
from oracle.domain.values import NOTHING, value
from oracle.index.fold import tokens
from oracle.store.markdown import records

_HEAD = 300
"""Characters at the head of a record in which its day may be."""
_KEPT_CHARACTERS = 20_000_000
_POSTED = 0x110000
"""Passages of a record that are found by their words: as many numbers as a character can stand for."""


@value
class PageLink:
    """A link in a sentence: the keys of what it names, its place, and the folder that it leads into, if it gives one."""

    keys: frozenset[str]
    place: int
    folder: str


@value
class PageSentence:
    """A sentence of the passage `at`, with NAMED in place of each link.

    `follows` means that it may go on about what the sentence before names.
    """

    at: int
    text: str
    heading: str
    mentions: tuple[PageLink, ...]
    follows: bool


@value
class PageSentences:
    """The sentences of a page, and the numbers of those with a link of each key, and of each passage."""

    all: tuple[PageSentence, ...]
    by_key: dict[str, list[int]]
    by_passage: dict[int, list[int]]


class RecordPage:
    """The passages of one file. `shift` is added to their lines; a page of `whole` lines is shown as one place.

    `only` is the number of the one passage of a short record, -1 for another: what is beside it says what it is about.
    `postings` say in which passages a word is, once for each time: the characters with their numbers. Thousands of pages
    are kept, and the search for garbage looks into every list that is kept, but into no text. `fields` are the frontmatter.
    """

    __slots__ = (
        "_words", "asks", "chunks", "dated", "fields", "headings", "is_conversation", "lengths", "name", "only", "passages",
        "postings", "sentences", "shift", "speakers", "text", "title", "whole",
    )  # fmt: skip

    def __init__(self, text: str, title: str, *, shift: int = 0, whole: int = 0, dated: str = "") -> None:
        self.text = text
        self.fields: Mapping[str, Value] = NOTHING
        self.shift = shift
        self.whole = whole
        self.name = title
        self.title = tokens(title)
        self.passages = passages.cut(text)
        self.dated = f"{dated}\n{title}\n{text[:_HEAD]}"
        self.headings = {
            above: tokens(" ".join(above)) for above in dict.fromkeys(one.headings for one in self.passages)
        }
        written = [at for at, passage in enumerate(self.passages) if not passage.is_heading]
        self.only = written[0] if len(written) == 1 else -1
        self.speakers = [passages.speaker_of(passage) if ":" in passage.text else "" for passage in self.passages]
        self.asks = [passage.text.rstrip().endswith(("?", "？")) for passage in self.passages]
        self.is_conversation = passages.is_conversation(self.passages, self.speakers)
        self.postings, self.lengths = _post(self.passages)
        self.chunks: list[EmbeddingChunk] = []
        self.sentences: PageSentences | None = None
        self._words: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.text.split("\n")

    def days(self) -> list[Day]:
        """Return the dates that the head of the record names. Only a question with a date needs them."""
        return days_in(self.dated)

    def words_from(self, beginnings: Iterable[str]) -> Iterator[str]:
        """Yield the words of the page, its title and its headings that begin with one of the beginnings."""
        if not self._words:
            self._words = tuple(sorted({*self.postings, *self.title, *chain.from_iterable(self.headings.values())}))
        words = self._words
        for beginning in beginnings:
            at = bisect_left(words, beginning)
            while at < len(words) and words[at].startswith(beginning):
                yield words[at]
                at += 1

    def holding(self, word: str) -> map[int]:
        """Return the numbers of the passages that hold a word, each as often as the word is in it."""
        return map(ord, self.postings.get(word, ""))

    def parties(self) -> set[str]:
        """Return the words of the names of those who speak in a conversation more than once: `Date: …` may be a field."""
        if not self.is_conversation:
            return set()
        return {word for name, times in Counter(self.speakers).items() if times > 1 for word in name.split()}

    def widen(
        self, at: int, run: range | None, worth: Callable[[int], float], used: set[int]
    ) -> tuple[passages.Passage, range]:
        """Return what is shown of the passage `at` and the numbers of the passages in it: `run`, or what fits beside it."""
        if not self.passages:
            return passages.Passage(self.lines[0][: passages.MAX_CHARACTERS], 1, 1), range(1)
        if run is not None:
            return passages.join(self.passages, run, self.lines, at=at), run
        return passages.widen(self.passages, at, self.lines, worth=worth, taken=used)

    def place(self, passage: passages.Passage) -> tuple[int, int]:
        """Return the first and the last line of a passage in the file."""
        if self.whole:
            return 1, self.whole
        return passage.first_line + self.shift, passage.last_line + self.shift


def _post(found: Sequence[passages.Passage]) -> tuple[dict[str, str], list[int]]:
    """Return in which passages each word is, once for each time, and how many words each passage has."""
    postings: dict[str, str] = {}
    before = postings.get
    lengths = []
    for number, passage in enumerate(found):
        words = tokens(passage.text)
        lengths.append(len(words) or 1)
        place = chr(number) if number < _POSTED else ""
        for word in words:
            postings[word] = before(word, "") + place
    return postings, lengths


def read_page(record: Summary, raw: bytes) -> RecordPage:
    """Cut a record's bytes into passages. When the body is empty, the frontmatter may hold the words."""
    document = records.parse(record.path, raw)
    page = _cut(record, raw, document)
    page.fields = document.fields
    return page


def _cut(record: Summary, raw: bytes, document: Document) -> RecordPage:
    if record.path.endswith(".json"):  # its body is put together from several values
        return RecordPage(document.body, record.title, whole=max(1, len(lines_of(raw))), dated=record.ts)
    if not document.body.strip():
        return RecordPage("\n".join(lines_of(raw)), record.title, dated=record.ts)
    dated = f"{record.ts} {record.slug}"
    return RecordPage(document.body, record.title, shift=document.body_line - 1, dated=dated)


class Scored:
    """Passage `at` of a page; `source` is the number of its record, `terms` those of the terms in its text or title.

    `run` are the passages that make up its hit, where they are chosen already.
    """

    __slots__ = ("at", "page", "parts", "run", "score", "source", "terms")

    def __init__(
        self,
        source: int,
        page: RecordPage,
        at: int,
        terms: frozenset[int] = frozenset(),
        parts: dict[str, float] | None = None,
    ) -> None:
        self.source = source
        self.page = page
        self.at = at
        self.terms = terms
        self.parts = {} if parts is None else parts
        self.score = sum(self.parts.values())
        self.run: range | None = None

    def add(self, signal: str, points: float) -> None:
        """Add what a signal gives or takes."""
        if points:
            self.parts[signal] = self.parts.get(signal, 0.0) + points
            self.score += points


def best_first(found: Sequence[Scored]) -> list[Scored]:
    """Return passages by their scores, equal ones by record and place, so that the order is always the same."""
    return sorted(found, key=lambda one: (-one.score, one.source, one.at))


class Shelf:
    """Pages kept for the next question, each for the bytes that it was made of, up to a number of characters."""

    def __init__(self) -> None:
        self._pages: dict[str, tuple[bytes, RecordPage]] = {}
        self._size = 0

    def page(self, record: Summary, raw: bytes) -> RecordPage:
        """Return the page of a record with these bytes. Those that were asked for longest ago are given up."""
        before, page = self._pages.pop(record.path, (b"", None))
        self._size += len(raw) - len(before)
        if page is None or before != raw:
            page = read_page(record, raw)
        while self._pages and self._size > _KEPT_CHARACTERS:
            oldest, _ = self._pages.pop(next(iter(self._pages)))
            self._size -= len(oldest)
        self._pages[record.path] = (raw, page)
        return page
