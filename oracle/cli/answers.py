"""Print the reply to a question: facts, quotes, prose, and what is nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oracle.cli.output import emphasise, headed, indented, mark_cuts
from oracle.errors import NotInFederation, NotInMemory
from oracle.wording import Sentence, joined, say, say_many, spoken, visible

if TYPE_CHECKING:
    from oracle.app.answers.reply import Cited, CitedFact, Near, Replaced, Reply, Synthesis
    from oracle.app.codebase.stale_names import CheckedRecord
    from oracle.app.context import Context


def not_quoted(item: Replaced) -> Sentence:
    """Return the note on a record that no longer holds."""
    slug, status = item.record.slug, item.record.status_shown
    if not item.by:
        return say("not quoted: {slug} is {status}", slug=slug, status=status)
    by = joined(", then ", item.by)
    return say("not quoted: {slug} is {status} by {by}", slug=slug, status=status, by=by)


def no_answer(reply: Reply, absence: str) -> NotInMemory | NotInFederation:
    """Return the error for a question that nothing answers. `absence` is what to do about a project or seat without a folder."""
    kind = NotInFederation if reply.status == NotInFederation.code else NotInMemory
    sentence = say("{status}: {reason}.", status=reply.status, reason=reply.reason)
    near = joined("; ", map(_near, reply.nearest))
    hint = say("Nearest, but no answer: {near}.", near=near) if near else ""
    if absence and hint:
        hint = say("{what} {hint}", what=absence, hint=hint)
    return kind(sentence, hint=hint or absence or say("Ask in other words, or ask a seat with --from."))


def _near(item: Near) -> str:
    return f"{item.record.path}:{item.lines[0]}-{item.lines[1]} ({item.record.title})"


def paragraphs(reply: Reply, context: Context) -> list[str]:
    """Return the prose, the facts and the quotes of a reply."""
    prose = []
    if reply.synthesis is not None and reply.synthesis.text:
        head = emphasise(visible(_made_by(reply.synthesis)))
        prose = [f"{head}\n{indented(reply.synthesis.text)}\n"]
    return [
        *prose,
        *map(_fact, reply.facts),
        *(_claim(item, context.root.join(item.quote.path)) for item in reply.claims),
    ]


def _made_by(synthesis: Synthesis) -> Sentence:
    program, dropped = synthesis.command[0], synthesis.dropped
    if not dropped:
        return say("synthesised by {program}", program=program)
    return say_many(
        "synthesised by {program}, {n} sentence dropped",
        "synthesised by {program}, {n} sentences dropped",
        n=dropped,
        program=program,
    )


def _fact(item: CitedFact) -> str:
    return f"{emphasise(visible(f'[{item.handle}] {item.path}'))}\n{indented(f'{item.key} = {item.text}')}\n"


def _claim(item: Cited, path: str) -> str:
    record = item.record
    place = f"{item.quote.path}:{item.quote.lines[0]}-{item.quote.lines[1]}"
    about = ", ".join(
        filter(None, (record.kind, spoken(record.seat_shown), record.sort_ts[:10], spoken(record.status_shown)))
    )
    marks: list[str] = [say("[{percent} %]", percent=round(100 * item.probability))]
    marks += [say("[contradicts {others}]", others=item.contradicts)] if item.contradicts else []
    marks += [say("[in the place of {others}]", others=item.stands_for)] if item.stands_for else []
    marks += [say("[said in {others} too]", others=item.said_in)] if item.said_in else []
    marks += _marks(item.checked)
    head = headed(f"[{item.handle}] {place}", [f"{record.title} ({about})", *marks])
    return f"{head}\n{indented(mark_cuts(item.quote.text, path, item.quote.lines))}\n"


def _marks(checked: CheckedRecord) -> list[str]:
    names = [f"{item.named.name} {spoken(item.liveness.shown)}" for item in checked.worst_names]
    return [f"[{'; '.join(names)}]"] if names else []
