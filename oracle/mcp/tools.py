"""The tools: what a client is told of each, and the function behind it. References/mcp.md is compared with this list."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from oracle.domain.names.seats import ORPHAN_KINDS
from oracle.domain.records.attention import READS
from oracle.domain.values import value
from oracle.mcp import delivery_tools, outputs, read_tools, recall_tools, write_tools
from oracle.mcp.results import Answer
from oracle.mcp.schemas import (
    FILTERS,
    RECORD,
    TARGET_PROJECT,
    TYPES,
    Schema,
    choice,
    flag,
    number,
    record,
    several,
    words,
)


@value
class Tool:
    """One tool. `reads` tools change nothing; the others add, and `withdraws` marks the one that takes something back."""

    name: str
    title: str
    description: str
    arguments: Mapping[str, Schema]
    run: Callable[..., Answer]
    output: Schema
    """The JSON Schema of the structured content."""
    required: tuple[str, ...] = ()
    reads: bool = True
    withdraws: bool = False
    repeats: bool = True
    """Whether the same call once more changes nothing more."""

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the arguments, with a call for an example: what is needed, or the first that may be given."""
        named = self.required or tuple(self.arguments)[:1]
        example = {name: self.arguments[name]["examples"][0] for name in named}  # type: ignore[index]
        return {**record(self.arguments, required=self.required), "examples": [example]}


_EVIDENCE = record(
    {
        "trust": choice("How far it can be trusted.", "high", "medium", "low"),
        "source_url": words("Where it stands: a path with a line, or an address.", "src/retry.py:42"),
        "quote": words("What it says there, word for word.", "MAX_TRIES = 5"),
    },
    required=("trust", "source_url"),
    closed=False,
)
_CLAIM = record(
    {
        "statement": words("What is claimed.", "At most five attempts are made."),
        "evidence": several(
            "Where it can be checked: path, lines and quote, as `ask` gives them.",
            {"path": "projects/arena/decision/a.md", "lines": [16, 18], "quote": "Five attempts."},
            item={"type": "object"},
        ),
    },
    required=("statement",),
    closed=False,
)
_RESPONSE = {
    **record(
        {
            "answer": words("The answer, in words.", "Five attempts, with jitter."),
            "claims": several("What it claims, each with evidence that is looked up on disk.", item=_CLAIM),
        },
        required=("answer",),
        closed=False,
    ),
    "description": "The response: the object that `ask` returned, or one of your own.",
    "examples": [{"answer": "Five attempts, with jitter.", "claims": []}],
}
_RELATED = "projects/arena/decision/2026-04-20-retry-three-times"

TOOLS = (
    Tool(
        "search",
        "Search records",
        "Find passages in the records of every seat, by words in any language; the best come first, replaced ones last. "
        "Each hit names path and lines. Nothing found is the error not_in_memory_db.",
        {
            "query": words("Words to look for.", "retry policy"),
            **FILTERS,
            "limit": number("At most this many hits.", least=1, most=50, default=5),
            "strict": flag("Leave out superseded and retired records.", default=False),
        },
        read_tools.search,
        outputs.SEARCH,
        required=("query",),
    ),
    Tool(
        "show",
        "Show a record",
        "Read a record's own lines from disk as they are now, with what replaced it. Long records come in parts.",
        {
            "record": RECORD,
            "first_line": number("From this line, counted from 1.", least=1, most=10_000_000, default=1),
            "last_line": number("To this line; 0 is the end.", least=0, most=10_000_000, default=0),
        },
        read_tools.show,
        outputs.SHOW,
        required=("record",),
    ),
    Tool(
        "ask",
        "Ask memory",
        "Answer a question at once from the files alone: verbatim quotes with path and lines, facts, contradictions side by side. "
        "What no record says is the error not_in_memory_db, with what was nearest; then say that it is not known.",
        {
            "question": words("The question, in any language.", "Which retry policy did we choose, and why?"),
            "project": FILTERS["project"],
            "seat": FILTERS["seat"],
        },
        recall_tools.ask,
        outputs.ASK,
        required=("question",),
    ),
    Tool(
        "backlinks",
        "List backlinks",
        "List the records that point at a record, a task, a file, a commit or another entity.",
        {
            "target": words("A record, or an entity as entity:NAMESPACE:VALUE.", "entity:taskid:ARENA-228"),
            "types": TYPES,
            "limit": number("At most this many.", least=1, most=500, default=50),
        },
        read_tools.backlinks,
        outputs.BACKLINKS,
        required=("target",),
    ),
    Tool(
        "graph",
        "Walk the graph",
        "Follow links from a record or an entity for some steps.",
        {
            "target": words("A record, or an entity as entity:NAMESPACE:VALUE.", "entity:component:RetryPolicy"),
            "depth": number("How many steps to walk.", least=0, most=8, default=1),
            "direction": choice(
                "Which way; out from a record and in from an entity when left out.", "out", "in", "both"
            ),
            "types": TYPES,
        },
        read_tools.graph,
        outputs.GRAPH,
        required=("target",),
    ),
    Tool(
        "list_records",
        "List records",
        "List records by project, seat, kind, status, author, task or time, the newest first.",
        {**FILTERS, "limit": number("At most this many.", least=1, most=500, default=20)},
        read_tools.list_records,
        outputs.LIST_RECORDS,
    ),
    Tool(
        "get_fact",
        "Get a fact",
        "Look up what a scanner found, by a dotted key: machine and project facts. The values of credentials are never told, "
        "only their name, their file, their length and a fingerprint.",
        {
            "key": words("The name of a fact, FILE.KEY; numbers index lists.", "network.endpoints.0"),
            "project": words("Look among the facts of this project first; that of the server when left out.", "arena"),
        },
        recall_tools.get_fact,
        outputs.GET_FACT,
        required=("key",),
    ),
    Tool(
        "packet",
        "Get a packet",
        "Choose the few memories that a role needs for its next step: rules, facts, procedures, pitfalls, open questions.",
        {
            "role": choice("Who takes the step.", *READS),
            "goal": words("What the step is to reach, in a sentence.", "Add retries to the upload"),
            "project": TARGET_PROJECT,
            "task_id": words("The task at hand.", "ARENA-228"),
            "session_id": words("The session of the agent.", "s-17"),
            "constraints": several("Rules that hold for this step.", "No new dependency."),
            "failures": several("What went wrong lately.", "The upload timed out."),
            "questions": several("What is still open.", "Is the upload idempotent?"),
        },
        recall_tools.packet,
        outputs.PACKET,
        required=("role", "goal"),
    ),
    Tool(
        "write_record",
        "Write a record",
        "Write one of Memory's records; on return it is on disk, linked and indexed. Only a server of the memory seat may; "
        "every other seat writes its own folder as files. A text with a credential is refused.",
        {
            "kind": choice("What it is; a finding needs evidence.", *ORPHAN_KINDS),
            "title": words("Its title, one line.", "Retry five times with jitter"),
            "body": words(
                "Its text, in Markdown; task ids, paths and [[names]] become links.",
                "Chosen for ARENA-228: see src/retry.py.",
            ),
            "project": TARGET_PROJECT,
            "evidence": several(
                "What it rests on.", {"trust": "high", "source_url": "src/retry.py:42"}, item=_EVIDENCE
            ),
            "supersedes": several("Records that it replaces.", _RELATED),
            "contradicts": several("Records that it speaks against.", _RELATED),
            "supports": several("Records that it speaks for.", _RELATED),
            "extends": several("Records that it adds to.", _RELATED),
            "derived_from": several("Records that it follows from.", _RELATED),
            "task_id": words("The task it belongs to.", "ARENA-228"),
            "related_task_ids": several("Other tasks that it concerns.", "ARENA-230"),
            "confidence": choice("How sure it is; medium when left out.", "high", "medium", "low"),
            "detail": words("A line of detail.", "Measured on staging."),
            "status": words("Its status; open when left out.", "open"),
            "author": words("Who says so; the seat when left out.", "builder"),
            "secrets": choice("What to do with a credential in it; refuse when left out.", "refuse", "redact"),
            "dry_run": flag("Write nothing and return what would be written.", default=False),
        },
        write_tools.write_record,
        outputs.WRITTEN,
        required=("kind", "title", "body"),
        reads=False,
        repeats=False,
    ),
    Tool(
        "retire_record",
        "Retire a record",
        "Say that a record no longer holds. Its bytes are left as they are; a small decision carries the reason, and answers leave "
        "the record out.",
        {
            "record": RECORD,
            "reason": words("Why it no longer holds, in a sentence.", "The upload is gone."),
            "dry_run": flag("Write nothing and return what would be written.", default=False),
        },
        write_tools.retire_record,
        outputs.WRITTEN,
        required=("record", "reason"),
        reads=False,
        withdraws=True,
    ),
    Tool(
        "dispatch",
        "Dispatch to a seat",
        "Hand a question or a task to another seat: it is queued with a receipt and the seat is woken. The answer comes later; "
        "see `handoffs`. For an answer from disk at once, `ask`.",
        {
            "target": words("The seat that is asked.", "memory"),
            "objective": words("What is asked, in full.", "Which retry policy did we choose?"),
            "project": TARGET_PROJECT,
            "task_id": words("An id that nobody has; one is made when left out.", "Q-17"),
            "kind": choice("A question or a task; a question when left out.", "query", "task"),
            "title": words("A title; the first line when left out.", "Retry policy"),
            "reply_to": words("The seat that gets the answer, when it is another.", "reviewer"),
            "notify": flag("Wake the seat.", default=True),
        },
        delivery_tools.dispatch,
        outputs.DISPATCHED,
        required=("target", "objective"),
        reads=False,
        repeats=False,
    ),
    Tool(
        "deliver",
        "Deliver an answer",
        "Deliver the answer to a dispatched question, exactly once, with a receipt; its claims are looked up on disk. Only "
        "a server of the memory seat may. Another answer to the same task is the error conflict.",
        {
            "task_id": words("The task that is answered.", "Q-17"),
            "target": words("The seat that gets the answer.", "planner"),
            "response": _RESPONSE,
            "project": TARGET_PROJECT,
            "summary": words("What the receipt says of it.", "Five attempts, with jitter."),
            "strict": flag("Deliver nothing when a claim does not hold.", default=False),
            "supersede": flag("Replace the answer that stands, which is kept aside.", default=False),
            "notify": flag("Wake the seat.", default=True),
        },
        delivery_tools.deliver,
        outputs.DELIVERED,
        required=("task_id", "target", "response"),
        reads=False,
    ),
    Tool(
        "handoffs",
        "Show handoffs",
        "List the handoffs between seats, how far each is and who acts next; with a task id, the story of that "
        "task from its files.",
        {
            "project": words("Only this project; that of the server when left out, or every project.", "arena"),
            "state": words("Only those in this state, as open or consumed.", "open"),
            "task_id": words("Tell the story of this task.", "Q-17"),
        },
        delivery_tools.handoffs,
        outputs.HANDOFFS,
    ),
)
"""In the order in which clients list them."""

BY_NAME = {tool.name: tool for tool in TOOLS}
