"""`memory_router`: the commands of the routing skill, on the records of a Root. JSON in, JSON out with `ok`.

Errors go to standard output too, as `{"ok": false, "error": {code, message, hint}}`, with their exit code.
"""

from __future__ import annotations

import argparse
import json
import os

from oracle.app.context import Context
from oracle.app.memories.keep import Lesson
from oracle.compat import json_args
from oracle.compat.door import add_new_project, emit, format_help, without_secrets
from oracle.compat.json_args import Fields
from oracle.domain.names import SHARED
from oracle.domain.records.memories import Given
from oracle.domain.records.packets import Request
from oracle.domain.values import contents_of
from oracle.errors import OracleError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from oracle.app.memories.keep import Kept

    Answer = dict[str, object]

ROOT_VARIABLE = "MAR_DB_PATH"
_DEFAULT_LIMIT = 20
_MOST = 1 << 31  # more than any count; an index query still accepts it


def main(argv: list[str]) -> int:
    """Run one command and print one JSON document."""
    warnings: list[str] = []
    try:
        answer = _answer(argv, warnings)
    except OracleError as error:
        _print({"ok": False, **_without_secrets(error)})
        return error.exit_code
    _print({"ok": True, **answer, "warnings": [*map(without_secrets, warnings)]})
    return 0


def _answer(argv: list[str], warnings: list[str]) -> Answer:
    args = _parser().parse_args(argv)
    if args.input_flag is not None and args.input_word is not None:
        raise UsageError("The input was given twice.", hint="Use only --input-json.")
    fields = json_args.read(args.input_flag if args.input_word is None else args.input_word)
    fields.require_times()
    root = args.memory_dir if args.memory_dir is not None else os.environ.get(ROOT_VARIABLE) or None
    with Context.open(root, warn=warnings.append) as context:
        answer = _COMMANDS[args.command](context, fields, args)
    warnings += [f"{name} means nothing to {args.command}" for name in fields.unused()]
    return answer


def _without_secrets(error: OracleError) -> Answer:
    return {"error": {name: without_secrets(text) for name, text in error.as_json()["error"].items()}}


def _print(document: Answer) -> None:
    emit(json.dumps(document, ensure_ascii=False, indent=2))


class _Parser(argparse.ArgumentParser):
    """A parser that reports errors as JSON."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message[:1].upper()}{message[1:]}.", hint=f"See `{self.prog} --help`.")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="memory_router",
        description="Give an agent the memories for its next step, and store what it learns.",
        formatter_class=format_help,
    )
    add = parser.add_argument
    add("command", choices=tuple(_COMMANDS), metavar="COMMAND", help=", ".join(_COMMANDS))
    add("input_word", nargs="?", metavar="JSON", help="the same as --input-json")
    add("--input-json", dest="input_flag", metavar="JSON", help="an object, the path of a file with one, or -")
    add("--memory-id", metavar="ID", help="the memory to inspect")
    add("--project", metavar="P", help="the project of the memories (default: memories without a project)")
    add_new_project(parser)
    add("--limit", type=int, metavar="N", help=f"how many to list (default {_DEFAULT_LIMIT})")
    add("--memory-dir", metavar="DIR", help=f"the Root (default: {ROOT_VARIABLE}, else as everywhere)")
    return parser


# -- commands ----------------------------------------------------------------------------------------------------------


def _init(context: Context, _fields: Fields, _args: argparse.Namespace) -> Answer:
    from oracle.app.root import init

    made = init(context)
    return {"root": context.root.path, "made": made}


def _add(context: Context, fields: Fields, args: argparse.Namespace) -> Answer:
    from oracle.app.memories.keep import remember

    memory = Given(
        type=fields.text("memory_type").lower(),
        title=fields.text("title"),
        summary=fields.text("summary"),
        project=_project(fields, args) or SHARED,
        author=fields.text("author", default="memory_router"),
        role_scope=fields.text("role_scope", default="global").lower(),
        session_id=fields.text("session_id"),
        task_id=fields.text("task_id"),
        level=fields.whole("abstraction_level"),
        importance=fields.number("importance"),
        confidence=fields.number("confidence"),
        success_score=fields.number("success_score"),
        keywords=fields.texts("keywords"),
        tags=fields.texts("tags"),
        source_refs=fields.texts("source_refs"),
        details=fields.mapping("details"),
        valid_from=fields.text("valid_from_ts", "valid_from"),
        valid_to=fields.text("valid_to_ts", "valid_to"),
        edges=tuple((edge.text("edge_type"), edge.text("to_memory_id")) for edge in fields.objects("edges")),
        replaces=fields.text("replaces_memory_id"),
        reason=fields.text("retired_reason"),
    )
    kept = remember(context, memory, new_project=_is_new_project(fields, args))
    return {
        "memory_id": kept.memories[0],
        "replaces_memory_id": kept.retired[0] if kept.retired else None,
        **_outcome(context, kept),
    }


def _route(context: Context, fields: Fields, args: argparse.Namespace) -> Answer:
    from oracle.app.queries import lookup

    request = Request(
        goal=fields.text("goal"),
        role=fields.text("step_role").lower(),
        project=_project(fields, args),
        task_id=fields.text("task_id"),
        session_id=fields.text("session_id"),
        constraints=fields.texts("user_constraints"),
        failures=fields.texts("recent_failures"),
        questions=fields.texts("unresolved_questions"),
    )
    found: Answer = lookup.find(context, "packet", {"request": contents_of(request)}, loads_models=True).result[
        "packet"
    ]
    return found


def _reflect(context: Context, fields: Fields, args: argparse.Namespace) -> Answer:
    from oracle.app.memories.keep import reflect

    lesson = Lesson(
        goal=fields.text("goal"),
        outcome=fields.text("outcome"),
        worked=fields.texts("what_worked"),
        failed=fields.texts("what_failed"),
        lessons=fields.texts("lessons"),
        next_time=fields.texts("next_time"),
        project=_project(fields, args) or SHARED,
        author=fields.text("author", default="memory_router"),
        session_id=fields.text("session_id"),
        task_id=fields.text("task_id"),
    )
    kept = reflect(context, lesson, new_project=_is_new_project(fields, args))
    reflection, *procedures = kept.memories
    return {
        "reflection_memory_id": reflection,
        "procedure_memory_id": procedures[0] if procedures else None,
        "experience_id": _keep_experience(context, lesson, reflection),
        **_outcome(context, kept),
    }


def _keep_experience(context: Context, lesson: Lesson, reflection: str) -> str | None:
    """Write the experience that a reflection holds; return its slug, None when it says too little for one."""
    from oracle.app.experiences.add import add
    from oracle.domain.experiences.experience import from_lesson

    experience = from_lesson(
        lesson.goal,
        worked=lesson.worked,
        failed=lesson.failed,
        lessons=lesson.lessons,
        next_time=lesson.next_time,
    )
    if experience is None:
        return None
    more = {"task_id": lesson.task_id, "author": lesson.author, "derived_from": (reflection,)}
    written = add(context, experience, lesson.project, **more)  # type: ignore[arg-type]
    for warning in written.warnings:
        context.warn(warning)
    return written.slug


def _refresh(context: Context, fields: Fields, _args: argparse.Namespace) -> Answer:
    from oracle.app.memories.keep import refresh

    kept = refresh(
        context,
        fields.texts("stale_memory_ids"),
        replacement=fields.text("replacement_memory_id"),
        reason=fields.text("refresh_reason"),
    )
    return {
        "replacement_memory_id": kept.replacement or None,
        "already_retired_memory_ids": list(kept.already),
        **_outcome(context, kept),
    }


def _list(context: Context, fields: Fields, args: argparse.Namespace) -> Answer:
    from oracle.app.memories.keep import list_memories

    found = list_memories(context, project=_project(fields, args), limit=_limit(fields, args))
    return {"memories": [memory.as_json() for memory in found]}


def _inspect(context: Context, fields: Fields, args: argparse.Namespace) -> Answer:
    from oracle.app.memories.keep import inspect

    name = args.memory_id or fields.text("memory_id")
    if not name:
        raise UsageError("The memory to inspect is missing.", hint="Name it with --memory-id.")
    return {"memory": inspect(context, name).as_json()}


def _packets(context: Context, fields: Fields, args: argparse.Namespace) -> Answer:
    from oracle.app.memories import packets

    return {"packets": packets.kept(context, _limit(fields, args))}


def _outcome(context: Context, kept: Kept) -> Answer:
    for warning in kept.warnings:
        context.warn(warning)
    return {"retired_memory_ids": list(kept.retired), "edge_ids": list(kept.edges)}


def _project(fields: Fields, args: argparse.Namespace) -> str:
    return fields.text("project") or args.project or ""


def _is_new_project(fields: Fields, args: argparse.Namespace) -> bool:
    return fields.flag("new_project") or args.new_project


def _limit(fields: Fields, args: argparse.Namespace) -> int:
    limit = args.limit if args.limit is not None else fields.whole("limit")
    if limit is None:
        return _DEFAULT_LIMIT
    if limit < 1:
        raise UsageError(f"The limit {limit} is too small.", hint="Ask for 1 or more.")
    return min(limit, _MOST)


_COMMANDS: dict[str, Callable[[Context, Fields, argparse.Namespace], Answer]] = {
    "init": _init,
    "add": _add,
    "route": _route,
    "reflect": _reflect,
    "refresh": _refresh,
    "list": _list,
    "inspect": _inspect,
    "packets": _packets,
}
