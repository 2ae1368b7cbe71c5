"""The list of tools: the description for clients, and the function of each. A test compares references/mcp.md with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, signature

from oracle.domain.names import ORPHAN_KINDS
from oracle.domain.records.attention import READS
from oracle.domain.records.remembered import MEMORY_TYPES
from oracle.domain.values import value
from oracle.mcp import read_tools, schemas, write_tools
from oracle.mcp.arguments import (
    EVIDENCE,
    FILTERS,
    RECORD,
    RESPONSE,
    TARGET_PROJECT,
    TYPES,
    choice,
    flag,
    number,
    record,
    several,
    words,
)
from oracle.mcp.results import Answer
from oracle.mcp.schemas import Schema


@value
class Tool:
    """One tool. A `reads` tool changes nothing; `withdraws` marks one that takes something back."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, Schema]
    run: Callable[..., Answer]
    output: Schema
    """The JSON Schema of the structured content."""
    reads: bool = True
    withdraws: bool = False
    repeats: bool = True
    """Whether repeating a call changes nothing more."""

    @property
    def required(self) -> tuple[str, ...]:
        """The arguments without a default in `run`."""
        taken = signature(self.run).parameters
        return tuple(name for name in self.arguments if name in taken and taken[name].default is Parameter.empty)

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the arguments, with an example call."""
        named = self.required or tuple(self.arguments)[:1]
        example = {name: self.arguments[name]["examples"][0] for name in named}  # type: ignore[index]
        return {**record(self.arguments, required=self.required), "examples": [example]}


_RELATED = "projects/arena/decision/2026-04-20-retry-three-times"

TOOLS = (
    Tool(
        "search",
        "Search records",
        "Find passages in the records of every seat, by words in any language. The best come first, "
        "superseded ones last. Each hit names path and lines. If nothing is found, the error is "
        "not_in_memory_db.",
        {
            "query": words("Words to look for.", "retry policy"),
            **FILTERS,
            "limit": number("At most this many hits.", least=1, most=50, default=5),
            "strict": flag("Leave out superseded and retired records."),
        },
        read_tools.search,
        schemas.SEARCH,
    ),
    Tool(
        "show",
        "Show a record",
        "Read lines of a record from disk, and what replaced it. Long records come in parts.",
        {
            "record": RECORD,
            "first_line": number("From this line, counted from 1.", least=1, most=10_000_000, default=1),
            "last_line": number("To this line; 0 means the end.", least=0, most=10_000_000, default=0),
        },
        read_tools.show,
        schemas.SHOW,
    ),
    Tool(
        "ask",
        "Ask memory",
        "Answer a question at once from the files: verbatim quotes with path and lines, facts, contradictions side by side. Status "
        "candidates: passages that may hold the answer, found and not judged; read them, and answer only from one that says "
        "what is asked. If nothing is found, the error is not_in_memory_db; then report that it is not known.",
        {
            "question": words("The question, in any language.", "Which retry policy did we choose, and why?"),
            "project": FILTERS["project"],
            "seat": FILTERS["seat"],
        },
        read_tools.ask,
        schemas.ASK,
    ),
    Tool(
        "backlinks",
        "List backlinks",
        "List the records that link to a record, a task, a file, a commit or another entity.",
        {
            "target": words("A record, or an entity as entity:NAMESPACE:VALUE.", "entity:taskid:ARENA-228"),
            "types": TYPES,
            "limit": number("At most this many.", least=1, most=500, default=50),
        },
        read_tools.backlinks,
        schemas.BACKLINKS,
    ),
    Tool(
        "graph",
        "Walk the graph",
        "Follow links from a record or an entity.",
        {
            "target": words("A record, or an entity as entity:NAMESPACE:VALUE.", "entity:component:RetryPolicy"),
            "depth": number("How many steps to follow.", least=0, most=8, default=1),
            "direction": choice("The direction; default: out from a record, in from an entity.", "out", "in", "both"),
            "types": TYPES,
        },
        read_tools.graph,
        schemas.GRAPH,
    ),
    Tool(
        "list_records",
        "List records",
        "List records by project, seat, kind, status, author, task or time, newest first.",
        {**FILTERS, "limit": number("At most this many.", least=1, most=500, default=20)},
        read_tools.list_records,
        schemas.LIST_RECORDS,
    ),
    Tool(
        "get_fact",
        "Get a fact",
        "Look up a machine or project fact by its dotted key. Credentials are never shown, only their name, "
        "file, length and a fingerprint.",
        {
            "key": words("The name of a fact, FILE.KEY; numbers index lists.", "network.endpoints.0"),
            "project": words("Search the facts of this project first; default: that of the server.", "arena"),
        },
        read_tools.get_fact,
        schemas.GET_FACT,
    ),
    Tool(
        "packet",
        "Get a packet",
        "Choose the memories that a role needs for its next step: rules, facts, procedures, pitfalls, open questions.",
        {
            "role": choice("Who takes the step.", *READS),
            "goal": words("The goal of the step, in a sentence.", "Add retries to the upload"),
            "project": TARGET_PROJECT,
            "task_id": words("The current task.", "ARENA-228"),
            "session_id": words("The session of the agent.", "s-17"),
            "constraints": several("Rules that apply to this step.", "No new dependency."),
            "failures": several("Recent failures.", "The upload timed out."),
            "questions": several("Open questions.", "Is the upload idempotent?"),
        },
        read_tools.packet,
        schemas.PACKET,
    ),
    Tool(
        "recall_experiences",
        "Recall experiences",
        "Recall lessons of earlier work for a task, best first: when each helps, what to do, what to avoid and what to check.",
        {
            "task": words("What is to be done, in your words.", "Fix the failing webhook retry test"),
            "project": words("The project; default: that of the server, or every project.", "arena"),
            "limit": number("The most to recall.", least=1, most=20, default=3),
        },
        read_tools.recall_experiences,
        schemas.EXPERIENCES,
    ),
    Tool(
        "write_record",
        "Write a record",
        "Write a record of the memory seat. On return it is on disk, linked and indexed. Only a server of "
        "the memory seat may call this; other seats write files into their own folder. A text with a "
        "credential is refused.",
        {
            "kind": choice("The kind; a finding needs evidence.", *ORPHAN_KINDS),
            "title": words("Its title, one line.", "Retry five times with jitter"),
            "body": words(
                "Its text, in Markdown; task ids, paths and [[names]] become links.",
                "Chosen for ARENA-228: see src/retry.py.",
            ),
            "project": TARGET_PROJECT,
            "evidence": several("The evidence.", {"trust": "high", "source_url": "src/retry.py:42"}, item=EVIDENCE),
            "supersedes": several("Records that it replaces.", _RELATED),
            "contradicts": several("Records that it contradicts.", _RELATED),
            "supports": several("Records that it supports.", _RELATED),
            "extends": several("Records that it extends.", _RELATED),
            "derived_from": several("Records that it is derived from.", _RELATED),
            "task_id": words("The task it belongs to.", "ARENA-228"),
            "related_task_ids": several("Other related tasks.", "ARENA-230"),
            "confidence": choice("The confidence; default: medium.", "high", "medium", "low"),
            "detail": words("A line of detail.", "Measured on staging."),
            "status": words("Its status; default: open.", "open"),
            "author": words("The author; default: the seat.", "builder"),
            "secrets": choice("What to do with a credential; default: refuse.", "refuse", "redact"),
            "dry_run": flag("Write nothing and return what would be written."),
            "new_project": flag("The project is new, though one of a similar name exists."),
        },
        write_tools.write_record,
        schemas.WRITTEN,
        reads=False,
        repeats=False,
    ),
    Tool(
        "retire_record",
        "Retire a record",
        "Retire a record that no longer holds. The record itself is not changed: a small decision states the "
        "reason, and answers leave the record out.",
        {
            "record": RECORD,
            "reason": words("Why it no longer holds, in a sentence.", "The upload is gone."),
            "dry_run": flag("Write nothing and return what would be written."),
        },
        write_tools.retire_record,
        schemas.WRITTEN,
        reads=False,
        withdraws=True,
    ),
    Tool(
        "remember",
        "Remember something",
        "Keep what the user wants later sessions to know: about the user, how to work, the project, or where to look. One "
        "topic in one call; an update replaces what was remembered on it. Relative dates become absolute. What the "
        "repository or CLAUDE.md says anyway is refused, and so is a judgement about a person.",
        {
            "type": choice("About the user, how to work, the project, or where to look.", *MEMORY_TYPES),
            "text": words("What to remember, one topic.", "Integration tests hit a real database, not mocks."),
            "title": words("Its topic; default: its first sentence.", "Tests on a real database"),
            "why": words("The reason; feedback and project need it.", "A mock hid a broken migration."),
            "how_to_apply": words("When and where it counts; feedback and project need it.", "In integration tests."),
            "project": words("The project; default: that of the server, or every project.", "arena"),
            "source": words("Who said it or where it is; default: the user.", "the stand-up of 2026-03-03"),
            "task_id": words("The task it belongs to.", "ARENA-228"),
            "supersedes": several("The memories that it updates; default: those on its topic.", _RELATED),
            "new_topic": flag("It is another topic than a memory that sounds like it."),
            "dry_run": flag("Write nothing and return what would be written."),
        },
        write_tools.remember,
        schemas.REMEMBERED,
        reads=False,
    ),
    Tool(
        "forget",
        "Forget a memory",
        "Retire what was remembered, when the user asks to forget it or it is wrong. Its file stays, and no answer uses it.",
        {
            "target": words("Its slug, its title, or words that only it holds.", "merge freeze"),
            "reason": words("Why; default: somebody asked to forget it.", "The release is out."),
            "dry_run": flag("Write nothing and return what would be written."),
        },
        write_tools.forget,
        schemas.WRITTEN,
        reads=False,
        withdraws=True,
    ),
    Tool(
        "add_experience",
        "Add an experience",
        "Keep a lesson of work that was done, for those who do such work again. It is about the work, not about a person.",
        {
            "title": words("The lesson, one line.", "Webhook retries need a fake clock"),
            "situation": words("When it helps.", "The retry logic of the webhooks or its tests change."),
            "approach": words("What to do.", "- Inject the clock.\n- Run tests/test_retry.py twice."),
            "reflect": words("What to avoid, and what to check.", "Avoid sleeping in a test."),
            "project": words("The project; default: that of the server, or every project.", "arena"),
            "task_id": words("The task it is from.", "ARENA-228"),
            "supersedes": several("The experiences that it replaces.", _RELATED),
            "dry_run": flag("Write nothing and return what would be written."),
        },
        write_tools.add_experience,
        schemas.WRITTEN,
        reads=False,
    ),
    Tool(
        "dispatch",
        "Dispatch to a seat",
        "Hand a question or a task to another seat. It is queued with a receipt and the seat is woken. The "
        "answer comes later; see `handoffs`. For an answer from disk at once, call `ask`.",
        {
            "target": words("The seat to ask.", "memory"),
            "objective": words("The question or task, in full.", "Which retry policy did we choose?"),
            "project": TARGET_PROJECT,
            "task_id": words("A new id; default: one is generated.", "Q-17"),
            "kind": choice("A question or a task; default: a question.", "query", "task"),
            "title": words("A title; default: the first line.", "Retry policy"),
            "reply_to": words("The seat that gets the answer, if it is another one.", "reviewer"),
            "notify": flag("Wake the seat.", default=True),
        },
        write_tools.dispatch,
        schemas.DISPATCHED,
        reads=False,
        repeats=False,
    ),
    Tool(
        "deliver",
        "Deliver an answer",
        "Deliver the answer to a dispatched question, exactly once, with a receipt. Its claims are looked up "
        "on disk. Only a server of the memory seat may call this: other seats complete "
        "what they were asked with `oracle compat complete_handoff`. A different answer to the same task is the "
        "error conflict.",
        {
            "task_id": words("The answered task.", "Q-17"),
            "target": words("The seat that gets the answer.", "planner"),
            "response": RESPONSE,
            "project": TARGET_PROJECT,
            "summary": words("A summary for the receipt.", "Five attempts, with jitter."),
            "strict": flag("Deliver nothing if a claim does not hold."),
            "supersede": flag("Replace the earlier answer, which is kept aside."),
            "unsolicited": flag("Nobody asked for it; without this such an answer is refused."),
            "notify": flag("Wake the seat.", default=True),
        },
        write_tools.deliver,
        schemas.DELIVERED,
        reads=False,
    ),
    Tool(
        "handoffs",
        "Show handoffs",
        "List the handoffs between seats, with the state of each and who acts next. With a task id, tell the "
        "story of that task from its files.",
        {
            "project": words("Only this project; default: that of the server, or every project.", "arena"),
            "state": words("Only handoffs in this state, such as open or consumed.", "open"),
            "task_id": words("Show the story of this task.", "Q-17"),
        },
        write_tools.handoffs,
        schemas.HANDOFFS,
    ),
)
"""The tools, in the order of listings."""

BY_NAME = {tool.name: tool for tool in TOOLS}
