"""Export records as one HTML file to send: it loads nothing, and it holds what the guard lets out.

Records are hostile: their Markdown is cleaned, every other text is escaped, and the policy of the page runs no script but its own.
"""

from __future__ import annotations

import json
import os
from base64 import b64encode
from functools import cache
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from oracle.app.pages import graph as graph_drawing
from oracle.app.pages import record_body, svg
from oracle.app.pages import timeline as timeline_drawing
from oracle.app.pages.cleaning import Cleaner
from oracle.app.pages.markdown import ABSENT, to_html
from oracle.app.pages.selection import select
from oracle.app.records import graph, listing
from oracle.domain import timestamps
from oracle.domain.values import replace, value
from oracle.errors import RecordExists, UsageError
from oracle.index import fold
from oracle.store.disk import steps
from oracle.store.markdown import records
from oracle.wording import say, say_many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from jinja2 import Template

    from oracle.app.context import Context
    from oracle.app.pages.selection import Selection
    from oracle.app.pages.timeline import Timeline
    from oracle.app.records.views import Summary
    from oracle.domain.links.graph import Walk
    from oracle.wording import Sentence

_FOLDER = Path(__file__).parent
_ID_BYTES = 6
_AT_ONCE = 64
"""Records that are looked at together."""


@value
class Exported:
    """The file, how many records and bytes it holds, and how often each rule of the guard replaced something.

    `personal` and `retired` are how many memories were left out: those about people, and those that no longer hold.
    """

    path: str
    records: int
    size: int
    replaced: Mapping[str, int]
    personal: int
    retired: int

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        left_out = {"personal": self.personal, "retired": self.retired}
        return {
            "path": self.path,
            "records": self.records,
            "bytes": self.size,
            "redacted": dict(self.replaced),
            "memories_left_out": left_out,
        }


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


def export(
    context: Context,
    out: str,
    *,
    project: str = "",
    target: str = "",
    depth: int = 1,
    language: str,
    force: bool = False,
    with_memories: bool = False,
) -> Exported:
    """Write the records of a project, or around a target, or all of them, to an HTML file.

    Memories about people are in it only `with_memories`, those that no longer hold never. Raises RecordExists for a file that
    exists, unless `force`; NotInMemory, NotInFederation, RulesUnusable, UsageError, DiskFailure.
    """
    path = _check_place(context, out, force=force)
    selection = select(context, project=project, target=target, depth=depth, with_memories=with_memories)
    most = _megabytes(steps.MOST_BYTES)
    if selection.size >= steps.MOST_BYTES:
        size = _megabytes(selection.size)
        raise _too_large(
            say("The texts of the records have {size} MB; a page has less than {most} MB.", size=size, most=most)
        )
    cleaner = Cleaner(context)
    page = render(context, selection, cleaner, language=language).encode("utf-8", "replace")
    if len(page) >= steps.MOST_BYTES:
        size = _megabytes(len(page))
        raise _too_large(say("The page would have {size} MB; a page has less than {most} MB.", size=size, most=most))
    if force:
        steps.replace(path, page)
    elif not steps.create_once(path, page):
        raise _exists(path)
    return Exported(
        path, len(selection.records), len(page), cleaner.replaced, selection.personal, len(selection.retired)
    )


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
    if os.path.islink(path) or (os.path.lexists(path) and not os.path.isfile(path)):  # a device must never be replaced
        raise UsageError(say("{path} is not a regular file.", path=path), hint=say("Choose another name."))
    return path


def _too_large(sentence: Sentence) -> UsageError:
    return UsageError(sentence, hint=say("Export fewer records: --project P, or --target T with a small --depth."))


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}"


def _exists(path: str) -> RecordExists:
    return RecordExists(say("{path} already exists.", path=path), hint=say("Choose another name, or add --force."))


# The parts ----------------------------------------------------------------------------------------------------------


def render(context: Context, selection: Selection, cleaner: Cleaner, *, language: str) -> str:
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
    context: Context, selection: Selection, addresses: Mapping[str, str], cleaner: Cleaner
) -> list[ExportedRecord]:
    found: list[ExportedRecord] = []
    chains = listing.chains(context, (one.slug for one in selection.records if one.retired_by))
    for start in range(0, len(selection.records), _AT_ONCE):
        batch = selection.records[start : start + _AT_ONCE]
        written = graph.written_links(context, [one.slug for one in batch])
        texts = [_body_of(context, one) for one in batch]
        cleaner.look_at((*texts, *(text for one in batch for text in (_title(one), *_about(one)))))
        pages = [
            _html(cleaner.clean(text), written[one.slug], addresses) for one, text in zip(batch, texts, strict=True)
        ]
        for one, body in zip(batch, cleaner.bodies(pages), strict=True):
            chain = [slug for slug in chains.get(one.slug, ()) if slug not in selection.left_out]
            found.append(_as_exported(one, body, chain, addresses, cleaner))
    return found


def _as_exported(
    record: Summary, body: Markup, chain: Iterable[str], addresses: Mapping[str, str], cleaner: Cleaner
) -> ExportedRecord:
    return ExportedRecord(
        id=_id_of(record.slug),
        title=svg.legible(cleaner.clean(_title(record))),
        about=" · ".join(svg.legible(cleaner.clean(text)) for text in _about(record) if text),
        status=svg.legible(record.status_shown),
        is_retired=record.is_retired,
        replaced_by=tuple(
            (svg.legible(cleaner.clean(slug.rpartition("/")[2])), addresses.get(slug, "")) for slug in chain
        ),
        body=body,
    )


def _title(record: Summary) -> str:
    return record.title or record.slug


def _about(record: Summary) -> tuple[str, ...]:
    return (record.kind, record.seat_shown, timestamps.to_minute(record.sort_ts), record.slug)


def _html(text: str, written: Mapping[str, str], addresses: Mapping[str, str]) -> str:
    """Return a record's text as HTML. It links to the records of the page, by how their links are written; others get a mark."""
    known = {name: addresses.get(target, ABSENT) for name, target in written.items()}
    return to_html(text, link=lambda name: known.get(name) or addresses.get(name, ""), known=known)


def _body_of(context: Context, record: Summary) -> str:
    """Return the text of a record without its fields, and without its title at the head."""
    try:
        raw = records.load(context.root, record.path)
    except OSError as error:
        context.warn(say("{path} can't be read: {reason}.", path=record.path, reason=error.strerror))
        return ""
    return "\n".join(record_body.split(record, raw).lines)


def _draw_graph(context: Context, walk: Walk, addresses: Mapping[str, str], cleaner: Cleaner) -> str:
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


def _draw_timeline(found: Sequence[Summary], addresses: Mapping[str, str], cleaner: Cleaner) -> str:
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
