"""What an answer is made of: quotes, facts, records that no longer hold, and what was nearest.

The JSON of a reply is a response as `oracle deliver` takes it: every claim carries the evidence by which it can be checked.
"""

from __future__ import annotations

from oracle.domain.names import project_of
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.answers.quotes import Quote
    from oracle.app.codebase.stale_names import CheckedRecord
    from oracle.app.records.views import Summary

ANSWERED, CANDIDATES = "answered", "candidates"
NOT_IN_MEMORY, NOT_IN_FEDERATION = "not_in_memory_db", "not_in_federated_kb"

CERTAIN = 0.99
"""The probability of a fact whose key is asked for, and of a passage on an entity if the question asks what there is on it."""


@value
class Cited:
    """A claim: a record's own words. `handle` is what readers and models call it by."""

    handle: str
    record: Summary
    quote: Quote
    coverage: float
    probability: float
    checked: CheckedRecord
    contradicts: tuple[str, ...] = ()
    """Handles of the claims whose records contradict this one, or are contradicted by it."""
    stands_for: tuple[str, ...] = ()
    """Slugs of the records that it replaces, if one of them was found for the question."""
    said_in: tuple[str, ...] = ()
    """Slugs of other records that say the same, word for word."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        record, quote = self.record, self.quote
        evidence: dict[str, object] = {"path": quote.path, "lines": list(quote.lines), "quote": quote.text}
        if quote.place:
            evidence = {"file": quote.path, "path": quote.place, "expected_value": quote.text}
        names = [item.as_json() for item in self.checked.worst_names]
        evidence |= {"sha256": quote.sha256, "liveness": self.checked.liveness.value, "names": names}
        item: dict[str, object] = {
            "handle": self.handle,
            "statement": quote.text,
            "evidence": [{**evidence, "ts": record.sort_ts, "verified_at": self.checked.verified_at}],
            "slug": record.slug,
            "title": record.title,
            "project": record.project,
            "seat": record.seat,
            **({"author": record.author} if record.author not in ("", record.seat) else {}),
            **({"claims_seat": record.claims_seat} if record.claims_seat else {}),
            "kind": record.kind,
            "status": record.effective_status,
            "ts": record.sort_ts,
            "verified_at": self.checked.verified_at,
            "coverage": round(self.coverage, 2),
            "probability": round(self.probability, 2),
        }
        item |= {"contradicts": list(self.contradicts)} if self.contradicts else {}
        item |= {"said_in": list(self.said_in)} if self.said_in else {}
        return item | ({"stands_for": list(self.stands_for)} if self.stands_for else {})


@value
class CitedFact:
    """A value of a fact file, by its dotted key; one under a key that names a credential is hidden."""

    handle: str
    key: str
    path: str
    place: str
    value: object
    sha256: str
    verified_at: str
    is_hidden: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; what is hidden can't be checked by its value, so its evidence names the place alone."""
        evidence: dict[str, object] = {"file": self.path, "path": self.place, "sha256": self.sha256}
        if not self.is_hidden:
            evidence["expected_value"] = self.value
        statement = f"{self.key} = {self.text}"
        claim: dict[str, object] = {"handle": self.handle, "statement": statement, "key": self.key, "value": self.value}
        claim |= {"project": project} if (project := project_of(self.path)) else {}
        return {
            **claim,
            "evidence": [] if self.is_hidden else [evidence],
            "path": self.path,
            "verified_at": self.verified_at,
        }

    @property
    def text(self) -> str:
        """The value as text: words as they are, anything else as JSON."""
        import json

        return self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)


@value
class Replaced:
    """A record that was found and no longer holds; nothing of it is quoted."""

    record: Summary
    by: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"slug": self.record.slug, "status": self.record.effective_status, "by": list(self.by)}


@value
class Near:
    """A passage that was nearest but does not answer the question."""

    record: Summary
    lines: tuple[int, int]
    coverage: float

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        place = {"lines": f"{self.lines[0]}:{self.lines[1]}", "title": self.record.title}
        return {"slug": self.record.slug, "path": self.record.path, **place, "coverage": round(self.coverage, 2)}


@value
class Synthesis:
    """Prose that a program made of the claims. Only sentences that rest on valid claims are kept."""

    text: str
    dropped: int
    command: tuple[str, ...]
    fault: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        found: dict[str, object] = {"text": self.text, "dropped": self.dropped, "command": list(self.command)}
        return {**found, "fault": self.fault} if self.fault else found


@value
class Reply:
    """The answer to a question, passages that may hold it, or why there is neither.

    `claims` are quotes of the answer, or those of the candidates; `searched` is a sentence on what was searched.
    """

    question: str
    status: str
    project: str = ""
    seat: str = ""
    facts: tuple[CitedFact, ...] = ()
    claims: tuple[Cited, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    nearest: tuple[Near, ...] = ()
    unknown: tuple[str, ...] = ()
    searched: str = ""
    reason: str = ""
    synthesis: Synthesis | None = None
    judged_by: tuple[str, ...] = ()
    """The owner's command that judged the candidates."""

    @property
    def confidence(self) -> float:
        """How probable it is that the quotes and facts hold the answer, 0 to 1."""
        return max([CERTAIN for _ in self.facts] + [item.probability for item in self.claims], default=0.0)

    @property
    def answer(self) -> str:
        """The answer as one text: each fact and quote behind its handle."""
        if self.synthesis is not None and self.synthesis.text:
            return self.synthesis.text
        if self.status != ANSWERED:
            return self.status
        facts = [f"[{item.handle}] {item.key} = {item.text}" for item in self.facts]
        return "\n\n".join([*facts, *(f"[{item.handle}] {item.quote.text}" for item in self.claims)])

    def as_json(self) -> dict[str, object]:
        """Return the JSON form, which is a response that can be delivered."""
        quoted = [*(item.as_json() for item in self.facts), *(item.as_json() for item in self.claims)]
        sources = dict.fromkeys([*(item.path for item in self.facts), *(item.quote.path for item in self.claims)])
        is_answer = self.status == ANSWERED
        whole: dict[str, object] = {
            "question": self.question,
            "status": self.status,
            "answer": self.answer,
            "claims": quoted if is_answer else [],
            "candidates": [] if is_answer else quoted,
            "sources": list(sources) if is_answer else [],
            "replaced": [item.as_json() for item in self.replaced],
            "nearest": [item.as_json() for item in self.nearest],
            "unknown": list(self.unknown),
            "searched": self.searched,
        }
        whole |= {"confidence": round(self.confidence, 2)}
        whole |= {} if is_answer else {"reason": self.reason}
        whole |= {"judged_by": list(self.judged_by)} if self.judged_by else {}
        if self.synthesis is not None:
            whole |= {"synthesised": bool(self.synthesis.text), "synthesis": self.synthesis.as_json()}
        return whole
