"""The error tree: every failure a user can act on, with its exit code and its sentence.

This room holds exceptions only; it imports nothing, so that every other room may raise from it at no cost in start-up time.
"""

from __future__ import annotations


class OracleError(Exception):
    """Carry one sentence for a person (what, which, then the way out), a hint and the exit code of the process.

    `code` is the stable machine name of the failure; `exit_code` follows the table in `references/exit-codes.md`.
    """

    code = "unexpected"
    exit_code = 70

    def __init__(self, sentence: str, *, hint: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint

    def as_json(self) -> dict[str, dict[str, str]]:
        """Return the object that every door prints for a failure: `{"error": {code, message, hint}}`."""
        return {"error": {"code": self.code, "message": self.sentence, "hint": self.hint}}


class InvalidRecord(OracleError):
    """A record's fields break a rule of its kind; nothing was written."""

    code = "invalid_record"
    exit_code = 1


class SecretFound(InvalidRecord):
    """A field holds a secret and the policy is to refuse; the sentence names field and kind, never the value."""

    code = "secret_found"


class PrivacyBlocked(SecretFound):
    """A text contains something that must not leave, so nothing was written or sent. The sentence never holds the value."""

    code = "privacy_blocked"


class UsageError(OracleError):
    """The call's words are off: an unknown value, a missing option, two options that exclude each other."""

    code = "usage"
    exit_code = 2


class InvalidName(UsageError):
    """A project, seat, task id or kind from outside did not pass the one validator."""

    code = "invalid_name"


class RulesUnusable(UsageError):
    """The owner's rules of what must not leave can't be used, so no text can be checked."""

    code = "rules_unusable"


class NoProfile(UsageError):
    """The project has no profile, so its seats are unknown."""

    code = "no_profile"


class InvalidProfile(UsageError):
    """The project's profile can't be read, or lacks a key that every profile has."""

    code = "invalid_profile"


class TaskAlreadyQueued(UsageError):
    """A task of this id waits in the queue already, or was answered before; nothing was written."""

    code = "task_already_queued"


class OtherAsker(UsageError):
    """Another seat than the one named asked this, and still waits; nothing was delivered."""

    code = "other_asker"


class Blocked(UsageError):
    """A rule of the team forbids this dispatch; nothing was written."""

    code = "blocked"


class CompletionRefused(OracleError):
    """A rule of the team does not let this handoff be completed; nothing was written, nothing consumed."""

    code = "completion_refused"
    exit_code = 1


class HandoffFailed(OracleError):
    """A receipt could not be written."""

    code = "handoff_failed"
    exit_code = 3


class PushFailed(OracleError):
    """The program that sends messages to people failed; whether one arrived is not known."""

    code = "push_failed"
    exit_code = 3


class NotFound(OracleError):
    """The thing asked for is not on disk."""

    code = "not_found"
    exit_code = 4


class NotInMemory(NotFound):
    """No file holds the value: `not_in_memory_db`."""

    code = "not_in_memory_db"


class NotInFederation(NotFound):
    """The seat has no folder in the federated knowledge base: `not_in_federated_kb`."""

    code = "not_in_federated_kb"


class OwnershipError(OracleError):
    """A seat tried to write where another seat, or nobody, may write."""

    code = "ownership"
    exit_code = 5


class Conflict(OracleError):
    """Other content already stands under this name."""

    code = "conflict"
    exit_code = 6


class ClaimsFailed(Conflict):
    """A claim is not borne by its evidence, and the delivery was to be strict; nothing was written."""

    code = "claims_failed"


class RecordExists(OracleError):
    """A record of this name is on disk; records are never overwritten."""

    code = "exists"
    exit_code = 7


class TreeEmptied(OracleError):
    """A reconcile would drop more than half of the known records; nothing was changed."""

    code = "tree_emptied"
    exit_code = 8


class RootUnusable(OracleError):
    """The Root is missing, not a folder, or can't be written."""

    code = "root_unusable"
    exit_code = 2


class NewerVersion(OracleError):
    """A newer program wrote this; it is read, never written."""

    code = "newer_version"
    exit_code = 6


class DiskFailure(OracleError):
    """The operating system refused a read or a write (full, read-only, permission)."""

    code = "disk"
    exit_code = 70


class AlreadyRunning(OracleError):
    """A daemon serves this Root already; there is one a Root."""

    code = "already_running"
    exit_code = 75


class DaemonFailed(OracleError):
    """The daemon could not be started, or can't be reached."""

    code = "daemon_failed"
    exit_code = 70


class LockTimeout(OracleError):
    """Another process held the write lock for longer than we may wait; the sentence names it."""

    code = "lock_timeout"
    exit_code = 75
