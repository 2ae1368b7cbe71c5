"""Checks of responses, and of the receipts of every team, which may lie outside of the Root. Reads only."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress

from oracle.app.delivery.handoffs import last_reason
from oracle.app.delivery.wakeups import is_without_agent
from oracle.app.doctor.context import Check, CheckContext, capped, warning
from oracle.domain.delivery import receipts
from oracle.domain.names import OPERATOR, is_name
from oracle.domain.spelling import is_one_slip_off
from oracle.errors import DiskFailure, OracleError
from oracle.store.delivery import handoffs, inbox
from oracle.store.delivery.entries import InboxKind
from oracle.store.disk import folders, steps
from oracle.store.root import profile
from oracle.store.root.profile import Profile
from oracle.wording import say


def check_receipts(context: CheckContext) -> Iterator[Check]:
    """Report receipts that can't be read or whose name has a slip, and files beside them or responses that no program reads."""
    restore = say("Restore it from a backup, or move it out of this folder and ask again")
    rename = say("Correct its name, or move it out of this folder")
    teams: dict[str, Profile] = {}
    for project in profile.projects(context.root):
        with suppress(OracleError):  # listings of handoffs name it
            team = profile.load(context.root, project, os.environ)
            teams[team.handoff_dir] = team
    yield from capped(
        warning(
            "receipts",
            say(
                "{path}: the project {project} has no profile, so nobody reads its handoffs", path=path, project=project
            ),
            say(
                "Create one with `oracle project init {name} --seats memory,planner,builder,reviewer`, or move the folder",
                name=project,
            ),
        )
        for project, path in profile.without_profile(context.root, teams).items()
    )
    found = [(path, why, restore) for folder in sorted(teams) for path, why in _unreadable(folder)]
    found += [(path, why, rename) for folder in sorted(teams) for path, why in _misspelt(teams[folder])]
    form = "<task>__<source>__<target>.json"
    strays = [(path, form) for folder in sorted(teams) for path in _strays(folder, receipts.parse_file_name)]
    strays += [(path, "<task>.json") for path in _strays(context.root.responses, _is_response)]
    found += [(path, say("no program reads it; the names are {form}", form=form), rename) for path, form in strays]
    yield from capped(warning("receipts", say("{path}: {why}", path=path, why=why), fix) for path, why, fix in found)


def check_seats(context: CheckContext) -> Iterator[Check]:
    """Report seats whose wake-up waits because only a shell runs in their session."""
    waiting = inbox.read(context.root, context.now_ns / 1e9, InboxKind.WAKE).waiting
    away = {(one.text("project"), one.text("seat")): one for one in waiting if is_without_agent(one)}
    yield from capped(
        warning(
            "seats",
            say("{seat} of {project} was not woken: {reason}", seat=seat, project=project, reason=last_reason(entry)),
            say("Start its agent there, then run `oracle resume`"),
        )
        for (project, seat), entry in sorted(away.items())
    )


def _strays(folder: str, is_read: Callable[[str], object]) -> Iterator[str]:
    """Yield the paths of files that no program reads; hidden files are locks and unfinished ones."""
    for name in folders.names_in(folder):
        path = f"{folder}/{name}"
        if not name.startswith(".") and not is_read(name) and os.path.isfile(path):
            yield path


def _is_response(name: str) -> bool:
    return name.endswith(".json") and is_name(name.removesuffix(".json"))


def _misspelt(team: Profile) -> Iterator[tuple[str, str]]:
    """Yield (path, what it may mean) of the open receipts that name a seat a slip off one of the team."""
    known = {*team.seats, OPERATOR, team.heartbeat_owner}
    for file_name in folders.names_in(team.handoff_dir):
        parsed = receipts.parse_file_name(file_name)
        if parsed is None or parsed[1]:
            continue
        for seat in sorted({parsed[0].source, parsed[0].target} - known):
            near = next((one for one in team.seats if is_one_slip_off(seat, one)), "")
            if near:
                what = say("the team has no seat {seat}; did you mean {near}?", seat=seat, near=near)
                yield handoffs.path_of(team.handoff_dir, *parsed), what


def _unreadable(folder: str) -> Iterator[tuple[str, str]]:
    """Yield (path, reason) for the receipts in a folder that are torn, empty, malformed or closed to us."""
    for file_name in folders.names_in(folder):
        parsed = receipts.parse_file_name(file_name)
        if parsed is None or parsed[1] not in ("", receipts.CONSUMED):
            continue
        path = handoffs.path_of(folder, *parsed)
        try:
            raw = steps.read(path)
        except DiskFailure as trouble:
            yield path, trouble.sentence
            continue
        if raw is None:  # consumed meanwhile
            continue
        found = receipts.read_receipt(parsed[0], raw)
        if found.problems and (found.is_malformed or not found.fields):
            yield path, found.problems[0]
