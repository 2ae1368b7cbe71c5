"""Call a tool: check its arguments, run it on an Oracle of the thread's own, and turn whatever happens into an answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from oracle.api import Oracle
from oracle.errors import OracleError, UsageError
from oracle.mcp.binding import Binding
from oracle.mcp.results import Answer, cleaned, quoted, refusal
from oracle.mcp.tools import BY_NAME, Tool
from oracle.wording import say

WORKERS = 4
"""Threads that answer; each has an Oracle, since one is not for two threads at a time."""

Outcome = TypeVar("Outcome")


class Desk:
    """The workers of one server. Calls of one client wait for each other only when all are busy."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self._own = threading.local()
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="oracle")

    async def call(self, name: str, arguments: Mapping[str, object]) -> Answer:
        """Run a tool by name. Raises KeyError for a name that is none; every other failure is an answer."""
        tool = BY_NAME[name]
        return await self._hand_over(lambda: self._answer(tool, arguments))

    async def read(self, job: Callable[[Oracle], Outcome]) -> Outcome:
        """Run a job on a worker's Oracle. Raises OracleError, and what the job raises."""
        return await self._hand_over(lambda: self._with_oracle(job)[0])

    def close(self) -> None:
        """Wait for what is being done, so that no write is cut short."""
        self._workers.shutdown(cancel_futures=True)

    async def _hand_over(self, job: Callable[[], Outcome]) -> Outcome:
        return await asyncio.get_running_loop().run_in_executor(self._workers, job)

    def _answer(self, tool: Tool, arguments: Mapping[str, object]) -> Answer:
        try:
            check_arguments(tool, arguments)
            answer, warnings = self._with_oracle(lambda oracle: tool.run(oracle, self.binding, **arguments))
        except OracleError as error:
            answer, warnings = refusal(error, arguments=tool.arguments), []
        except Exception as error:  # noqa: BLE001 -- one call that fails must not end the server, nor show a traceback
            answer, warnings = refusal(self._unforeseen(error)), []
        data = (
            {**answer.data, "warnings": [*_listed(answer.data.get("warnings")), *warnings]} if warnings else answer.data
        )
        text = "\n".join([answer.text, *(f"warning: {line}" for line in warnings)])
        return Answer(quoted(cleaned(data)), cleaned(text), answer.is_error)

    def _with_oracle(self, job: Callable[[Oracle], Outcome]) -> tuple[Outcome, list[str]]:
        """Run a job on this thread's Oracle and return what it gave, with what a person should know beside it.

        An Oracle that failed, or that fell back to an index in memory, is not used again: the cause may be gone next time.
        """
        warnings: list[str] = []
        kept = getattr(self._own, "oracle", None)
        oracle = kept if isinstance(kept, Oracle) else Oracle.open(self.binding.root)
        self._own.oracle = None
        oracle.warn = warnings.append
        try:
            outcome = job(oracle)
        except OracleError:
            self._keep(oracle)
            raise
        except BaseException:
            with suppress(Exception):
                oracle.close()
            raise
        self._keep(oracle)
        return outcome, warnings

    def _keep(self, oracle: Oracle) -> None:
        if oracle.index.database.in_memory:
            oracle.close()
        else:
            self._own.oracle = oracle

    def _unforeseen(self, error: Exception) -> OracleError:
        import traceback

        path = ""
        with suppress(Exception):
            path = Oracle.open(self.binding.root).note_crash("".join(traceback.format_exception(error)))
        hint = f"Details are in {path}." if path else "The Root can't be written, so no details were kept."
        return OracleError(say("Something unforeseen happened: {name}.", name=type(error).__name__), hint=hint)


def check_arguments(tool: Tool, arguments: Mapping[str, object]) -> None:
    """Raise UsageError for arguments that the tool's schema does not allow; the sentence names the first of them."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    error = best_match(Draft202012Validator(tool.schema).iter_errors(dict(arguments)))
    if error is None:
        return
    place = ".".join(map(str, error.absolute_path)) or "the arguments"
    example = error.schema.get("examples", [None])[0] if isinstance(error.schema, dict) else None
    hint = (
        f"As in {example!r}."
        if example is not None
        else f"The arguments of {tool.name} are {', '.join(tool.arguments)}."
    )
    raise UsageError(
        say("{name}: {place}: {message}.", name=tool.name, place=place, message=error.message[:300]), hint=hint
    )


def _listed(item: object) -> list[object]:
    return item if isinstance(item, list) else []
