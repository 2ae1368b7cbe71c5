"""The SDK's server: it passes tools, resources and prompts to the tool runner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from oracle import __version__
from oracle.errors import NotFound, OracleError
from oracle.mcp import resources
from oracle.mcp.results import NOTICE, cleaned, for_tools
from oracle.mcp.tools import TOOLS, Tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.app.context import Context
    from oracle.mcp.binding import Binding
    from oracle.mcp.tool_runner import ToolRunner

_NOT_FOUND = -32002
"""The error code that the specification defines for an unknown resource."""

Found = TypeVar("Found")
RequestContext = Any
"""The SDK's request context, which is not used."""


def make_server(runner: ToolRunner) -> Server[dict[str, Any]]:
    """Return a server that runs its calls with `runner`."""
    handlers = Handlers(runner)
    return Server(
        "oracle",
        version=__version__,
        title="memory-oracle",
        instructions=instructions(runner.binding),
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class Handlers:
    """The handlers of protocol requests."""

    def __init__(self, runner: ToolRunner) -> None:
        self._runner = runner

    async def list_tools(self, _: RequestContext, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """List every tool."""
        return types.ListToolsResult(tools=[describe(tool) for tool in TOOLS])

    async def call_tool(self, _: RequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool. A failure in the tool is a result; an unknown tool is a protocol error."""
        try:
            answer = await self._runner.call(params.name, params.arguments or {})
        except KeyError as error:
            raise MCPError(types.INVALID_PARAMS, f"There is no tool {params.name[:60]!r}.") from error
        content: list[types.ContentBlock] = [types.TextContent(text=answer.text)]
        return types.CallToolResult(content=content, structured_content=dict(answer.data), is_error=answer.is_error)

    async def list_resources(
        self, _: RequestContext, __: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the seats and the newest records."""
        found = await self._read(lambda context: resources.places(context, self._runner.binding))
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=item.uri, name=cleaned(item.name), description=item.about, mime_type=resources.MARKDOWN
                )
                for item in found
            ]
        )

    async def list_templates(
        self, _: RequestContext, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """List the URI templates."""
        templates = [
            types.ResourceTemplate(
                uri_template=item.uri, name=item.name, description=item.about, mime_type=resources.MARKDOWN
            )
            for item in resources.TEMPLATES
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(
        self, _: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return the content of a resource."""
        text = await self._read(lambda context: resources.read(context, self._runner.binding, params.uri))
        contents = types.TextResourceContents(uri=params.uri, mime_type=resources.MARKDOWN, text=cleaned(text))
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, _: RequestContext, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """List every prompt."""
        return types.ListPromptsResult(prompts=[describe_prompt(prompt) for prompt in resources.PROMPTS])

    async def get_prompt(self, _: RequestContext, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return the text of a prompt."""
        try:
            prompt = resources.find_prompt(params.name)
            text = resources.fill(prompt, params.arguments or {}, self._runner.binding)
        except OracleError as error:
            raise _as_mcp_error(error) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    async def _read(self, job: Callable[[Context], Found]) -> Found:
        try:
            return await self._runner.read(job)
        except OracleError as error:
            raise _as_mcp_error(error) from error


def describe(tool: Tool) -> types.Tool:
    """Return a tool in the form of the protocol."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        output_schema=tool.output,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads,
            destructive_hint=tool.withdraws,
            idempotent_hint=tool.repeats,
            open_world_hint=False,
        ),
    )


def describe_prompt(prompt: resources.Prompt) -> types.Prompt:
    """Return a prompt in the form of the protocol."""
    arguments = [
        types.PromptArgument(name=name, description=description, required=is_needed)
        for name, description, is_needed in prompt.arguments
    ]
    return types.Prompt(name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments)


def instructions(binding: Binding) -> str:
    """Return the instructions that a client may show to its model."""
    where = f" of the project {binding.project}" if binding.project else ""
    text = (
        f"The knowledge base of a team of coding agents, at {binding.root}. You are its seat {binding.seat}{where}. "
        "Before you decide, call `ask` or `search`; quote with path and lines. What it does not hold is the error "
        f"not_in_memory_db: say that it is not known, and invent nothing. {NOTICE}"
    )
    return str(cleaned(text))


def _as_mcp_error(error: OracleError) -> MCPError:
    found: dict[str, Any] = cleaned(for_tools(error).as_json())
    number = _NOT_FOUND if isinstance(error, NotFound) else types.INVALID_PARAMS
    return MCPError(number, found["error"]["message"], found)
