"""The one object that every door opens: each method is a call into one use case. Cheap to import.

`Oracle.open` is the composition root: it chooses the Root, the clock, who wakes seats and where warnings go.
"""

from __future__ import annotations

from oracle.app.context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from oracle.app.answers.reply import Reply
    from oracle.app.codebase.ownership import Judged
    from oracle.app.codebase.stale_names import Stale
    from oracle.app.decisions.handover import Resolution, Sent
    from oracle.app.delivery import decision_log
    from oracle.app.delivery.ack_signs import Sign
    from oracle.app.delivery.acknowledge import Acknowledged
    from oracle.app.delivery.complete import Completion
    from oracle.app.delivery.deliver import Delivered, Delivery
    from oracle.app.delivery.dispatch import Dispatched
    from oracle.app.delivery.handoffs import Handoffs, Story
    from oracle.app.delivery.notices import Notice, Notified
    from oracle.app.delivery.order import Order
    from oracle.app.delivery.resume import Resumed
    from oracle.app.doctor import Check
    from oracle.app.memories.keep import Kept, Lesson, Seen
    from oracle.app.memories.packets import Routed
    from oracle.app.records.review import Remark
    from oracle.app.records.views import Hit, Shown, Summary, Written
    from oracle.app.scans.machine import Scanned
    from oracle.app.scans.project import ProjectScan
    from oracle.app.scans.projects import Registered
    from oracle.app.search.embedding import Coverage
    from oracle.app.teamwork.compaction_check import Verdict
    from oracle.app.teamwork.integration import Integrated
    from oracle.app.teamwork.mentions import Layer
    from oracle.app.teamwork.peers import Listed
    from oracle.app.teamwork.push import Message
    from oracle.app.teamwork.rehearsal import Rehearsal
    from oracle.app.teamwork.workflow import Changed
    from oracle.app.teamwork.workspaces import Stale as StaleWorkspace
    from oracle.domain.delivery.push import Push
    from oracle.domain.delivery.workflows import Step
    from oracle.domain.links.graph import Walk
    from oracle.domain.records.drafts import Draft
    from oracle.domain.records.memories import Given
    from oracle.domain.records.packets import Request
    from oracle.index.reports import Progress, Report
    from oracle.store.root.facts import Fact
    from oracle.store.root.profile import Profile

    BacklinkRow = tuple[str, str, str, int, int, str, str, str]
    BacklinkLine = tuple[str, str, str, int, str | None, str | None]


class Oracle(Context):
    """A Root with its index; not for use by two threads at a time."""

    def target(self, text: str) -> str:
        """Return the target that a person named: a slug, a path under the Root or an entity. Raises UsageError."""
        from oracle.app.records import targets

        return targets.resolve(self, text)

    def find(self, text: str, *, fresh: bool = False) -> str:
        """Return the record or entity that a person named and that links may lead to. Raises NotInMemory, UsageError.

        A record's name without its stamp, or the words of it, will do; of several the newest is taken, with a warning.
        """
        from oracle.app.records import naming

        return naming.find(self, text, fresh=fresh)

    # -- reading ---------------------------------------------------------------------------------------------------

    def backlinks(self, target: str, *, types: Sequence[str] = (), fresh: bool = False) -> list[BacklinkRow]:
        """Return the edges into a target: (source slug, type, snippet, line, mtime ns, path, retired by, how)."""
        from oracle.app.records import graph

        return graph.backlinks(self, target, types=types, fresh=fresh)

    def backlink_lines(self, target: str, *, fresh: bool = False) -> list[BacklinkLine]:
        """Return the edges into a target as `_backlinks/` states them: (source slug, type, snippet, mtime ns, retired by, how)."""
        from oracle.app.records import graph

        return graph.backlink_lines(self, target, fresh=fresh)

    def links(
        self, slug: str, *, types: Sequence[str] = (), fresh: bool = False
    ) -> list[tuple[str, str, str, int, int]]:
        """Return the edges out of a record: (type, target, snippet, line, 1 when the target is there)."""
        from oracle.app.records import graph

        return graph.links(self, slug, types=types, fresh=fresh)

    def graph(
        self, target: str, *, depth: int = 1, direction: str = "out", types: Sequence[str] = (), fresh: bool = False
    ) -> Walk:
        """Walk the graph from a target; `direction` is out, in or both. Raises UsageError."""
        from oracle.app.records import graph

        return graph.graph(self, target, depth=depth, direction=direction, types=types, fresh=fresh)

    def entities(self, namespace: str = "", *, top: int = 20, fresh: bool = False) -> list[tuple[str, int]]:
        """Return (entity, number of records that mention it), most mentioned first."""
        from oracle.app.records import graph

        return graph.entities(self, namespace, top=top, fresh=fresh)

    def orphans(self, project: str = "", *, fresh: bool = False) -> list[Summary]:
        """Return the records that link to no record and that no record links to."""
        from oracle.app.records import listing

        return listing.list_orphans(self, project, fresh=fresh)

    def unresolved(self, project: str = "", *, fresh: bool = False) -> list[tuple[str, str, str, str, int, str]]:
        """Return the links to records that don't exist: (slug, path, type, as written, line, slug it would have)."""
        from oracle.app.records import graph

        return graph.unresolved(self, project, fresh=fresh)

    def titled(self, names: Iterable[str]) -> dict[str, str]:
        """Return of each name that is just a record's title that record's slug: no link is read so, but a person may mean it."""
        from oracle.app.records import naming

        return naming.titled(self, names)

    def records(
        self, filters: Mapping[str, str], *, limit: int = 0, newest_first: bool = False, fresh: bool = False
    ) -> list[Summary]:
        """Return the records that pass `filters`: project, seat, kind, status, author, task, since, until.

        `limit` 0 means all. Raises NotInFederation for a project or seat without a folder, UsageError for a bad date.
        """
        from oracle.app.records import listing

        return listing.list_records(self, filters, limit=limit, newest_first=newest_first, fresh=fresh)

    def search(
        self,
        text: str,
        filters: Mapping[str, str] | None = None,
        *,
        limit: int = 10,
        fresh: bool = False,
        strict: bool = False,
        lexical: bool = False,
        among: Sequence[str] = (),
    ) -> list[Hit]:
        """Return the best passages for a person's words; retired records come last and say by what, or not when `strict`.

        `lexical` goes by words alone, whatever vectors there are; `among` are the slugs that alone are looked at, if any.
        """
        from oracle.app.search import search

        return search.search(
            self, text, filters or {}, limit=limit, fresh=fresh, strict=strict, lexical=lexical, among=among
        )

    def embed(self, project: str = "", *, seconds: float | None = None, progress: Progress | None = None) -> Coverage:
        """Make the vectors of a search by meaning, for at most `seconds` (None: all). Raises UsageError, NotInFederation."""
        from oracle.app.search import embedding

        return embedding.embed(self, project, seconds=seconds, progress=progress)

    def show(self, slug: str, *, first_line: int = 1, last_line: int = 0, fresh: bool = False) -> Shown:
        """Return lines of a record, read from disk now; `last_line` 0 means the end. Raises NotInMemory."""
        from oracle.app.records import show

        return show.show(self, slug, first_line=first_line, last_line=last_line, fresh=fresh)

    def fact(self, key: str, project: str = "") -> Fact:
        """Return the fact at a dotted key. Raises NotInMemory."""
        from oracle.app.overview import inventory

        return inventory.find_fact(self, key, project)

    def is_fact(self, key: str) -> bool:
        """Check whether the first part of a dotted key names a fact file of the machine."""
        from oracle.app.overview import inventory

        return inventory.is_fact(self, key)

    def reveal(self, key: str, project: str = "") -> Fact:
        """Return the fact at a dotted key; the value of a credential is read from its file now. Raises NotInMemory."""
        from oracle.app.scans import machine

        return machine.reveal(self, key, project)

    def status(self, *, fresh: bool = False) -> dict[str, object]:
        """Return counts by project, seat and kind, the fact files and how fresh the index is."""
        from oracle.app.overview import status

        return status.status(self, fresh=fresh)

    def problems(self, prefix: str = "", *, fresh: bool = False) -> list[tuple[str, int, str]]:
        """Return (path, line, reason) of every file that could not be read cleanly."""
        from oracle.app.records import listing

        return listing.list_problems(self, prefix, fresh=fresh)

    def standing(self) -> dict[str, object]:
        """Return `problems` (a count) and `freshness` of the last answer; the tree is not looked at again."""
        from oracle.app.records import succession

        return succession.standing(self)

    def chains(self, slugs: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """Return the chain of successors, nearest first, of each retired record among `slugs`."""
        from oracle.app.records import succession

        return succession.chains(self, slugs)

    def marks(self, targets: Iterable[str]) -> dict[str, str]:
        """Return what each of `targets` that does not hold is: missing, superseded or retired; the tree is not looked at."""
        from oracle.app.records import succession

        return succession.marks(self, targets)

    def answer(self, question: str, *, project: str = "", seat: str = "", fresh: bool = False) -> Reply:
        """Answer a question from disk with verbatim quotes, or say that memory does not know. Raises UsageError."""
        from oracle.app.answers import answer

        return answer.answer(self, question, project=project, seat=seat, fresh=fresh)

    def synthesise(self, reply: Reply) -> Reply:
        """Let the configured synthesizer, when there is one, put a reply into prose that leans on its claims."""
        from oracle.app.answers import synthesis

        return synthesis.synthesise(self, reply)

    def stale(self, project: str = "", *, fresh: bool = False) -> Stale:
        """Return the records that name a path, symbol, commit or branch that is gone from their project's repository."""
        from oracle.app.codebase import stale_names

        return stale_names.stale(self, project, fresh=fresh)

    def review(self, project: str = "", *, fresh: bool = False) -> list[Remark]:
        """Return what people should decide: near-duplicates, decisions on one topic, records whose subject was retired."""
        from oracle.app.records import review

        return review.review(self, project, fresh=fresh)

    def check(self) -> list[tuple[str, str]]:
        """Return (what, root-relative path) of everything that a full reconcile would change; nothing is changed."""
        from oracle.app import root as upkeep

        return upkeep.check(self)

    # -- writing ---------------------------------------------------------------------------------------------------

    def init(self) -> bool:
        """Make the Root, 0700; tell whether it was made now. An existing one is left as it is."""
        from oracle.app import root as upkeep

        return upkeep.init(self)

    def write(self, draft: Draft, *, secrets: str = "refuse", dry_run: bool = False) -> Written:
        """Write one orphan record: on return it is on disk, linked, indexed and published.

        Raises InvalidRecord, SecretFound, OwnershipError, InvalidName, LockTimeout, DiskFailure.
        """
        from oracle.app.records import write

        return write.write(self, draft, secrets=secrets, dry_run=dry_run)

    def write_many(self, drafts: Sequence[Draft], *, secrets: str = "refuse") -> list[Written]:
        """Write records under one lock, projections printed once at the end; all are checked before the first is written."""
        from oracle.app.records import write

        return write.write_all(self, drafts, secrets=secrets)

    def retire(
        self, slug: str, reason: str, *, seat: str = "memory", secrets: str = "refuse", dry_run: bool = False
    ) -> Written:
        """Retire a record without touching its bytes: a small orphan record carries the relation and the reason."""
        from oracle.app.records import write

        return write.retire(self, slug, reason, seat=seat, secrets=secrets, dry_run=dry_run)

    def reconcile(
        self,
        *,
        full: bool = False,
        rebuild: bool = False,
        accept_removals: bool = False,
        progress: Progress | None = None,
    ) -> Report:
        """Make index and projections agree with the files. Raises TreeEmptied, LockTimeout, DiskFailure.

        `full` stats every file and compares every projection; `rebuild` reads everything anew.
        """
        from oracle.app import root

        return root.reconcile(self, full=full, rebuild=rebuild, accept_removals=accept_removals, progress=progress)

    def publish(self) -> list[str]:
        """Publish `index.json` and every project's `_index/`; return the paths."""
        from oracle.app.records import publish

        return publish.publish_all(self)

    def doctor(self) -> list[Check]:
        """Check every invariant; nothing is changed."""
        from oracle.app import doctor

        return doctor.examine(self)

    def repair(self) -> list[str]:
        """Repair what is derived and never truth; return a sentence for each thing done."""
        from oracle.app import doctor

        return doctor.repair(self)

    # -- scans -----------------------------------------------------------------------------------------------------

    def scan_machine(
        self,
        only: Sequence[str] = (),
        *,
        network: bool = False,
        with_values: bool = False,
        progress: Callable[[Scanned], None] | None = None,
    ) -> list[Scanned]:
        """Scan this machine into `machine/`. Raises UsageError for an unknown scanner."""
        from oracle.app.scans import machine

        return machine.scan(self, only, network=network, with_values=with_values, progress=progress)

    def scan_project(
        self, project: str, repository: str = "", *, depth: str = "shallow", commit: bool = False, force: bool = False
    ) -> ProjectScan:
        """Scan a project's repository; write its facts when they are committed. Raises NotFound, UsageError, InvalidName."""
        from oracle.app.scans import project as scan_project

        return scan_project.scan_project(self, project, repository, depth=depth, commit=commit, force=force)

    def add_project(self, name: str, stated: Mapping[str, str]) -> Registered:
        """Register a project, or change what is stated of it. Raises UsageError, InvalidName, InvalidRecord."""
        from oracle.app.scans import projects

        return projects.add(self, name, stated)

    def archive_project(self, name: str) -> Registered:
        """Say that a project is over; its records stay. Raises NotFound."""
        from oracle.app.scans import projects

        return projects.archive(self, name)

    def project(self, name: str) -> Registered:
        """Return a registered project. Raises NotFound."""
        from oracle.app.scans import projects

        return projects.find(self, name)

    def projects(self, *, with_archived: bool = False) -> list[Registered]:
        """Return the registered projects, by name."""
        from oracle.app.scans import projects

        return projects.list_all(self, with_archived=with_archived)

    # -- memories --------------------------------------------------------------------------------------------------

    def packet(self, request: Request) -> Routed:
        """Return the memories for an agent's next step. Raises UsageError, InvalidName, NotInFederation."""
        from oracle.app.memories import packets

        return packets.route(self, request)

    def packets(self, limit: int) -> list[dict[str, object]]:
        """Return the packets that were made lately, the newest first."""
        from oracle.app.memories import packets

        return packets.kept(self, limit)

    def remember(self, given: Given) -> Kept:
        """Write a memory; one that it replaces is retired by it. Raises UsageError, NotInMemory, and what `write` does."""
        from oracle.app.memories import keep

        return keep.remember(self, given)

    def reflect(self, lesson: Lesson) -> Kept:
        """Write a reflection, and a procedure when steps worked. Raises UsageError, and what `write` does."""
        from oracle.app.memories import keep

        return keep.reflect(self, lesson)

    def refresh(self, stale: Sequence[str], *, replacement: str = "", reason: str = "") -> Kept:
        """Retire memories, in favour of another or of none. Raises UsageError, NotInMemory, and what `write` does."""
        from oracle.app.memories import keep

        return keep.refresh(self, stale, replacement=replacement, reason=reason)

    def memory(self, name: str) -> Seen:
        """Return one memory as it stands. Raises NotInMemory, UsageError."""
        from oracle.app.memories import keep

        return keep.inspect(self, name)

    def memories(self, *, project: str = "", limit: int = 20) -> list[Seen]:
        """Return the newest memories of a project and of none, or of every project."""
        from oracle.app.memories import keep

        return keep.list_memories(self, project=project, limit=limit)

    # -- delivery --------------------------------------------------------------------------------------------------

    def init_profile(self, project: str, seats: Sequence[str], *, repo_root: str = "") -> str:
        """Write a minimal profile of a project; return its path. Raises RecordExists, InvalidName, UsageError."""
        from oracle.app.delivery import team

        return team.init_profile(self, project, seats, repo_root=repo_root)

    def profile(self, project: str, path: str = "") -> Profile:
        """Return the profile of a project, or the one at `path`. Raises NoProfile, InvalidProfile."""
        from oracle.app.delivery import team

        return team.open_team(self, project, path=path).profile

    def dispatch(self, order: Order) -> Dispatched:
        """Ask one seat on behalf of another: receipt, queue, table, log, wake-up. Raises TaskAlreadyQueued, UsageError."""
        from oracle.app.delivery import dispatch, resume

        resume.before(self, notifies=order.notifies)
        return dispatch.dispatch(self, order)

    def least_busy_seat(self, project: str, role: str, path: str = "") -> str:
        """Return the seat of a role with the fewest open handoffs. Raises UsageError when there is none."""
        from oracle.app.delivery import dispatch

        return dispatch.least_busy(self, project, role, path=path)

    def deliver(self, delivery: Delivery) -> Delivered:
        """Deliver an answer exactly once. Raises Conflict for another answer, HandoffFailed, UsageError, NoProfile."""
        from oracle.app.delivery import deliver, resume

        resume.before(self, notifies=delivery.notifies)
        return deliver.deliver(self, delivery)

    def complete(self, completion: Completion) -> Delivered:
        """Complete a handoff with a receipt. Raises UsageError, HandoffFailed, NoProfile, and what the team's rules refuse."""
        from oracle.app.delivery import complete, resume

        resume.before(self, notifies=completion.notifies)
        return complete.complete(self, completion)

    def acknowledge(self, project: str, task_id: str, *, source: str, target: str, path: str = "") -> Acknowledged:
        """Note that `target` has what `source` completed. Raises NotFound, UsageError, HandoffFailed."""
        from oracle.app.delivery import acknowledge, resume

        resume.before(self)
        return acknowledge.acknowledge(self, project, task_id, source=source, target=target, path=path)

    def verify_handoff(
        self, project: str, task_id: str, *, source: str, target: str, path: str = ""
    ) -> dict[str, object]:
        """Return what the files say of one handoff. Writes nothing."""
        from oracle.app.delivery import verify

        return verify.verify(self, project, task_id, source=source, target=target, path=path)

    def audit_closeout(self, project: str, task_id: str, path: str = "") -> tuple[str, ...]:
        """Return a sentence for each artifact of a planner's closeout that is missing."""
        from oracle.app.delivery import verify

        return verify.audit_closeout(self, project, task_id, path=path)

    def notify(self, notice: Notice) -> Notified:
        """Send a seat a notice. Raises UsageError for an unknown seat or a text that must not be typed."""
        from oracle.app.delivery import notices

        return notices.notify(self, notice)

    def send_decision(
        self, raw: bytes, *, session: str = "", project: str = "", profile: str = "", notifies: bool = True
    ) -> Sent:
        """Check a decision payload and hand it to people. Raises InvalidRecord, UsageError, TaskAlreadyQueued."""
        from oracle.app.decisions import handover

        return handover.send(self, raw, session=session, project=project, profile=profile, notifies=notifies)

    def resolve_decision(
        self, project: str, decision_id: str, *, choice: str = "", by: str = "operator", reason: str = ""
    ) -> Resolution:
        """Write down what was decided, or the default in its time. Raises NotFound, Conflict, UsageError."""
        from oracle.app.decisions import handover

        return handover.resolve(self, project, decision_id, choice=choice, by=by, reason=reason)

    def log_decision(self, entry: decision_log.Entry) -> dict[str, object]:
        """Write an entry of the decision log; return it as the log shows it. Raises UsageError, and what `write` does."""
        from oracle.app.delivery import decision_log

        return decision_log.append(self, entry)

    def decisions(self, project: str, *, limit: int = 50) -> list[dict[str, object]]:
        """Return the last decisions of a project, the oldest first."""
        from oracle.app.delivery import decision_log

        return decision_log.read_log(self, project, limit=limit)

    def create_task(
        self, project: str, task_id: str, *, template: str = "brief-driven", steps: Sequence[Step] = ()
    ) -> tuple[str, bool]:
        """Make a task's workflow.md and STATUS.md; return (its folder, whether the workflow is new). Raises UsageError."""
        from oracle.app.teamwork import workflow

        return workflow.create_task(self, project, task_id, template=template, steps=steps)

    def pending_steps(self, project: str, role: str) -> list[tuple[str, str]]:
        """Return (task id, step) of every step that a role may begin now."""
        from oracle.app.teamwork import workflow

        return workflow.list_pending(self, project, role)

    def update_step(self, project: str, task_id: str, step: str, *, status: str) -> Changed:
        """Change the status of one step and wake whom it names. Raises UsageError, NotFound."""
        from oracle.app.teamwork import workflow

        return workflow.update_step(self, project, task_id, step, status=status)

    def supersede_old_tasks(self, project: str, *, days: float = 3.0) -> list[tuple[str, str]]:
        """Supersede open tasks older than `days` that nobody delivered; return (seat, task id) of each."""
        from oracle.app.teamwork import workflow

        return workflow.supersede_old(self, project, days=days)

    def check_ack(
        self,
        project: str,
        task_id: str,
        *,
        target: str = "",
        remote: str = "origin",
        branch: str = "",
        fetch: bool = False,
    ) -> list[Sign]:
        """Return the four signs by which a dispatch is known to be acknowledged. Writes nothing."""
        from oracle.app.delivery import ack_signs

        return ack_signs.check(self, project, task_id, target=target, remote=remote, branch=branch, fetch=fetch)

    def integrate(
        self, project: str, task_id: str, *, lane: str, commit: str = "", reason: str = "", notifies: bool = True
    ) -> Integrated:
        """Take a lane for a commit that passed outside of the main line. Raises NotFound, UsageError, Blocked."""
        from oracle.app.teamwork import integration

        return integration.integrate(self, project, task_id, lane=lane, commit=commit, reason=reason, notifies=notifies)

    def rehearse(self, project: str, *, task_id: str = "", notifies: bool = True) -> Rehearsal:
        """Begin a rehearsal of the chain. Raises Blocked without a planner."""
        from oracle.app.teamwork import rehearsal

        return rehearsal.rehearse(self, project, task_id=task_id, notifies=notifies)

    def verify_rehearsal(self, project: str, *, task_id: str = "") -> tuple[str, list[Sign]]:
        """Return (the rehearsal's id, what was looked for and whether it is there). Raises NotFound."""
        from oracle.app.teamwork import rehearsal

        return rehearsal.verify(self, project, task_id=task_id)

    def peer_deliveries(self, project: str) -> list[Listed]:
        """Return what peers delivered to a project, and the records that were made of it."""
        from oracle.app.teamwork import peers

        return peers.list_peers(self, project)

    def record_peer_delivery(self, project: str, peer: str, *, task_id: str = "", summary: str = "") -> str:
        """Write the record of a peer's delivery, once; return its path. Raises NotFound, UsageError, and what `write` does."""
        from oracle.app.teamwork import peers

        return peers.synthesise(self, project, peer, task_id=task_id, summary=summary)

    def check_ownership(self, repo: str, *, seat: str = "memory", staged: bool = False) -> list[Judged]:
        """Return each changed file of a repository, judged by who may change it. Raises UsageError."""
        from oracle.app.codebase import ownership

        return ownership.check(self, repo, seat=seat, staged=staged)

    def check_workspaces(self, *, workspace: str = "", project: str = "", repo: str = "") -> list[StaleWorkspace]:
        """Return the workspaces that were rendered from an older state of the repository."""
        from oracle.app.teamwork import workspaces

        return workspaces.check(self, workspace=workspace, project=project, repo=repo)

    def check_compaction(self, project: str, *, since: str = "", facts: Sequence[str] = ()) -> Verdict:
        """Return what of this turn is not on disk yet. Raises UsageError, NoProfile."""
        from oracle.app.teamwork import compaction_check

        return compaction_check.check(self, project, since=since, facts=facts)

    def push(self, message: Message) -> Push:
        """Tell the people of a project by Feishu. Raises UsageError when that is off, PrivacyBlocked, PushFailed."""
        from oracle.app.teamwork import push

        return push.send(self, message)

    def prepare_push(self, message: Message) -> Push:
        """Return the message as it would be sent. Raises UsageError, PrivacyBlocked."""
        from oracle.app.teamwork import push

        return push.prepare(self, message)

    def check_mentions(self, project: str = "") -> list[Layer]:
        """Return whether a group's robot answers only when it is mentioned. Raises NotFound, UsageError."""
        from oracle.app.teamwork import mentions

        return mentions.check(self, project)

    def handoffs(self, project: str = "", state: str = "") -> Handoffs:
        """Return the handoffs of one project or of all. Raises UsageError, NoProfile."""
        from oracle.app.delivery import handoffs, resume

        resume.before(self)
        return handoffs.list_all(self, project=project, state=state)

    def handoff(self, task_id: str, project: str = "") -> Story:
        """Return the story of one task from its files. Raises NotFound, UsageError when several projects have one."""
        from oracle.app.delivery import handoffs, resume

        resume.before(self)
        return handoffs.tell(self, task_id, project=project)

    def resume(self) -> Resumed:
        """Finish what dead processes began, send the wake-ups that wait, mend handoffs that stand half done."""
        from oracle.app.delivery import resume

        return resume.resume(self)

    def events(self, project: str = "", task: str = "", limit: int = 0) -> list[dict[str, object]]:
        """Return the last events of the journal that fit, the oldest first; `limit` 0 means all."""
        from oracle.app import journal

        return journal.events(self, project=project, task=task, limit=limit)

    def follow(self, project: str = "", task: str = "", limit: int = 0) -> Iterator[dict[str, object]]:
        """Yield the last events and then each new one, without an end."""
        from oracle.app import journal

        return journal.follow(self, project=project, task=task, limit=limit)

    def note_crash(self, trace: str) -> str:
        """Append a traceback to the log of the Root; return the log's path, or "" when there is nowhere to write it."""
        from oracle.app import root as upkeep

        return upkeep.note_crash(self, trace)
