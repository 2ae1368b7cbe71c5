"""The transcript of a session of Claude Code: what people typed and what the agent answered at last. Pure.

The format belongs to the client and changes, so every line and field may be missing or of another type.
"""

from __future__ import annotations

import json

from oracle.domain.injection.envelope import strip
from oracle.domain.markdown.documents import well_formed
from oracle.domain.values import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PERSON, AGENT = "Person", "Agent"
_LONGEST_TITLE, _LONGEST_TURN = 80, 8_000
_NOT_TYPED = ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage")


@value
class Said:
    """What was said in a session, by whom and when."""

    who: str
    text: str
    ts: str = ""


def read_turns(lines: Iterable[bytes]) -> list[Said]:
    """Return what people typed, and the last text of the agent before they typed again, without what a hook added."""
    found: list[Said] = []
    add_turns(found, lines)
    return found


def add_turns(turns: list[Said], lines: Iterable[bytes]) -> None:
    """Add what later lines of a transcript say."""
    for line in lines:
        said = _parse(line)
        if said is None:
            continue
        if turns and turns[-1].who == said.who == AGENT:
            turns.pop()
        turns.append(said)


def _parse(line: bytes) -> Said | None:
    try:
        content = json.loads(line, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return read_line(content) if isinstance(content, dict) else None


def read_line(line: Mapping[str, object]) -> Said | None:
    """Return what a line of a transcript says, None for what neither a person typed nor the agent answered.

    Texts that the client adds in a person's name are left out: notes, summaries, skills and anything in tags.
    """
    if any(map(line.get, _NOT_TYPED)):
        return None
    who = {"user": PERSON, "assistant": AGENT}.get(str(line.get("type")))
    text = message_text(line).strip()
    is_typed = who == AGENT or not text.startswith(("<", "[Request interrupted"))
    ts = line.get("timestamp")
    return Said(who, text, ts if isinstance(ts, str) else "") if who and text and is_typed else None


def message_text(line: Mapping[str, object]) -> str:
    """Return the text of a message: a string, or its blocks of text, without context that a hook added.

    Tools, their results and thoughts are left out.
    """
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return strip(well_formed(content))
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    return strip("\n".join(well_formed(text) for text in texts if isinstance(text, str)))


def print_session(turns: Sequence[Said], most: int) -> str:
    """Return a session as a record: what was said, of a long one its end. Its title is what a person said first."""
    first = next((one.text for one in turns if one.who == PERSON), "")
    title = " ".join(first.split())[:_LONGEST_TITLE]
    head = {"title": title, "created": next((one.ts for one in turns if one.ts), "")}
    lines = [f"{name}: {json.dumps(text, ensure_ascii=False)}" for name, text in head.items() if text]
    body = print_turns(turns, _LONGEST_TURN)
    cut = body.find("\n## ", len(body) - most) if len(body) > most else -1
    return "\n".join(["---", *lines, "---", "", body[cut + 1 :]])


def print_turns(turns: Iterable[Said], most: int) -> str:
    """Return turns as Markdown, each in a section, and of a long one its beginning."""
    return "\n".join(f"## {one.who}\n\n{_cut(_quoted(one.text), most)}\n" for one in turns)


def _quoted(text: str) -> str:
    """Return a text whose own headings and frontmatter cannot be taken for ours."""
    return "\n".join(f"\\{line}" if line.startswith(("#", "---")) else line for line in text.splitlines())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most].rstrip()} …"
