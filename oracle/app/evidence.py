"""Look a response's claims up on disk. App room; reads files under the Root and the project's repository, and no others."""

from __future__ import annotations

import os

from oracle.domain import claims
from oracle.domain.claims import Claim, Report, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oracle.store.layout import Root

LARGEST = 16 << 20
"""Bytes of a file that is looked at; a larger one counts as gone, since a quote in it could not be looked up whole."""


def read_response(given: Mapping[str, object]) -> tuple[dict[str, object], tuple[Claim, ...]]:
    """Return a response as it is stored, before its claims are checked, and the claims. Raises UsageError.

    `claims` and `sources` are always there, and a text that claims nothing is of `unverified` confidence.
    """
    found = claims.read_claims(given)
    response = {key: item for key, item in given.items() if key not in ("all_verified", "claim_results")}
    for key in ("claims", "sources"):
        if response.get(key) is None:
            response[key] = []
    response["confidence"] = claims.confidence_of(found, response.get("confidence"))
    return response, found


def check(root: Root, repo: str, made: Sequence[Claim]) -> Report:
    """Check every claim against the files as they are now."""
    return claims.check(made, {path: Source(_read(root, repo, path)) for path in claims.paths_of(made)})


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
