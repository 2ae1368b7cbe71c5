"""Import a source once: its records become records of Memory, each with the file that it came from as its evidence."""

from __future__ import annotations

from oracle.app.context import Context
from oracle.app.memories.remember import Note, remember
from oracle.app.records.write import write
from oracle.app.sources.registry import find
from oracle.domain.names import slug_of
from oracle.domain.records.drafts import Draft, Evidence
from oracle.domain.records.records import interpret
from oracle.domain.records.remembered import memory_type_of
from oracle.domain.sources.source import BEADS, CLAUDE_CODE, INDEX
from oracle.domain.values import AsJson, value
from oracle.errors import OracleError
from oracle.index.read import query
from oracle.store.markdown import records
from oracle.wording import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.app.records.views import Written
    from oracle.domain.records.records import Record
    from oracle.domain.sources.source import Source

OUTCOMES = NEW, ALREADY, LEFT_OUT = "new", "already", "left out"
_DONE = ("closed", "completed", "resolved", "done")


@value
class Imported(AsJson):
    """What becomes of a record of a source: it is new, was imported already, or is left out for a reason."""

    slug: str
    outcome: str
    record: str = ""
    reason: str = ""


def import_source(context: Context, name: str, *, project: str = "", dry_run: bool = True) -> list[Imported]:
    """Write the records of a source as Memory's, unless it is a dry run. Raises NotFound, UsageError, DiskFailure.

    Memories of the four types stay such memories, issues become tasks, and everything else becomes findings. A second import
    writes only what is new.
    """
    source = find(context, name, project=project)
    rows = context.index.read(lambda connection: query.below(connection, source.tree))
    paths = [str(path) for path, *_ in rows]
    return [
        _import(context, source, path, dry_run=dry_run)
        for path in paths
        if source.kind != CLAUDE_CODE or not path.endswith(f"/{INDEX}")
    ]


def _import(context: Context, source: Source, path: str, *, dry_run: bool) -> Imported:
    slug = slug_of(path)
    known = context.index.read(lambda connection: query.backlinks(connection, slug, ("derived-from",)))
    if known:
        return Imported(slug, ALREADY, str(known[0][0]))
    try:
        document = records.parse(path, records.load(context.root, path))
        record = interpret(document, slug, path, mtime_ns=0, source=source)
        written = _write(context, source, record, dry_run=dry_run)
    except OSError as error:
        return Imported(slug, LEFT_OUT, reason=say("The file can't be read: {reason}.", reason=error.strerror))
    except OracleError as error:
        if error.exit_code not in (1, 2):
            raise
        return Imported(slug, LEFT_OUT, reason=say("{what} {hint}", what=error.sentence, hint=error.hint))
    return Imported(slug, ALREADY if written.already else NEW, "" if dry_run else written.slug)


def _write(context: Context, source: Source, record: Record, *, dry_run: bool) -> Written:
    place = source.place(record.path)
    body = record.document.body.strip()
    if memory_type := memory_type_of(record):
        note = Note(memory_type, body, record.title, project=source.project, author=source.seat, source=place)
        return remember(context, note, dry_run=dry_run).written
    draft = Draft(
        kind="task" if source.kind == BEADS else "finding",
        project=source.project,
        title=record.title,
        body=body or record.title,
        author=source.seat,
        status="completed" if record.status in _DONE else "open",
        evidence=(Evidence("medium", place),),
        derived_from=(record.slug,),
    )
    return write(context, draft, dry_run=dry_run, needs_body=True)
