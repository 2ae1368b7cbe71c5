"""A record's file as the ranking reads it: its passages, which words are in which, who speaks, what days it names.

The same bytes give the same page, so a page may be kept for the next question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

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
_BEGINNING = 2
"""Characters by which the words of a page are found again."""
_KEPT_CHARACTERS = 20_000_000


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
    `postings` say in which passages a word is, once for each time. `fields` are the frontmatter.
    """

    __slots__ = (
        "_heads", "_words", "asks", "chunks", "dated", "fields", "headings", "is_conversation", "lengths", "lines", "name",
        "only", "passages", "postings", "sentences", "shift", "speakers", "title", "whole",
    )  # fmt: skip

    def __init__(self, text: str, title: str, *, shift: int = 0, whole: int = 0, dated: str = "") -> None:
        self.lines = text.split("\n")
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
        self.speakers = [passages.speaker_of(passage) for passage in self.passages]
        self.asks = [passage.text.rstrip().endswith(("?", "？")) for passage in self.passages]
        self.is_conversation = passages.is_conversation(self.passages, self.speakers)
        self.postings: dict[str, list[int]] = {}
        self.lengths: list[int] = []
        for number, passage in enumerate(self.passages):
            words = tokens(passage.text)
            self.lengths.append(len(words) or 1)
            for word in words:
                self.postings.setdefault(word, []).append(number)
        self._heads: dict[str, list[str]] = {}
        self.chunks: list[EmbeddingChunk] = []
        self.sentences: PageSentences | None = None
        self._words: frozenset[str] | None = None

    def days(self) -> list[Day]:
        """Return the dates that the head of the record names. Only a question with a date needs them."""
        return days_in(self.dated)

    def words(self) -> frozenset[str]:
        """Return the different words of the page, its title and its headings."""
        if self._words is None:
            self._words = frozenset(self.postings).union(self.title, *self.headings.values())
        return self._words

    def words_like(self, beginnings: Iterable[str]) -> Iterator[str]:
        """Yield the words of the page whose first two characters are those of one of the beginnings."""
        if not self._heads:
            for word in self.words():
                self._heads.setdefault(word[:_BEGINNING], []).append(word)
        for head in {beginning[:_BEGINNING] for beginning in beginnings}:
            yield from self._heads.get(head, ())

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


class Shelf:
    """Pages kept for the next question, each for the bytes that it was made of, up to a number of characters."""

    def __init__(self) -> None:
        self._pages: dict[str, tuple[bytes, RecordPage]] = {}
        self._size = 0

    def page(self, record: Summary, raw: bytes) -> RecordPage:
        """Return the page of a record with these bytes."""
        kept = self._pages.get(record.path)
        if kept is not None and kept[0] == raw:
            return kept[1]
        page = read_page(record, raw)
        if self._size + len(raw) > _KEPT_CHARACTERS:
            self._pages.clear()
            self._size = 0
        self._pages[record.path] = (raw, page)
        self._size += len(raw)
        return page
