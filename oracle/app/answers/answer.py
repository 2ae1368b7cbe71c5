"""Answer a question from disk: quotes are chosen and ordered by rules, and read again before they are returned.

An answer is what records say, in their own words. Passages that may hold the answer, but are not known to, are candidates. If
nothing is relevant, the answer is that memory does not know, with what was searched and what is nearest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from oracle.app.answers import quotes
from oracle.app.answers import reply as replies
from oracle.app.answers.choosing import OVER, Moved, choose, is_over
from oracle.app.answers.facts import find_facts
from oracle.app.answers.probability import is_answer
from oracle.app.answers.question import Question, find_passages, read_question
from oracle.app.answers.quotes import Quote
from oracle.app.answers.reply import CitedFact, Near, Replaced, Reply
from oracle.app.context import Context
from oracle.app.records.listing import check_filters
from oracle.app.records.views import Hit
from oracle.app.search.search import search, search_by_status
from oracle.domain.values import replace
from oracle.errors import NotInFederation, UsageError
from oracle.index.read import query
from oracle.wording import Sentence, say, say_many

_HITS, _FEW, _CLOSER = 36, 4, 12
"""Passages that are looked for, those of records that no longer hold, and of the first those whose words are read."""
_NEAREST = 3


def answer(context: Context, question: str, *, project: str = "", seat: str = "", fresh: bool = False) -> Reply:
    """Answer from the files as they are. Raises UsageError for an empty question or an invalid name."""
    if not question.strip():
        raise UsageError(
            say("The question is empty."), hint=say('Ask something, as in `oracle ask --now "which retry policy?"`.')
        )
    try:
        return _answer(context, question, project=project, seat=seat, fresh=fresh, is_last=False)
    except Moved:
        return _answer(context, question, project=project, seat=seat, fresh=True, is_last=True)


def _answer(context: Context, question: str, *, project: str, seat: str, fresh: bool, is_last: bool) -> Reply:
    filters = check_filters({name: text for name, text in (("project", project), ("seat", seat)) if text})
    facts = find_facts(context, question, project=project) if seat in ("", "memory") else ()
    asked = read_question(context, question, filters, fresh=fresh)
    try:
        hits = find_hits(context, asked, filters)
    except NotInFederation as error:
        return _absent(context, asked, filters, error)
    claims, replaced = choose(context, asked, hits, filters, is_last=is_last)
    searched = _searched(context, filters)
    reply = Reply(question, replies.ANSWERED, project, seat, facts, claims, replaced, searched=searched)
    reply = _number(drop_changed(context, reply))
    if any(is_answer(item.probability) for item in reply.claims):
        return reply
    if reply.facts:
        return replace(reply, claims=())
    if reply.claims:
        likeliest = sorted(reply.claims, key=lambda item: -item.probability)
        return replace(
            _number(replace(reply, claims=tuple(likeliest))),
            status=replies.CANDIDATES,
            reason=say("found, not judged ({searched} were searched)", searched=searched),
        )
    reason = _reason(asked, replaced, searched)
    nearest = () if asked.is_empty else _nearest(asked, hits)
    return replace(reply, status=replies.NOT_IN_MEMORY, nearest=nearest, unknown=asked.unknown, reason=reason)


def find_hits(context: Context, asked: Question, filters: Mapping[str, str]) -> list[Hit]:
    """Return what holds, best first, then what no longer does: that may be what the question is about."""
    limits = {"": _HITS, **dict.fromkeys(OVER, _FEW)}
    if asked.subject.held:
        found = [*find_passages(context, asked.subject, filters, limits)]
    else:
        found = search_by_status(context, asked.text, filters, limits)
    hits = [hit for group in found for hit in group]
    over = [hit for hit in hits if is_over(hit.record)]
    hits = [hit for hit in hits if not is_over(hit.record)]
    if not any(hit.nearness for hit in (*hits, *over)):
        return hits + over
    from oracle.app.search.ranking.word_similarity import look_closer

    return [*look_closer(context, hits[:_CLOSER]), *hits[_CLOSER:], *look_closer(context, over)]


def drop_changed(context: Context, reply: Reply) -> Reply:
    """Read the file of every quote and fact again and leave out those of files that changed; handles stay."""
    facts = tuple(item for item in reply.facts if _stands(context, item))
    claims = [item for item in reply.claims if quotes.still_stands(context, item.quote)]
    left = {item.handle for item in claims}
    paired = (replace(item, contradicts=tuple(filter(left.__contains__, item.contradicts))) for item in claims)
    return replace(reply, facts=facts, claims=tuple(paired))


def _number(reply: Reply) -> Reply:
    """Give every fact and claim its handle, from f1."""
    kept = [*(item.handle for item in reply.facts), *(item.handle for item in reply.claims)]
    names = {handle: f"f{number}" for number, handle in enumerate(kept, 1)}
    facts = tuple(replace(item, handle=names[item.handle]) for item in reply.facts)
    claims = tuple(
        replace(item, handle=names[item.handle], contradicts=tuple(names[one] for one in item.contradicts))
        for item in reply.claims
    )
    return replace(reply, facts=facts, claims=claims)


def _stands(context: Context, fact: CitedFact) -> bool:
    return quotes.still_stands(context, Quote(fact.path, "", (1, 1), fact.sha256))


# No answer ------------------------------------------------------------------------------------------------------------


def _nearest(asked: Question, hits: Sequence[Hit]) -> tuple[Near, ...]:
    near: dict[str, Near] = {}
    for hit in hits:
        if hit.coverage > 0 or hit.nearness > 0 or hit.record.slug in asked.subject.held:
            near.setdefault(hit.record.slug, Near(hit.record, (hit.first_line, hit.last_line), hit.coverage))
    return tuple(near.values())[:_NEAREST]


def _searched(context: Context, filters: Mapping[str, str]) -> Sentence:
    wanted = check_filters(filters)
    groups = query.counts(context.index.database.connect())
    number = sum(
        count
        for project, seat, _, count, _ in groups
        if wanted.get("project", project) == project and wanted.get("seat", seat) == seat
    )
    records = say_many("{n} record", "{n} records", n=number)
    if "seat" in filters:
        records = say("{records} of the seat {seat}", records=records, seat=filters["seat"])
    if "project" in filters:
        records = say("{records} in project {project}", records=records, project=filters["project"])
    return say("{records} and the facts", records=records) if filters.get("seat") in (None, "memory") else records


def _reason(asked: Question, replaced: Sequence[Replaced], searched: Sentence) -> Sentence:
    if asked.unknown:
        return say("no record names {names} ({searched} were searched)", names=asked.unknown, searched=searched)
    if asked.is_empty:
        return say("the question has no word to look for")
    if replaced:
        names = [item.record.slug for item in replaced]
        if by := [*dict.fromkeys(item.by[-1] for item in replaced if item.by)]:
            return say(
                "what was found no longer holds: {names}, replaced by {by} ({searched} were searched)",
                names=names,
                by=by,
                searched=searched,
            )
        return say("what was found no longer holds: {names} ({searched} were searched)", names=names, searched=searched)
    return say("no record answers this ({searched} were searched)", searched=searched)


def _absent(context: Context, asked: Question, filters: dict[str, str], error: NotInFederation) -> Reply:
    """Return the answer for a project or seat that has no folder; what others know is named as nearest, not quoted."""
    hits = [hit for hit in search(context, asked.text, {}, limit=_HITS) if not is_over(hit.record)]
    sentence = error.sentence
    reason = str(sentence)
    if isinstance(sentence, Sentence) and isinstance(found := sentence.values.get("reason"), str):
        reason = found
    project, seat = filters.get("project", ""), filters.get("seat", "")
    return Reply(asked.text, replies.NOT_IN_FEDERATION, project, seat, nearest=_nearest(asked, hits), reason=reason)
