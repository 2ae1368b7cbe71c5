"""Records: what a file of frontmatter and Markdown says, whoever wrote it, and the rules for those that Memory writes.

Pure. Reading is tolerant (any field may be missing or odd), writing is strict (`Draft.check`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from oracle.domain import timestamps
from oracle.domain.documents import Document, Value, as_list, as_text
from oracle.domain.seats import MEMORY, ORPHAN_KINDS, role_of
from oracle.domain.slugs import ENTITY, entity
from oracle.domain.values import NOTHING, value
from oracle.errors import InvalidRecord, OwnershipError

SCHEMA_VERSION = "2"
"""The version of the frontmatter that Memory writes; "1" is the reference's drop note."""

CONFIDENCES = ("high", "medium", "low")
TRUSTS = ("high", "medium", "low")
STATUSES = ("open", "investigating", "resolved", "completed", "superseded", "retired")
RETIRING = ("supersedes", "retires")
RELATIONS = ("supersedes", "retires", "contradicts", "supports", "extends", "derived-from")
_RELATION_KEYS = {"derived_from": "derived-from", **{name: name for name in RELATIONS}}
_TASK_KEYS = ("task_id", "related_task_ids", "related_task", "related-task")
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
_MAX_TITLE = 300
_MAX_SLUG_BYTES = 80


@value
class Relation:
    """A typed relation that frontmatter states: `target` is an entity, or a reference to a record as it was written."""

    type: str
    target: str
    line: int


@value
class Record:
    """The fields of one record file that listings, filters and rankings use; every one is text, "" when unknown."""

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
    relations: tuple[Relation, ...]
    document: Document


def interpret(document: Document, slug: str, path: str, *, mtime_ns: int) -> Record:
    """Read a document as the record at root-relative `path`; fields win over the path, the path over nothing.

    `sort_ts` is the field `ts`, `created_at`, `scanned_at` or `date`, else the stamp in the file's name, else its mtime.
    """
    fields = document.fields
    ts = next((as_text(fields[key]) for key in ("ts", "created_at", "scanned_at", "date") if fields.get(key)), "")
    folders = path.split("/")
    name = folders[-1].rsplit(".", 1)[0]
    sort_ts = timestamps.to_utc(ts) or timestamps.from_name(name) or timestamps.from_mtime(mtime_ns)
    return Record(
        slug=slug,
        path=path,
        project=_field(fields, "project") or (folders[1] if folders[0] == "projects" and len(folders) > 2 else ""),
        seat=_field(fields, "seat") or _seat_from(folders),
        kind=_field(fields, "kind") or _kind_from(folders),
        title=_title(document, name),
        status=_field(fields, "status").lower(),
        author=_field(fields, "author"),
        task_id=_field(fields, "task_id"),
        ts=ts,
        sort_ts=sort_ts,
        confidence=_field(fields, "confidence"),
        relations=tuple(_relations(document)),
        document=document,
    )


def _field(fields: Mapping[str, Value], key: str) -> str:
    value = fields.get(key, "")
    text = value.strip() if isinstance(value, str) else ""
    return "" if text in ("null", "~") else text


def _seat_from(folders: list[str]) -> str:
    if folders[0] == "projects" and len(folders) > 3:
        return folders[2] if role_of(folders[2]) else MEMORY
    return MEMORY


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


def _title(document: Document, name: str) -> str:
    title = document.fields.get("title", "")
    text = title if isinstance(title, str) else as_text(title)
    if not text.strip():
        text = next((line for line in document.body.splitlines() if line.strip(" \t#")), name)
        text = text.lstrip("# \t") if text.startswith("#") else text
    return " ".join(text.split())[:_MAX_TITLE]


def _relations(document: Document) -> list[Relation]:
    found = []
    for key, stated in document.fields.items():
        line = document.key_lines.get(key, 1)
        if key in _RELATION_KEYS:
            found += [
                Relation(_RELATION_KEYS[key], _reference(item), line) for item in as_list(stated) if _reference(item)
            ]
        elif key in _TASK_KEYS:
            found += [Relation("related-task", _task(item), line) for item in as_list(stated) if _one_line(item)]
    return found


def _reference(text: str) -> str:
    """Strip what people put around a slug: wikilink brackets, an alias, a suffix, a leading `~/.agents/memory/`."""
    ref = _one_line(text).removeprefix("[[").removesuffix("]]").split("|")[0].strip()
    ref = ref.removeprefix("~/.agents/memory/")
    if ref in ("null", "~", "None") or ref.startswith("/"):
        return ""
    for suffix in (".md", ".json"):
        ref = ref.removesuffix(suffix)
    return ref


def _task(text: str) -> str:
    value = _one_line(text)
    return value if value.startswith(ENTITY) else entity("taskid", unicodedata.normalize("NFC", value))


def _one_line(text: str) -> str:
    return "".join(" " if ord(char) < 32 else char for char in text).strip()


@value
class Evidence:
    """What a finding rests on: how far it is to be trusted, where it stands, and the words themselves."""

    trust: str
    source: str
    quote: str = ""
    extra: Mapping[str, str] = NOTHING

    def as_value(self) -> dict[str, Value]:
        """Return the frontmatter form; unknown keys of the caller survive."""
        value: dict[str, Value] = {"trust": self.trust, "source_url": self.source}
        if self.quote:
            value["quote"] = self.quote
        value.update({key: text for key, text in self.extra.items() if key not in value})
        return value


@value
class Draft:
    """A record that Memory is asked to write."""

    kind: str
    project: str
    title: str
    body: str = ""
    author: str = MEMORY
    seat: str = MEMORY
    status: str = "open"
    detail: str = ""
    task_id: str = ""
    confidence: str = "medium"
    source: str = "write_api"
    evidence: tuple[Evidence, ...] = ()
    related_task_ids: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    retires: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    supports: tuple[str, ...] = ()
    extends: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    extra: Mapping[str, Value] = NOTHING

    def check(self) -> None:
        """Raise InvalidRecord, or OwnershipError for a kind that is not Memory's, when a rule of the kind is broken."""
        if self.kind not in ORPHAN_KINDS:
            raise OwnershipError(
                f"Memory does not write records of the kind {self.kind!r}.",
                hint="Its kinds are decision, finding, task and plan; a seat writes its own records into its own folder.",
            )
        if not self.title.strip():
            raise InvalidRecord("The title is empty.", hint="Give a title of one line with --title.")
        if self.confidence not in CONFIDENCES:
            raise InvalidRecord(f"The confidence {self.confidence!r} is unknown.", hint="Choose high, medium or low.")
        if self.status not in STATUSES:
            raise InvalidRecord(f"The status {self.status!r} is unknown.", hint=f"Choose one of {', '.join(STATUSES)}.")
        self._check_evidence()

    def _check_evidence(self) -> None:
        if self.kind == "finding" and not self.evidence:
            raise InvalidRecord(
                "A finding needs evidence, and none was given.",
                hint="""Add --evidence '[{"trust": "high", "source_url": "src/app.py:12"}]' or --evidence high:src/app.py:12.""",
            )
        for number, item in enumerate(self.evidence, 1):
            if item.trust not in TRUSTS or not item.source.strip():
                raise InvalidRecord(
                    f"Evidence {number} needs a trust of high, medium or low and a source.",
                    hint="""Write it as {"trust": "high", "source_url": "…"} or high:SOURCE.""",
                )

    def fields(self, identifier: str, ts: str) -> dict[str, Value]:
        """Return the frontmatter in the order in which it is written; empty fields are left out."""
        relations = {key: list(getattr(self, key.replace("-", "_"))) for key in RELATIONS}
        values: dict[str, Value] = {
            "schema_version": SCHEMA_VERSION,
            "id": identifier,
            "project": self.project,
            "seat": self.seat,
            "kind": self.kind,
            "title": " ".join(self.title.split()),
            "author": self.author,
            "status": self.status,
            "ts": ts,
            "task_id": self.task_id,
            "detail": self.detail,
            "confidence": self.confidence,
            "source": self.source,
            "evidence": [item.as_value() for item in self.evidence],
            "related_task_ids": list(self.related_task_ids),
            **{key.replace("-", "_"): targets for key, targets in relations.items()},
        }
        values.update({key: value for key, value in self.extra.items() if key not in values})
        return {key: value for key, value in values.items() if value not in ("", [])}


def name_of(title: str) -> str:
    """Return the part of a file name that a title gives: letters and digits of any script, lower case, at most 80 bytes."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", title).lower())
    words = "".join(char if char.isalnum() or unicodedata.category(char) in ("Mn", "Mc") else " " for char in folded)
    slug = "-".join(words.split()).encode()[:_MAX_SLUG_BYTES].decode("utf-8", "ignore")
    return slug.strip("-") or "untitled"
