"""What the panes Record and Graph show, line by line: a record with its links, the story of a handoff, a neighbourhood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from oracle.domain import timestamps
from oracle.domain.layout import cells, cut, hanging, shorten
from oracle.domain.records.chains import replaced_by
from oracle.domain.values import value
from oracle.tui.lines import FAINT, STRONG, WARNING, Line, fitted, plain
from oracle.tui.markdown import markdown_lines, plain_lines
from oracle.wording import Sentence, say, say_many, visible

if TYPE_CHECKING:
    from oracle.app.codebase.stale_names import CheckedRecord
    from oracle.app.context import Context
    from oracle.app.records.graph import BacklinkRow
    from oracle.app.records.views import Hit, Shown, Summary
    from oracle.domain.links.graph import Walk

    LinkRow = tuple[str, str, str, int, int]
    """Type, target, snippet, line, and 1 if the target exists."""

MOST_RECORDS = 500
MOST_LINKS = 200
MOST_EDGES = 500


@value
class EmptyPane:
    """What to do where nothing was opened yet."""

    def lines(self, _width: int) -> list[Line]:
        """Return one line."""
        return [plain(say("Choose a line of another pane and press Enter."), FAINT)]


@value
class RecordPane:
    """A record: its text, links both ways, what replaced it, and names in it that are gone; `checked` None until looked up."""

    shown: Shown
    body: str
    links: Sequence[LinkRow]
    backlinks: Sequence[BacklinkRow]
    chains: Mapping[str, Sequence[str]]
    checked: CheckedRecord | None = None

    def lines(self, width: int) -> list[Line]:
        """Return what a reader must know first, then the text and the links."""
        record = self.shown.record
        about = (
            record.project,
            record.seat_shown,
            record.kind,
            record.status_shown,
            timestamps.to_minute(record.sort_ts),
        )
        is_markdown = record.path.endswith(".md")
        return [
            *_wrapped(record.title or record.slug, width, STRONG),
            *_wrapped(record.slug, width, FAINT),
            *_wrapped(" · ".join(map(visible, filter(None, about))), width, FAINT),
            *(line for note in self.shown.notes for line in _wrapped(note, width, WARNING)),
            *(line for text in self._gone() for line in _wrapped(text, width, WARNING)),
            Line(),
            *(markdown_lines if is_markdown else plain_lines)(self.body, width),
            Line(),
            *self._links(width),
            *self._backlinks(width),
        ]

    def _gone(self) -> Iterator[Sentence]:
        for item in self.checked.worst_names if self.checked is not None else ():
            fact = say(
                "line {line}: {name} is {state}",
                line=item.named.line,
                name=item.named.name,
                state=item.liveness.shown,
            )
            yield say("{fact} ({detail})", fact=fact, detail=item.detail) if item.detail else fact

    def _links(self, width: int) -> Iterator[Line]:
        if self.links:
            yield plain(say_many("{n} link", "{n} links", n=len(self.links)), STRONG)
        for kind, target, _, _, exists in self.links[:MOST_LINKS]:
            mark = "" if exists else say("missing")
            mark = mark or replaced_by(self.chains.get(target, ()))
            yield _edge(f"{kind} → ", target, mark, width, self._short.get(target, target))

    def _backlinks(self, width: int) -> Iterator[Line]:
        if self.backlinks:
            yield plain(say_many("{n} backlink", "{n} backlinks", n=len(self.backlinks)), STRONG)
        for source, kind, _, _, _, _, retired_by, _ in self.backlinks[:MOST_LINKS]:
            mark = replaced_by(self.chains.get(source, (retired_by,))) if retired_by else ""
            yield _edge(f"{kind} ← ", source, mark, width, self._short.get(source, source))

    @property
    def _short(self) -> dict[str, str]:
        """The shortest names of what is near; a link to nothing is shown as it is."""
        back = (row[0] for row in self.backlinks[:MOST_LINKS])
        return shorten(dict.fromkeys([*(row[1] for row in self.links[:MOST_LINKS] if row[4]), *back]))


def read_record(context: Context, target: str) -> RecordPane:
    """Read a record with its links. Raises NotInMemory, UsageError."""
    from oracle.app.pages import record_body
    from oracle.app.records import graph, listing, naming

    shown = naming.show(context, target)
    slug = shown.record.slug
    links, backlinks = graph.links(context, slug), graph.backlinks(context, slug)
    near = [*(row[1] for row in links[:MOST_LINKS]), *(row[0] for row in backlinks[:MOST_LINKS])]
    body = "\n".join(record_body.read(shown).lines)
    return RecordPane(shown, body, links, backlinks, listing.chains(context, near))


def newest(context: Context) -> Sequence[Summary]:
    """Return the newest records."""
    from oracle.app.records import listing

    return listing.list_records(context, {}, limit=MOST_RECORDS, newest_first=True)


def search(context: Context, words: str, limit: int) -> Sequence[Hit]:
    """Return the best records for some words, none where nothing is found."""
    from oracle.app.queries import lookup

    asked = {"text": words, "filters": {}, "limit": limit, "fresh": False, "strict": False, "lexical": False}
    hits: Sequence[Hit] = lookup.find(context, "search", asked, loads_models=False).result
    return hits


@value
class StoryPane:
    """The story of a handoff."""

    task_id: str
    texts: Sequence[str]

    def lines(self, width: int) -> list[Line]:
        """Return the story, its first line as a heading."""
        first, *rest = self.texts or [""]
        return [*_wrapped(first, width, STRONG), *(line for text in rest for line in _wrapped(text, width))]


def read_story(context: Context, project: str, task_id: str) -> StoryPane:
    """Read the story of a handoff. Raises NotFound."""
    from oracle.app.delivery.story import lines_of, tell

    return StoryPane(task_id, lines_of(tell(context, task_id, project=project)))


@value
class GraphPane:
    """The neighbourhood of a record or an entity, as a tree."""

    walk: Walk
    marks: Mapping[str, str]

    def lines(self, width: int) -> list[Line]:
        """Return each edge below the node nearer to the start. An arrow says which way the edge leads."""
        from oracle.domain.links.graph import branches_of

        walk, branches = self.walk, branches_of(self.walk)
        short = shorten(name for name in walk.nodes if self.marks.get(name) != "missing")

        def below(node: str, indent: str) -> Iterator[Line]:
            for at, (edge, name, is_new) in enumerate(branches.get(node, [])):
                is_last = at == len(branches[node]) - 1
                arrow = "→" if edge.source == node else "←"
                lead = f"{indent}{'└─' if is_last else '├─'} {visible(edge.type)} {arrow} "
                yield _edge(lead, name, self.marks.get(name, ""), width, short.get(name, name))
                if is_new:
                    yield from below(name, indent + ("   " if is_last else "│  "))

        head = _edge("", walk.root, self.marks.get(walk.root, ""), width)
        lines = [head, *below(walk.root, "")]
        if len(lines) == 1:
            lines.append(plain(say("Nothing leads here, and nothing leads away."), FAINT))
        return lines


def read_graph(context: Context, target: str, depth: int) -> GraphPane:
    """Walk from a record or an entity both ways. Raises NotInMemory."""
    from oracle.app.records import graph, listing, naming

    walk = graph.graph(context, naming.find(context, target), depth=depth, direction="both", most=MOST_EDGES)
    kept = walk.edges[:MOST_EDGES]
    nodes = tuple(dict.fromkeys([walk.root, *(name for edge in kept for name in (edge.source, edge.target))]))
    return GraphPane(walk._replace(nodes=nodes, edges=kept), listing.marks(context, nodes))


def _edge(lead: str, target: str, mark: str, width: int, shown: str = "") -> Line:
    """Return a line that leads to the other end of an edge, with a mark if that does not hold."""
    head, end = visible(lead), f"  [{visible(mark)}]" if mark else ""
    name = cut(visible(shown or target), max(width - cells(head) - cells(end), 1), keeps_end=True)
    return fitted(Line(((head, FAINT), (name, FAINT if mark else ""), (end, WARNING)), target), width)


def _wrapped(text: str, width: int, style: str = "") -> list[Line]:
    """Return a text of one or several lines, made safe and broken to fit."""
    lines = (part for line in str(text).split("\n") for part in hanging(visible(line), width, may_break=True))
    return [Line(((line, style),)) for line in lines if cells(line)]
