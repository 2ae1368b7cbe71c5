"""Facts without the values of credentials. Name, file, length and fingerprint identify them instead."""

from __future__ import annotations

import json
from collections.abc import Sequence

from oracle.app.answers.reply import CitedFact
from oracle.domain.safety.secrets import find_secrets
from oracle.store.root.facts import HIDDEN, Fact, hides

_ABOUT_SECRETS = frozenset(("fingerprint", "sources", "oauth_sources", "problems", "reason"))
"""Keys of a credential scan that only describe a credential. `store.facts` lists more."""


def veiled_fact(key: str, fact: Fact) -> object:
    """Return the value of a fact with every credential described instead of shown."""
    return _veiled(fact.value, key, fact.path, is_secret=_is_secret(key, fact.path))


def veiled_claim(item: CitedFact) -> dict[str, object]:
    """Return the claim of a cited fact. The value of a credential is described instead of shown."""
    claim = item.as_json()
    shown = _veiled(item.value, item.key, item.path, is_secret=_is_secret(item.key, item.path))
    if shown == item.value:
        return claim
    told = json.dumps(shown, ensure_ascii=False)
    return {**claim, "value": shown, "statement": f"{item.key} = {told}", "evidence": []}


def _is_secret(key: str, path: str) -> bool:
    """Return whether a dotted key leads to a secret, judging by the file's name and each part of the key."""
    parts: Sequence[str] = [path.rpartition("/")[2].removesuffix(".json"), *key.split(".")[1:]]
    is_secret = False
    for part in parts:
        is_secret = _hides(part, is_secret=is_secret)
    return is_secret


def _hides(key: str, *, is_secret: bool) -> bool:
    return key not in _ABOUT_SECRETS and hides(key, is_secret=is_secret)


def _veiled(content: object, name: str, source: str, *, is_secret: bool) -> object:
    if isinstance(content, dict):
        return {
            key: _veiled(item, f"{name}.{key}", source, is_secret=_hides(str(key), is_secret=is_secret))
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
    from oracle.scan.credentials import fingerprint

    found: dict[str, object] = {"credential": name, "source": source, "length": len(text)}
    digest = fingerprint(text)
    return {**found, "fingerprint": digest} if digest else found
