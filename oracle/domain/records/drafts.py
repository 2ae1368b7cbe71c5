"""Drafts: the records that Memory is asked to write, and the rules that they keep. Pure.

Writing is strict where reading (`records`) is tolerant.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence

from oracle.domain.markdown.documents import Value, find_merges
from oracle.domain.names import MEMORY, ORPHAN_KINDS, check_name, cut
from oracle.domain.records.records import RELATIONS
from oracle.domain.spelling import find_near, suggest
from oracle.domain.values import NOTHING, value
from oracle.errors import InvalidName, InvalidRecord, OwnershipError, UsageError
from oracle.wording import Sentence, say

SCHEMA_VERSION = "2"
"""The version of the frontmatter that Memory writes; "1" is the reference's drop note."""

CONFIDENCES = ("high", "medium", "low")
TRUSTS = ("high", "medium", "low")
STATUSES = ("open", "investigating", "resolved", "completed", "superseded", "retired")
_RETIREMENT = "Retire "
_LONGEST_TITLE = 200
"""Characters of the title of a record that retires another."""
_MAX_SLUG_BYTES = 80


def retirement_of(title: str) -> str:
    """Return the title of a record that does nothing but retire another of this title."""
    return f"{_RETIREMENT}{title}"[:_LONGEST_TITLE]


def is_retirement(title: str) -> bool:
    """Return whether a record that retires another does nothing else, by its title."""
    return title.startswith(_RETIREMENT)


def check_task(text: str) -> None:
    """Raise InvalidName unless `text` may name a task: a name, `#12`, `GH#12`, any of them as an entity, or nothing.

    A text that holds a secret, or what stands for one, passes: the sentence would repeat it.
    """
    name = text.removeprefix("entity:taskid:")
    number = name.removeprefix("GH").removeprefix("#")
    if not text or (number.isascii() and number.isdigit() and name in (f"#{number}", f"GH#{number}")):
        return
    try:
        check_name(name, "The task id")
    except InvalidName as error:
        from oracle.domain.safety.secrets import find_secrets

        if "[REDACTED:" in text or find_secrets(text):
            return  # refused or replaced for what it is, by those who never print it
        raise InvalidName(
            error.sentence, hint=say("Write it as ARENA-228, #12 or GH#12; give several one by one.")
        ) from None


@value
class Evidence:
    """What a finding rests on: how far it is to be trusted, where it is, and the words themselves."""

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
    """A record that Memory is asked to write. Without a seat, the seat of the process writes it: `ORACLE_SEAT` or memory."""

    kind: str
    project: str
    title: str
    body: str = ""
    author: str = MEMORY
    seat: str = ""
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
                self._no_such_kind(),
                hint=say(
                    "Its kinds are decision, finding, task, plan and experience; a seat writes its own records into its own folder."
                ),
            )
        if not self.title.strip():
            raise InvalidRecord(say("The title is empty."), hint=say("Give a title of one line with --title."))
        if self.confidence not in CONFIDENCES:
            raise InvalidRecord(
                say("The confidence {confidence!r} is unknown.", confidence=cut(self.confidence)),
                hint=suggest(self.confidence, CONFIDENCES),
            )
        if self.status not in STATUSES:
            raise InvalidRecord(
                say("The status {status!r} is unknown.", status=cut(self.status)),
                hint=suggest(self.status, STATUSES),
            )
        for task in (self.task_id, *self.related_task_ids):
            check_task(task)
        self._check_evidence()
        refuse_merge(self.body, "body")

    def _no_such_kind(self) -> Sentence:
        if near := find_near(self.kind, ORPHAN_KINDS):
            return say(
                "Memory does not write records of the kind {kind!r}; did you mean {meant}?",
                kind=cut(self.kind),
                meant=near,
            )
        return say("Memory does not write records of the kind {kind!r}.", kind=cut(self.kind))

    @property
    def file_name(self) -> str:
        """The part of its file's name that its title gives."""
        return name_of(self.title)

    def require_body(self) -> None:
        """Raise InvalidRecord for a record without a text."""
        if not self.body.strip():
            raise InvalidRecord(say("The record has no text."), hint=say("Give it a body of at least one sentence."))

    def _check_evidence(self) -> None:
        if self.kind == "finding" and not self.evidence:
            raise InvalidRecord(
                say("A finding needs evidence, and none was given."),
                hint=say(
                    'Add --evidence \'[{{"trust": "high", "source_url": "src/app.py:12"}}]\' or --evidence '
                    "high:src/app.py:12."
                ),
            )
        for number, item in enumerate(self.evidence, 1):
            if item.trust not in TRUSTS or not item.source.strip():
                raise InvalidRecord(
                    say("Evidence {number} needs a trust of high, medium or low and a source.", number=number),
                    hint=say('Write it as {{"trust": "high", "source_url": "…"}} or high:SOURCE.'),
                )

    def fields(self, identifier: str, ts: str) -> dict[str, Value]:
        """Return the frontmatter in the order in which it is written; empty fields are left out."""
        relations = {key: list(getattr(self, key.replace("-", "_"))) for key in RELATIONS}
        values: dict[str, Value] = {
            "schema_version": SCHEMA_VERSION,
            "id": identifier,
            "project": self.project,
            "seat": self.seat or MEMORY,
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


# Evidence as a person states it on a command line: TRUST:SOURCE, or JSON

_HINT = say('Write it as high:src/app.py:12 or {{"trust": "high", "source_url": "src/app.py:12"}}.')


class NotAnObject(UsageError):
    """An item of evidence in JSON is a number, a text or a list."""


def parse_evidence(words: Sequence[str]) -> tuple[Evidence, ...]:
    """Return the evidence that was given, in order: a JSON object or array of them, or TRUST:SOURCE. Raises UsageError."""
    return tuple(item for word in words for item in _parse(word))


def _parse(word: str) -> list[Evidence]:
    text = word.strip()
    if text[:1] in ("{", "["):
        items = _load(text)
        return [_evidence(item) for item in (items if isinstance(items, list) else [items])]
    trust, colon, source = text.partition(":")
    if not colon:
        no_source = say("The evidence {word!r} has no source.", word=word)
        no_trust = say("The evidence {word!r} has no trust before its source.", word=word)
        raise UsageError(no_source if trust.lower() in TRUSTS else no_trust, hint=_HINT)
    return [Evidence(trust.strip().lower(), source.strip())]


def _load(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(say("The evidence is not valid JSON: {error}.", error=error), hint=_HINT) from error


def _evidence(item: object) -> Evidence:
    if not isinstance(item, dict):
        raise NotAnObject(
            say("Evidence in JSON is an object, not {item}.", item=json.dumps(item, ensure_ascii=False)[:40]),
            hint=_HINT,
        )
    values = {key: _as_text(value) for key, value in item.items()}
    trust = values.pop("trust", "")
    source_key = "source_url" if values.get("source_url") else "source"
    source = values.pop(source_key, "")
    return Evidence(trust, source, values.pop("quote", ""), {key: text for key, text in values.items() if text})


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def refuse_merge(text: str, place: str) -> None:
    """Raise InvalidRecord if a text holds an unresolved merge. Markers in a code block are text, and so is a lone line."""
    if "<<<<<<<" not in text:
        return
    for first, _ in find_merges(text):
        raise InvalidRecord(
            say("Line {line} of the {place} is a merge conflict marker. Nothing was written.", line=first, place=place),
            hint=say("Resolve the conflict. Markers that belong to the text go into a code block."),
        )
