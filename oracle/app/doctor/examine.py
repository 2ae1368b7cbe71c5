"""Run every check on a Root. A check that fails itself is reported and hides no other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from os.path import isdir, isfile
from threading import Thread

from oracle.app.context import Context
from oracle.app.doctor import handoffs, index, layout, machine, records, root_checks, sources
from oracle.app.doctor.context import Check, CheckContext, Examination, error, in_order, passed
from oracle.errors import OracleError
from oracle.wording import say


def check_shapes(checked: CheckContext) -> Iterator[Check]:
    """Report paths that must be a file or a folder of the Root and are something else."""
    yield from root_checks.check_shapes(checked)
    yield from layout.check_folders_in_the_way(checked)


_EXAMINATIONS: tuple[tuple[str, str, Examination], ...] = (
    ("readable", say("every folder and file can be read"), root_checks.check_readable),
    ("shapes", say("files and folders are what they should be"), check_shapes),
    ("private facts", say("only the owner can read machine/*.json"), root_checks.check_private),
    ("private index", say("only the owner can read derived files"), root_checks.check_private_derived),
    ("lock", say("free"), root_checks.check_lock),
    ("scratch", say("no writer left anything behind"), root_checks.check_scratch),
    ("index", say("as a rebuild would have it"), index.check_index),
    ("projections", say("_links and _backlinks are what the index says"), index.check_projections),
    ("unprinted", say("nothing waits to be printed"), index.check_unprinted),
    ("published", say("index.json and _index hold JSON"), index.check_published),
    ("problem", say("every record was read cleanly"), index.check_problems),
    ("links", say("no symbolic link leaves the Root"), layout.check_links),
    ("strays", say("every folder belongs to a seat or a kind"), layout.check_strays),
    ("old layouts", say("no files of older layouts"), layout.check_old_layouts),
    ("names", say("every name gives a usable slug"), layout.check_names),
    ("suffixes", say("nothing looks like a record and is not read"), layout.check_suffixes),
    ("twins", say("every slug names one file"), layout.check_twins),
    ("owners", say("frontmatter and folders agree"), records.check_owners),
    ("ids", say("every id is used once"), records.check_ids),
    ("versions", say("no record is newer than this program"), records.check_versions),
    ("retirements", say("retirements lead to records and form no cycle"), records.check_retirements),
    ("facts", say("every fact file holds JSON"), records.check_facts),
    ("link patterns", say("every file of link patterns can be used"), records.check_patterns),
    ("profiles", say("the profile of every team can be used"), records.check_profiles),
    ("settings", say("every setting in config.toml is known"), records.check_settings),
    ("sources", say("every source is read"), sources.check_sources),
    ("privacy", say("every privacy rule can be used"), records.check_privacy),
    ("journal", say("every line of events.log is an event"), records.check_journal),
    ("set aside", say("nothing was abandoned"), records.check_set_aside),
    (
        "receipts",
        say("every receipt of a team can be read, and nothing else lies beside them"),
        handoffs.check_receipts,
    ),
    ("seats", say("none waits for its agent to be started"), handoffs.check_seats),
    ("decisions", say("none is past its deadline"), records.check_overdue),
    ("clock", say("right, as far as the records show"), root_checks.check_clock),
    ("times", say("nothing was changed in the future"), root_checks.check_mtimes),
    ("prompt hook", say("it answers in time"), machine.check_prompt_hook),
    ("flock", say("the file system locks"), machine.check_flock),
    ("disk", say("space and inodes enough"), machine.check_file_system),
)


def examine(context: Context) -> list[Check]:
    """Check every invariant, worst first; nothing is created and nothing is changed, not even the index."""
    checked = CheckContext(context.root, context.clock.now_ns())
    checks = [root_checks.check_root(context.root), *_run("programs", say("there"), machine.check_programs, checked)]
    if isdir(context.root.path) and not root_checks.why_no_root(context.root):
        _look_at_once(checked)
        for name, good, examination in _EXAMINATIONS:
            checks += _run(name, good, examination, checked)
        if isfile(checked.root.hub):
            from oracle.app.doctor import hub

            checks += _run("hub", say("it answers, and nothing waits for a person"), hub.check_hub, checked)
    return in_order(checks)


def _look_at_once(checked: CheckContext) -> None:
    """Walk the tree while SQLite checks its file. What fails here fails again in a check, which reports it."""

    def walk() -> None:
        with suppress(Exception):
            checked.tree  # noqa: B018 -- it is cached

    walking = Thread(target=walk)
    walking.start()
    with suppress(Exception):
        checked.index  # noqa: B018
    walking.join()


def _run(name: str, good: str, examination: Examination, checked: CheckContext) -> Iterator[Check]:
    """Run one check. An exception in it becomes a finding."""
    said_nothing = True
    try:
        for check in examination(checked):
            said_nothing = False
            yield check
    except OracleError as trouble:
        yield error(name, say("this check failed: {sentence}", sentence=trouble.sentence), trouble.hint)
    except Exception as trouble:  # noqa: BLE001 (one bad thing must not hide the others)
        yield error(
            name,
            say("this check failed: {name}: {trouble}", name=type(trouble).__name__, trouble=trouble),
            say("Fix the other faults and run the doctor again"),
        )
    else:
        if said_nothing:
            yield passed(name, good)
