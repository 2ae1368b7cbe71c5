"""The edges of a text or a file, beside the index: for programs that look at one file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from oracle.app.context import Context
from oracle.domain.links import links
from oracle.errors import UsageError
from oracle.store.markdown import markdown
from oracle.store.root import configuration, projects
from oracle.store.root.layout import RECORD_TREES, SKIPPED_FOLDERS
from oracle.wording import say


def load_patterns(context: Context, project: str = "") -> links.Patterns:
    """Return the link patterns of a project. What is wrong with a configuration file is a warning."""
    return configuration.patterns_of(
        context.root, project, report=lambda path, reason: context.warn(f"{path}: {reason}")
    )


def read_text(context: Context, text: str, project: str = "") -> links.Extraction:
    """Return the edges of a record's text, by the patterns of its project. Frontmatter is cut off."""
    patterns = load_patterns(context, project)
    from oracle.domain.links import references  # only a few commands read a text

    return references.extract(markdown.parse(text.encode("utf-8", "replace")).body, patterns)


def follow_repository(context: Context, project: str, before: str) -> None:
    """Rebuild the index if a project with records has another repository than `before`: paths are resolved against it."""
    is_another = projects.repository(context.root, project, os.environ) != before
    if is_another and os.path.isdir(context.root.join(context.root.project(project))):
        context.index.reconcile(patience=None, rebuild=True)


def require_record(path: str) -> None:
    """Raise UsageError for a root-relative path that can't be a record's."""
    folders = path.split("/")
    if folders[0] in RECORD_TREES and path.endswith((".md", ".json")) and not set(folders) & set(SKIPPED_FOLDERS):
        return
    raise UsageError(
        say("{path} is not a record.", path=path),
        hint=say("Records are .md and .json files under {folders}; only they have links.", folders=RECORD_TREES),
    )


def published_targets(context: Context, slug: str) -> set[str]:
    """Return the targets that `_links/` lists for a record. Invalid lines are skipped."""
    targets: set[str] = set()
    try:
        lines = Path(context.root.links_file(slug)).read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return targets
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            targets.add(str(entry.get("to") or entry.get("target") or ""))
    return targets - {""}
