"""Markers of the last message: what a seat asks for in its own words. Pure.

`[DELIVER:seat=planner task_id=T-1 project=demo]` asks for a delivery, `[CLEAR-REQUESTED]` for an empty context. Only prose
counts: code, comments and quotes only talk about markers. The last marker of a message wins, and
one that can't be read is never replaced by an earlier one: in doubt nothing is delivered.

To which handoff a marker belongs is the business of `addressing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from oracle.domain.markdown.inline_code import find_elements
from oracle.domain.markdown.masks import blank, mask_code, unify_line_ends
from oracle.domain.names import check_name
from oracle.domain.values import value
from oracle.errors import InvalidName
from oracle.wording import say

CLEAR = "[CLEAR-REQUESTED]"
DELIVER = "[DELIVER:"
LONGEST = 4096
"""The most characters of one marker; a longer text is not one."""

_MOST = 100  # markers of one message that are read, from its end: a text made of markers must not cost seconds

_ALIASES = {
    **dict.fromkeys(("seat", "target", "to"), "seat"),
    **dict.fromkeys(("task_id", "task", "query_id"), "task_id"),
    **{name: name for name in ("project", "profile", "verdict", "summary", "commit", "sweep", "title")},
}
_PROSE = ("summary", "title")
_NAMES = {"seat": "seat", "task_id": "task id", "project": "project"}
_TICKS = re.compile(r"`{3,}|~{3,}")
_QUOTED_LINE = re.compile(r"^[ \t]*+(?:(?:[-+*]|[0-9]{1,9}[.)])[ \t]++)*+>.*", re.MULTILINE)
_QUOTATION = frozenset(('""', "''", "“”", "‘’", "„“", "‚‘", "«»", "‹›", "「」", "『』", "《》"))
_LONG_QUOTATION = ("“”", "„“", "«»", "「」", "『』")  # those that may hold a sentence and are no apostrophes
_TALK_TAG = r"(?i)<(/?)(code|pre|kbd|samp|q|blockquote)\b[^<>]*+>"
_TOKEN = re.compile(
    r"""(?P<gap>[\s,]+)
      | (?P<close>\])
      | (?P<key>[A-Za-z_]+)=(?P<value>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[^\s,\]"']*+)(?=[\s,\]])
      | (?P<word>[^\s,\]=]++)(?=[\s,\]])""",
    re.VERBOSE | re.DOTALL,
)
_WIDE_COMMA = re.compile(r"[，、；﹐､،]\s*[A-Za-z_]*=")
_KEYS = r"(?:seat|target|to|task_id|task|query_id|project)[ \t]*+[=＝]"
_NEARLY = rf"""(?imx)(?<!\\)(?!(?-i:\[DELIVER:))[\[［【][ \t]*+DELIVER[ \t]*+[:：]?+[ \t]*+(?={_KEYS})
      | ^[ \t]*+(?-i:DELIVER)[:：](?=[ \t]*+{_KEYS}[^\n]*[\]］】])"""  # other letters, widths or blanks; no colon; no bracket
_CLOSING = re.compile(r"[\]］】]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_COMMIT = r"[0-9a-fA-F]{7,64}"


@value
class Marker:
    """A request to deliver; `start` and `end` are its offsets in the message, empty texts were not given."""

    seat: str
    task_id: str = ""
    project: str = ""
    profile: str = ""
    verdict: str = ""
    summary: str = ""
    commit: str = ""
    title: str = ""
    sweep: int | None = None
    start: int = 0
    end: int = 0

    def is_same_delivery(self, other: Marker | Fault | None) -> bool:
        """Return whether another marker delivers to the same seat, task and project."""
        if not isinstance(other, Marker):
            return False
        return (self.seat, self.task_id, self.project) == (other.seat, other.task_id, other.project)


@value
class Fault:
    """A marker that can't be obeyed: a code for the one line on stderr, and a sentence for the log."""

    code: str
    sentence: str
    start: int = 0
    end: int = 0


@value
class Markers:
    """What a message asks for: the delivery that counts, or the fault of the last marker, and whether to clear."""

    deliver: Marker | Fault | None
    clear: bool
    dropped: tuple[Marker, ...] = ()
    """The markers before the last one that name another delivery."""


def read(text: str) -> Markers:
    """Return what the message asks for. Time is linear in the length of the text."""
    if DELIVER.strip("[:").lower() not in text.lower() and CLEAR not in text:
        return Markers(None, clear=False)
    prose = mask_talk(text)
    plain = unify_line_ends(text)
    found = [_read_marker(plain, start) for start in [*_starts(prose, DELIVER)][-_MOST:]]
    found = sorted([*found, *_near_markers(prose, found)], key=lambda item: item.start)
    meant = [item for item in found if not _is_quoted(plain, item.start, item.end)]
    clears = [at for at in _starts(prose, CLEAR) if not _is_quoted(plain, at, at + len(CLEAR))]
    last = meant[-1] if meant else None
    dropped = (item for item in meant[:-1] if isinstance(item, Marker) and not item.is_same_delivery(last))
    return Markers(last, bool(clears), tuple(dropped))


def mask_talk(text: str) -> str:
    r"""Overwrite code, comments and quotes with blanks; offsets are kept, line ends are `\n`.

    Unlike in records a fence that is never closed hides everything behind it: an action is worth more doubt than a link. Of a
    quotation only the lines with their `>` are hidden: the lines right below are nearly always the writer's own.
    """
    longest = max((run.end() - run.start() for run in _TICKS.finditer(text)), default=0)
    closed = f"{text}\n\n{'`' * longest}\n{'~' * longest}" if longest else text
    masked = mask_code(closed)[: len(text)]
    if ">" not in masked:
        return masked
    masked = _QUOTED_LINE.sub(lambda line: " " * len(line.group()), masked)
    return blank(masked, [*find_elements(masked, _TALK_TAG)]) if "</" in masked else masked


def strip(text: str) -> str:
    """Return the message without the markers it obeys, as a person should read the answer; those that are talk stay."""
    if DELIVER not in text and CLEAR not in text:
        return text.strip()
    prose, plain = mask_talk(text), unify_line_ends(text)
    spans = [(at, at + len(CLEAR)) for at in _starts(prose, CLEAR)]
    found = [_read_marker(plain, start) for start in [*_starts(prose, DELIVER)][-_MOST:]]
    spans += [(item.start, item.end) for item in found if isinstance(item, Marker)]
    pieces, done = [], 0
    for start, end in sorted(spans):
        if start >= done and not _is_quoted(plain, start, end):
            pieces.append(text[done:start].rstrip(" \t"))
            done = end
    pieces.append(text[done:])
    return "".join(pieces).strip()


def _starts(prose: str, opening: str) -> Iterator[int]:
    at = prose.find(opening)
    while at >= 0:
        if prose[at - 1 : at] != "\\" or prose[max(0, at - 2) : at] == "\\\\":
            yield at
        at = prose.find(opening, at + len(opening))


def _near_markers(prose: str, found: list[Marker | Fault]) -> Iterator[Fault]:
    """Yield the last texts that are a marker but for how they begin, and are no part of a marker."""
    for match in [*re.finditer(_NEARLY, prose)][-_MOST:]:
        start = match.start()
        if not any(item.start < start < item.end for item in found):
            sentence = say("A marker begins with {opening}; this one does not.", opening=DELIVER)
            end = _CLOSING.search(prose, start, start + LONGEST)
            yield Fault("marker_malformed", sentence, start, end.end() if end else 0)


def _is_quoted(text: str, start: int, end: int) -> bool:
    """Return whether quotation marks are right before and behind a marker, or around its line."""
    if start > 0 and end > start and text[start - 1] + text[end : end + 1] in _QUOTATION:
        return True
    before = text[max(0, start - LONGEST) : start].rpartition("\n")[2]
    after = text[end : end + LONGEST].partition("\n")[0]
    if '"' in after and _is_open(before):
        return True
    return any(before.count(pair[0]) > before.count(pair[1]) and pair[1] in after for pair in _LONG_QUOTATION)


def _is_open(before: str) -> bool:
    """Return whether a plain quotation mark opens a quotation that is not closed; an inch mark (`24"`) opens none."""
    is_open = False
    at = before.find('"')
    while at >= 0:
        is_open = not is_open and not before[max(0, at - 1) : at].isdigit() and not before[at + 1 : at + 2].isspace()
        at = before.find('"', at + 1)
    return is_open


def _read_marker(text: str, start: int) -> Marker | Fault:
    """Read the marker that opens at `start`; it reaches to its bracket, never into the next marker."""
    stop = text.find(DELIVER, start + 1, start + LONGEST)
    body = text[start + len(DELIVER) : stop if stop >= 0 else start + LONGEST]
    offset = start + len(DELIVER)
    try:
        fields, length = _read_attributes(body)
        return _build(fields, start=start, end=offset + length)
    except _Unreadable as reason:
        return Fault(reason.code, reason.sentence, start, offset + body.find("]") + 1)
    except InvalidName as error:
        return Fault(error.code, error.sentence, start, offset + body.find("]") + 1)


class _Unreadable(Exception):
    """Leave the reading of a marker, with the code and the sentence of its fault."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


def _read_attributes(body: str) -> tuple[dict[str, str], int]:
    fields: dict[str, str] = {}
    at, key = 0, ""
    while token := _TOKEN.match(body, at):
        at = token.end()
        if token["close"]:
            return fields, at
        if token["key"]:
            _refuse_wide_comma(token["value"])
            key = _set_attribute(fields, token["key"], _unquote(token["value"]))
        elif token["word"] and key in _PROSE:
            fields[key] += f" {token['word']}"  # a summary that its writer forgot to quote
        elif token["word"]:
            raise _Unreadable(
                "marker_malformed",
                say("The marker holds {word!r}, which is not an attribute.", word=token["word"][:40]),
            )
    raise _Unreadable(
        "marker_malformed", say("The marker can't be read from {rest!r} on, or never ends.", rest=body[at : at + 40])
    )


def _refuse_wide_comma(value: str) -> None:
    """Refuse a value into which a comma of another script has drawn the next attribute."""
    if value[:1] not in ("'", '"') and _WIDE_COMMA.search(value):
        raise _Unreadable("marker_malformed", say("The marker's attributes are divided by blanks or by plain commas."))


def _set_attribute(fields: dict[str, str], given: str, value: str) -> str:
    key = _ALIASES.get(given.lower(), "")
    if not key:
        raise _Unreadable("marker_attribute", say("The marker has no attribute {given!r}.", given=given[:40]))
    if not value:
        raise _Unreadable("marker_malformed", say("The marker's {given} is empty.", given=given))
    if fields.get(key, value) != value:
        raise _Unreadable("marker_malformed", say("The marker names two values for {given}.", given=given))
    if _CONTROL.search(value):
        raise _Unreadable("marker_malformed", say("The marker's {given} holds a control character.", given=given))
    fields[key] = value
    return key


def _unquote(value: str) -> str:
    return _ESCAPE.sub(r"\1", value[1:-1]).strip() if value[:1] in ("'", '"') else value


def _build(fields: dict[str, str], *, start: int, end: int) -> Marker:
    if "seat" not in fields:
        raise _Unreadable("missing_seat", say("The marker names no seat to deliver to."))
    for key, what in _NAMES.items():
        if key in fields:
            fields[key] = check_name(fields[key], what)
    sweep = fields.pop("sweep", "")
    if sweep and not (sweep.isascii() and sweep.isdigit() and len(sweep) <= len("999999999")):
        raise _Unreadable("marker_malformed", say("The marker's sweep {sweep!r} is not a number.", sweep=sweep[:40]))
    if "commit" in fields and not re.fullmatch(_COMMIT, fields["commit"]):
        raise _Unreadable(
            "marker_malformed", say("The marker's commit {commit!r} is not a commit id.", commit=fields["commit"][:40])
        )
    return Marker(**fields, sweep=int(sweep) if sweep else None, start=start, end=end)
