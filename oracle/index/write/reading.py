"""Convert a record file into the plain tuples that the index stores. No SQL, so that another process can do it.

References to records are resolved later, by `rows`.
"""

from __future__ import annotations

import os
from collections import namedtuple

from oracle.domain.links.links import Patterns, reference_key, settle_target
from oracle.domain.markdown.documents import Document, Value, as_text, digest_of
from oracle.domain.names import is_entity, is_scanned
from oracle.domain.records.records import Record, interpret, names_of, understand
from oracle.index.fold import fold
from oracle.index.schema import problem_columns
from oracle.store.disk.folders import Stat
from oracle.store.markdown import records
from oracle.store.markdown.sources import MAX_BYTES, WHOLE
from oracle.store.root.layout import Root
from oracle.wording import say

RECORD_COLUMNS = """slug path folder key mtime_ns size inode ctime_ns hash project seat kind title status author task_id ts
    sort_ts confidence claims_seat""".split()
"""The columns of a reading's row, in order."""

_UNSEARCHED_FIELDS = frozenset(
    """schema_version format id issue_id title kind project seat author status ts created_at scanned_at confidence source
    filename_stamp content_source memory_type role_scope abstraction_level importance confidence_score success_score session_id
    valid_from valid_to similar""".split()
)
"""Fields for filters. As searchable text they would only make all records alike."""

_MENTION_FIELDS = ("title", "detail", "reason")
_EVIDENCE_KEYS = ("source_url", "source", "path", "quote")
_MARKS = frozenset("0123456789/.[:")


TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple

    from oracle.domain.sources.source import Source

    class _Reading(NamedTuple):
        row: tuple[str | int | bytes, ...]
        title: str
        body: str
        edges: list[tuple[str, str, str, int]]
        references: list[tuple[str, str, str, str, int]]
        names: list[tuple[str, str]]
        problems: list[tuple[int, str, str]]
else:
    _Reading = namedtuple("_Reading", "row title body edges references names problems")


class Reading(_Reading):
    """The content of a file: its row, the folded texts, edges to entities, references to records, its names, and problems.

    `edges` are (type, target, snippet, line), `references` (type, ref, key, snippet, line), `names` (key, name), `problems`
    (line, reason, sentence).
    """

    __slots__ = ()

    @property
    def slug(self) -> str:
        """The record's slug."""
        return str(self.row[0])


def load(root: Root, path: str) -> tuple[bytes, str] | None:
    """Return the bytes of a record and why they could not be read ("" if they could), or None if it does not exist."""
    try:
        return records.load(root, path), ""
    except FileNotFoundError:
        return None
    except OSError as error:
        return b"", say("The file can't be read: {reason}.", reason=error.strerror)


def read_bytes(
    path: str,
    slug: str,
    stat: Stat,
    raw: bytes,
    *,
    patterns: Patterns,
    reason: str = "",
    document: Document | None = None,
    source: Source | None = None,
) -> Reading:
    """Read the bytes of the file at root-relative `path`, in a `source` or in the Root. Never raises.

    `document` is their parsed content, if known.
    """
    if document is None:
        document = records.parse(path, raw)
    record = interpret(document, slug, path, mtime_ns=stat.mtime_ns, source=source)
    known = understand(document)
    edges, references = _links_of(record, known, patterns)
    problems = [problem_columns(problem.line, problem.reason) for problem in record.problems]
    row = (
        slug, path, os.path.dirname(path), reference_key(slug), *stat, digest_of(raw),
        record.project, record.seat, record.kind, record.title, record.status, record.author, record.task_id,
        record.ts, record.sort_ts, record.confidence, record.claims_seat,
    )  # fmt: skip
    title, body = ("", "") if is_scanned(path) else (fold(record.title), fold(_searched(known)))
    own = reference_key(slug.rpartition("/")[2])  # that of its file is no other name
    names = [(key, name) for name in names_of(document) if (key := reference_key(name)) != own]
    if source is not None and stat.size > MAX_BYTES and source.kind not in WHOLE:
        reason = say("The file is larger than {size} MiB; the rest of it is not read.", size=MAX_BYTES // 1024 // 1024)
    problems += [problem_columns(1, reason)] if reason else []
    return Reading(row, title, body, edges, references, names, problems)


def _links_of(
    record: Record, known: Document, patterns: Patterns
) -> tuple[list[tuple[str, str, str, int]], list[tuple[str, str, str, str, int]]]:
    from oracle.domain.links.references import extract  # programs that only resolve links need none of it

    edges: dict[tuple[str, str], tuple[str, int]] = {}
    refs: dict[tuple[str, str], tuple[str, int]] = {}
    for relation in record.relations:
        bucket = edges if is_entity(relation.target) else refs
        snippet = f"{relation.key or relation.type}: {relation.target}"[:160]
        bucket.setdefault((relation.type, settle_target(relation.target, patterns)), (snippet, relation.line))
    for text, first_line in _prose(known):
        found = extract(text, patterns)
        for mention in found.mentions:
            edges.setdefault((mention.type, mention.target), (mention.snippet, first_line + mention.line - 1))
        for reference in found.references:
            refs.setdefault((reference.type, reference.ref), (reference.snippet, first_line + reference.line - 1))
    if record.path.endswith(".json"):  # its text is assembled from several values
        edges = {key: (snippet, 1) for key, (snippet, _) in edges.items()}
        refs = {key: (snippet, 1) for key, (snippet, _) in refs.items()}
    return (
        [(kind, target, *place) for (kind, target), place in edges.items()],
        [(kind, ref, reference_key(ref), *place) for (kind, ref), place in refs.items()],
    )


def _prose(document: Document) -> list[tuple[str, int]]:
    """Return the texts that are searched for links, each with its first line in the file."""
    fields = [(document.fields.get(name, ""), document.key_lines.get(name, 1)) for name in _MENTION_FIELDS]
    texts = [(value, line) for value, line in fields if isinstance(value, str) and _may_link(value)]
    texts.append((document.body, document.body_line))
    evidence = document.fields.get("evidence")
    if evidence:
        line = document.key_lines.get("evidence", 1)
        texts += [(f"evidence: {text}", line) for text in dict.fromkeys(_evidence_texts(evidence)) if _may_link(text)]
    return texts


def _evidence_texts(evidence: Value) -> list[str]:
    """Return the places and quotes of evidence, each on one line, so that an indented or fenced word is not taken for code."""
    items = evidence if isinstance(evidence, list) else [evidence]
    texts = [
        text
        for item in items
        for text in ([item.get(key, "") for key in _EVIDENCE_KEYS] if isinstance(item, dict) else [item])
    ]
    return [" ".join(as_text(text).split()) for text in texts if text]


def _may_link(text: str) -> bool:
    """Return whether a title can contain a link: every link has a digit, a mark or a capital inside a word."""
    return not _MARKS.isdisjoint(text) or text[1:] != text[1:].lower()


def _searched(document: Document) -> str:
    values = [as_text(value) for key, value in document.fields.items() if key not in _UNSEARCHED_FIELDS]
    return "\n".join([document.body, *values])
