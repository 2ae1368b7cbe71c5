"""Check a response's claims against the fact files on disk."""

from __future__ import annotations

import re
from collections.abc import Mapping

from oracle.errors import OracleError
from oracle.store.root import facts
from oracle.store.root.layout import Root, choose_root

_STEP = re.compile(r"""\[\s*(?:"([^"]*)"|'([^']*)'|([^\]]*?))\s*\]|([^./\[\]]+)""")


def verify_claims(response: Mapping[str, object], memory_dir: str) -> dict[str, object]:
    """Return `{all_verified, claim_results}`: a claim holds when all its evidence does, and it has some.

    Evidence `{file, path, expected_value}` holds when the value is on disk and is the same JSON value, of the same type;
    it is in a claim's `evidence` list or in the claim itself. A response without claims says nothing that could be
    checked: `{"all_verified": null, "reason": "legacy_schema_no_evidence"}`.
    """
    claims = response.get("claims")
    if claims is None:
        return {"all_verified": None, "reason": "legacy_schema_no_evidence"}
    root = Root(choose_root(memory_dir))
    results = [_verify(root, claim) for claim in (claims if isinstance(claims, list) else [claims])]
    return {"all_verified": all(result["verified"] for result in results), "claim_results": results}


def _verify(root: Root, claim: object) -> dict[str, object]:
    content = claim if isinstance(claim, Mapping) else {"statement": claim}
    given = content.get("evidence", [content] if "file" in content else [])
    items = given if isinstance(given, list) else [given]
    checked = [_check(root, item) for item in items]
    statement = content.get("statement", content.get("claim", content.get("text", "")))
    return {
        "statement": statement,
        "verified": bool(checked) and all(not item["reason"] for item in checked),
        "evidence": checked,
    }


def _check(root: Root, item: object) -> dict[str, object]:
    content = item if isinstance(item, Mapping) else {}
    file, path = str(content.get("file", "")), str(content.get("path", ""))
    return {"file": file, "path": path, "verified": not (reason := _fault(root, content, file, path)), "reason": reason}


def _fault(root: Root, content: Mapping[str, object], file: str, path: str) -> str:
    """Return why a piece of evidence does not hold, or ""."""
    if not file or "expected_value" not in content:
        return "incomplete_evidence"
    try:
        name, _ = facts.find_file(root, *_split(file))
        value = facts.look_up(facts.load(root, name), steps_of(path))
    except OracleError as error:
        return error.code
    if value is facts.MISSING:
        return "path_not_found"
    return "" if _is_same(value, content["expected_value"]) else "value_mismatch"


def _split(file: str) -> tuple[str, str]:
    """Return (name, project) of a fact file written as `x`, `x.json`, `machine/x.json` or `projects/p/x.json`."""
    parts = file.removesuffix(".json").split("/")
    if len(parts) == 3 and parts[0] == "projects":
        return parts[2], parts[1]
    return "/".join(parts[1:] if parts[0] == "machine" else parts), ""


def steps_of(path: str) -> list[str]:
    """Return the steps of a path such as `$.a[0]/b`, `a.0.b` or `$['a.b']`."""
    return ["".join(groups) for groups in _STEP.findall(path.strip().removeprefix("$"))]


def _is_same(value: object, expected: object) -> bool:
    """Compare JSON values strictly: 1 is not true, and not "1"; 1 and 1.0 are the same number."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, dict) and isinstance(expected, dict):
        return value.keys() == expected.keys() and all(_is_same(item, expected[key]) for key, item in value.items())
    if isinstance(value, list) and isinstance(expected, list):
        return len(value) == len(expected) and all(map(_is_same, value, expected))
    return value == expected
