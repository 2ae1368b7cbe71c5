"""Run a tool: check its arguments, call it with the thread's own Context, and turn the outcome into an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from oracle.app.context import Context
from oracle.app.guard import mapped
from oracle.app.root import unexpected
from oracle.domain.markdown.documents import replace_surrogates
from oracle.domain.spelling import guess
from oracle.errors import OracleError, UsageError
from oracle.mcp.binding import Binding
from oracle.mcp.results import Answer, cleaned, quoted, refusal
from oracle.mcp.tools import BY_NAME, Tool
from oracle.serving import Workers
from oracle.wording import say

Outcome = TypeVar("Outcome")


class ToolRunner:
    """The tools of a server, run in its worker threads."""

    def __init__(self, binding: Binding) -> None:
        self.binding = binding
        self._workers = Workers(binding.root, reader=binding.seat)

    async def call(self, name: str, arguments: Mapping[str, object]) -> Answer:
        """Run a tool by name. Raises KeyError for an unknown name; every other failure becomes an answer."""
        tool = BY_NAME[name]
        return await self._workers.run(lambda: self._answer(tool, arguments))

    async def read(self, job: Callable[[Context], Outcome]) -> Outcome:
        """Run a job with a worker's Context. Raises OracleError, and what the job raises."""
        return await self._workers.run(lambda: self._workers.with_context(job)[0])

    def close(self) -> None:
        """Wait for running calls, so that no write is cut short."""
        self._workers.close()

    def _answer(self, tool: Tool, arguments: Mapping[str, object]) -> Answer:
        arguments = mapped(arguments, replace_surrogates)  # a client may cut a text in the middle of a character
        try:
            check_arguments(tool, arguments)
            answer, warnings = self._workers.with_context(lambda context: tool.run(context, self.binding, **arguments))
        except OracleError as error:
            answer, warnings = refusal(error, arguments=tool.arguments), []
        except Exception as error:  # noqa: BLE001 -- one call that fails must not end the server, nor show a traceback
            answer, warnings = refusal(unexpected(self.binding.root, error, with_message=False)), []
        data = (
            {**answer.data, "warnings": [*_listed(answer.data.get("warnings")), *warnings]} if warnings else answer.data
        )
        text = "\n".join([answer.text, *(f"warning: {line}" for line in warnings)])
        data, text = cleaned([data, text])  # at once: both hold the same quotes
        return Answer(quoted(data), text, answer.is_error)


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
