"""Try what a text mentions, which records it points at, and where those words lead."""

from __future__ import annotations

from typing import Any

import pytest

from oracle.domain.links import extract, reference_key, resolve, unresolved_target

SOURCE = "projects/arena/decision/2026-01-01-a"


def edges(text: str, records: tuple[str, ...] = (), *, source: str = SOURCE) -> list[tuple[str, str]]:
    """Return (type, target) as the index would have them: references resolved, self links dropped."""
    found = extract(text)
    pairs = [(mention.type, mention.target) for mention in found.mentions]
    for reference in found.references:
        candidates = [slug for slug in records if reference_key(slug) == reference_key(reference.ref)]
        target = resolve(reference.ref, source, candidates) or unresolved_target(reference.ref, source)
        if target != source:
            pairs.append((reference.type, target))
    return pairs


@pytest.mark.cases("links")
def test_every_case_gives_just_its_edges(case: dict[str, Any]) -> None:
    found = edges(case["text"], tuple(case.get("records", ())))
    assert len(found) == len(set(found))
    wanted = {tuple(edge) for edge in case["edges"]}
    allowed = {tuple(edge) for key in ("also_ok", "maybe") for edge in case.get(key, [])}
    assert wanted <= set(found) <= wanted | allowed
