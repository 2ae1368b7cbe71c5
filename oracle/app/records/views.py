"""What the use cases return: values for people and machines, each with a JSON form. No behaviour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oracle.domain.names import say_state
from oracle.domain.records.chains import replaced_by, replaces
from oracle.domain.values import contents_of, value
from oracle.wording import Sentence, say

_LONGEST_AUTHOR = 40
"""Characters of an author that are shown beside a seat: any program may have written more."""


@value
class Summary:
    """A record in a listing; the fields are those of the index, `retired_by` empty while the record holds."""

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
    retired_by: str
    retired_how: str

    @classmethod
    def from_row(cls, row: Iterable[object]) -> Summary:
        """Make a summary from an index row in the order of `index.query.SUMMARY`."""
        return cls(*("" if cell is None else str(cell) for cell in row))

    @property
    def seat_shown(self) -> str:
        """The seat as people read it, with another that the record claims to be of, else with an author who is another."""
        if self.claims_seat:
            return say("{seat} (claims {claimed})", seat=self.seat, claimed=self.claims_seat)
        author = " ".join(self.author.split())
        if author in ("", self.seat):
            return self.seat
        from oracle.domain.markdown.documents import clip

        return say("{seat} (by {author})", seat=self.seat, author=clip(author, _LONGEST_AUTHOR))

    @property
    def effective_status(self) -> str:
        """`superseded` or `retired` when a newer record says so, else the record's own status."""
        return status_by(self.retired_how) if self.retired_by else self.status

    @property
    def status_shown(self) -> str:
        """The effective status as people read it."""
        return say_state(self.effective_status)

    @property
    def is_retired(self) -> bool:
        """Return whether the record no longer holds, because of a newer record or its own status."""
        return bool(self.retired_by) or self.status in ("superseded", "retired")

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; `status` is the effective one."""
        values: dict[str, object] = contents_of(self)
        values["ts"] = values.pop("sort_ts")
        values["status"] = self.effective_status
        for name in ("claims_seat", "retired_by", "retired_how"):
            if not values[name]:
                del values[name]
        return values


def status_by(how: str) -> str:
    """Return the status of a record that another ended, by the type of its link: `retires` or `supersedes`."""
    return "retired" if how == "retires" else "superseded"


def backlink_json(
    target: str, row: tuple[str, str, str, int, int, str, str, str], chain: Sequence[str]
) -> dict[str, object]:
    """Return the JSON form of a link to a target, as the index gives it. `chain` is what replaced its source."""
    source, kind, snippet, line, _, path, by, how = row
    edge = {"from": source, "to": target, "type": kind, "line": line, "snippet": snippet, "path": path}
    return {**edge, "status": status_by(how), "retired_by": by, **chain_json(chain or (by,))} if by else edge


_LONGEST_CHAIN = 50
"""Successors of a record that JSON names; in a listing of a long chain all of them would be its square."""


def chain_json(chain: Sequence[str]) -> dict[str, object]:
    """Return `chain` for the JSON of a record, nothing for an empty one; a long one is cut, and `chain_length` its length."""
    if len(chain) <= _LONGEST_CHAIN:
        return {"chain": list(chain)} if chain else {}
    return {"chain": list(chain[:_LONGEST_CHAIN]), "chain_length": len(chain)}


@value
class Hit:
    """A search hit: the record, its score (higher is better), the passage and its lines in the file.

    The words of a question that say what it is about are its topic; rare ones weigh more. Shares are from 0 to 1.

    - `coverage`: the share of the topic in the passage, its headings and its title
    - `known`: the share of the topic that any record holds
    - `nearness`: how near it is in meaning, in standard deviations
    - `missing`: the words of the topic that it lacks, each with its share
    - `held`: the share that it holds, synonyms included; 0 if not measured
    - `translated`: the share that only words in the other language say, by their likeness
    - `why`: a few words for people; `parts`: what each signal gave
    - `instead_of`: the retired record that would have come first by its words; only the first hit has it
    """

    record: Summary
    score: float
    snippet: str
    first_line: int
    last_line: int
    chain: tuple[str, ...] = ()
    coverage: float = 0.0
    why: str = ""
    parts: tuple[tuple[str, float], ...] = ()
    instead_of: str = ""
    known: float = 1.0
    nearness: float = 0.0
    missing: tuple[tuple[str, float], ...] = ()
    held: float = 0.0
    translated: float = 0.0

    def as_json(self) -> dict[str, object]:
        """Return the JSON form with `lines` as "A:B"."""
        values = {
            **self.record.as_json(),
            "lines": f"{self.first_line}:{self.last_line}",
            "score": round(self.score, 4),
            "coverage": round(self.coverage, 2),
            "snippet": self.snippet,
            "why": self.why,
        }
        if self.instead_of:
            values["instead_of"] = self.instead_of
        return {**values, **chain_json(self.chain)}

    def as_answer(self) -> dict[str, object]:
        """Return the JSON form of a hit of a batch: `lines` as [first, last], and no more of the record than a reader needs."""
        record = self.record
        return {
            "slug": record.slug,
            "path": record.path,
            "lines": [self.first_line, self.last_line],
            "title": record.title,
            "seat": record.seat,
            **({"claims_seat": record.claims_seat} if record.claims_seat else {}),
            "kind": record.kind,
            "ts": record.sort_ts,
            "status": record.effective_status,
            "score": round(self.score, 4),
            "coverage": round(self.coverage, 2),
            "snippet": self.snippet,
            "why": self.why,
            **({"instead_of": self.instead_of} if self.instead_of else {}),
            **chain_json(self.chain),
        }


@value
class Shown:
    """A record's own lines: `text` holds lines `first_line` to `last_line` of the file, both from 1 and inclusive."""

    record: Summary
    text: str
    first_line: int
    last_line: int
    total_lines: int
    chain: tuple[str, ...]
    supersedes: tuple[str, ...]
    problems: tuple[tuple[int, str], ...]
    claims: tuple[tuple[str, str], ...] = ()
    """The records of other seats that claim to end it, each with the type of its link; they have no effect."""
    also_by: tuple[str, ...] = ()
    """The records beside `chain` that replace it too."""

    @property
    def notes(self) -> tuple[Sentence, ...]:
        """What a reader must know beside the text: what replaced it, what it replaces, who doubts it, what is wrong in it."""
        slug, status = self.record.slug, self.record.effective_status
        by = (
            [say("{slug} is {status} {by}", slug=slug, status=status, by=replaced_by(self.chain))] if self.chain else []
        )
        return (
            *by,
            *([say("it was also replaced by {others}", others=self.also_by)] if self.also_by else ()),
            *([replaces(self.supersedes)] if self.supersedes else ()),
            *(
                say("{slug} claims that it no longer holds; only its own seat or memory can end it", slug=other)
                for other, _ in self.claims
            ),
            *(say("line {line}: {reason}", line=line, reason=reason) for line, reason in self.problems),
        )

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            **self.record.as_json(),
            "lines": f"{self.first_line}:{self.last_line}",
            "total_lines": self.total_lines,
            "text": self.text,
            "chain": [],
            **chain_json(self.chain),
            **({"also_by": list(self.also_by)} if self.also_by else {}),
            "supersedes": list(self.supersedes),
            "problems": [{"line": line, "reason": reason} for line, reason in self.problems],
            **({"claims": [{"from": slug, "type": how} for slug, how in self.claims]} if self.claims else {}),
        }


@value
class Written:
    """The outcome of a write: `path` is absolute; in a dry run nothing was written and `text` is what would have been."""

    slug: str
    path: str
    id: str
    text: str
    dry_run: bool
    warnings: tuple[str, ...] = ()
    redacted: tuple[Sentence, ...] = ()
    near_duplicates: tuple[str, ...] = ()
    already: str = ""
    """Why nothing was written: `path` is then the record that did it before."""

    def as_json(self) -> dict[str, object]:
        """Return the JSON form; the text only in a dry run."""
        values: dict[str, object] = {
            "id": self.id,
            "slug": self.slug,
            "path": self.path,
            "warnings": list(self.warnings),
            "near_duplicates": list(self.near_duplicates),
        }
        if self.already:
            values["already"] = self.already
        if self.redacted:
            values["redacted"] = list(self.redacted)
        return {**values, "dry_run": True, "text": self.text} if self.dry_run else values
