"""The Root and every path in it. No other module contains a file or folder name of the layout.

The environment is read once to choose the Root. Files are only looked up with `os.path`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from oracle.domain.names import FOREIGN, RECORD_SUFFIXES, SHARED, check_name, flatten, fold_name
from oracle.errors import RootUnusable, UsageError
from oracle.store.disk import folders
from oracle.wording import say

RECORD_TREES = ("projects", "shared", "learnings")
"""The first-level folders whose Markdown and JSON files are records."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from oracle.domain.sources.source import Source

SANDBOX_MARKS = ("/.agents/runtime/identities/", "/.agent-runtime/identities/")
LEGACY_PLURALS = {"decisions": "decision", "deliveries": "delivery", "issues": "issue", "findings": "finding"}
_OWN_NAMES = frozenset(
    """projects shared learnings machine responses config events.log index.json _state _links _backlinks tasks profiles
    link-patterns.toml component-patterns.toml""".split()
)
SKIPPED_FOLDERS = ("_index", "_links", "_backlinks", "_state")


def root_in(words: Sequence[str]) -> str | None:
    """Return the Root that `--memory-dir` names among the words of a command, before any parser reads them; the last one counts."""
    named = None
    for word, following in zip(words, [*words[1:], None], strict=False):
        if word == "--memory-dir":
            named = following
        elif word.startswith("--memory-dir="):
            named = word.partition("=")[2]
    return named


def choose_root(flag: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Return the absolute path of the Root. Every program follows this rule.

    `--memory-dir` > `ORACLE_ROOT` > `CLAWSEAT_REAL_HOME` > `AGENT_HOME` > `HOME` unless it is a sandbox > the home
    folder of the passwd entry; `/.agents/memory` is added to home folders. Raises UsageError for an empty flag.
    """
    env = os.environ if environ is None else environ
    if flag is not None:
        if not flag.strip():
            raise UsageError(
                say("--memory-dir is empty."), hint=say("Pass the folder of the Root, or leave the option out.")
            )
        return os.path.abspath(os.path.expanduser(flag))
    if env.get("ORACLE_ROOT"):
        return os.path.abspath(os.path.expanduser(env["ORACLE_ROOT"]))
    return os.path.join(choose_home(env), ".agents", "memory")


def name_root(flag: str | None = None) -> str:
    """Return the chosen Root if another program must be given it, "" if that finds it itself. Raises UsageError."""
    chosen = choose_root(flag)
    return "" if chosen == os.path.join(choose_home(os.environ), ".agents", "memory") else chosen


def choose_home(env: Mapping[str, str]) -> str:
    """Return the home folder of the environment, unless it is an agent's sandbox; then that of the passwd entry."""
    for name in ("CLAWSEAT_REAL_HOME", "AGENT_HOME"):
        if env.get(name):
            return os.path.abspath(os.path.expanduser(env[name]))
    home = env.get("HOME", "")
    if home and not any(mark in os.path.abspath(home) + "/" for mark in SANDBOX_MARKS):
        return os.path.abspath(home)
    import pwd

    return pwd.getpwuid(os.getuid()).pw_dir


def _owner_state() -> str:
    """Return the folder of what only the owner of this machine decides. A Root may come from elsewhere; this can't."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(choose_home(os.environ), ".local", "state")
    return os.path.join(state, "memory-oracle")


class Root:
    """The memory root: turns names into absolute paths and checks that they stay inside."""

    def __init__(self, path: str) -> None:
        self.path = path = path.rstrip("/") or "/"
        self.events = f"{path}/events.log"  # the journal
        self.source_list = f"{path}/config/sources.json"  # the folders outside that are read in place
        self._sources: dict[str, Source] = {}
        self._source_stamp: tuple[object, ...] | None = None
        self.catalogue = f"{path}/index.json"  # the published summary, which other programs write too
        self.machine = f"{path}/machine"  # facts about this machine
        self.responses = f"{path}/responses"  # the answers, one file per task
        self.state = state = f"{path}/_state"  # what this machine keeps for itself: caches, and work that waits
        self.database = f"{state}/oracle.db"  # the disposable index
        self.vectors = f"{state}/vectors.db"  # the vectors of the semantic extra; they outlive the index
        self.lock = f"{state}/lock"  # the one write lock
        self.scratch = self.join("_state/tmp")  # files that are being written; the holder of the lock may empty it
        self.log = f"{state}/oracle.log"  # tracebacks of unexpected errors
        self.hook_log = f"{state}/hook.log"  # what hooks did, and why they did not
        self.hub_files = f"{state}/hub"  # what this machine and its hub agreed on
        self.inbox = f"{state}/inbox"  # intents, and wake-ups that wait for their time
        self.injected = f"{state}/injected"  # what each session was given with its prompts
        self.packets = f"{state}/packets"  # packets that agents were given, for inspection
        self.proposals = f"{state}/proposals"  # experiences that wait to be accepted
        self.plans = f"{state}/plans"  # what the daemon proposes to remember
        self.hub = f"{state}/hub.json"  # the hub that this machine joined
        self.hub_owner = f"{state}/hub-owner.json"  # the hub that was made here
        self.daemon_lock = f"{state}/daemon.lock"  # held by the daemon
        self.daemon_status = f"{state}/daemon.json"  # the last status of the daemon
        self.daemon_log = f"{state}/daemon.log"  # the daemon's log, in JSON lines
        self.sockets = f"{state}/run"  # the socket on which the daemon answers commands
        self.probe = f"{state}/probe"  # the daemon moves a file here to test its watcher
        # The agents folder holds the Root and its siblings; nothing outside it is ever written. It is `<home>/.agents` for a
        # Root at `<home>/.agents/memory`. Any other Root holds its siblings itself. `home` is what `~` means in a profile.
        holds_siblings = not path.endswith("/.agents/memory")
        self.agents = agents = path if holds_siblings else os.path.dirname(path)
        self.home = path if holds_siblings else os.path.dirname(agents) or "/"
        self.tasks = f"{agents}/tasks"  # one folder per project, with the queues and receipts of its seats
        self.profiles = f"{agents}/profiles"  # one TOML file per project
        self.migration = f"{agents}/migration-clawseat"  # the ledger of older versions, which is not obeyed
        self.setup = f"{agents}/setup"  # likewise that of `oracle setup`
        self.workspaces = f"{agents}/workspaces"  # the folders in which seats run
        self.sessions = f"{agents}/sessions"  # notes of other tools about running seats; read only
        folders.trust(path, agents)
        if not holds_siblings:  # then these are the operator's, and may be links
            folders.trust(self.tasks, self.profiles)

    def join(self, relpath: str) -> str:
        """Return the absolute path of a root-relative one. Below `sources/` it is the path of the source's own file."""
        if relpath.startswith(FOREIGN):
            source = self.source_of(relpath)
            if source is not None and not source.why_not:
                return source.place(relpath)
        return f"{self.path}/{relpath}"

    @property
    def allowed_sources(self) -> str:
        """The list of the sources that this machine reads: outside of any Root, which may come from elsewhere."""
        return os.path.join(_owner_state(), "sources.json")

    @property
    def trusted(self) -> str:
        """The digests of the settings that this machine trusts: outside of any Root, which may come from elsewhere."""
        return os.path.join(_owner_state(), "trusted.json")

    @property
    def session_key(self) -> str:
        """The key that seals what sessions were given: outside of any Root, which may come from elsewhere."""
        return os.path.join(_owner_state(), "injected.key")

    def ledger_of(self, change: str) -> str:
        """Return the folder of the ledger of a change, such as `setup`: outside of any Root, by this one's real path."""
        from hashlib import sha256

        key = sha256(os.fsencode(os.path.realpath(self.path))).hexdigest()[:32]
        return os.path.join(_owner_state(), f"{change}-{key}")

    def load_sources(self) -> dict[str, Source]:
        """Return the sources by their folders in the Root (`sources/<project>/<name>`), read again if their list changed."""
        if self._source_stamp is None and not os.path.exists(self.source_list):
            return self._sources
        from oracle.store.root import sources

        stamp = sources.stamp(self)
        if stamp != self._source_stamp:
            self._sources, self._source_stamp = sources.load(self) if stamp else {}, stamp
        return self._sources

    def folders_closed_to(self, seat: str) -> list[str]:
        """Return the folders of records that only another seat may see: OpenClaw's private long-term memories."""
        private = [source for source in self.load_sources().values() if source.is_open]
        return [source.tree for source in private if source.seat != fold_name(seat)]

    def source_of(self, relpath: str) -> Source | None:
        """Return the source that a root-relative path is in, as it was last loaded, or None."""
        if not relpath.startswith(FOREIGN):
            return None
        known = self._sources if self._source_stamp is not None else self.load_sources()
        return known.get("/".join(relpath.split("/", 3)[:3]))

    def in_source(self, path: str) -> str:
        """Return the root-relative form of an absolute path in a source that is read, "" elsewhere."""
        for source in self.load_sources().values():
            if not source.why_not and f"{path}/".startswith(source.folder + "/"):
                return source.tree + path[len(source.folder) :]
        return ""

    def relative(self, path: str) -> str:
        """Return the root-relative form of an absolute or relative path, also in a source. Raises UsageError elsewhere."""
        absolute = os.path.abspath(path)
        if inside := self.in_source(absolute):
            return inside
        for base in (self.path, os.path.realpath(self.path)):
            if absolute.startswith(base + "/"):
                return absolute[len(base) + 1 :]
        raise UsageError(
            say("{path} is not under the Root {root}.", path=path, root=self.path),
            hint=say("Name a file below the Root, or choose another Root."),
        )

    def require(self) -> None:
        """Raise RootUnusable unless this is a Root, so that a wrong name does not litter another folder."""
        if os.path.isdir(f"{self.path}/projects"):
            return
        if os.path.isdir(self.path) and not os.access(self.path, os.R_OK | os.X_OK):
            raise RootUnusable(
                say("The Root {path} can't be read: permission is denied.", path=self.path),
                hint=say("Check its owner and mode."),
            )
        self.require_place()
        if not os.path.isdir(self.path):
            what = say("The Root {path} does not exist.", path=self.path)
        elif self._looks_foreign():
            what = say("The Root {path} holds other files and no projects/.", path=self.path)
        else:
            return
        raise RootUnusable(
            what,
            hint=say("Create it with `oracle init`, or name another with --memory-dir."),
        )

    def require_place(self) -> None:
        """Raise RootUnusable if something is in the way of a folder here."""
        from oracle.store.root.in_the_way import find_fault

        if fault := find_fault(self.path):
            raise RootUnusable(say("The Root {fault}.", fault=fault[0]), hint=say("{way_out}.", way_out=fault[1]))

    def _looks_foreign(self) -> bool:
        """Return whether a folder without `projects/` has other visible names than those of the layout or of flat facts."""
        names = [name for name in folders.names_in(self.path) if not name.startswith(".")]
        return not _OWN_NAMES.intersection(names) and not all(name.endswith(".json") for name in names)

    def links_file(self, slug: str) -> str:
        """Return the path of the outgoing projection of a record."""
        return self.join(f"_links/{flatten(slug)}.jsonl")

    def backlinks_file(self, target: str) -> str:
        """Return the path of the incoming projection of a target."""
        return self.join(f"_backlinks/{flatten(target)}.jsonl")

    def profile_file(self, project: str) -> str:
        """Return the path of a project's profile. The name must be checked."""
        return f"{self.profiles}/{check_name(project, 'project')}-profile-dynamic.toml"

    def task_tree(self, project: str) -> str:
        """Return `tasks/<project>`. The name must be checked; a profile may set another folder."""
        return f"{self.tasks}/{check_name(project, 'project')}"

    def handoffs(self, project: str) -> str:
        """Return the folder of a project's receipts; a profile may set another."""
        return f"{self.task_tree(project)}/patrol/handoffs"

    def project(self, project: str) -> str:
        """Return `projects/<project>`, root-relative. The name must be checked."""
        return f"projects/{check_name(project, 'project')}"

    def records_of(self, project: str, kind: str) -> str:
        """Return the root-relative folder for a kind of memory record. Records without a project are under `shared/`."""
        folder = "shared" if project == SHARED else self.project(project)
        return f"{folder}/{check_name(kind, 'kind')}"

    def project_index(self, project: str) -> str:
        """Return `projects/<project>/_index`, root-relative."""
        return f"{self.project(project)}/_index"

    def pattern_files(self, project: str) -> tuple[str, ...]:
        """Return the root-relative configuration files for link extraction in a project, strongest first."""
        shared = ("link-patterns.toml", "config/link-patterns.toml", "config/component-patterns.toml")
        if not project:
            return shared
        return (f"projects/{project}/link-patterns.toml", f"projects/{project}/component-patterns.toml", *shared)

    def contains(self, path: str) -> bool:
        """Return whether the real path of `path` is under the real path of the Root."""
        base = os.path.realpath(self.path)
        real = os.path.realpath(path)
        return real == base or real.startswith(base.rstrip("/") + "/")


# The trees of records ---------------------------------------------------------------------------------------------------


def tops_of(root: Root) -> set[str]:
    """Return the root-relative folders in which records are looked for: those of the Root, and each source."""
    return {*RECORD_TREES, *root.load_sources()}


class RecordTree:
    """The Root or a source, as one folder of it is listed: which names count, and where links may lead."""

    __slots__ = ("_base", "_folder", "_root", "_source", "suffixes")

    def __init__(self, root: Root, path: str) -> None:
        self._root = root
        self._source = root.source_of(path)
        self._folder = path[len(self._source.tree) + 1 :] if self._source else ""
        self._base = ""
        self.suffixes: str | tuple[str, ...] = RECORD_SUFFIXES
        if self._source is not None:
            from oracle.domain.sources.source import suffix_of

            self.suffixes = suffix_of(self._source.kind)

    @property
    def beads(self) -> str:
        """The folder of issues that beads keeps in one file, "" for other trees."""
        if self._source is None:
            return ""
        from oracle.domain.sources.source import BEADS

        return self._source.folder if self._source.kind == BEADS else ""

    @property
    def is_foreign(self) -> bool:
        """Whether this is a source."""
        return self._source is not None

    def wants(self, name: str, *, is_folder: bool) -> bool:
        """Return whether a name may be a record, or a folder with some."""
        if self._source is None:
            return name not in SKIPPED_FOLDERS if is_folder else name.endswith(RECORD_SUFFIXES)
        from oracle.domain.sources.source import is_wanted

        return is_wanted(self._source, self._folder, name, is_folder=is_folder)

    def contains(self, path: str) -> bool:
        """Return whether the real path of `path` is in this tree."""
        return f"{os.path.realpath(path)}/".startswith(f"{self._real()}/")

    def holds_record(self, path: str) -> bool:
        """Return whether the real path of `path` is where records are: a link may not lead elsewhere."""
        if self._source is not None:
            return self.contains(path)
        return os.path.realpath(path).startswith(tuple(f"{self._real()}/{tree}/" for tree in RECORD_TREES))

    def _real(self) -> str:
        if not self._base:
            self._base = os.path.realpath(self._source.folder if self._source else self._root.path).rstrip("/")
        return self._base
