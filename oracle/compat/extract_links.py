"""`extract_links`: bring one record's links up to date and say what changed.

The index reads links by itself; this program is for those who edit a file and want the difference at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from oracle.app.context import Context
from oracle.compat.door import careful, complain, emit, serve, warn
from oracle.compat.rendering import print_json
from oracle.domain.links import links
from oracle.domain.names.slugs import slug_of
from oracle.errors import UsageError
from oracle.store.markdown import markdown
from oracle.store.root import configuration
from oracle.store.root.layout import RECORD_TREES, SKIPPED_FOLDERS, Root, choose_root

USAGE = 2


def run() -> int:
    """Run the program on the process's arguments and return its exit code."""
    return serve(main)


def main(argv: list[str]) -> int:
    """Update the links of one file, which may be gone, and print `{source, edges_total, targets_added, targets_removed}`."""
    from oracle.app.records import graph

    args = _parser().parse_args(argv)
    with Context.open(args.memory_dir, warn=warn) as context:
        context.root.require()
        path = _relative(context.root, args.file)
        if path is None:
            complain(f"error: file is not under memory root {context.root.path}: {args.file}")
            return USAGE
        slug, before = slug_of(path), _published(context.root, slug_of(path))
        file = Path(context.root.join(path))
        if not file.is_file() and (not before or file.exists()):
            complain(f"error: not a file: {args.file}")
            return USAGE
        _require_record(path)
        edges = graph.links(context, slug, fresh=True)
    after = {target for _, target, *_ in edges}
    outcome = {
        "source": slug,
        "edges_total": len(edges),
        "targets_added": sorted(after - before),
        "targets_removed": sorted(before - after),
    }
    if not args.quiet:
        emit(print_json(outcome))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="extract_links", description="Bring the links of one record up to date.")
    parser.add_argument(
        "--file", required=True, metavar="PATH", help="a record under the Root; one that was deleted loses its links"
    )
    parser.add_argument("--memory-dir", metavar="DIR", help="the Root")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    return careful(parser)


def _relative(root: Root, path: str) -> str | None:
    """Return the root-relative form of a path, as it is written or once links are followed; None outside the Root."""
    for form in (path, str(Path(path).resolve())):
        try:
            relative = root.relative(form)
        except UsageError:
            continue
        if root.contains(root.join(relative)):
            return relative
    return None


def _require_record(path: str) -> None:
    folders = path.split("/")
    if folders[0] in RECORD_TREES and path.endswith((".md", ".json")) and not set(folders) & set(SKIPPED_FOLDERS):
        return
    raise UsageError(
        f"{path} is no record.",
        hint=f"Records are .md and .json files under {', '.join(RECORD_TREES)}; only they have links.",
    )


def _published(root: Root, slug: str) -> set[str]:
    """Return the targets that `_links/` states for a record; a line that is no JSON object is passed over."""
    targets: set[str] = set()
    try:
        lines = Path(root.links_file(slug)).read_text(encoding="utf-8", errors="replace").split("\n")
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


# -- for importers -----------------------------------------------------------------------------------------------------


def extract_edges(source: str, text: str | None = None, project: str = "") -> list[dict[str, str]]:
    """Return the edges of a text: called with a text alone, or with the slug of its record, the text and a project.

    Frontmatter is cut off. A link to a record comes back as the slug it would have if nothing else stood closer.
    """
    slug, content = ("", source) if text is None else (source, text)
    patterns = _patterns(project)
    found = links.extract(markdown.parse(content.encode("utf-8", "replace")).body, patterns)
    references = [
        (item.type, links.unresolved_target(item.ref, slug), item.snippet) for item in found.references if item.ref
    ]
    return _as_edges(slug, [*((item.type, item.target, item.snippet) for item in found.mentions), *references])


def _as_edges(source: str, found: Iterable[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [
        {"from": source, "source": source, "to": to, "target": to, "type": kind, "edge_type": kind, "snippet": snippet}
        for kind, to, snippet in found
        if to and to != source
    ]


def _patterns(project: str) -> links.Patterns:
    root = Root(choose_root())
    return configuration.load_patterns(root, project, report=lambda path, why: complain(f"note: {path}: {why}"))


def _load_component_suffixes(project: str) -> list[str]:
    """Return the suffixes that make a word a component in a project of the Root that the environment chooses."""
    return list(_patterns(project).component_suffixes)
