"""`extract_links`: update the links of one record and print what changed.

The index does this without help. This program is for callers that edit a file and want the difference at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from oracle.app.context import Context, Root
from oracle.app.records.edges import load_patterns, published_targets, read_text, require_record
from oracle.compat.door import add_root, complain, emit, make_parser, open_context
from oracle.compat.rendering import print_json
from oracle.domain.links.resolution import unresolved_target
from oracle.domain.names import slug_of
from oracle.errors import UsageError

USAGE = 2


def main(argv: list[str]) -> int:
    """Update the links of one file, which may be deleted.

    Prints `{source, edges_total, targets_added, targets_removed}`.
    """
    from oracle.app.records import graph

    args = _parser().parse_args(argv)
    with open_context(args) as context:
        context.root.require()
        path = _relative(context.root, args.file)
        if path is None and not Path(args.file).is_file():
            complain(f"error: not a file: {args.file}")
            return USAGE
        if path is None:
            complain(f"error: file is not under memory root {context.root.path}: {args.file}")
            return USAGE
        slug, before = slug_of(path), published_targets(context, slug_of(path))
        file = Path(context.root.join(path))
        if not file.is_file() and (not before or file.exists()):
            complain(f"error: not a file: {args.file}")
            return USAGE
        require_record(path)
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
    parser = make_parser("extract_links", "Update the links of one record.", allow_abbrev=True)
    parser.add_argument(
        "--file", required=True, metavar="PATH", help="a record under the Root; one that was deleted loses its links"
    )
    add_root(parser)
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    return parser


def _relative(root: Root, path: str) -> str | None:
    """Return a path relative to the Root, as written or after following links; None outside the Root."""
    for form in (path, str(Path(path).resolve())):
        try:
            relative = root.relative(form)
        except UsageError:
            continue
        if root.contains(root.join(relative)):
            return relative
    return None


# -- for importers -----------------------------------------------------------------------------------------------------


def extract_edges(source: str, text: str | None = None, project: str = "") -> list[dict[str, str]]:
    """Return the edges of a text. Call it with a text alone, or with a record's slug, its text and a project.

    Frontmatter is removed. A link to a record becomes the slug that it would have without closer candidates.
    """
    slug, content = ("", source) if text is None else (source, text)
    with Context.open(warn=lambda line: complain(f"note: {line}")) as context:
        found = read_text(context, content, project)
    references = [(item.type, unresolved_target(item.ref, slug), item.snippet) for item in found.references if item.ref]
    return _as_edges(slug, [*((item.type, item.target, item.snippet) for item in found.mentions), *references])


def _as_edges(source: str, found: Iterable[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [
        {"from": source, "source": source, "to": to, "target": to, "type": kind, "edge_type": kind, "snippet": snippet}
        for kind, to, snippet in found
        if to and to != source
    ]


def _load_component_suffixes(project: str) -> list[str]:
    """Return the component suffixes of a project in the default Root."""
    with Context.open(warn=lambda line: complain(f"note: {line}")) as context:
        return list(load_patterns(context, project).component_suffixes)
