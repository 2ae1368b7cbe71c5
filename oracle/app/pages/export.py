"""Export records as one HTML file to send: it loads nothing, and it holds what the guard lets out.

Records are hostile: their Markdown is cleaned, every other text is escaped, and the policy of the page runs no script but its own.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections import Counter
from functools import cache
from hashlib import blake2b, sha256
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import nh3
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from oracle.app import guard
from oracle.app.pages import graph as graph_drawing
from oracle.app.pages import record_body, svg
from oracle.app.pages import timeline as timeline_drawing
from oracle.app.pages.markdown import to_html
from oracle.app.records import graph, listing, naming
from oracle.domain import timestamps
from oracle.domain.values import replace, value
from oracle.errors import NotInMemory, RecordExists, UsageError
from oracle.index import fold
from oracle.store.disk import steps
from oracle.store.markdown import records
from oracle.wording import say, say_many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from jinja2 import Template

    from oracle.app.context import Context
    from oracle.app.pages.timeline import Timeline
    from oracle.app.records.views import Summary
    from oracle.domain.links.graph import Walk

_FOLDER = Path(__file__).parent
_ID_BYTES = 6


@value
class Exported:
    """The file, how many records and bytes it holds, and how often each rule of the guard replaced something."""

    path: str
    records: int
    size: int
    replaced: Mapping[str, int]

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"path": self.path, "records": self.records, "bytes": self.size, "redacted": dict(self.replaced)}


@value
class Selection:
    """What is exported: a title, the records with the newest first, and the walk to draw."""

    title: str
    records: tuple[Summary, ...]
    walk: Walk


@value
class ExportedRecord:
    """A record as the page shows it. `replaced_by` are names with their addresses, "" for records that are not exported."""

    id: str
    title: str
    about: str
    status: str
    is_retired: bool
    replaced_by: tuple[tuple[str, str], ...]
    body: Markup


class _Cleaner:
    """Replace in every text what the guard does not let out, and count what was replaced, once in each text."""

    def __init__(self, context: Context) -> None:
        self._guard = guard.open_guard(context, personal=True)
        self._known: dict[str, str] = {}
        self.replaced: Counter[str] = Counter()

    def clean(self, text: str) -> str:
        """Return a text as it may leave the machine."""
        if text not in self._known:
            self._known[text], rules = self._guard.clean(text)
            self.replaced.update(rules)
        return self._known[text]

    def body(self, html: str) -> Markup:
        """Return the HTML of a record. Where only its text without the tags holds something, return that text, cleaned."""
        text = unescape(nh3.clean(html, tags=set()))
        if not self._guard.finds_in([text]):
            return Markup(html)  # noqa: S704 -- `to_html` cleaned it
        return Markup("<pre>{}</pre>").format(svg.legible_lines(self.clean(text)))


def export(
    context: Context,
    out: str,
    *,
    project: str = "",
    target: str = "",
    depth: int = 1,
    language: str,
    force: bool = False,
) -> Exported:
    """Write the records of a project, or around a target, or all of them, to an HTML file.

    Raises RecordExists for a file that exists, unless `force`; NotInMemory, NotInFederation, RulesUnusable, UsageError,
    DiskFailure.
    """
    path = _check_place(context, out, force=force)
    selection = select(context, project=project, target=target, depth=depth)
    cleaner = _Cleaner(context)
    page = render(context, selection, cleaner, language=language).encode("utf-8", "replace")
    if force:
        steps.replace(path, page)
    elif not steps.create_once(path, page):
        raise _exists(path)
    return Exported(path, len(selection.records), len(page), cleaner.replaced)


def _check_place(context: Context, out: str, *, force: bool) -> str:
    folder, name = os.path.split(os.path.abspath(os.path.expanduser(out)))
    path = os.path.join(os.path.realpath(folder), name)
    if f"{path}/".startswith(f"{os.path.realpath(context.root.path)}/"):
        raise UsageError(say("{path} is inside the Root.", path=path), hint=say("Choose a place outside of it."))
    if not os.path.isdir(folder):
        raise UsageError(say("{path} is not a folder.", path=folder), hint=say("Create it first."))
    if os.path.isdir(path):
        raise UsageError(say("{path} is a folder.", path=path), hint=say("Name a file in it."))
    if os.path.lexists(path) and not force:
        raise _exists(path)
    return path


def _exists(path: str) -> RecordExists:
    return RecordExists(say("{path} already exists.", path=path), hint=say("Choose another name, or add --force."))


# What is exported -----------------------------------------------------------------------------------------------------


def select(context: Context, *, project: str = "", target: str = "", depth: int = 1) -> Selection:
    """Return the records of a project, or those up to `depth` steps around a target, or all. Raises NotInMemory, UsageError."""
    if target:
        name = naming.find(context, target)
        walk = graph.graph(context, name, depth=depth, direction="both")
        near = listing.find_records(context, walk.nodes).values()
        found = [one for one in near if one is not None and project in ("", one.project)]
        title: str = say("Records around {target}", target=name.removeprefix("entity:"))
        found.sort(key=lambda one: (one.sort_ts, one.slug), reverse=True)
        if project:  # a node of another project would tell its title
            walk = graph.among(context, [one.slug for one in found])
    else:
        found = listing.list_records(context, {"project": project}, newest_first=True)
        walk = graph.among(context, [one.slug for one in found])
        title = say("Records of {project}", project=project) if project else say("Records of all projects")
    if not found:
        raise NotInMemory(
            say("not_in_memory_db: nothing to export was found."), hint=say("See `oracle list` and `oracle graph`.")
        )
    return Selection(title, tuple(found), walk)


def render(context: Context, selection: Selection, cleaner: _Cleaner, *, language: str) -> str:
    """Return the page."""
    addresses = {one.slug: f"#{_id_of(one.slug)}" for one in selection.records}
    shown = _read(context, selection, addresses, cleaner)
    drawn = _draw_graph(context, selection.walk, addresses, cleaner)
    timeline = _draw_timeline(selection.records, addresses, cleaner)
    style, script = _read_file("export.css") + svg.style(), _script()
    replaced = sum(cleaner.replaced.values())
    labels = {
        "contents": say("Contents"),
        "graph": say("Graph"),
        "timeline": say("Timeline"),
        "records": say("Records"),
        "search": say("Search"),
        "shown": say("{n} of {all}", n="N", all=len(shown)),
    }
    return _template().render(
        language=language,
        title=cleaner.clean(svg.legible(selection.title)),
        labels={name: svg.legible(text) for name, text in labels.items()},
        counted=svg.legible(say_many("{n} record", "{n} records", n=len(shown))),
        moment=f"{context.now():%Y-%m-%d %H:%M} UTC",
        replaced=svg.legible(say_many("{n} passage redacted", "{n} passages redacted", n=replaced) if replaced else ""),
        policy=_policy(style, script),
        style=Markup(style),  # noqa: S704 -- ours
        script=Markup(script),  # noqa: S704 -- ours
        graph=Markup(drawn),  # noqa: S704 -- a drawing escapes its texts
        timeline=Markup(timeline),  # noqa: S704
        records=shown,
    )


def _id_of(slug: str) -> str:
    """Return the id of a record in the page: short, and the same in each export."""
    return f"r{blake2b(slug.encode('utf-8', 'surrogatepass'), digest_size=_ID_BYTES).hexdigest()}"


def _read(
    context: Context, selection: Selection, addresses: Mapping[str, str], cleaner: _Cleaner
) -> list[ExportedRecord]:
    slugs = [one.slug for one in selection.records]
    written = graph.written_links(context, slugs)
    chains = listing.chains(context, (one.slug for one in selection.records if one.retired_by))
    found = []
    for one in selection.records:
        html = to_html(_body_of(context, one, cleaner), link=_links_of(written[one.slug], addresses))
        about = (one.kind, one.seat_shown, timestamps.to_minute(one.sort_ts), one.slug)
        found.append(
            ExportedRecord(
                id=_id_of(one.slug),
                title=svg.legible(cleaner.clean(one.title or one.slug)),
                about=" · ".join(svg.legible(cleaner.clean(text)) for text in about if text),
                status=one.effective_status,
                is_retired=one.is_retired,
                replaced_by=tuple(
                    (svg.legible(cleaner.clean(slug.rpartition("/")[2])), addresses.get(slug, ""))
                    for slug in chains.get(one.slug, ())
                ),
                body=cleaner.body(html),
            )
        )
    return found


def _links_of(written: Mapping[str, str], addresses: Mapping[str, str]) -> svg.Link:
    """Return what finds the address in the page of a link as it is written in a record, "" for a record outside of it."""
    return lambda name: addresses.get(written.get(name, name), "")


def _body_of(context: Context, record: Summary, cleaner: _Cleaner) -> str:
    """Return the cleaned text of a record without its fields, and without its title at the head."""
    try:
        raw = records.load(context.root, record.path)
    except OSError as error:
        context.warn(say("{path} can't be read: {reason}.", path=record.path, reason=error.strerror))
        return ""
    return cleaner.clean("\n".join(record_body.split(record, raw).lines))


def _draw_graph(context: Context, walk: Walk, addresses: Mapping[str, str], cleaner: _Cleaner) -> str:
    """Return the graph of a walk, "" if nothing is linked. Its names are cleaned, and so are replaced consistently."""
    if not walk.edges:
        return ""
    found = graph_drawing.gather(context, walk)
    names = {one.name: cleaner.clean(one.name) for one in found.nodes}
    links = {names[one.name]: addresses.get(one.name, "") for one in found.nodes}
    nodes = {names[one.name]: replace(one, name=names[one.name], title=cleaner.clean(one.title)) for one in found.nodes}
    edges = {(names[source], names[target], kind) for source, target, kind in found.edges}
    cleaned = replace(found, root=names.get(found.root, ""), nodes=tuple(nodes.values()), edges=tuple(sorted(edges)))
    return graph_drawing.draw(cleaned, link=links.__getitem__)


def _draw_timeline(found: Sequence[Summary], addresses: Mapping[str, str], cleaner: _Cleaner) -> str:
    kept = found[: timeline_drawing.MOST_RECORDS]
    timeline: Timeline = timeline_drawing.Timeline(
        tuple(_cleaned(one, cleaner.clean) for one in reversed(kept)), len(found) > len(kept)
    )
    links = {cleaner.clean(one.slug): addresses[one.slug] for one in kept}
    return timeline_drawing.draw(timeline, link=links.__getitem__)


def _cleaned(record: Summary, clean: Callable[[str], str]) -> Summary:
    texts = {name: clean(getattr(record, name)) for name in ("slug", "title", "project", "seat", "retired_by")}
    return replace(record, **texts)


# The page -------------------------------------------------------------------------------------------------------------


@cache
def _template() -> Template:
    made = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return made.from_string(_read_file("export.html"))


@cache
def _read_file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _script() -> str:
    """Return the script with the classes of characters by which the index folds words."""
    return _read_file("export.js").replace("FOLD = null", f"FOLD = {json.dumps(fold.classes())}", 1)


def _policy(style: str, script: str) -> str:
    """Return the policy of the page: nothing is loaded, and only this style and this script are used."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    own = f"style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
