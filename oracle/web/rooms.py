"""What each page shows: the same use cases as the commands, with the parameters of an address. No HTML here."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from oracle.app.records.listing import FILTERS
from oracle.domain.values import value
from oracle.errors import UsageError
from oracle.wording import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from oracle.app.context import Context
    from oracle.app.records.graph import BacklinkRow
    from oracle.app.records.views import Hit

    Room = Callable[[Context, "PageQuery"], "RoomPage"]

MOST_HITS = 20
MOST_ROWS = 100
"""Rows of a list on one page. The next page has the next ones."""

MOST_NODES, FEW_NODES = 200, 60
"""Nodes of a drawing, and how many it begins with."""

MOST_LINES, MOST_CHARACTERS = 1000, 24_000
"""Lines and characters of a record on one page."""

MOST_NOW = 50
MOST_BACKLINKS = 300
_MOST_OF_KIND = 50


@value
class PageQuery:
    """The parameters of a page's address."""

    parameters: Mapping[str, str]

    def text(self, name: str) -> str:
        """Return a parameter, "" without any."""
        return self.parameters.get(name, "").strip()

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """Return a whole number within bounds."""
        text = self.text(name)
        return min(max(int(text), least), most) if text.isascii() and text.isdecimal() and len(text) < 10 else default

    @property
    def filters(self) -> dict[str, str]:
        """The filters of a listing, those that are set."""
        return {name: self.text(name) for name in FILTERS if self.text(name)}


@value
class RoomPage:
    """A template's name, the title, and what the template shows."""

    template: str
    title: str
    shown: Mapping[str, Any]


def now(context: Context, _: PageQuery) -> RoomPage:
    """Show what goes on now."""
    from oracle.app.overview.now import look

    found = look(context)
    return RoomPage("now.html", say("Now"), {"now": found, "most": MOST_NOW})


def search(context: Context, address: PageQuery) -> RoomPage:
    """Show passages for words, with what each signal gave; a question is answered below its own address."""
    from oracle.app.queries import lookup

    words, limit = address.text("q"), address.number("limit", MOST_HITS, 1, 3 * MOST_HITS)
    asked = {"text": words, "filters": address.filters, "limit": limit, "fresh": False}
    asked |= {"strict": bool(address.text("strict")), "lexical": bool(address.text("lexical"))}
    found = lookup.find(context, "search", asked, loads_models=False) if words else None
    hits: list[Hit] = found.result if found else []
    shown = {"words": words, "hits": hits, "facets": _facets(hits), "filters": address.filters, "limit": limit}
    return RoomPage("search.html", say("Search"), {**shown, "words_only": found.words_only if found else ""})


def _facets(hits: list[Hit]) -> dict[str, list[tuple[str, int]]]:
    """Return what the records of the hits have in common, by the filter that keeps them, the most common first."""
    parts = {
        "project": [hit.record.project for hit in hits],
        "seat": [hit.record.seat for hit in hits],
        "kind": [hit.record.kind for hit in hits],
        "status": [hit.record.effective_status for hit in hits],
    }
    return {name: Counter(filter(None, found)).most_common(12) for name, found in parts.items()}


def ask(context: Context, address: PageQuery) -> RoomPage:
    """Show the answer to a question from the records, or why there is none."""
    from oracle.app.queries import lookup

    question = address.text("q")
    asked = {"question": question, "project": address.text("project"), "seat": address.text("seat")}
    reply = lookup.find(context, "ask", asked, loads_models=False).result if question else None
    return RoomPage("ask.html", say("Ask"), {"question": question, "reply": reply, "filters": address.filters})


def record(context: Context, address: PageQuery) -> RoomPage:
    """Show a record, its links in both directions, and what replaced what."""
    from oracle.app.codebase import stale_names
    from oracle.app.pages import record_body
    from oracle.app.records import graph, listing, naming

    name = _required(address, "name")
    shown = naming.show(context, name)
    slug = shown.record.slug
    first = address.number("line", 1, 1, max(shown.total_lines, 1))
    rows, back = graph.links(context, slug), graph.backlinks(context, slug)
    data = {
        "shown": shown,
        "document": record_body.read(shown),
        "first": first,
        "most": (MOST_LINES, MOST_CHARACTERS),
        "most_links": MOST_ROWS,
        "links": rows,
        "backlinks": back,
        "marks": listing.marks(context, [target for _, target, *_ in rows]),
        "checked": stale_names.check_record(context, shown.record) if address.text("check") else None,
    }
    return RoomPage("record.html", shown.record.title or slug, data)


def entity(context: Context, address: PageQuery) -> RoomPage:
    """Show which records mention something, by the type of the link and the seat that wrote it."""
    from oracle.app.records import graph, listing, naming

    name = naming.find(context, _required(address, "name"))
    rows = graph.backlinks(context, name)
    found = rows[: address.number("limit", MOST_BACKLINKS, 1, 10_000)]
    records = listing.find_records(context, [source for source, *_ in found])
    by_group: dict[tuple[str, str], list[BacklinkRow]] = defaultdict(list)
    for row in found:
        source = records[row[0]]
        by_group[row[1], source.seat if source else ""].append(row)
    retired = [slug for slug, one in records.items() if one is not None and one.retired_by]
    shown: dict[str, Any] = {"name": name, "groups": sorted(by_group.items()), "records": records}
    shown |= {"chains": listing.chains(context, retired)}
    shown |= {"count": len(found), "total": len(rows)}
    return RoomPage("entity.html", name.removeprefix("entity:"), shown)


def graph(context: Context, address: PageQuery) -> RoomPage:
    """Show the neighbourhood of a record or an entity."""
    from oracle.app.pages.graph import gather
    from oracle.app.records import graph as use_case
    from oracle.app.records import naming

    name = address.text("name")
    if not name:
        popular = use_case.entities(context)
        return RoomPage("graph.html", say("Graph"), {"name": "", "walk": None, "depth": 1, "popular": popular})
    depth = address.number("depth", 1, 1, 4)
    target = naming.find(context, name)
    walk = use_case.graph(context, target, depth=depth, direction="both", most=MOST_NODES)
    most = address.number("most", FEW_NODES, 1, MOST_NODES)
    shown = {"name": target, "walk": walk, "drawn": gather(context, walk, most=most), "depth": depth}
    shown |= {"is_cut": walk.depth < depth, "most": MOST_ROWS, "more": min(most + FEW_NODES, MOST_NODES)}
    return RoomPage("graph.html", say("Graph of {name}", name=target.removeprefix("entity:")), shown)


def timeline(context: Context, address: PageQuery) -> RoomPage:
    """Show the records of a window of time, by day, the newest first."""
    from oracle.app.pages.timeline import gather
    from oracle.app.records import listing

    found = gather(context, address.filters, most=MOST_ROWS)
    kept = found.records[::-1]
    days = [(day, list(items)) for day, items in groupby(kept, key=lambda one: one.sort_ts[:10])]
    chains = listing.chains(context, [one.slug for one in kept if one.retired_by])
    shown = {"drawn": found, "days": days, "older": kept[-1].sort_ts if found.has_older else ""}
    shown |= {"chains": chains, "filters": address.filters}
    return RoomPage("timeline.html", say("Timeline"), shown)


def handoffs(context: Context, address: PageQuery) -> RoomPage:
    """Show handoffs of every state, the one that waits longest first."""
    from oracle.app.delivery.listed import states_shown
    from oracle.app.overview.now import list_handoffs

    found = list_handoffs(context, project=address.text("project"), state=address.text("state"))
    start = address.number("from", 0, 0, 1_000_000)
    items = found.items
    shown = {"items": items[start : start + MOST_ROWS], "start": start, "count": len(items), "most": MOST_ROWS}
    shown |= {"problems": found.problems, "states": states_shown(), "filters": address.parameters}
    return RoomPage("handoffs.html", say("Handoffs"), shown)


def handoff(context: Context, address: PageQuery) -> RoomPage:
    """Show the story of one handoff from its files."""
    from oracle.app.delivery.story import tell

    story = tell(context, _required(address, "task"), project=address.text("project"))
    return RoomPage(
        "handoff.html", say("Handoff {task}", task=address.text("task")), {"story": story, "most": MOST_CHARACTERS}
    )


def decisions(context: Context, _: PageQuery) -> RoomPage:
    """Show the questions that wait for people, and the newest decisions."""
    from oracle.app.overview.now import look
    from oracle.app.records import listing

    made = listing.list_records(context, {"kind": "decision"}, limit=_MOST_OF_KIND, newest_first=True)
    chains = listing.chains(context, [one.slug for one in made if one.retired_by])
    shown = {"waiting": look(context).decisions, "made": made, "chains": chains}
    return RoomPage("decisions.html", say("Decisions"), shown)


def doctor(context: Context, address: PageQuery) -> RoomPage:
    """Show how fresh the index is; on demand, run every check."""
    from oracle.app import doctor as use_case
    from oracle.app.records import listing

    checks = use_case.examine(context) if address.text("run") else None
    if checks is None:
        listing.list_records(context, {}, limit=1)
    return RoomPage("doctor.html", say("Doctor"), {"checks": checks, "standing": listing.standing(context)})


def _required(address: PageQuery, name: str) -> str:
    if not (text := address.text(name)):
        raise UsageError(say("The address names nothing."), hint=say("Follow a link, or search."))
    return text


ROOMS: Mapping[str, Room] = {
    "/": now,
    "/search": search,
    "/ask": ask,
    "/record": record,
    "/entity": entity,
    "/graph": graph,
    "/timeline": timeline,
    "/handoffs": handoffs,
    "/handoff": handoff,
    "/decisions": decisions,
    "/doctor": doctor,
}
