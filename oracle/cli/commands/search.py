"""`oracle search` and `oracle packet`: find passages, or choose the memories for the next step of an agent."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

import typer

from oracle.cli import completion, plain_search
from oracle.cli.options import Filters, Fresh, Meaning, argument, option, single
from oracle.cli.output import Table, write_out
from oracle.cli.session import Call
from oracle.errors import NotInMemory, OracleError, UsageError
from oracle.wording import say, say_each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from oracle.app.context import Context


class _How(TypedDict):
    limit: int
    strict: bool
    lexical: bool
    fresh: bool


search_app = single()


@search_app.add(example="oracle search 'why do webhooks retry' --project shop", has_hub=True)
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
    words = " ".join(text or [])
    if stdin:
        if words.strip():
            raise UsageError(
                say("--stdin takes no words."), hint=say("Give them as lines of standard input, or alone.")
            )
        with call.context() as context:
            if meaning:
                call.note_lack_of_meaning(context)
            call.as_json = True
            _answer_lines(context, filters, explain=explain, limit=limit, strict=strict, lexical=lexical, fresh=fresh)
        return
    how = {"strict": strict, "lexical": lexical, "meaning": meaning, "explain": explain, "fresh": fresh}
    plain_search.search(call, words, filters, limit=limit, **how)


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
            answer["hits"] = [{**hit.as_answer(), **plain_search.signals(hit, explain)} for hit in hits]
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
        call.take(found, context, meaning=meaning)
    rows = found.result["rows"]
    if not rows:
        call.note(say("nothing is remembered that helps here"))
    table = Table(say_each("section", "text", "memory"), rows, stacked=(1, 2), names=(2,))
    call.answer({**found.result["packet"], **call.standing}, table)
