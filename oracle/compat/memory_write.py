"""`memory_write`: write one record of the memory seat, from a file or standard input (drop mode) or from flags.

Both modes write the same Markdown record; they differ in flags and in what they print.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from oracle.app.context import Context
from oracle.app.guard import POLICIES
from oracle.compat.door import (
    add_new_project,
    add_root,
    complain,
    emit,
    make_parser,
    make_root,
    open_context,
    report,
    run_once,
    warn,
    without_secrets,
)
from oracle.domain import timestamps
from oracle.domain.records.drafts import CONFIDENCES, Draft, Evidence
from oracle.domain.values import replace
from oracle.errors import InvalidRecord, RootUnusable, SecretFound, UsageError
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from oracle.app.records.views import Written

USAGE = 2
SOURCES = ("scanner", "write_api", "reflection", "event_derived", "research")
_MAX_TITLE = 200


class _Moment:
    """A fixed clock: the moment of the record is chosen before it is written."""

    __slots__ = ("_ns",)

    def __init__(self, ns: int) -> None:
        self._ns = ns

    def now_ns(self) -> int:
        """Return nanoseconds since 1970-01-01 UTC."""
        return self._ns

    def as_datetime(self) -> datetime:
        """Return the moment in UTC, to the microsecond."""
        return timestamps.from_ns(self._ns)


def run() -> NoReturn:
    """Run with the process's arguments and end the process with the exit code."""
    run_once(main)


def main(argv: list[str]) -> int:
    """Write one record. Returns 1 for a record that breaks a rule, 2 for a wrong call, 5 for a kind of another seat."""
    args = _parser().parse_args(argv)
    is_drop = args.content_file is not None or args.content_stdin
    missing = "" if is_drop else next((name for name in ("title", "author") if not getattr(args, name)), "")
    if missing:
        complain(f"error: --{missing} is required in legacy record mode")
        return USAGE
    with open_context(args) as context:
        context.clock = moment = _Moment(_choose_moment(args.iso, context.clock.now_ns()))
        try:
            draft = (
                _drop_draft(args, moment)
                if is_drop
                else _draft(args, title=args.title, body=args.body, author=args.author, extra={})
            )
            written = _write(context, draft, args, is_drop=is_drop)
        except SecretFound as error:
            return report(error)
        except InvalidRecord as error:
            return report(InvalidRecord(f"schema validation failed: {error.sentence}", hint=error.hint))
        _say(context, args, written, _look_at_author(args, draft.author, is_drop=is_drop), is_drop=is_drop)
    return 0


def _parser() -> argparse.ArgumentParser:
    description = "Write one record: decision, finding, task, plan or experience."
    parser = make_parser("memory_write", description, allow_abbrev=True)
    add = parser.add_argument
    add("--kind", required=True, help="decision, finding, task, plan or experience")
    add("--project", required=True)
    add("--title", help="default with content: its first line")
    add("--body", default="")
    add("--author", help="default with content: ancestor")
    content = parser.add_mutually_exclusive_group()
    content.add_argument("--content-file", metavar="PATH", help="UTF-8 Markdown that becomes the body")
    content.add_argument("--content-stdin", action="store_true", help="the same from standard input")
    add("--iso", metavar="MOMENT", help="the record's moment, ISO 8601 (default: now)")
    add(
        "--evidence", action="append", metavar="E", help="TRUST:SOURCE, or JSON {trust, source_url, quote}, or an array"
    )
    add("--related-task-ids", default="", metavar="A,B")
    add("--confidence", choices=CONFIDENCES, default="medium")
    add("--source", choices=SOURCES, default="write_api")
    add("--supersedes", metavar="SLUG", help="the record that this one replaces")
    add("--seats", default="", metavar="A,B", help="another author than the known ones gets a warning")
    add("--secrets", choices=POLICIES, default="refuse", help="what happens to a text that looks like a credential")
    add_root(parser)
    add_new_project(parser)
    add("--dry-run", action="store_true", help="write nothing; print the path (with content) or the record")
    add("--quiet", action="store_true", help="print nothing on standard output")
    return parser


# -- the draft ---------------------------------------------------------------------------------------------------------


def _choose_moment(text: str | None, now_ns: int) -> int:
    if text is None:
        return now_ns
    moment = timestamps.parse(text)
    if moment is None:
        raise UsageError(f"--iso {text!r} is not an ISO 8601 moment.", hint="Write it as 2026-04-27T18:30:00Z.")
    return timestamps.to_ns(moment)


def _drop_draft(args: argparse.Namespace, moment: _Moment) -> Draft:
    content, source = _read_content(args)
    stamps = {
        "format": "markdown_note",
        "created_at": timestamps.print_moment(datetime.now(UTC)),
        "filename_stamp": timestamps.print_stamp(moment.as_datetime()),
        "content_source": source,
    }
    title = args.title or _first_line(content) or args.kind
    draft = _draft(args, title=title, body=content, author=args.author or "ancestor", extra=stamps)
    if draft.kind != "finding" or draft.evidence:
        return draft
    warn(f"the finding was given no evidence; what was dropped is its source, of low trust: {without_secrets(source)}")
    return replace(draft, evidence=(Evidence("low", source),))


def _draft(args: argparse.Namespace, *, title: str, body: str, author: str, extra: dict[str, str]) -> Draft:
    return Draft(
        kind=args.kind,
        project=args.project,
        title=title,
        body=body,
        author=author,
        confidence=args.confidence,
        source=args.source,
        evidence=_read_evidence(args.evidence),
        related_task_ids=tuple(_split(args.related_task_ids)),
        supersedes=(args.supersedes,) if args.supersedes else (),
        extra=dict(extra),
    )


def _read_content(args: argparse.Namespace) -> tuple[str, str]:
    """Return the content and its source. Raises UsageError if it is not UTF-8 text."""
    from oracle.process import STANDARD_INPUT, read_text_input

    name = STANDARD_INPUT if args.content_stdin else args.content_file
    return read_text_input(name, "--content-file"), "stdin" if args.content_stdin else name


def _first_line(content: str) -> str:
    line = next((line.lstrip("#").strip() for line in content.splitlines() if line.lstrip("#").strip()), "")
    return line[:_MAX_TITLE]


def _read_evidence(words: list[str] | None) -> tuple[Evidence, ...]:
    """Return the evidence as `oracle write` reads it.

    JSON must be an array; an item that is not an object makes the record invalid.
    """
    if not words:
        return ()
    if any(word.lstrip().startswith("{") for word in words):
        raise UsageError(
            "--evidence is not a JSON array.",
            hint="""Write it as high:src/app.py:12 or '[{"trust": "high", "source_url": "src/app.py:12"}]'.""",
        )
    from oracle.domain.records.drafts import NotAnObject, parse_evidence

    try:
        return parse_evidence(words)
    except NotAnObject as error:
        raise InvalidRecord(error.sentence, hint=error.hint) from None


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


# -- writing and saying so ---------------------------------------------------------------------------------------------


def _write(context: Context, draft: Draft, args: argparse.Namespace, *, is_drop: bool) -> Written:
    """Write the draft. A missing Root is created first, unless the draft is invalid."""
    from oracle.app.records.write import write

    try:
        context.root.require()
    except RootUnusable:
        if args.dry_run:
            raise
        draft.check()
        if is_drop:
            draft.require_body()
        make_root(context)
    return write(
        context,
        draft,
        secrets=args.secrets,
        dry_run=args.dry_run,
        needs_body=is_drop,
        new_project=args.new_project,
    )


def _look_at_author(args: argparse.Namespace, author: str, *, is_drop: bool) -> list[str]:
    seats = _split(args.seats)
    if not seats or author in seats:
        return []
    if is_drop:
        return [without_secrets(f"author {author!r} is not in seats whitelist {seats!r}")]
    return [without_secrets(f"author {author!r} not in known seats {seats!r}; writing anyway (soft governance)")]


def _say(context: Context, args: argparse.Namespace, written: Written, warnings: list[str], *, is_drop: bool) -> None:
    from oracle.compat.rendering import print_json
    from oracle.domain.safety.telling import tell_replaced

    warnings = [
        *warnings,
        *written.warnings,
        *tell_replaced(written.redacted, again=say("If that was no secret, write it again with --secrets allow.")),
        *(
            f"{slug} says nearly what the retired record said; it may have to go too"
            for slug in written.near_duplicates
        ),
    ]
    for warning in warnings:
        warn(warning)
    if args.quiet and not args.dry_run:
        return
    if is_drop:
        emit(written.path)
    elif args.dry_run:
        from oracle.app.search.federated import note_of_text

        emit(print_json(note_of_text(written.text, written.path, context.root)))
    else:
        emit(print_json({"id": written.id, "path": written.path, "warnings": warnings}))
