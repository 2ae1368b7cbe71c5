"""The errors that a user can act on, each with its exit code.

This module imports nothing heavy, so that any module can raise from it without slowing down the start.
"""

from __future__ import annotations

NOT_JUDGED = 9
"""The exit code of a question for which passages were found, and nobody judged whether they answer it."""


class OracleError(Exception):
    """A failure with one sentence (what, which, the way out), a hint and the exit code of the process.

    `code` is the stable name for programs. `exit_code` is listed in `references/exit-codes.md`. `mark` is what the programs
    for scripts print before the sentence.
    """

    code = "unexpected"
    exit_code = 70

    def __init__(self, sentence: str, *, hint: str = "", mark: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint
        self.mark = mark

    def as_json(self) -> dict[str, dict[str, str]]:
        """Return the object that every command prints for a failure: `{"error": {code, message, hint}}`."""
        return {"error": {"code": self.code, "message": self.sentence, "hint": self.hint}}


class InvalidRecord(OracleError):
    """A record's fields break a rule of its kind; nothing was written."""

    code = "invalid_record"
    exit_code = 1


class SecretFound(InvalidRecord):
    """A field holds a secret and the policy is to refuse. The message names field and kind, never the value."""

    code = "secret_found"


class PrivacyBlocked(SecretFound):
    """A text contains something that must not leave, so nothing was written or sent. The sentence never holds the value."""

    code = "privacy_blocked"


class UsageError(OracleError):
    """The call is wrong: an unknown value, a missing option, options that exclude each other."""

    code = "usage"
    exit_code = 2


class InvalidName(UsageError):
    """A name from outside is invalid: project, seat, task id or kind."""

    code = "invalid_name"


class RulesUnusable(UsageError):
    """The owner's rules of what must not leave can't be used, so no text can be checked."""

    code = "rules_unusable"


class NoProfile(UsageError):
    """The project has no profile, so its seats are unknown."""

    code = "no_profile"


class MistypedProject(NoProfile):
    """The project does not exist, and its name is a letter off that of one that does."""

    code = "mistyped_project"


class InvalidProfile(UsageError):
    """The project's profile cannot be read, or lacks a required key."""

    code = "invalid_profile"


class TaskAlreadyQueued(UsageError):
    """A task with this id is already queued or was answered. Nothing was written."""

    code = "task_already_queued"

    def __init__(self, sentence: str, *, hint: str, task_id: str, since: str = "") -> None:
        super().__init__(sentence, hint=hint, mark=f"TASK_ALREADY_QUEUED {task_id}" + (f" @ {since}" if since else ""))


class MistypedTask(UsageError):
    """Nobody asked under this task id, and it is nearly that of a task that waits. Nothing was delivered."""

    code = "mistyped_task"


class NotAsked(UsageError):
    """The seat did not ask under this task id, and nobody confirmed that. Nothing was delivered."""

    code = "not_asked"


class OtherAsker(UsageError):
    """Another seat asked this and still waits. Nothing was delivered."""

    code = "other_asker"


class Blocked(UsageError):
    """A rule of the team forbids this dispatch. Nothing was written."""

    code = "blocked"


class CompletionRefused(OracleError):
    """A rule of the team forbids completing this handoff. Nothing was written or consumed."""

    code = "completion_refused"
    exit_code = 1


class HandoffFailed(OracleError):
    """A receipt could not be written."""

    code = "handoff_failed"
    exit_code = 3


class PushFailed(OracleError):
    """The program that sends messages failed. A message may or may not have arrived."""

    code = "push_failed"
    exit_code = 3


class NotFound(OracleError):
    """The requested item is not on disk."""

    code = "not_found"
    exit_code = 4


class NotInMemory(NotFound):
    """No file holds the value: `not_in_memory_db`."""

    code = "not_in_memory_db"


class NotInFederation(NotFound):
    """The seat has no folder in the federated knowledge base: `not_in_federated_kb`."""

    code = "not_in_federated_kb"


class OwnershipError(OracleError):
    """A seat tried to write outside its own area."""

    code = "ownership"
    exit_code = 5


class Conflict(OracleError):
    """The name already holds other content."""

    code = "conflict"
    exit_code = 6


class ClaimsFailed(Conflict):
    """The evidence does not support a claim of a strict delivery. Nothing was written."""

    code = "claims_failed"


class RecordExists(OracleError):
    """A record with this name exists. Records are never overwritten."""

    code = "exists"
    exit_code = 7


class TreeEmptied(OracleError):
    """A reconcile would drop more than half of the known records. Nothing was changed."""

    code = "tree_emptied"
    exit_code = 8


class RootUnusable(OracleError):
    """The Root is missing, not a folder, or can't be written."""

    code = "root_unusable"
    exit_code = 2


class NewerVersion(OracleError):
    """A newer version of the program wrote this, so it is read only."""

    code = "newer_version"
    exit_code = 6


class DiskFailure(OracleError):
    """The operating system refused a read or a write."""

    code = "disk"
    exit_code = 70


class AlreadyRunning(OracleError):
    """A daemon already serves this Root."""

    code = "already_running"
    exit_code = 75


class DaemonFailed(OracleError):
    """The daemon could not be started or reached."""

    code = "daemon_failed"
    exit_code = 70


class LockTimeout(OracleError):
    """Another process held the write lock too long. The message names it."""

    code = "lock_timeout"
    exit_code = 75


class HubUnreachable(OracleError):
    """The hub did not answer. What is new here is sent later."""

    code = "hub_unreachable"
    exit_code = 75


class HubRefused(OwnershipError):
    """The hub does not let this role in, or forbids what it asked for."""

    code = "hub_refused"


class HubFailed(OracleError):
    """The hub answered with an error, or its schema does not fit this program."""

    code = "hub_failed"
    exit_code = 70


class NoHub(UsageError):
    """The Root has joined no hub."""

    code = "no_hub"
