"""Run a tool: check its arguments, call it with the thread's own Context, and turn the outcome into an answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from oracle.app.context import Context
from oracle.domain.spelling import guess
from oracle.errors import OracleError, UsageError
from oracle.mcp.binding import Binding
from oracle.mcp.results import Answer, cleaned, quoted, refusal
from oracle.mcp.tools import BY_NAME, Tool
from oracle.wording import say

WORKERS = 4
"""Threads that run tools. Each has its own Context, which two threads must not share."""

Outcome = TypeVar("Outcome")


class ToolRunner:
    """The worker threads of a server. Calls wait only while all of them are busy."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self._own = threading.local()
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="oracle")

    async def call(self, name: str, arguments: Mapping[str, object]) -> Answer:
        """Run a tool by name. Raises KeyError for an unknown name; every other failure becomes an answer."""
        tool = BY_NAME[name]
        return await self._hand_over(lambda: self._answer(tool, arguments))

    async def read(self, job: Callable[[Context], Outcome]) -> Outcome:
        """Run a job with a worker's Context. Raises OracleError, and what the job raises."""
        return await self._hand_over(lambda: self._with_context(job)[0])

    def close(self) -> None:
        """Wait for running calls, so that no write is cut short."""
        self._workers.shutdown(cancel_futures=True)

    async def _hand_over(self, job: Callable[[], Outcome]) -> Outcome:
        return await asyncio.get_running_loop().run_in_executor(self._workers, job)

    def _answer(self, tool: Tool, arguments: Mapping[str, object]) -> Answer:
        try:
            check_arguments(tool, arguments)
            answer, warnings = self._with_context(lambda context: tool.run(context, self.binding, **arguments))
        except OracleError as error:
            answer, warnings = refusal(error, arguments=tool.arguments), []
        except Exception as error:  # noqa: BLE001 -- one call that fails must not end the server, nor show a traceback
            answer, warnings = refusal(self._unexpected(error)), []
        data = (
            {**answer.data, "warnings": [*_listed(answer.data.get("warnings")), *warnings]} if warnings else answer.data
        )
        text = "\n".join([answer.text, *(f"warning: {line}" for line in warnings)])
        return Answer(quoted(cleaned(data)), cleaned(text), answer.is_error)

    def _with_context(self, job: Callable[[Context], Outcome]) -> tuple[Outcome, list[str]]:
        """Run a job with this thread's Context. Returns its result and the warnings.

        A Context that failed, or that fell back to an index in memory, is not used again.
        """
        warnings: list[str] = []
        kept = getattr(self._own, "context", None)
        context = kept if isinstance(kept, Context) else Context.open(self.binding.root)
        self._own.context = None
        context.warn = warnings.append
        try:
            outcome = job(context)
        except OracleError:
            self._keep(context)
            raise
        except BaseException:
            with suppress(Exception):
                context.close()
            raise
        self._keep(context)
        return outcome, list(dict.fromkeys(warnings))

    def _keep(self, context: Context) -> None:
        if context.index.database.in_memory:
            context.close()
        else:
            self._own.context = context

    def _unexpected(self, error: Exception) -> OracleError:
        import traceback

        from oracle.app.root import note_crash

        path = ""
        with suppress(Exception):
            path = note_crash(Context.open(self.binding.root), "".join(traceback.format_exception(error)))
        hint = f"Details are in {path}." if path else "The Root can't be written, so no details were kept."
        return OracleError(say("Unexpected error: {name}.", name=type(error).__name__), hint=hint)


def check_arguments(tool: Tool, arguments: Mapping[str, object]) -> None:
    """Raise UsageError for arguments that the tool's schema does not allow. The message names the first one."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(tool.schema).iter_errors(dict(arguments)))
    if error is None:
        return
    place = ".".join(map(str, error.absolute_path)) or "the arguments"
    example = error.schema.get("examples", [None])[0] if isinstance(error.schema, dict) else None
    is_word = error.validator == "enum" and isinstance(error.instance, str)
    hint = (guess(str(error.instance), error.validator_value) if is_word else "") or (
        f"As in {example!r}."
        if example is not None
        else f"The arguments of {tool.name} are {', '.join(tool.arguments)}."
    )
    raise UsageError(
        say("{name}: {place}: {message}.", name=tool.name, place=place, message=error.message[:300]), hint=hint
    )


def _listed(item: object) -> list[object]:
    return item if isinstance(item, list) else []
