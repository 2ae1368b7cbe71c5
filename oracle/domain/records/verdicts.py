"""How claims compare with files: each piece of evidence verified, moved, missing or a mismatch. Pure.

Whoever checks brings the files' bytes; nothing here opens one. A quote is looked for verbatim, with every run of white space
counted as one blank, so that a wrapped line is no other quote. Values are compared with their types: `1` is not `true`.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from oracle.domain.markdown.documents import text_of
from oracle.domain.records.responses import Claim, ClaimedQuote, Evidence, Expected
from oracle.domain.values import value
from oracle.wording import say

_WORD = re.compile(r"\S+")


class Verdict(StrEnum):
    """The result for a piece of evidence, best first."""

    VERIFIED = "verified"
    MOVED = "moved"
    MISSING = "missing"
    MISMATCH = "mismatch"


_SEVERITY = list(Verdict)


@value
class CitedFile:
    """A file as it was read for the check: its bytes, or None when it is gone or may not be read."""

    raw: bytes | None

    @property
    def sha256(self) -> str:
        """The hash of the bytes, "" for a file that is gone."""
        return "" if self.raw is None else hashlib.sha256(self.raw).hexdigest()


@value
class Finding:
    """What became of one piece of evidence: the lines where it is now, and the hash of the file that was looked at."""

    evidence: Evidence
    verdict: Verdict
    reason: str = ""
    lines: tuple[int, int] | None = None
    sha256: str = ""

    def as_json(self) -> dict[str, object]:
        """Return the object that a stored response holds."""
        item: dict[str, object] = {
            "path": self.evidence.path,
            "verdict": self.verdict.value,
            "sha256": self.sha256 or None,
        }
        if isinstance(self.evidence, Expected):
            item["file"] = item.pop("path")
            item["path"] = self.evidence.place
        if self.lines:
            item["lines"] = list(self.lines)
        if self.reason:
            item["reason"] = self.reason
        return item


@value
class CheckedClaim:
    """A claim with what became of its evidence; the worst piece decides."""

    claim: Claim
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the worst piece of evidence; a claim without any is missing its evidence."""
        return max((finding.verdict for finding in self.findings), key=_SEVERITY.index, default=Verdict.MISSING)

    def as_json(self) -> dict[str, object]:
        """Return the object that a stored response holds."""
        return {
            "statement": self.claim.statement,
            "verdict": self.verdict.value,
            "evidence": [finding.as_json() for finding in self.findings],
        }


@value
class ClaimReport:
    """Every claim of a response, checked."""

    claims: tuple[CheckedClaim, ...] = ()

    @property
    def all_verified(self) -> bool | None:
        """Return whether every claim is verified where it says; None when nothing is claimed."""
        return all(item.verdict is Verdict.VERIFIED for item in self.claims) if self.claims else None

    @property
    def failed(self) -> tuple[CheckedClaim, ...]:
        """The claims that their evidence does not support: a mismatch, or missing. One that moved is still true."""
        return tuple(item for item in self.claims if item.verdict in (Verdict.MISMATCH, Verdict.MISSING))

    def as_json(self) -> dict[str, object]:
        """Return the keys that a stored response gains: all_verified and claim_results."""
        return {"all_verified": self.all_verified, "claim_results": [item.as_json() for item in self.claims]}


def check(claims: Iterable[Claim], sources: Mapping[str, CitedFile]) -> ClaimReport:
    """Check every claim against the files that were read; a path that `sources` lacks counts as gone."""
    folded: dict[str, Folded] = {}
    contents: dict[str, object] = {}
    checked = []
    for claim in claims:
        findings = [
            _check_one(item, sources.get(item.path, CitedFile(None)), folded=folded, contents=contents)
            for item in claim.evidence
        ]
        checked.append(CheckedClaim(claim, tuple(findings)))
    return ClaimReport(tuple(checked))


def _check_one(item: Evidence, source: CitedFile, *, folded: dict[str, Folded], contents: dict[str, object]) -> Finding:
    if source.raw is None:
        return Finding(item, Verdict.MISSING, say("The file does not exist."))
    if isinstance(item, Expected):
        if item.path not in contents:
            contents[item.path] = _parse(source.raw)
        return check_value(item, contents[item.path], sha256=source.sha256)
    if item.path not in folded:
        folded[item.path] = fold(text_of(source.raw).removeprefix("\ufeff"))
    return check_quote(item, folded[item.path], sha256=source.sha256)


@value
class Folded:
    """A text with its white space folded, and for each of its words the offset and the line where it begins."""

    text: str
    starts: list[int]
    lines: list[int]

    def line_of(self, offset: int) -> int:
        """Return the line of a character, counted from 1."""
        return self.lines[bisect_right(self.starts, offset) - 1]

    def offset_of(self, line: int) -> int:
        """Return where the first word at or behind a line begins."""
        at = bisect_left(self.lines, line)
        return self.starts[at] if at < len(self.starts) else len(self.text) + 1


def fold(text: str) -> Folded:
    r"""Fold a text; a line ends at `\n`, `\r\n` or `\r`. Linear in the length of the text."""
    words: list[str] = []
    starts: list[int] = []
    lines: list[int] = []
    at = 0
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        for word in _WORD.findall(line):
            words.append(word)
            starts.append(at)
            lines.append(number)
            at += len(word) + 1
    return Folded(" ".join(words), starts, lines)


def check_quote(item: ClaimedQuote, source: Folded, *, sha256: str = "") -> Finding:
    """Look for a quote: at its lines it is verified, elsewhere moved (the nearest place is named), else a mismatch."""
    wanted = " ".join(item.quote.split())
    if not wanted:
        return Finding(item, Verdict.MISMATCH, say("The quote is empty."), None, sha256)
    if item.lines:
        first, behind = source.offset_of(item.lines[0]), source.offset_of(item.lines[1] + 1)
        at = source.text.find(wanted, first, behind)
        if at >= 0:
            return Finding(item, Verdict.VERIFIED, "", _lines(source, at, wanted), sha256)
    at = _nearest(source, wanted, item.lines)
    if at < 0:
        return Finding(item, Verdict.MISMATCH, say("The file does not hold the quote."), None, sha256)
    verdict, reason = (Verdict.MOVED, say("The quote is at other lines.")) if item.lines else (Verdict.VERIFIED, "")
    return Finding(item, verdict, reason, _lines(source, at, wanted), sha256)


def _lines(source: Folded, at: int, wanted: str) -> tuple[int, int]:
    return source.line_of(at), source.line_of(at + len(wanted) - 1)


def _nearest(source: Folded, wanted: str, lines: tuple[int, int] | None) -> int:
    if not lines:
        return source.text.find(wanted)
    around = source.offset_of(lines[0])
    behind = source.text.find(wanted, around)
    before = source.text.rfind(wanted, 0, around + len(wanted))
    if before < 0 or behind < 0:
        return max(before, behind)
    distance = lines[0] - source.line_of(before), source.line_of(behind) - lines[0]
    return before if distance[0] < distance[1] else behind


_NOT_JSON = object()
"""The content of a file that is not JSON."""


def _parse(raw: bytes) -> object:
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return _NOT_JSON


def check_value(item: Expected, content: object, *, sha256: str) -> Finding:
    """Compare the value at a path with the expected one, types included; a path that leads nowhere is missing."""
    if content is _NOT_JSON:
        return Finding(item, Verdict.MISMATCH, say("The file is not valid JSON."), None, sha256)
    steps = parse_place(item.place)
    if steps is None:
        return Finding(item, Verdict.MISMATCH, say("The path can't be read."), None, sha256)
    found = look_up(content, steps)
    if found is NOWHERE:
        return Finding(item, Verdict.MISSING, say("The path leads nowhere in the file."), None, sha256)
    if not equals(found, item.value):
        return Finding(item, Verdict.MISMATCH, say("Another value is at the path."), None, sha256)
    return Finding(item, Verdict.VERIFIED, "", None, sha256)


# Paths in JSON: `a.b[0]`, `/a/b/0`, `$['a.b']` -------------------------------------------------------------------------

_STEP = re.compile(
    r"""\[\s*(?:(?P<index>-?\d{1,9})|'(?P<single>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)")\s*\]
      | (?:[./]|\A)(?P<key>[^./\[\]]+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_INDEX = re.compile(r"-?[0-9]{1,9}")
_LONGEST_KEY = 16
"""Steps of a path that one key with dots in it may take up."""

NOWHERE = object()
"""What `look_up` returns for a path that leads nowhere; null is a value like any other."""

Step = str | int
"""A key, or the number of a list item; a key of digits counts items where it meets a list."""


def parse_place(place: str) -> tuple[Step, ...] | None:
    """Return the steps of a path, () for the whole file, or None for a text that is no path."""
    rest = place.strip().removeprefix("$")
    steps: list[Step] = []
    at = 1 if rest.startswith("/") and rest != "/" else 0
    rest = rest[at:] if at else rest
    if rest in ("", ".", "/"):
        return ()
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if not found:
            return None
        at = found.end()
        if found["index"] is not None:
            steps.append(int(found["index"]))
        elif found["key"] is not None:
            steps.append(found["key"])
        else:
            steps.append(_ESCAPED.sub(r"\1", found["single"] if found["single"] is not None else found["double"]))
    return tuple(steps)


def look_up(content: object, steps: Sequence[Step]) -> object:
    """Follow a path; where keys hold dots or slashes themselves, the longest run of steps that is a key is tried first."""
    reached: list[tuple[object, int]] = [(content, 0)]
    seen: set[tuple[int, int]] = set()
    while reached:
        here, at = reached.pop()
        if at == len(steps):
            return here
        if (id(here), at) in seen:
            continue
        seen.add((id(here), at))
        reached += reversed(list(_below(here, steps, at)))
    return NOWHERE


def _below(here: object, steps: Sequence[Step], at: int) -> Iterable[tuple[object, int]]:
    step = steps[at]
    if isinstance(here, list):
        number = step if isinstance(step, int) else int(step) if _INDEX.fullmatch(step) else len(here)
        if -len(here) <= number < len(here):
            yield here[number], at + 1
    elif isinstance(here, dict):
        for end in range(min(len(steps), at + _LONGEST_KEY), at, -1):
            for joint in "./" if end - at > 1 else ".":
                key = joint.join(map(str, steps[at:end]))
                if key in here:
                    yield here[key], end


def equals(one: object, other: object) -> bool:
    """Return whether two JSON values are the same, types included: 1, 1.0, true and "1" are four values."""
    pairs = [(one, other)]
    while pairs:
        left, right = pairs.pop()
        if type(left) is not type(right):
            return False
        if isinstance(left, dict) and isinstance(right, dict):
            if left.keys() != right.keys():
                return False
            pairs += [(left[key], right[key]) for key in left]
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                return False
            pairs += zip(left, right, strict=True)
        elif left != right:
            return False
    return True
