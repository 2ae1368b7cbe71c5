"""`oracle search` and `oracle packet`: find passages, or choose the memories for the next step of an agent."""

from __future__ import annotations

import json
import math
import sys
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

import typer

from oracle.cli import completion
from oracle.cli.listing import known_words, mark, seat_of
from oracle.cli.options import Filters, Fresh, Meaning, argument, option, single
from oracle.cli.output import Table, headed, indented, mark_cuts, write_out
from oracle.cli.session import Call
from oracle.errors import NotInMemory, OracleError, UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.app.context import Context
    from oracle.app.records.views import Hit


class _How(TypedDict):
    limit: int
    strict: bool
    lexical: bool
    fresh: bool


_OF_THE_SHELL = frozenset("'\"\\$`&|;<>()*?[]{}!")
_LONGEST_ECHO = 200
"""Characters of what was looked for that a sentence repeats."""


search_app = single()


@search_app.add(example="oracle search 'why do webhooks retry' --project shop")
def search(
    call: Call,
    text: Annotated[list[str] | None, argument("TEXT...", "Words in any language.")] = None,
    *,
    filters: Filters,
    limit: Annotated[int, option("--limit N", "At most N hits.", min=1)] = 10,
    strict: Annotated[bool, option("--strict", "Leave out superseded and retired records.")] = False,
    lexical: Annotated[bool, option("--lexical", "Search by words alone.")] = False,
    meaning: Meaning = False,
    explain: Annotated[bool, option("--explain", "Show what each signal gave to a hit.")] = False,
    stdin: Annotated[
        bool, option("--stdin", 'Answer a batch in JSON: {"id", "query", "project"?} a line of standard input.')
    ] = False,
    fresh: Fresh = False,
) -> None:
    """Find passages by words, best first, retired ones last."""
    if lexical and meaning:
        raise UsageError(say("--lexical and --meaning exclude each other."), hint=say("Leave one out."))
    words = " ".join(text or [])
    if stdin:
        if words.strip():
            raise UsageError(
                say("--stdin takes no words."), hint=say("Give them as lines of standard input, or alone.")
            )
        call.as_json = True
        with call.context() as context:
            _answer_lines(context, filters, explain=explain, limit=limit, strict=strict, lexical=lexical, fresh=fresh)
        return
    from oracle.app.queries import lookup

    lookup.require_words(words)
    asked = {"text": words, "filters": filters, "limit": limit, "fresh": fresh, "strict": strict, "lexical": lexical}
    with call.context("records") as context:
        found = lookup.find(context, "search", asked, loads_models=meaning)
        call.take(found)
        hits: list[Hit] = found.result
        if not hits:
            hint = known_words(context, filters) or _way_out(context, words, filters)
            raise NotInMemory(say("not_in_memory_db: nothing was found for {words!r}.", words=_cut(words)), hint=hint)
        root = context.root
    if hits[0].instead_of:
        call.warn(say("{instead_of} would come first, but no longer holds.", instead_of=hits[0].instead_of))
    if call.as_json:
        call.print_json({"records": [{**hit.as_json(), **_signals(hit, explain)} for hit in hits], **call.standing})
    else:
        write_out("\n".join(_hit_text(hit, explain, root.join(hit.record.path)) for hit in hits))


def _way_out(context: Context, words: str, filters: Mapping[str, str]) -> str:
    """Return where else the words were found, in names or facts, else what to try."""
    from oracle.app.records import listing

    if not listing.list_records(context, {}, limit=1):
        return say("The Root {path} holds no records: is it the one that you mean?", path=context.root.path)
    found = _in_names(context, words, filters) or _in_facts(context, words, filters)
    return found or say("Try fewer words, or fewer filters.")


def _in_names(context: Context, words: str, filters: Mapping[str, str]) -> str:
    """Return which records have the words in the name of their file alone, "" when none has."""
    from oracle.app.records.naming import find_with_words

    named = find_with_words(context, words, filters)
    return say("Found only in the names of {names}.", names=named) if named else ""


def _in_facts(context: Context, words: str, filters: Mapping[str, str]) -> str:
    """Return how to see the facts that hold the words, "" without any or when the filters ask for records."""
    from oracle.app.search.federated import keys_of_facts

    keys = [] if filters else keys_of_facts(context, words.strip())
    return (
        say("Found only in facts: {commands}.", commands=[f"`oracle show {quote(key)}`" for key in keys])
        if keys
        else ""
    )


def _answer_lines(context: Context, filters: Mapping[str, str], *, explain: bool, **how: Unpack[_How]) -> None:
    """Answer each line of standard input by one line, one that can't be answered by its error. Ends with 2 when none can be."""
    from oracle.app.search import search

    asked_any = answered = False
    for number, raw in enumerate(sys.stdin.buffer, start=1):
        if not raw.strip():
            continue
        asked_any = True
        answer: dict[str, object] = {}
        try:
            asked = _read_line(raw, number)
            if "id" in asked:
                answer["id"] = asked["id"]
            hits = search.search(context, _query(asked, number), {**filters, **_project(asked, number)}, **how)
            answer["hits"] = [{**hit.as_answer(), **_signals(hit, explain)} for hit in hits]
            if not hits:
                answer["status"] = NotInMemory.code
            answered = True
        except OracleError as error:
            answer.update(error.as_json())
        write_out(json.dumps(answer, ensure_ascii=False) + "\n")
    if asked_any and not answered:
        raise typer.Exit(UsageError.exit_code)


def _read_line(raw: bytes, number: int) -> dict[str, Any]:
    try:
        found = json.loads(raw, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            say("Line {number} is not JSON: {error}.", number=number, error=error),
            hint=say('Write {{"id": 1, "query": "words"}} on one line.'),
        ) from error
    if not isinstance(found, dict):
        raise UsageError(
            say("Line {number} is not a JSON object.", number=number),
            hint=say('Write {{"id": 1, "query": "words"}} on one line.'),
        )
    return found


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _refuse(text: str) -> float:
    """Refuse numbers that JSON can't say again."""
    raise ValueError(say("JSON has no number {word}", word=text))


def _query(asked: Mapping[str, Any], number: int) -> str:
    query = asked.get("query")
    if not isinstance(query, str) or not query.strip():
        raise UsageError(
            say("Line {number} has no query.", number=number),
            hint=say('Write the words as text: {{"query": "words"}}.'),
        )
    return query


def _project(asked: Mapping[str, Any], number: int) -> dict[str, str]:
    project = asked.get("project")
    if project is not None and not isinstance(project, str):
        raise UsageError(
            say("The project of line {number} is not text.", number=number),
            hint=say('Write {{"query": "words", "project": "name"}}.'),
        )
    return {"project": project} if project else {}


def _signals(hit: Hit, explain: bool) -> dict[str, object]:
    return {"signals": {name: round(points, 3) for name, points in hit.parts}} if explain else {}


def _hit_text(hit: Hit, explain: bool, path: str) -> str:
    record = hit.record
    place = _pasteable(f"{record.path}:{hit.first_line}-{hit.last_line}")
    about = f"{record.title} ({record.kind}, {seat_of(record)}, {record.sort_ts[:10]})"
    lines = [headed(place, [about, mark(record, hit.chain)])]
    if explain:
        given = ", ".join(f"{name} {points:+.2f}" for name, points in hit.parts)
        signals = given or say("nothing")
        score = say("score {score:.2f} = {given}; {why}", score=hit.score, given=signals, why=hit.why)
        lines.append(indented(score))
    if hit.snippet.strip():
        lines.append(indented(mark_cuts(hit.snippet, path, (hit.first_line, hit.last_line))))
    return "\n".join(lines) + "\n"


def _pasteable(place: str) -> str:
    """Return a place as it may be given to `oracle show` in a shell: quoted where it holds blanks or what a shell reads."""
    if not any(char.isspace() or char in _OF_THE_SHELL for char in place):
        return place
    return quote(place)


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST_ECHO else f"{words[:_LONGEST_ECHO]}…"


Texts = list[str] | None

packet_app = single()


@packet_app.add(example="oracle packet --role executor --goal 'Make webhooks retry' --project shop")
def packet(
    call: Call,
    *,
    role: Annotated[str, option("--role planner|executor|critic|responder", "Who takes the step.")],
    goal: Annotated[str, option("--goal T", "The aim of the step, in any language.")],
    project: Annotated[str, option("--project P", "This project and what is shared.", completion.projects)] = "",
    task_id: Annotated[str, option("--task-id ID", "The task at hand.", completion.tasks)] = "",
    session_id: Annotated[str, option("--session-id ID", "The agent's session.", completion.sessions)] = "",
    constraint: Annotated[Texts, option("--constraint T", "A rule that holds for this step; repeatable.")] = None,
    failure: Annotated[Texts, option("--failure T", "What went wrong lately; repeatable.")] = None,
    question: Annotated[Texts, option("--question T", "What is still open; repeatable.")] = None,
    meaning: Meaning = False,
) -> None:
    """Choose the few memories that a role needs next."""
    from oracle.app.queries import lookup

    request = {
        "goal": goal,
        "role": role,
        "project": project,
        "task_id": task_id,
        "session_id": session_id,
        "constraints": constraint or [],
        "failures": failure or [],
        "questions": question or [],
    }
    with call.context() as context:
        found = lookup.find(context, "packet", {"request": request}, loads_models=meaning)
        call.take(found)
    rows = found.result["rows"]
    if not rows:
        call.note(say("nothing is remembered that helps here"))
    table = Table(say_each("section", "text", "memory"), rows, stacked=(1, 2), names=(2,))
    call.answer({**found.result["packet"], **call.standing}, table)
