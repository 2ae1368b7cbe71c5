"""Look a response's claims up on disk, in files of the Root and of the project's repository and in no others."""

from __future__ import annotations

import os

from oracle.app.claims import shape
from oracle.domain.records.responses import require_json
from oracle.domain.values import value
from oracle.errors import ClaimsFailed
from oracle.wording import joined, say, say_many

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from oracle.domain.records.verdicts import ClaimReport
    from oracle.store.root.layout import Root

LARGEST = 16 << 20
"""Bytes of a file that is looked at; a larger one counts as gone, since a quote in it could not be looked up whole."""

UNVERIFIED = "unverified"


@value
class Verified:
    """A response as it is stored, and what its claims are worth; `report` is None when it makes none."""

    response: Mapping[str, object]
    count: int = 0
    report: ClaimReport | None = None

    @property
    def all_verified(self) -> bool | None:
        """Return whether every claim is verified where it says; None when nothing is claimed."""
        return None if self.report is None else self.report.all_verified

    @property
    def confidence(self) -> str:
        """How sure its writer is; a text that claims nothing is unverified."""
        return str(self.response["confidence"])

    def require(self) -> None:
        """Raise ClaimsFailed when a claim is not borne by its evidence."""
        if self.report is not None and self.report.failed:
            raise _refusal(self.report)


def verify(root: Root, repo: str, given: Mapping[str, object]) -> Verified:
    """Check the claims of a response against the files as they are now. Raises UsageError for a malformed response.

    `claims` and `sources` are always there in what is stored.
    """
    require_json(given)
    kept = {key: item for key, item in given.items() if key not in ("all_verified", "claim_results")}
    for key in ("claims", "sources"):
        if kept.get(key) is None:
            kept[key] = []
    if kept["claims"] == []:
        shape.require_response(kept)
        return Verified({**kept, "confidence": UNVERIFIED, "all_verified": None, "claim_results": []})
    from oracle.domain.records import responses, verdicts

    made = responses.read_claims(kept)
    kept["claims"] = responses.in_full(kept["claims"])
    shape.require_response(kept)
    sources = {path: verdicts.CitedFile(_read(root, repo, path)) for path in responses.paths_of(made)}
    report = verdicts.check(made, sources)
    kept["confidence"] = responses.confidence_of(made, kept.get("confidence"))
    return Verified({**kept, **report.as_json()}, len(made), report)


def _refusal(report: ClaimReport) -> ClaimsFailed:
    worst = report.failed[0]
    reasons = [f"{finding.evidence.path}: {finding.verdict}" for finding in worst.findings] or [say("no evidence")]
    return ClaimsFailed(
        say_many(
            "{failed} of {n} claim does not hold: {statement!r} ({reasons}). Nothing was delivered.",
            "{failed} of {n} claims do not hold, the first being {statement!r} ({reasons}). Nothing was delivered.",
            n=len(report.claims),
            failed=len(report.failed),
            statement=worst.claim.statement[:120],
            reasons=joined("; ", reasons[:3]),
        ),
        hint=say("Correct the claims, or deliver without --strict: the answer then says which claims fail."),
    )


def _read(root: Root, repo: str, path: str) -> bytes | None:
    for place in _places(root, repo, path):
        try:
            if os.path.isfile(place) and os.path.getsize(place) <= LARGEST:
                with open(place, "rb") as stream:
                    return stream.read()
        except (OSError, ValueError):
            continue
    return None


def _places(root: Root, repo: str, path: str) -> Iterator[str]:
    """Yield where a path may lead: below the Root (also as the name of a fact file), then below the repository."""
    expanded = os.path.expanduser(path) if path.startswith("~/") else path
    bases = [root.path, repo] if repo else [root.path]
    names = [expanded] if os.path.isabs(expanded) else [path, f"{path}.json", f"machine/{path}", f"machine/{path}.json"]
    for base in bases:
        real = os.path.realpath(base).rstrip("/")
        for name in names:
            place = os.path.realpath(os.path.join(base, name))
            if real and place.startswith(f"{real}/"):
                yield place
