"""Resources (records and seats by URI) and the two prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from oracle.domain.names import check_name
from oracle.domain.spelling import suggest
from oracle.domain.values import value
from oracle.errors import NotFound, UsageError
from oracle.mcp.read_tools import line_of, show
from oracle.mcp.results import NOTICE, label
from oracle.wording import joined, say

if TYPE_CHECKING:
    from oracle.app.context import Context
    from oracle.mcp.binding import Binding

RECORD, SEAT = "oracle://record/", "oracle://seat/"
MARKDOWN = "text/markdown"
_MOST_LISTED = 50


@value
class Resource:
    """A resource, or a template for its URI."""

    uri: str
    name: str
    about: str


TEMPLATES = (
    Resource(RECORD + "{+slug}", "A record", "The lines of a record, read from disk now."),
    Resource(SEAT + "{project}/{seat}", "A seat", "The newest records of a seat in a project."),
)


@value
class Prompt:
    """A prompt: its purpose, its arguments (name, description, whether required) and its text."""

    name: str
    title: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    text: str


PROMPTS = (
    Prompt(
        "recall",
        "Recall what is known",
        "Look up what the team's memory holds on a topic before deciding.",
        (
            ("topic", "The topic, as a question or in a few words.", True),
            ("project", "Only this project.", False),
        ),
        """Find out what memory holds on {topic}{in_project}.
1. Call `ask` with the topic as a question. If the result is not_in_memory_db, call `search` with its main words, then with \
other words.
2. Call `show` on what matters, and `backlinks` on the task or component it is about.
3. Report what is known, with path and lines for each sentence. Leave out what was superseded and name its successor. If records \
contradict each other, report both.
4. What no record says is unknown: say so, and offer to dispatch the question to a seat.
"""
        + NOTICE,
    ),
    Prompt(
        "close_task",
        "Close a task",
        "Record the lessons of a finished task and deliver what was asked.",
        (
            ("task_id", "The finished task.", True),
            ("outcome", "The outcome, in one or two sentences.", True),
            ("project", "Its project.", False),
        ),
        """The task {task_id}{in_project} is finished. Outcome, in the caller's words: {outcome}
1. Call `handoffs` with the task id. Note who asked and whether an answer is due.
2. Call `search` for records that the outcome confirms or contradicts.
3. As the memory seat, call `write_record` for what was decided or found, with task_id and evidence. Set supersedes if a record no \
longer holds. As another seat, write it as a Markdown file into your own folder of the project.
4. If an answer is due, the memory seat calls `deliver` with claims that name path, lines and quote. Other seats complete their \
handoff with `oracle compat complete_handoff`.
5. Call `handoffs` again and report the state of the task.
"""
        + NOTICE,
    ),
)


def find_prompt(name: str) -> Prompt:
    """Return a prompt by name. Raises UsageError."""
    for prompt in PROMPTS:
        if prompt.name == name:
            return prompt
    raise UsageError(
        say("Unknown prompt {name!r}.", name=name[:60]),
        hint=suggest(name, [one.name for one in PROMPTS]),
    )


def fill(prompt: Prompt, given: Mapping[str, str], binding: Binding) -> str:
    """Return the text of a prompt with its arguments filled in. Raises UsageError if a required one is missing."""
    known = {name for name, *_ in prompt.arguments}
    missing = [name for name, _, is_needed in prompt.arguments if is_needed and not given.get(name, "").strip()]
    if missing:
        raise UsageError(
            say("The prompt {name} needs {missing}.", name=prompt.name, missing=missing[0]),
            hint=say("Its arguments are {known}.", known=sorted(known)),
        )
    project = given.get("project", "") or binding.project
    places = {name: label(text) for name, text in given.items() if name in known}
    return prompt.text.format(**{**places, "in_project": f" in the project {label(project)}" if project else ""})


def places(context: Context, _: Binding) -> list[Resource]:
    """Return the seats that have records, and the newest records."""
    from oracle.app.overview.status import status
    from oracle.app.records.listing import list_records

    counts = status(context)["groups"]
    groups = counts if isinstance(counts, list) else []
    seats = dict.fromkeys(
        (str(group["project"]), str(group["seat"])) for group in groups if group["project"] and group["seat"]
    )
    found = [
        Resource(f"{SEAT}{quote(project)}/{quote(seat)}", f"{seat} of {project}", "The newest records of this seat.")
        for project, seat in seats
    ]
    newest = list_records(context, {}, limit=_MOST_LISTED, newest_first=True)
    return found + [
        Resource(RECORD + quote(item.slug), label(item.title), f"{item.kind}, {item.sort_ts[:10]}") for item in newest
    ]


def read(context: Context, binding: Binding, uri: str) -> str:
    """Return the content of a resource as quoted text. Raises NotFound, UsageError."""
    if uri.startswith(RECORD) and len(uri) > len(RECORD):
        answer = show(context, binding, record=unquote(uri.removeprefix(RECORD)))
        return f"{NOTICE}\n\n{answer.text}\n"
    project, _, seat = unquote(uri.removeprefix(SEAT)).partition("/") if uri.startswith(SEAT) else ("", "", "")
    if not (project and seat):
        raise UsageError(
            say("Unknown resource {uri!r}.", uri=uri[:200]),
            hint=say("Use {templates}.", templates=joined(" or ", [item.uri for item in TEMPLATES])),
        )
    return _seat(context, check_name(project, "project"), check_name(seat, "seat"))


def _seat(context: Context, project: str, seat: str) -> str:
    from oracle.app.records.listing import list_records

    found = list_records(context, {"project": project, "seat": seat}, limit=_MOST_LISTED, newest_first=True)
    if not found:
        raise NotFound(
            say("The seat {seat} has no records in {project}.", seat=seat, project=project),
            hint=say("List the resources to see what exists."),
        )
    lines = [f"- {line_of(item)}" for item in found]
    return "\n".join([f"# {seat} of {project}", "", NOTICE, "", *lines, ""])
