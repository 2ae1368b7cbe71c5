"""The library's interface: a Context with the most used cases as methods. Nothing below imports this module."""

from __future__ import annotations

from oracle.app.context import Context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from oracle.app.answers.reply import Reply
    from oracle.app.delivery.complete import Completion
    from oracle.app.delivery.deliver import Delivered, Delivery
    from oracle.app.delivery.dispatch import Dispatched
    from oracle.app.delivery.handoffs import Handoffs
    from oracle.app.delivery.order import Order
    from oracle.app.delivery.resume import Resumed
    from oracle.app.delivery.story import Story
    from oracle.app.doctor import Check
    from oracle.app.records.graph import BacklinkRow
    from oracle.app.records.views import Hit, Shown, Summary, Written
    from oracle.domain.records.drafts import Draft
    from oracle.index.reports import ReconcileReport, Wanted


class Oracle(Context):
    """A Root with its index, for one thread at a time. Other use cases are functions of `oracle.app` that take it first."""

    def find(self, text: str, *, fresh: bool = False) -> str:
        """Return the record or entity that a person named, with a warning the newest of several. Raises NotInMemory, UsageError."""
        from oracle.app.records import naming

        return naming.find(self, text, fresh=fresh)

    def backlinks(self, target: str, *, types: Sequence[str] = (), fresh: bool = False) -> list[BacklinkRow]:
        """Return the edges into a target: (source slug, type, snippet, line, mtime ns, path, retired by, how)."""
        from oracle.app.records import graph

        return graph.backlinks(self, target, types=types, fresh=fresh)

    def links(
        self, slug: str, *, types: Sequence[str] = (), fresh: bool = False
    ) -> list[tuple[str, str, str, int, int]]:
        """Return the edges out of a record: (type, target, snippet, line, 1 when the target is there)."""
        from oracle.app.records import graph

        return graph.links(self, slug, types=types, fresh=fresh)

    def records(
        self, filters: Mapping[str, str], *, limit: int = 0, newest_first: bool = False, fresh: bool = False
    ) -> list[Summary]:
        """Return the records that pass `filters`; `limit` 0 means all. Raises NotInFederation, UsageError for a bad date."""
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
        """Return the best passages, retired records last; `strict` drops these, `lexical` uses no vectors, `among` are slugs."""
        from oracle.app.search import search

        return search.search(
            self, text, filters or {}, limit=limit, fresh=fresh, strict=strict, lexical=lexical, among=among
        )

    def show(self, slug: str, *, first_line: int = 1, last_line: int = 0, fresh: bool = False) -> Shown:
        """Return lines of a record, read from disk now; `last_line` 0 means the end. Raises NotInMemory."""
        from oracle.app.records import naming

        return naming.show(self, slug, first_line=first_line, last_line=last_line, fresh=fresh)

    def answer(self, question: str, *, project: str = "", seat: str = "", fresh: bool = False) -> Reply:
        """Answer a question from disk with verbatim quotes, or say that memory does not know. Raises UsageError."""
        from oracle.app.answers import answer

        return answer.answer(self, question, project=project, seat=seat, fresh=fresh)

    def init(self) -> bool:
        """Make the Root, 0700; tell whether it was made now. An existing one is left as it is."""
        from oracle.app import root as upkeep

        return upkeep.init(self)

    def write(
        self, draft: Draft, *, secrets: str = "refuse", dry_run: bool = False, new_project: bool = False
    ) -> Written:
        """Write one record, index it and print its links. Raises what `records.write.write` raises."""
        from oracle.app.records import write

        return write.write(self, draft, secrets=secrets, dry_run=dry_run, new_project=new_project)

    def retire(
        self, slug: str, reason: str, *, seat: str = "", secrets: str = "refuse", dry_run: bool = False
    ) -> Written:
        """Retire a record without touching its bytes: a small orphan record carries the relation and the reason."""
        from oracle.app.records.retire import retire

        return retire(self, slug, reason, seat=seat, secrets=secrets, dry_run=dry_run)

    def reconcile(self, **wanted: Unpack[Wanted]) -> ReconcileReport:
        """Make index and projections agree with the files: `full` or `rebuild`. Raises TreeEmptied, LockTimeout, DiskFailure."""
        from oracle.app import root

        return root.reconcile(self, **wanted)

    def doctor(self) -> list[Check]:
        """Check every invariant; nothing is changed."""
        from oracle.app import doctor

        return doctor.examine(self)

    def dispatch(self, order: Order) -> Dispatched:
        """Ask one seat on behalf of another: receipt, queue, table, log, wake-up. Raises TaskAlreadyQueued, UsageError."""
        from oracle.app.delivery import dispatch, resume

        resume.before(self, notifies=order.notifies)
        return dispatch.dispatch(self, order)

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

    def handoffs(self, project: str = "", state: str = "") -> Handoffs:
        """Return the handoffs of one project or of all. Raises UsageError, NoProfile."""
        from oracle.app.delivery import handoffs, resume

        resume.before(self)
        return handoffs.list_all(self, project=project, state=state)

    def handoff(self, task_id: str, project: str = "") -> Story:
        """Return the story of one task from its files. Raises NotFound, UsageError when several projects have one."""
        from oracle.app.delivery import resume
        from oracle.app.delivery.story import tell

        resume.before(self)
        return tell(self, task_id, project=project)

    def resume(self) -> Resumed:
        """Finish what interrupted processes began, send pending wake-ups, complete half-finished handoffs."""
        from oracle.app.delivery import resume

        return resume.resume(self)
