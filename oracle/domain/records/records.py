"""Records: what a file of frontmatter and Markdown says, of any author. Pure.

Reading is tolerant: any field may be missing or odd. What Memory writes is held to the rules of `drafts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oracle.domain import timestamps
from oracle.domain.markdown.documents import Document, Problem, Value, as_list, as_text, says_nothing
from oracle.domain.names import MEMORY, ORPHAN_KINDS, SCAN_KINDS, fold_name, is_name
from oracle.domain.records.frontmatter_links import SEPARATORS, references_in, tasks_in
from oracle.domain.sources.source import CLAUDE_CODE, NAMED_BY_FILE, RECORD_KINDS
from oracle.domain.values import value
from oracle.wording import Sentence, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.domain.sources.source import Source

RELATIONS = ("supersedes", "retires", "contradicts", "supports", "extends", "derived-from")
_TASK_KEYS = ("task_id", "related_task_ids", "related_task", "related-task")
_SUPERSEDED_BY = "superseded_by"
_RELATION_KEYS = {
    "derived_from": "derived-from",
    _SUPERSEDED_BY: "references-record",
    **{name: name for name in RELATIONS},
}
RETIRING = ("supersedes", "retires")
_FOLDER_KINDS = {
    "decisions": "decision",
    "deliveries": "delivery",
    "issues": "issue",
    "findings": "finding",
    "test-results": "test_result",
    "doc-code-alignment": "alignment",
    "task-commit-gaps": "observation",
    "patterns": "pattern",
    "examples": "example",
}
_KIND_FOLDERS = frozenset(
    (*ORPHAN_KINDS, *_FOLDER_KINDS, *_FOLDER_KINDS.values(), *SCAN_KINDS, "library_knowledge", "derived")
) | frozenset(
    """event events note notes observations plans reflection reflections research scan scans spec specs tasks""".split()
)
"""Folders below a project that say what their files are, not who wrote them: Memory's kinds and those of older layouts."""

_TIME_KEYS = ("ts", "created_at", "created", "scanned_at", "date", "updated", "modified")
_EXACT_KEYS = frozenset(
    (*_TIME_KEYS, *_RELATION_KEYS, *_TASK_KEYS, "schema_version", "id", "project", "seat", "kind", "title", "author")
) | frozenset(("status", "confidence", "detail", "reason", "source", "evidence"))
_KEYS = {name.replace("_", "").replace("-", ""): name.replace("-", "_") for name in sorted(_EXACT_KEYS)} | {
    "relatedtasks": "related_task_ids",
    "relatedtaskid": "related_task_ids",
    "datecreated": "created",
    "creationdate": "created",
    "updatedat": "updated",
    "dateupdated": "updated",
    "lastupdated": "updated",
    "lastmod": "modified",
    "lastmodified": "modified",
    "modifiedat": "modified",
    "datemodified": "modified",
    "supersede": "supersedes",
    "contradict": "contradicts",
}
"""Which field a key means that is not itself the name of a field: in small letters, without `-`, `_` and blanks."""

_NAME_KEYS = frozenset(("name", "alias", "aliases", "id"))
_ENDED = ("superseded", "retired")
_MAX_TITLE = 300


@value
class Relation:
    """A typed relation that frontmatter states: `target` is an entity, or a reference to a record as it was written."""

    type: str
    target: str
    line: int
    key: str = ""
    """The field that states it, if that is not called as the relation is."""


@value
class Record:
    """The fields of one record file that listings, filters and rankings use; every one is text, "" when unknown.

    `seat` is the folder's; `claims_seat` is another that the frontmatter names.
    """

    slug: str
    path: str
    project: str
    seat: str
    kind: str
    title: str
    status: str
    author: str
    task_id: str
    ts: str
    sort_ts: str
    confidence: str
    claims_seat: str
    relations: tuple[Relation, ...]
    document: Document
    problems: tuple[Problem, ...] = ()


def interpret(document: Document, slug: str, path: str, *, mtime_ns: int, source: Source | None = None) -> Record:
    """Read a document as the record at root-relative `path`; fields win over the path, except for the seat.

    Project, seat and kind of a record in a `source` are the source's. Other fields are its own.
    `sort_ts` is the first time that can be read, in the order of `_TIME_KEYS`, else the stamp in the file's name, else its
    mtime. `problems` are those of the document and the times that can't be read.
    """
    known = understand(document)
    fields = known.fields
    folders = path.split("/")
    name = folders[-1].rsplit(".", 1)[0]
    ts, moment, problems = _times(known)
    kind, more = _kind(known)
    if source is not None:
        project, seat, claims_seat, kind, more = source.project, source.seat, "", RECORD_KINDS[source.kind], []
    else:
        project = _field(fields, "project") or (folders[1] if folders[0] == "projects" and len(folders) > 2 else "")
        seat, claims_seat = _seats(fields, folders)
    problems += more
    relations = tuple(_relations(known))
    return Record(
        slug=slug,
        path=path,
        project=project,
        seat=seat,
        kind=fold_name(kind or _kind_from(folders)),
        title=_title(known, name) if source is None else _title_in(source, known, name),
        status=_status(fields),
        author=_field(fields, "author"),
        task_id="" if says_nothing(task_id := _field(fields, "task_id")) else task_id,
        ts=ts,
        sort_ts=moment or timestamps.from_name(name) or timestamps.from_mtime(mtime_ns),
        confidence=_field(fields, "confidence"),
        claims_seat=claims_seat,
        relations=relations,
        document=document,
        problems=(*document.problems, *problems) if problems else document.problems,
    )


def understand(document: Document) -> Document:
    """Return the document with its fields under the names that we know: `Title`, `taskId`, `related-tasks`, `supersede`.

    A field that is present under its own name too keeps that value, of two other spellings the first counts. Keys that mean
    none of our fields stay as they are. A document whose keys need no reading is returned itself.
    """
    fields = document.fields
    if _EXACT_KEYS.issuperset(fields):
        return document
    names: dict[str, str] = {}
    for key in fields:
        if key not in _EXACT_KEYS:
            name = _KEYS.get(key.lower().replace("_", "").replace("-", "").replace(" ", ""))
            if name is not None and name not in fields and name not in names:
                names[name] = key
    if not names:
        return document
    spelled = {key: name for name, key in names.items()}
    lines = {spelled.get(key, key): line for key, line in document.key_lines.items()}
    named = {spelled.get(key, key): item for key, item in fields.items()}
    return Document(named, document.body, document.body_line, lines, document.problems)


def names_of(document: Document) -> tuple[str, ...]:
    """Return the names that a record gives itself for links: `name`, `alias`, `aliases` and `id`, whatever their case.

    Aliases in one line may be parted by commas; the whole line is a name too.
    """
    stated = [(key.lower(), item) for key, item in document.fields.items() if key.lower() in _NAME_KEYS]
    listed = [text for _, item in stated for text in as_list(item)]
    lines = [
        item for key, item in stated if key not in ("name", "id") and isinstance(item, str) and not item.startswith("[")
    ]
    parts = [part for line in lines for part in line.translate(SEPARATORS).split(",")]
    texts = (" ".join(text.split()).removeprefix("[[").removesuffix("]]") for text in (*listed, *parts))
    return tuple(dict.fromkeys(text for text in texts if text and len(text) <= _MAX_TITLE))


def _times(document: Document) -> tuple[str, str, list[Problem]]:
    """Return when a record says it was made: as written, as a sortable timestamp or "", and the times that can't be read."""
    written, moment = "", ""
    problems: list[Problem] = []
    for key in _TIME_KEYS:
        text = as_text(document.fields[key]) if document.fields.get(key) else ""
        if not text.strip() or text in ("null", "~"):
            continue
        written = written or text
        found = timestamps.to_utc(text)
        moment = moment or found
        if not found:
            problems.append(Problem(document.key_lines.get(key, 1), _why_unread(key, text)))
    return written, moment, problems


def _why_unread(key: str, text: str) -> Sentence:
    if timestamps.is_ambiguous(text):
        return say(
            "`{key}` has numbers alone with the year last, which may be two days; write it as 2026-11-28 or 28 Nov 2026.",
            key=key,
        )
    return say("`{key}` can't be read as a time; write it as 2026-11-28 or 2026-11-28T18:30:00Z.", key=key)


def _field(fields: Mapping[str, Value], key: str) -> str:
    """Return a field of one word, "" for what spans lines."""
    text = _stated(fields, key)
    return "" if "\n" in text else text


def _status(fields: Mapping[str, Value]) -> str:
    """Return the status of a record; one that names its successor is superseded."""
    status = _field(fields, "status").lower()
    is_ended = status in _ENDED or not any(references_in(text) for text in as_list(fields.get(_SUPERSEDED_BY, "")))
    return status if is_ended else _ENDED[0]


def _stated(fields: Mapping[str, Value], key: str) -> str:
    """Return a field of one word as it is written; the only item of a list is one too."""
    value = fields.get(key, "")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    text = value.strip() if isinstance(value, str) else ""
    return "" if text in ("null", "~") else text


def _kind(document: Document) -> tuple[str, list[Problem]]:
    """Return the kind that a record states, "" for anything but one name, which is a problem unless its line has one already."""
    kind = _stated(document.fields, "kind")
    if not kind or all(map(is_name, kind.split(" "))):
        return kind, []
    line = document.key_lines.get("kind", 1)
    if any(problem.line == line for problem in document.problems):
        return "", []
    return "", [Problem(line, say("`kind` is not a valid name; the folder gives the kind."))]


def _seats(fields: Mapping[str, Value], folders: list[str]) -> tuple[str, str]:
    """Return the seat of a record, and another that its frontmatter claims or ""."""
    stated = fold_name(_field(fields, "seat"))
    owner = owner_of(folders)
    if not owner:
        return stated or MEMORY, ""
    return owner, stated if stated != owner else ""


def owner_of(folders: Sequence[str]) -> str:
    """Return the seat that the folders of a root-relative path name; "" in older layouts, where the frontmatter says it.

    Every folder below a project is a seat's, except those that name a kind; the kinds that Memory writes are Memory's.
    """
    if folders[0] != "projects" or len(folders) < 4:
        return ""
    if folders[2] in ORPHAN_KINDS:
        return MEMORY
    return "" if folders[2] in _KIND_FOLDERS or folders[2].startswith("_") else fold_name(folders[2])


def _kind_from(folders: list[str]) -> str:
    """Return the kind of the innermost folder that names one; a project's own JSON file is of the kind of its name."""
    if folders[0] == "projects" and len(folders) == 3:
        return folders[2].rsplit(".", 1)[0]
    for folder in reversed(folders[1:-1]):
        if folder in _FOLDER_KINDS:
            return _FOLDER_KINDS[folder]
        if folder in ORPHAN_KINDS or folder in _FOLDER_KINDS.values() or folder == "library_knowledge":
            return folder
    return "note"


def _title_in(source: Source, document: Document, name: str) -> str:
    """Return the title of a record in a source: what it states, Claude Code's `name`, or the name of its file."""
    if source.kind == CLAUDE_CODE and _field(document.fields, "name"):
        name = _field(document.fields, "name")
    elif source.kind not in NAMED_BY_FILE or document.fields.get("title"):
        return _title(document, name)
    return " ".join(name.split())[:_MAX_TITLE]


def _title(document: Document, name: str) -> str:
    title = document.fields.get("title", "")
    text = title if isinstance(title, str) else as_text(title)
    if not text.strip():
        from oracle.domain.markdown.headings import first_heading

        text = first_heading(document.body) or name
    elif "](" in text or "[[" in text:
        from oracle.domain.markdown.headings import plain_heading

        text = plain_heading(text) or text
    return " ".join(text.split())[:_MAX_TITLE]


def _relations(document: Document) -> list[Relation]:
    """Return the relations that frontmatter states, in its order."""
    found = []
    for key, stated in document.fields.items():
        if key in _RELATION_KEYS:
            line = document.key_lines.get(key, 1)
            texts = [text for item in as_list(stated) for text in references_in(item)]
            named = key if key == _SUPERSEDED_BY else ""
            found += [Relation(_RELATION_KEYS[key], text, line, named) for text in texts]
        elif key in _TASK_KEYS:
            line = document.key_lines.get(key, 1)
            tasks = [task for item in as_list(stated) for task in tasks_in(item)]
            found += [Relation("related-task", task, line) for task in tasks]
    return found
