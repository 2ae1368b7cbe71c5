"""Switch a team over from ClawSeat: see what is there, do what is safe, undo it.

Safe are modes, hooks, half-delivered answers and the shims. Records, profiles and skills are read and never changed.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence

from oracle.app import guard
from oracle.app.context import Context
from oracle.app.delivery import handoffs, resume
from oracle.app.delivery.listed import ListedHandoff
from oracle.app.delivery.team import Team, is_memory, open_team
from oracle.app.migration import shims
from oracle.app.migration.ledger import Ledger, Undone, open_ledger
from oracle.domain.delivery.handoffs import HandoffStep
from oracle.domain.delivery.receipts import ReceiptKind
from oracle.domain.values import value
from oracle.errors import OracleError, UsageError
from oracle.store.disk import folders, steps
from oracle.store.root import profile
from oracle.wording import say

_PAGES = ("CLAUDE.md", "AGENTS.md", "GEMINI.md", ".claude/skills/*/SKILL.md", ".claude/commands/*.md")
_OWN_SKILLS = (".claude/skills/*/SKILL.md", ".agents/skills/*/SKILL.md", ".codex/skills/*/SKILL.md")


@value
class Hook:
    """A settings file with a hook, the text that it should have, and whether that differs from what it has."""

    path: str
    text: str
    is_needed: bool


@value
class OldCalls:
    """A skill or page that calls older programs: those that the shims answer, and the others."""

    path: str
    answered: tuple[str, ...]
    others: tuple[str, ...]


@value
class PlannedChange:
    """One thing that a migration does: what kind it is, and to which path or task."""

    what: str
    subject: str


@value
class MigrationFindings:
    """What there is of the older tool, and what a migration would change."""

    root: str
    clawseat_root: str
    projects: tuple[str, ...]
    workspaces: tuple[str, ...]
    hooks: tuple[str, ...]
    calls: tuple[OldCalls, ...]
    open_handoffs: int
    changes: tuple[PlannedChange, ...]
    problems: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "root": self.root,
            "clawseat_root": self.clawseat_root,
            "projects": list(self.projects),
            "workspaces": list(self.workspaces),
            "hooks": list(self.hooks),
            "skills": [
                {"path": one.path, "answered": list(one.answered), "others": list(one.others)} for one in self.calls
            ],
            "open_handoffs": self.open_handoffs,
            "changes": [{"what": one.what, "subject": one.subject} for one in self.changes],
            "problems": list(self.problems),
        }


def warn_once(context: Context) -> None:
    """Drop warnings that were given before: profiles are read several times."""
    warn, seen = context.warn, set[str]()

    def warn_of_news(line: str) -> None:
        if line not in seen:
            seen.add(line)
            warn(line)

    context.warn = warn_of_news


def find_workspaces(context: Context) -> list[str]:
    """Return the folders in which seats run: those below each profile's `workspace_root`."""
    found: list[str] = []
    for team in _teams(context, []):
        found += sorted(path.rstrip("/") for path in glob.glob(f"{glob.escape(team.profile.workspace_root)}/*/"))
    return list(dict.fromkeys(found))


def choose_clawseat_root(context: Context, given: str, hooks: Iterable[str]) -> str:
    """Return the checkout that skills call.

    That is the one given, that of `CLAWSEAT_ROOT`, that of a hook, that of the last migration, or `~/.clawseat`.

    Raises UsageError when hooks name several, SecretFound for a name that holds what looks like a secret.
    """
    named = given or os.environ.get("CLAWSEAT_ROOT", "")
    if named:
        guard.clean(context, {"clawseat_root": named}, guard.FIXED, what=say("The call"))
        return os.path.abspath(os.path.expanduser(named))
    pairs = [pair for command in hooks for pair in shims.old_calls(command)]
    roots = sorted({before.rstrip("/") for before, place in pairs if place in shims.HOOKS and os.path.isabs(before)})
    if len(roots) > 1:
        raise UsageError(
            say("The hooks name several checkouts: {roots}.", roots=roots), hint=say("Name one with --clawseat-root.")
        )
    roots += [path.removesuffix(f"/{shims.SENDER}") for path in _ledger(context).paths if path.endswith(shims.SENDER)]
    return roots[0] if roots else f"{context.root.home}/.clawseat"


def survey(
    context: Context, clawseat_root: str, hooks: Sequence[Hook], files: dict[str, tuple[bytes, int]]
) -> MigrationFindings:
    """Return what there is and what a migration would change. Nothing is written."""
    problems: list[str] = []
    teams = list(_teams(context, problems))
    workspaces = find_workspaces(context)
    listed = [item for team in teams for item in _listed(context, team, problems)]
    calls = tuple(_calls(context, clawseat_root, workspaces))
    problems += [
        say("{path} calls {programs}, which no shim answers; see --clawseat-root", path=one.path, programs=one.others)
        for one in calls
        if one.others
    ]
    changes = [
        *(PlannedChange("mode", path) for path, _ in _open_modes(context)),
        *(PlannedChange("hook", one.path) for one in hooks if one.is_needed),
        *(PlannedChange("answer", item.handoff.task_id) for item in listed if _is_half_done(context, item)),
        *(PlannedChange("shim", path) for path in _missing(files)),
    ]
    return MigrationFindings(
        context.root.path,
        clawseat_root,
        tuple(team.project for team in teams),
        tuple(workspaces),
        tuple(one.path for one in hooks),
        calls,
        len([item for item in listed if item.handoff.completion is None]),
        tuple(changes),
        tuple(problems),
    )


def migrate(context: Context, hooks: Sequence[Hook], files: dict[str, tuple[bytes, int]]) -> list[str]:
    """Do what is safe, and return a sentence for each half-delivered answer that was finished. Doing it again changes nothing."""
    with _lock(context):
        ledger = _ledger(context)
        modes = dict(_open_modes(context))
        with ledger.keeping(lambda: modes):
            for path, mode in modes.items():
                os.chmod(path, mode)
        wanted = {os.path.realpath(one.path): one.text.encode() for one in hooks if one.is_needed}
        ledger.write({path: (data, os.stat(path).st_mode & 0o777) for path, data in wanted.items()})
        done = [sentence for team in _teams(context, []) for sentence in _finish_answers(context, ledger, team)]
        ledger.write({path: files[path] for path in _missing(files)})
    context.note("migrate", {"from": "clawseat"})
    return done


def undo(context: Context) -> Undone:
    """Put back what migrations changed. A file that changed since is left. Raises UsageError when there is nothing."""
    with _lock(context):
        ledger = _ledger(context)
        if ledger.is_empty:
            raise UsageError(
                say("There is no migration to undo in {folder}.", folder=ledger.folder),
                hint=say("Name the Root of the migration with --home or --memory-dir."),
            )
        undone = ledger.undo()
    context.note("migrate", {"from": "clawseat", "undone": True})
    return undone


def _lock(context: Context) -> steps.FileLock:
    return steps.FileLock(f"{context.root.state}/migration")


def _ledger(context: Context) -> Ledger:
    return open_ledger(context.root, context.root.migration)


def _teams(context: Context, problems: list[str]) -> Iterator[Team]:
    for project in profile.projects(context.root):
        try:
            yield open_team(context, project)
        except OracleError as error:
            problems.append(say("{project}: {fault}", project=project, fault=error.sentence))


# Modes ----------------------------------------------------------------------------------------------------------------


def _open_modes(context: Context) -> Iterator[tuple[str, int]]:
    """Yield the Root and the facts that others may read, each with the mode that closes it."""
    strangers = folders.strangers(context.root.path)
    paths = [context.root.path, *sorted(glob.glob(f"{glob.escape(context.root.machine)}/*.json"))]
    for path in paths:
        with_links = os.path.islink(path)
        try:
            found = os.stat(path)
        except OSError:
            continue
        mode = stat.S_IMODE(found.st_mode)
        if mode & strangers and found.st_uid == os.geteuid() and not with_links:
            yield path, mode & ~strangers


# Answers --------------------------------------------------------------------------------------------------------------


def _listed(context: Context, team: Team, problems: list[str]) -> Sequence[ListedHandoff]:
    try:
        return handoffs.list_all(context, project=team.project).items
    except OracleError as error:
        problems.append(say("{project}: {fault}", project=team.project, fault=error.sentence))
        return ()


def _is_half_done(context: Context, item: ListedHandoff) -> bool:
    """Whether a handoff is answered, and only its bookkeeping is missing."""
    dispatch, step = item.handoff.dispatch, item.handoff.state.step
    if dispatch is None:
        return False
    if step is HandoffStep.ANSWERED:
        team = open_team(context, item.project)
        return is_memory(team, item.handoff.answerer) and resume.is_alone(context, team, item.handoff.task_id)
    return step is HandoffStep.DELIVERED and dispatch.kind is ReceiptKind.DISPATCH


def _finish_answers(context: Context, ledger: Ledger, team: Team) -> list[str]:
    tasks = [one.handoff.task_id for one in _listed(context, team, []) if _is_half_done(context, one)]
    if not tasks:
        return []
    with ledger.keeping(lambda: _files_of_answers(context, team, tasks)):
        return resume.mend(context, team.project)


def _files_of_answers(context: Context, team: Team, tasks: Sequence[str]) -> Iterator[str]:
    """Yield the files that the end of a delivery may change: receipts, responses, queues, tables and their locks."""
    patterns = [f"{glob.escape(team.profile.tasks_root)}/*", f"{glob.escape(team.profile.tasks_root)}/*/*"]
    for folder in (team.folder, context.root.responses):
        patterns += [f"{glob.escape(folder)}/{glob.escape(task)}[._]*" for task in tasks]
        patterns += [f"{glob.escape(folder)}/.*"]
    for pattern in patterns:
        yield from (path for path in glob.glob(pattern) if os.path.isfile(path) and not os.path.islink(path))


# Shims and what calls them --------------------------------------------------------------------------------------------


def _missing(files: dict[str, tuple[bytes, int]]) -> list[str]:
    """Return the paths whose file is not there, or differs in content or mode."""
    return [
        path
        for path, (data, mode) in files.items()
        if steps.read(path) != data or os.stat(path).st_mode & 0o777 != mode
    ]


def _calls(context: Context, clawseat_root: str, workspaces: Sequence[str]) -> Iterator[OldCalls]:
    patterns = [f"{glob.escape(folder)}/{page}" for folder in workspaces for page in _PAGES]
    patterns += [f"{glob.escape(context.root.home)}/{page}" for page in _OWN_SKILLS]
    patterns += [f"{glob.escape(clawseat_root)}/core/skills/*/SKILL.md"]
    for path in dict.fromkeys(path for pattern in patterns for path in sorted(glob.glob(pattern))):
        try:
            text = (steps.read(path) or b"").decode("utf-8", "replace")
        except OracleError:
            continue
        found = list(dict.fromkeys(shims.old_calls(text)))
        if found:
            answered = {pair for pair in found if _is_answered(context, clawseat_root, *pair)}
            yield OldCalls(
                path,
                tuple(sorted({place for _, place in answered})),
                tuple(sorted({before + place for before, place in set(found) - answered})),
            )


def _is_answered(context: Context, clawseat_root: str, before: str, place: str) -> bool:
    """Whether a call finds its program: a shim, or an older program that stays."""
    base = before.rstrip("/").replace("~", context.root.home, 1) if before.startswith("~") else before.rstrip("/")
    is_ours = not os.path.isabs(base) or os.path.realpath(base) == os.path.realpath(clawseat_root)
    if is_ours and (place in shims.PROGRAMS or place in shims.HOOKS):
        return True
    return os.path.exists(f"{base if os.path.isabs(base) else clawseat_root}/{place}")
