"""Checks of contents: records that disagree, files and settings that can't be used, work that waits. Reads only."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from oracle.app.decisions import overdue
from oracle.app.doctor.context import (
    Check,
    CheckContext,
    TreeEntry,
    capped,
    error,
    first_few,
    note,
    quoted,
    warning,
)
from oracle.app.doctor.diagnosis import Head
from oracle.app.records import naming
from oracle.domain.names import FOREIGN, MEMORY
from oracle.domain.records.drafts import SCHEMA_VERSION
from oracle.domain.records.records import RETIRING
from oracle.errors import OracleError, RulesUnusable
from oracle.index.read import loose_ends
from oracle.store import journal
from oracle.store.delivery import inbox
from oracle.store.root import privacy, profile
from oracle.store.root.configuration import load_patterns
from oracle.store.root.features import find_faults
from oracle.store.root.layout import Root
from oracle.wording import Sentence, say

_READ_LIMIT = 64 * 1024 * 1024


# -- what records say --------------------------------------------------------------------------------------------------


def check_owners(context: CheckContext) -> Iterator[Check]:
    """Report records whose frontmatter names another project or seat than their folder."""
    rows = context.index.truth.connect().execute("SELECT path, seat, claims_seat FROM record WHERE claims_seat != ''")
    claims = {path: (seat, claimed) for path, seat, claimed in rows}
    yield from capped(check for head in context.heads for check in _foreign(head, *claims.get(head.path, ("", ""))))


def _foreign(head: Head, seat: str, claimed: str) -> Iterator[Check]:
    if claimed:
        make = error if seat != MEMORY else warning  # memory's own may say which seat decided
        yield make("owners", *_foreign_field(head, "seat", claimed, seat))
    parts = head.path.split("/")
    project = head.fields["project"]
    if parts[0] == "projects" and len(parts) > 2 and project not in ("", parts[1], "null", "~"):
        yield warning("owners", *_foreign_field(head, "project", project, parts[1]))


def _foreign_field(head: Head, key: str, told: str, folder: str) -> tuple[Sentence, Sentence]:
    detail = say(
        "{place}: the frontmatter names the {key} {told}, the folder is {folder}'s",
        place=f"{head.path}:{head.line(key)}",
        key=key,
        told=told,
        folder=folder,
    )
    return detail, say("Its owner corrects `{key}:` or moves the file", key=key)


def check_ids(context: CheckContext) -> Iterator[Check]:
    """Report records of one project that share an id."""
    bearers: dict[tuple[str, str], list[Head]] = defaultdict(list)
    for head in context.heads:
        if head.fields["id"]:
            bearers[(head.project, head.fields["id"])].append(head)
    yield from capped(
        _shared_id(identifier, heads) for (_, identifier), heads in sorted(bearers.items()) if len(heads) > 1
    )


def _shared_id(identifier: str, heads: list[Head]) -> Check:
    first, *others = [f"{head.path}:{head.line('id')}" for head in heads]
    detail = say(
        "{first}: {count} records have the id {id}, also {others}",
        first=first,
        id=identifier,
        count=len(heads),
        others=first_few(others),
    )
    return warning("ids", detail, say("The owner of the copy gives it an id of its own"))


def check_versions(context: CheckContext) -> Iterator[Check]:
    """Report records that a newer program wrote. They are read as far as possible."""
    newer = [head for head in context.heads if _is_newer(head.fields["schema_version"])]
    yield from capped(
        warning(
            "versions",
            say(
                "{place}: schema_version {version}, this program knows {known}",
                place=f"{head.path}:{head.line('schema_version')}",
                version=head.fields["schema_version"],
                known=SCHEMA_VERSION,
            ),
            say("Upgrade memory-oracle"),
        )
        for head in newer
    )


def _is_newer(version: str) -> bool:
    return version.isascii() and version.isdecimal() and len(version) < 10 and int(version) > int(SCHEMA_VERSION)


def check_retirements(context: CheckContext) -> Iterator[Check]:
    """Report cycles of records that retire each other, and retirements of records that do not exist."""
    connection = context.index.truth.connect()
    yield from capped(_cycles(context))
    yield from capped(
        warning(
            "retirements",
            say("{path}:{line}: {kind} {ref}, but there is no such record", path=path, line=line, kind=kind, ref=ref),
            _correct(naming.find_near(connection, ref), quoted(name)),
        )
        for _, path, kind, ref, line, name in loose_ends.unresolved(connection, "")
        if kind in RETIRING and not path.startswith(FOREIGN)
    )


def _correct(near: Sequence[str], name: str) -> Sentence:
    if not near:
        return say("Correct the reference, or restore {name}", name=name)
    return say("Correct the reference (did you mean {near}?), or restore {name}", near=near, name=name)


def _cycles(context: CheckContext) -> Iterator[Check]:
    rows = context.index.truth.connect().execute(
        "SELECT record.slug, target.name, record.path, edge.line FROM edge NOT INDEXED JOIN record ON record.id = source_id"
        " JOIN target ON target.id = target_id WHERE edge.type IN ('supersedes', 'retires') ORDER BY record.slug, target.name"
    )
    places: dict[str, str] = {}
    after: dict[str, list[str]] = defaultdict(list)
    for slug, target, path, line in rows:
        after[slug].append(target)
        places.setdefault(slug, f"{path}:{line}")
    for cycle in find_cycles(after):
        chain = " -> ".join([*cycle, cycle[0]])
        yield warning(
            "retirements",
            say("{places}: records retire each other in a cycle: {chain}", places=places[cycle[0]], chain=chain),
            say("Write a record that supersedes all of them, or correct one `supersedes:`"),
        )


def find_cycles(after: dict[str, list[str]]) -> list[list[str]]:
    """Return one cycle for every set of nodes that reach each other, found by depth-first walks."""
    cycles = []
    done: set[str] = set()
    for start in sorted(after):
        trail: list[str] = []
        waiting = [(start, 0)]
        while waiting:
            node, depth = waiting.pop()
            del trail[depth:]
            if node in trail:
                cycles.append(trail[trail.index(node) :])
                continue
            if node in done:
                continue
            done.add(node)
            trail.append(node)
            waiting += [(target, depth + 1) for target in reversed(after.get(node, []))]
    return cycles


# -- other files -------------------------------------------------------------------------------------------------------


def check_facts(context: CheckContext) -> Iterator[Check]:
    """Report fact files and responses that hold no JSON."""
    places = ("machine/", "responses/")
    files = [
        entry
        for entry in context.tree.entries
        if entry.is_file
        and entry.name.endswith(".json")
        and entry.name != "index.json"
        and (entry.path.startswith(places) or "/" not in entry.path)
    ]
    yield from capped(check for entry in files for check in _torn_fact(context, entry))


def _torn_fact(context: CheckContext, entry: TreeEntry) -> Iterator[Check]:
    if entry.status.st_size > _READ_LIMIT:
        return
    try:
        with open(context.root.join(entry.path), "rb") as stream:
            json.loads(stream.read().decode("utf-8-sig"))
    except (ValueError, RecursionError) as trouble:
        yield warning(
            "facts",
            say("{path}:{line}: not valid JSON", path=entry.path, line=getattr(trouble, "lineno", 1)),
            say("Run the program that wrote it again"),
        )
    except OSError:  # named by the check of what can be read
        return


def check_patterns(context: CheckContext) -> Iterator[Check]:
    """Report files of link patterns, and values in them, that can't be used."""
    folders = [entry.parts for entry in context.tree.entries if entry.is_folder]
    projects = [parts[1] for parts in folders if len(parts) == 2 and parts[0] == "projects"]
    found: dict[tuple[str, str], None] = {}
    for project in ["", *projects]:
        load_patterns(context.root, project, report=lambda path, why: found.setdefault((path, why)))
    yield from capped(
        warning(
            "link patterns",
            say("{path}:1: {reason}", path=path, reason=reason),
            say("Correct or remove {path}", path=quoted(context.root.join(path))),
        )
        for path, reason in found
    )


def check_profiles(context: CheckContext) -> Iterator[Check]:
    """Report profiles of teams that can't be used."""
    yield from capped(_unusable_profiles(context.root))


def _unusable_profiles(root: Root) -> Iterator[Check]:
    for project in profile.projects(root):
        try:
            profile.load(root, project, os.environ)
        except OracleError as trouble:
            yield error("profiles", trouble.sentence, trouble.hint)


def check_privacy(context: CheckContext) -> Iterator[Check]:
    """Report the rule of the owner's that can't be used: nothing is written or sent while there is one."""
    try:
        privacy.require_usable(context.root)
    except RulesUnusable as trouble:
        yield error("privacy", trouble.sentence, trouble.hint)


def check_journal(context: CheckContext) -> Iterator[Check]:
    """Report lines of `events.log` that are no JSON object; a last line without an end was torn by a crash."""
    yield from capped(_bad_events(context))


def _bad_events(context: CheckContext) -> Iterator[Check]:
    path = context.root.events
    if not os.path.isfile(path):
        return
    number, line = 0, b"\n"
    with open(path, "rb") as stream:
        for number, line in enumerate(iter(lambda: stream.readline(journal.LONGEST), b""), 1):
            if len(line) == journal.LONGEST:
                yield warning(
                    "journal",
                    say("events.log:{number}: this line has no end; readers skip it", number=number),
                    say("Move it away: {path}", path=quoted(path)),
                )
                return  # nobody knows how much more of it there is
            if not _is_event(line):
                yield note(
                    "journal",
                    say("events.log:{number}: not a JSON object; readers skip it", number=number),
                    say("Nothing has to be done; no record is read from it"),
                )
    if not line.endswith(b"\n"):
        fix = f"printf '\\n' >> {quoted(path)}"
        yield warning(
            "journal",
            say("events.log:{number}: the last line has no end; the next event would be lost in it", number=number),
            fix,
        )


def _is_event(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def check_settings(context: CheckContext) -> Iterator[Check]:
    """Report unknown or unusable settings in `config.toml`. They are ignored until they are corrected."""
    yield from capped(warning("settings", fault.sentence, fault.hint) for fault in find_faults(context.root))


def check_set_aside(context: CheckContext) -> Iterator[Check]:
    """Report entries that were abandoned after their tries, with the last error."""
    yield from capped(
        warning(
            "set aside",
            say(
                "{kind} {subject}: given up after {tries} tries; {last_error}",
                kind=entry.kind,
                subject=" ".join(filter(None, entry.subject)),
                tries=entry.tries,
                last_error=entry.last_error,
            ),
            say("oracle resume tries it again; rm {path} forgets it", path=path),
        )
        for path, entry in inbox.set_aside(context.root)
    )


def check_overdue(context: CheckContext) -> Iterator[Check]:
    """Report decisions past their deadline. Nothing settles them by itself."""
    now = datetime.fromtimestamp(context.now_ns / 1e9, UTC)
    yield from capped(
        warning("decisions", one.sentence, one.command) for one in overdue.find_overdue(context.root, now)
    )
