"""Facts as they may leave: the value of a credential never does; its name, file, length and fingerprint say which one it is."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from oracle.domain.secrets import find_secrets
from oracle.store.facts import HIDDEN, hides

if TYPE_CHECKING:
    from oracle.app.replies import CitedFact
    from oracle.store.facts import Fact

LEAST_TELLING = 16
"""Characters from which a value has a fingerprint: that of a short one could be tried out."""
_DIGITS = 12


def veiled_fact(key: str, fact: Fact) -> object:
    """Return the value of a fact with every credential in it described instead of told."""
    parts = [*fact.path.removesuffix(".json").split("/")[-1:], *key.split(".")[1:]]
    is_secret = False
    for part in parts:
        is_secret = hides(part, is_secret=is_secret)
    return _veiled(fact.value, key, fact.path, is_secret=is_secret)


def veiled_claim(item: CitedFact) -> dict[str, object]:
    """Return the claim of a fact that an answer cites, its value described when it is a credential's."""
    claim = item.as_json()
    parts = [item.path.removesuffix(".json").rpartition("/")[2], *item.key.split(".")[1:]]
    is_secret = False
    for part in parts:
        is_secret = hides(part, is_secret=is_secret)
    shown = _veiled(item.value, item.key, item.path, is_secret=is_secret)
    if shown == item.value:
        return claim
    return {
        **claim,
        "value": shown,
        "statement": f"{item.key} = {json.dumps(shown, ensure_ascii=False)}",
        "evidence": [],
    }


def _veiled(content: object, name: str, source: str, *, is_secret: bool) -> object:
    if isinstance(content, dict):
        return {
            key: _veiled(item, f"{name}.{key}", source, is_secret=hides(str(key), is_secret=is_secret))
            for key, item in content.items()
        }
    if isinstance(content, list):
        return [_veiled(item, f"{name}.{at}", source, is_secret=is_secret) for at, item in enumerate(content)]
    if content in (None, True, False, "", HIDDEN) or not (
        is_secret or (isinstance(content, str) and find_secrets(content))
    ):
        return content
    return _described(str(content), name, source)


def _described(text: str, name: str, source: str) -> dict[str, object]:
    found: dict[str, object] = {"credential": name, "source": source, "length": len(text)}
    if len(text) >= LEAST_TELLING:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        found["fingerprint"] = f"sha256:{digest[:_DIGITS]}"
    return found
