"""What the panes Now, Records and Log show, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from oracle.app.delivery import listed
from oracle.app.journal import told
from oracle.domain import timestamps
from oracle.domain.layout import cut, hanging
from oracle.domain.values import value
from oracle.tui.lines import FAINT, GAP, PLAIN, STRONG, WARNING, Line, TableRow, plain, table
from oracle.wording import LIST, Sentence, joined, say, say_each, say_many, spoken, visible

if TYPE_CHECKING:
    from oracle.app.decisions.overdue import OpenDecision
    from oracle.app.delivery.listed import ListedHandoff
    from oracle.app.journal import Event
    from oracle.app.overview.now import Now
    from oracle.app.records.views import Hit, Summary

MOST_HANDOFFS = 200
"""Handoffs that are shown, those that wait longest."""

MOST_PROBLEMS = 5


@value
class NowPane:
    """What goes on now."""

    now: Now

    def lines(self, width: int) -> list[Line]:
        """Return the decisions that wait, the open handoffs, the seats, and what could not be read."""
        return [
            *self._decisions(width),
            Line(),
            *self._handoffs(width),
            Line(),
            *self._seats(width),
            *self._problems(width),
        ]

    def _decisions(self, width: int) -> Iterator[Line]:
        found = self.now.decisions
        if not found:
            yield plain(say("No decision waits for people."), FAINT)
            return
        yield plain(say_many("{n} decision waits for people", "{n} decisions wait for people", n=len(found)), STRONG)
        yield from table(say_each("time left", "project", "asks", "question"), list(map(_decision, found)), width)

    def _handoffs(self, width: int) -> Iterator[Line]:
        found = self.now.handoffs
        if not found and self.now.problems:
            yield plain(say("No handoff that can be read is open."), WARNING)
            return
        if not found:
            yield plain(say("No handoff is open."), FAINT)
            return
        states = joined(LIST, [say("{state} {count}", state=word, count=n) for _, word, n in self.now.states_shown])
        count = say_many("{n} open handoff: {states}", "{n} open handoffs: {states}", n=len(found), states=states)
        yield plain(count, STRONG)
        yield from _handoffs(found[:MOST_HANDOFFS], width)
        if len(found) > MOST_HANDOFFS:
            yield plain(say("… {count} more: oracle handoffs", count=len(found) - MOST_HANDOFFS), FAINT)

    def _seats(self, width: int) -> Iterator[Line]:
        if not self.now.seats:
            yield plain(say("No project has seats: `oracle project init P --seats memory,planner`."), FAINT)
            return
        yield plain(say("Seats"), STRONG)
        rows = [
            TableRow((seat.project, seat.seat, seat.machine, self._ago(seat.last_seen), str(seat.queue)))
            for seat in self.now.seats
        ]
        yield from table(say_each("project", "seat", "machine", "last seen", "queue"), rows, width, kept=1)

    def _problems(self, width: int) -> Iterator[Line]:
        for problem in self.now.problems[:MOST_PROBLEMS]:
            yield from (plain(part, WARNING) for part in hanging(problem, width, may_break=True))

    def _ago(self, moment: str) -> Sentence:
        then, now = timestamps.parse(moment), timestamps.parse(self.now.moment)
        if then is None or now is None:
            return say("never")
        return say("{age} ago", age=timestamps.say_age(max(0.0, (now - then).total_seconds())))


def _decision(found: OpenDecision) -> TableRow:
    is_late = found.seconds_left is not None and found.seconds_left <= 0
    question = " ".join(found.question.split())
    texts = (found.time_left, found.project, found.asker, question)
    return TableRow(texts, Line(decision=found), WARNING if is_late else PLAIN)


def _handoffs(items: Sequence[ListedHandoff], width: int) -> Iterator[Line]:
    """Yield handoffs in columns, each group with its caption; in a narrow pane with each question below its line."""
    is_narrow, captions = width < listed.NARROW, listed.captions(items)
    texts = listed.rows(items, width)
    cells = [texts[at][: listed.QUESTION] if is_narrow else texts[at] for at in range(len(items))]
    styles = [WARNING if item.is_stale else PLAIN for item in items]
    rows = [TableRow(*row) for row in zip(cells, [Line(handoff=item) for item in items], styles, strict=True)]
    head, *lines = table(listed.HEADINGS[: len(cells[0])], rows, width, prose=listed.QUESTION, kept=listed.NEXT_STEP)
    yield head
    for at, line in enumerate(lines):
        if captions[at]:
            yield plain(captions[at], STRONG)
        yield line
        if is_narrow and texts[at][-1]:
            asked = cut(visible(texts[at][-1]), width - len(GAP))
            yield Line(((f"{GAP}{asked}", FAINT),), handoff=items[at])


@value
class RecordsPane:
    """The newest records, those that hold all words of the filter, and what a search for it found in all records."""

    newest: Sequence[Summary] = ()
    words: str = ""
    hits: Sequence[Hit] = ()

    def lines(self, width: int) -> list[Line]:
        """Return a line for each record, the newest first."""
        wanted = self.words.casefold().split()
        fitting = [record for record in self.newest if all(word in _searched(record) for word in wanted)]
        known = {record.slug for record in fitting}
        others = [hit.record for hit in self.hits if hit.record.slug not in known]
        if not fitting and not others:
            return [plain(say("Nothing was found.") if wanted else say("There are no records."), FAINT)]
        lines = table(_HEADINGS, list(map(_record, fitting)), width)
        if others:
            lines += [plain(say("Found in all records"), STRONG), *table(_HEADINGS, list(map(_record, others)), width)]
        return lines


_HEADINGS = say_each("when", "kind", "seat", "title")


def _searched(record: Summary) -> str:
    return f"{record.title} {record.slug} {record.status}".casefold()


def _record(record: Summary) -> TableRow:
    title = say("{title} [{mark}]", title=record.title, mark=record.status_shown)
    place = f"{record.project}/{spoken(record.seat_shown)}"
    texts = (timestamps.to_minute(record.sort_ts), record.kind, place, title if record.is_retired else record.title)
    return TableRow(texts, Line(target=record.slug), FAINT if record.is_retired else PLAIN)


@value
class LogPane:
    """The last events of the journal."""

    events: Sequence[Event] = ()

    def lines(self, width: int) -> list[Line]:
        """Return a line for each event, the newest first."""
        if not self.events:
            return [plain(say("Nothing has happened yet."), FAINT)]
        return table(
            say_each("when", "event", "project", "task", "details"), [*map(_event, reversed(self.events))], width
        )


def _event(event: Event) -> TableRow:
    texts = [str(event.get(key, "")) for key in ("ts", "event", "project", "task_id")]
    texts[0] = texts[0][:19].replace("T", " ")
    slug = event.get("slug")
    return TableRow((*texts, told(event)), Line(target=slug if isinstance(slug, str) else ""))
