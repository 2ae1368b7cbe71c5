"""Issues that beads keeps: one JSON object a line, each read as a Markdown record. Pure."""

from __future__ import annotations

import json

from oracle.domain.names import is_name
from oracle.domain.sources.source import SUFFIX, without_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_SECTIONS = {
    "description": "",
    "design": "Design",
    "acceptance_criteria": "Acceptance criteria",
    "notes": "Notes",
    "close_reason": "Why it was closed",
}
_FIELDS = {
    "title": "title",
    "status": "status",
    "issue_type": "issue_type",
    "assignee": "author",
    "created_at": "created_at",
    "updated_at": "updated",
    "closed_at": "closed_at",
}


def read_issues(lines: Iterable[bytes]) -> tuple[dict[str, bytes], list[int]]:
    """Return the issues as Markdown by file name, and the numbers of the lines that hold none. The last line of an id counts."""
    found: dict[str, bytes] = {}
    bad: list[int] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        issue = _parse(line)
        if issue is None:
            bad.append(number)
        elif issue.get("status") == "tombstone":
            found.pop(f"{issue['id']}{SUFFIX}", None)
        else:
            found[f"{issue['id']}{SUFFIX}"] = _printed(issue).encode("utf-8", "replace")
    return found, bad


def _parse(line: bytes) -> dict[str, object] | None:
    try:
        issue = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    is_issue = isinstance(issue, dict) and isinstance(issue.get("id"), str) and is_name(issue["id"])
    return issue if is_issue and without_secret(issue["id"]) == issue["id"] else None


def _printed(issue: dict[str, object]) -> str:
    """Return an issue as frontmatter and sections; what it depends on are links."""
    head = {name: issue.get(key) for key, name in _FIELDS.items()}
    head |= {"aliases": [issue["id"]], "priority": issue.get("priority"), "tags": issue.get("labels")}
    lines = [
        f"{name}: {json.dumps(item, ensure_ascii=False)}" for name, item in head.items() if item not in (None, "", [])
    ]
    text = ["---", *lines, "---", ""]
    for key, heading in _SECTIONS.items():
        content = issue.get(key)
        if isinstance(content, str) and content.strip():
            text += [f"## {heading}", "", content.strip(), ""] if heading else [content.strip(), ""]
    needs = issue.get("dependencies")
    for need in needs if isinstance(needs, list) else []:
        target = need.get("depends_on_id") if isinstance(need, dict) else None
        if isinstance(target, str) and is_name(target):
            text.append(f"- {need.get('type') or 'depends on'}: [[{target}]]")
    return "\n".join(text) + "\n"
