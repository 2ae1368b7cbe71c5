"""Quotes: found in a file, kept with its hash, and read again before they are returned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from oracle.app.context import Context
from oracle.app.records.views import Summary
from oracle.domain.links.entity_query import EntityQuery
from oracle.domain.markdown.documents import Document, digest_of, find_conflicts, text_of
from oracle.domain.values import value
from oracle.index.read import query
from oracle.store.markdown import records
from oracle.store.markdown.markdown import find_second_block

MAX_CHARACTERS = 700
"""Of one quote; whole lines, unless one line is longer."""


@value
class QuotedFile:
    """A record's file as it was read for an answer, its bytes those that the index knows."""

    record: Summary
    raw: bytes
    document: Document
    lines: tuple[str, ...]
    """Its lines as they are counted everywhere."""
    sha256: str
    merged: frozenset[int] = frozenset()
    """The lines of unresolved merges and of a second frontmatter, of which no side is quoted."""


@value
class Quote:
    """Words from a file: at lines, in a JSON file also at a dotted path."""

    path: str
    text: str
    lines: tuple[int, int]
    sha256: str
    place: str = ""


def open_source(context: Context, record: Summary) -> QuotedFile | None:
    """Read a record's file; None when it is gone, was changed since the index read it, or is not for the seat that asks."""
    if not context.may_read(record.path):
        return None
    known = query.digest_of(context.index.database.connect(), record.path)
    try:
        raw = records.load(context.root, record.path, known=known)
    except OSError:
        return None
    if known != digest_of(raw):
        return None
    lines = tuple(text_of(raw).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    document = records.parse(record.path, raw)
    merged = {number for first, last in find_conflicts(lines) for number in range(first, last + 1)}
    merged.update(find_second_block(document))
    return QuotedFile(record, raw, document, lines, hashlib.sha256(raw).hexdigest(), frozenset(merged))


def quote_lines(source: QuotedFile, first: int, last: int, text: str) -> Quote | None:
    """Return the quote of a passage that search found at some lines; None when the file does not hold it there.

    A passage with a line of an unresolved merge is not quoted. Blank lines around it are left out, and a heading alone is
    followed by the text below it.
    """
    lines = source.lines
    if not text.strip() or first < 1 or last > len(lines) or text not in "\n".join(lines[first - 1 : last]):
        return None
    if not source.merged.isdisjoint(range(first, last + 1)):
        return None
    if text != "\n".join(lines[first - 1 : last]):  # a piece of a long line
        return Quote(source.record.path, text.strip(), (first, last), source.sha256)
    while not lines[first - 1].strip():
        first += 1
    while not lines[last - 1].strip():
        last -= 1
    if all(line.startswith("#") or not line.strip() for line in lines[first - 1 : last]):
        last = _behind_heading(source, first, last)
    return Quote(source.record.path, "\n".join(lines[first - 1 : last]), (first, last), source.sha256)


def quote_beside_merges(source: QuotedFile, first: int, last: int, share_in: Callable[[str], float]) -> Quote | None:
    """Return the paragraph of a passage that is outside unresolved merges, if it holds most of the question's words."""
    spans = [span for span in _paragraphs(source) if first <= span[0] and span[1] <= last]
    best = max(_quoted(source, spans), key=lambda quote: share_in(quote.text), default=None)
    return best if best is not None and 2 * share_in(best.text) > 1 else None


def _behind_heading(source: QuotedFile, first: int, last: int) -> int:
    lines = source.lines
    size = sum(len(line) + 1 for line in lines[first - 1 : last])
    end = last
    for number in range(last + 1, len(lines) + 1):
        line = lines[number - 1]
        size += len(line) + 1
        if size > MAX_CHARACTERS or (line.startswith("#") and end > last) or number in source.merged:
            break
        if line.strip():
            end = number
        elif end > last:
            break
    return end


def best_quote(source: QuotedFile, share_in: Callable[[str], float]) -> Quote | None:
    """Return the paragraph of a record with the greatest `share_in` of a question's words; None for an empty record.

    The first of equals is taken.
    """
    if source.record.path.endswith(".json"):
        return quote_value(source, share_in)
    return max(_quoted(source, _paragraphs(source)), key=lambda quote: share_in(quote.text), default=None)


def _paragraphs(source: QuotedFile) -> Iterator[tuple[int, int]]:
    first, size = 0, 0
    lines = source.lines
    for number in range(source.document.body_line, len(lines) + 1):
        line = lines[number - 1]
        size += len(line) + 1
        is_break = not line.strip() or number in source.merged
        if first and (is_break or size > MAX_CHARACTERS):
            yield first, number - 1
            first, size = 0, len(line) + 1
        if not is_break and len(line) <= MAX_CHARACTERS:
            first = first or number
    if first:
        yield first, len(lines)


def naming_quotes(source: QuotedFile, entities: Sequence[EntityQuery], *, most: int) -> list[Quote]:
    """Return the first paragraphs that name one of some entities, those that name all of them first; else the first lines."""
    if source.record.path.endswith(".json"):
        made = [_quote_at(source, place, text) for place, text in _values(source)]
    else:
        made = list(_quoted(source, _paragraphs(source))) or list(_quoted(source, [(1, len(source.lines))]))
    counts = [(-sum(asked.is_named_in(quote.text) for asked in entities), at) for at, quote in enumerate(made)]
    naming = [made[at] for count, at in sorted(counts) if count]
    found: list[Quote] = []
    for quote in naming:  # a heading brings the paragraph below it
        if all(quote.lines[0] > other.lines[1] or other.lines[0] > quote.lines[1] or quote.place for other in found):
            found.append(quote)
    return found[:most] or made[:1]


def _quoted(source: QuotedFile, spans: Iterable[tuple[int, int]]) -> Iterator[Quote]:
    for first, last in spans:
        quote = quote_lines(source, first, last, "\n".join(source.lines[first - 1 : last]))
        if quote is not None:
            yield quote


def quote_value(source: QuotedFile, share_in: Callable[[str], float]) -> Quote | None:
    """Return the text of a JSON record that holds most of a question's words, with its place in the file."""
    found = [(share_in(text), place, text) for place, text in _values(source)]
    if not found:
        return None
    _, place, text = max(found, key=lambda item: item[0])
    return _quote_at(source, place, text)


def _quote_at(source: QuotedFile, place: str, text: str) -> Quote:
    return Quote(source.record.path, text, (1, max(1, len(source.lines) - 1)), source.sha256, place)


def _values(source: QuotedFile) -> list[tuple[str, str]]:
    """Return (path, text) of the texts of a JSON record; none of one that can't be read."""
    try:
        content = json.loads(source.raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return []
    return [(place, text) for place, text in texts_in(content) if text.strip()]


def texts_in(content: object, place: str = "$", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of every text of a JSON value, not deeper than 32."""
    if isinstance(content, str):
        yield place, content
    elif isinstance(content, dict) and depth < 32:
        for key, item in content.items():
            yield from texts_in(item, f"{place}[{json.dumps(key, ensure_ascii=False)}]", depth + 1)
    elif isinstance(content, list) and depth < 32:
        for index, item in enumerate(content):
            yield from texts_in(item, f"{place}[{index}]", depth + 1)


def still_stands(context: Context, quote: Quote) -> bool:
    """Return whether the file of a quote holds the same bytes as when it was quoted."""
    try:
        raw = records.load(context.root, quote.path)
    except OSError:
        return False
    return hashlib.sha256(raw).hexdigest() == quote.sha256
