"""Work through the queue: unfinished intents, questions to memory, wake-ups, handoffs that are half done.

This is a thread of its own, so that indexing goes on while it waits for a pane. Each item is tried separately. The list
of items is read from disk on every round. No round waits for the judge.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from oracle.app.answers import owner_programs
from oracle.app.delivery import resume, team, wakeups
from oracle.app.delivery.resume import MAX_TRIES, Inbox, InboxEntry, InboxKind
from oracle.app.queries import attend
from oracle.daemon.stats import SURROUNDINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from concurrent.futures import Future

    from oracle.app.answers.owner_programs import Job
    from oracle.app.answers.reply import Reply
    from oracle.app.context import Context
    from oracle.app.queries.attend import Asked, Terms
    from oracle.daemon.stats import Attempts, Stats

LOOK_EVERY = 30.0
"""Seconds after which the queue is read even without a notification."""

_MOMENT = 2.0
"""Seconds after which a busy seat is tried again with another wake-up."""

_NEVER = float("inf")
"""The due time of a question that was given up."""

REPAIR_EVERY = 60.0
"""Seconds between two repairs in one project: each one reads all of its receipts."""

MOST_JUDGES = 2
"""Questions that are judged at a time; the others wait for their turn."""


class Judges:
    """The owner's program that judges candidates, in threads of its own. They touch no file; the work loop does the rest.

    What is judged is known to this process alone: if it dies, the next one asks the judge again.
    """

    def __init__(self, notify: Callable[[], None]) -> None:
        self.waits = True
        """Whether a reply waits for the judge: nobody comes back for it."""
        self._notify = notify
        self._is_over = threading.Event()
        self._pool = ThreadPoolExecutor(MOST_JUDGES, thread_name_prefix="judges")
        self._jobs: dict[tuple[str, ...], tuple[Job, Future[tuple[str, str]]]] = {}

    def reply_to(self, context: Context, asked: Asked) -> Reply | None:
        """Return the reply to a question, None while it is judged. A reply is returned once."""
        if self.waits:
            return attend.reply_now(context, asked)
        if asked.subject not in self._jobs and not self._is_over.is_set():
            reply = attend.look_up(context, asked)
            job = owner_programs.judging_of(context, reply)
            if job is None:
                return reply
            verdict = self._pool.submit(job.run, self._is_over.is_set)
            self._jobs[asked.subject] = job, verdict
            verdict.add_done_callback(lambda _: self._notify())
        if not self.is_done(asked.subject) or self._is_over.is_set():
            return None
        job, verdict = self._jobs.pop(asked.subject)
        return owner_programs.judged(context, job, *verdict.result())

    def is_done(self, subject: tuple[str, ...]) -> bool:
        """Return whether the judge is done with a question, and its reply waits."""
        return subject in self._jobs and self._jobs[subject][1].done()

    def forget(self, subject: tuple[str, ...]) -> None:
        """Drop what the judge says of a question."""
        self._jobs.pop(subject, None)

    def keep(self, subjects: Collection[tuple[str, ...]]) -> None:
        """Forget all other questions."""
        for subject in self._jobs.keys() - subjects:
            self.forget(subject)

    def stop(self) -> None:
        """Stop the programs that run. Nothing is judged from now on."""
        self._is_over.set()

    def close(self) -> None:
        """Wait until the programs have stopped."""
        self._pool.shutdown(cancel_futures=True)


class WorkLoop:
    """The thread that works through the queue. `notify` wakes it."""

    def __init__(
        self,
        open_context: Callable[[], Context],
        attempts: Attempts,
        stats: Stats,
        log: logging.Logger,
        *,
        terms: Terms,
    ) -> None:
        self.terms = terms
        self.when_done: Callable[[], None] = lambda: None
        """Called after each round."""
        self._open = open_context
        self._attempts = attempts
        self._stats = stats
        self._log = log
        self._notified = threading.Condition()
        self._has_work = False
        self._is_paused = False
        self._stopping = False
        self._thread: threading.Thread | None = None
        self._due: dict[tuple[str, ...], float] = {}
        self._repaired: dict[str, tuple[float, object]] = {}
        self._tally: Counter[str] = Counter()
        self._judges = Judges(self._wake)

    def start(self) -> None:
        """Start the thread."""
        self._judges.waits = False
        self._thread = threading.Thread(target=self._work, name="work-loop", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """Report new work."""
        self._is_paused = False
        self._wake()

    def _wake(self) -> None:
        """Begin the next round at once, unless the loop is paused."""
        with self._notified:
            self._has_work = True
            self._notified.notify_all()

    def pause(self) -> None:
        """Do nothing until notified: the Root is not usable."""
        self._is_paused = True

    def reset(self) -> None:
        """Treat every question as due: the clock jumped, or the configuration changed."""
        self._due = {}
        self.notify()

    def stop(self, seconds: float) -> bool:
        """Finish the current step and stop. Returns whether that took less than `seconds`."""
        with self._notified:
            self._stopping = True
            self._notified.notify_all()
        self._judges.stop()
        if self._thread is not None:
            self._thread.join(seconds)
        self._judges.close()
        return self._thread is None or not self._thread.is_alive()

    def _work(self) -> None:
        rest = 0.0
        while True:
            with self._notified:
                if not self._stopping and (self._is_paused or not self._has_work):
                    self._notified.wait(None if self._is_paused else rest)
                self._has_work = False
                if self._stopping:
                    return
                if self._is_paused:
                    continue
            rest = self.round()

    def round(self) -> float:
        """Go through everything once. Returns the seconds until something is due."""
        now = time.time()
        dues = [now + LOOK_EVERY]
        self._tally = Counter()
        failure = self._attempts.run("queue", lambda: self._go_through(dues))
        if failure is not None:
            return self._attempts.rest_of("queue")
        self._stats.set("queue", self._tally)
        self.when_done()
        return min(LOOK_EVERY, max(0.5, min(dues) - time.time()))

    def _go_through(self, dues: list[float]) -> None:
        with self._open() as context:
            found = resume.read_inbox(context)
            known = {entry.file_name for entry in found.waiting}
            self._finish_intents(context, found)
            subjects: set[tuple[str, ...]] = set()
            waiting: set[tuple[str, str]] = set()
            for project in resume.projects(context):
                if not self._stopping and not self._attempts.rests(project):
                    self._attempts.run(project, partial(self._serve_project, context, project, subjects, waiting, dues))
            self._due = {subject: due for subject, due in self._due.items() if subject in subjects}
            self._judges.keep(subjects)
            self._send_wakeups(context, subjects, known, dues)
            attend.forget_packets(context, waiting)

    def _finish_intents(self, context: Context, found: Inbox) -> None:
        self._tally["intents"] = sum(one.kind is InboxKind.INTENT for one in (*found.waiting, *found.taken))
        self._tally["set_aside"] = len(found.poisoned)
        for sentence in found.problems:
            self._attempts.warn(sentence)
        for entry in resume.unattended(found, context.now_seconds()):
            if entry.is_due(context.now_seconds()) and not self._stopping:
                self._try(
                    f"intent {' '.join(entry.subject[:3])}",
                    partial(self._finish_intent, context, entry),
                    partial(resume.put_off, context, entry),
                )

    def _finish_intent(self, context: Context, entry: InboxEntry) -> None:
        self._log_done(resume.finish_intent(context, entry))

    # -- questions -------------------------------------------------------------------------------------------------

    def _serve_project(
        self,
        context: Context,
        project: str,
        subjects: set[tuple[str, ...]],
        waiting: set[tuple[str, str]],
        dues: list[float],
    ) -> None:
        failed = attend.failed(context)
        for asked in attend.open_questions(context, project):
            waiting.add((project, asked.name.task_id))
            self._tally["questions"] += 1
            now = context.now_seconds()
            entry = failed.get(asked.subject)
            if entry is None or entry.due_at < _NEVER:  # the seat of one that was given up is woken as for any message
                subjects.add(asked.subject)
            if self._stopping or (entry is not None and not entry.is_due(now)):
                dues.append(entry.due_at if entry is not None else now)
                continue
            if self._judges.is_done(asked.subject) or self._due.get(asked.subject, 0.0) <= now:
                self._attend(context, asked, had_failed=entry is not None)
            dues.append(self._due.get(asked.subject, now + LOOK_EVERY))
        self._repair(context, project)

    def _attend(self, context: Context, asked: Asked, *, had_failed: bool) -> None:
        def work() -> None:
            found = attend.attend_to(context, asked, self.terms, self._judges.reply_to)
            if found.word == attend.BEING_JUDGED:
                self._due[asked.subject] = context.now_seconds() + LOOK_EVERY
                return
            self._judges.forget(asked.subject)
            self._due[asked.subject] = found.due
            self._stats.count(f"questions_{found.word.replace('-', '_')}")
            if had_failed:
                attend.forgive(context, asked)
            if found.word in ("answered", "unanswered", "with-seat"):
                fields = {"project": asked.team.project, "task_id": asked.name.task_id, "detail": found.detail}
                self._log.info("%s: %s", asked.name.task_id, found.word, extra={"event": "question", "fields": fields})

        self._try(
            f"question {asked.team.project} {asked.name.task_id}",
            work,
            partial(attend.put_off, context, asked),
        )

    def _repair(self, context: Context, project: str) -> None:
        """Complete half-done handoffs, if the receipt folder changed and the last repair is old enough."""
        from oracle.daemon.index_loop import signature

        seen = signature([team.open_team(context, project).folder])
        at, before = self._repaired.get(project, (float("-inf"), None))
        if seen == before or time.monotonic() < at + REPAIR_EVERY:
            return
        for sentence in resume.mend(context, project):
            self._log_done(sentence)
        self._repaired[project] = (time.monotonic(), seen)

    # -- wake-ups --------------------------------------------------------------------------------------------------

    def _send_wakeups(
        self, context: Context, subjects: set[tuple[str, ...]], known: set[str], dues: list[float]
    ) -> None:
        """Send what is due, except for wake-ups of open questions, which are sent with the question.

        A wake-up that is not in `known` was added after the questions were read. If it belongs to a question, it waits
        for the next round. Wake-ups that were never postponed come first: a process may have died while sending one,
        with its text still in the pane. A busy seat is left alone for a moment. New work in the queue comes before the
        rest, but each round sends at least one.
        """
        pending = resume.read_inbox(context, InboxKind.WAKE).waiting
        self._tally["wakeups"] = len(pending)
        busy: set[tuple[object, object]] = set()
        has_tried = False
        for entry in sorted(pending, key=lambda one: (one.tries > 0, one.due_at)):
            seat = (entry.fields.get("project"), entry.fields.get("seat"))
            is_new = entry.file_name not in known
            is_asked = wakeups.is_of_question(entry) and (is_new or entry.subject[:4] in subjects)
            if is_asked and wakeups.is_pending(entry):
                if is_new:
                    dues.append(time.time())
                continue
            if self._stopping or not entry.is_due(context.now_seconds()):
                dues.append(entry.due_at)
                continue
            if seat in busy or (has_tried and self._has_work):
                dues.append(time.time() + _MOMENT)
                continue
            has_tried = has_tried or wakeups.is_pending(entry)
            self._try(
                f"wake-up {' '.join(entry.subject[:4])}",
                partial(self._send_wakeup, context, entry, busy),
                partial(resume.put_off, context, entry),
            )

    def _send_wakeup(self, context: Context, entry: InboxEntry, busy: set[tuple[object, object]]) -> None:
        outcome = wakeups.send_again(context, entry)
        self._stats.count(f"wakeups_{outcome.result or 'not_owed'}")
        if wakeups.is_there(outcome):
            busy.add((entry.fields.get("project"), entry.fields.get("seat")))

    # -- one item --------------------------------------------------------------------------------------------------

    def _try(self, item: str, work: Callable[[], object], put_off: Callable[[str], InboxEntry]) -> None:
        """Try an item. If the item itself fails, it waits in the inbox, and is given up after some tries."""
        if self._attempts.rests(item):
            return
        error = self._attempts.run(item, work)
        if error is None or isinstance(error, SURROUNDINGS):
            return
        later: list[InboxEntry] = []
        sentence = str(error) or type(error).__name__
        self._attempts.run(f"{item} (put off)", lambda: later.append(put_off(sentence)))
        if later and later[0].tries >= MAX_TRIES:
            self._log.error(
                "%s: given up after %d tries; `oracle doctor` shows it, `oracle resume` tries it again",
                item,
                later[0].tries,
                extra={"event": "set-aside", "fields": {"item": item, "error": sentence}},
            )

    def _log_done(self, sentence: str) -> None:
        if sentence:
            self._stats.count("resumed")
            self._log.info("%s", sentence, extra={"event": "resumed"})
