"""Decisions that people are asked for: what a payload says, and the rules that a JSON Schema can't state. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from shlex import quote

from oracle.domain import timestamps
from oracle.domain.names import FRONT
from oracle.domain.values import value
from oracle.wording import Sentence, say

WAIT, ABORT = "wait", "abort"
"""Defaults that are no option: nothing is decided, or what was asked about is given up."""

ROLES = ("memory", "planner", "builder", "designer", FRONT)


@value
class DecisionPayload:
    """A payload that is valid by its schema; every key is kept."""

    fields: Mapping[str, object]

    def text(self, key: str) -> str:
        """Return a field as text, "" when it is missing or null."""
        found = self.fields.get(key)
        return "" if found is None else str(found)

    @property
    def labels(self) -> dict[str, str]:
        """What each option's id stands for, in the order of the payload."""
        options = self.fields.get("options")
        listed = options if isinstance(options, list) else []  # a receipt may have been edited by hand
        whole = [item for item in listed if isinstance(item, dict) and {"id", "label"} <= item.keys()]
        return {str(item["id"]): str(item["label"]) for item in whole}

    @property
    def due_at(self) -> datetime | None:
        """When the default begins to hold."""
        created, minutes = timestamps.parse(self.text("created_at")), self.fields.get("timeout_minutes")
        if created is None or isinstance(minutes, bool) or not isinstance(minutes, int | float):
            return None  # only a receipt that somebody edited by hand says so
        return created + timedelta(minutes=minutes)

    @property
    def choices(self) -> tuple[str, ...]:
        """Every answer that settles it: the options, and giving up."""
        return (*self.labels, ABORT)

    def label(self, choice: str) -> str:
        """Return what a choice stands for."""
        return self.labels.get(choice, "given up" if choice == ABORT else choice)


def resolve_command(decision_id: str, project: str, payload: DecisionPayload) -> str:
    """Return the command that settles a decision; its choices are listed where one of them belongs."""
    choices = "|".join(payload.choices)
    return f"oracle team decision resolve {decision_id} --project {project} --choose {quote(choices)}"


def split_seat(name: str) -> tuple[str, str]:
    """Return (project, seat) of `install-memory`, or ("", seat) of a seat alone."""
    for role in ROLES:
        if name == role:
            return "", role
        if name.endswith(f"-{role}"):
            return name.removesuffix(f"-{role}"), role
    return "", name


def find_faults(payload: DecisionPayload) -> list[Sentence]:
    """Return a sentence for each rule between fields that a payload breaks."""
    options = payload.fields.get("options")
    ids = [str(item["id"]) for item in options] if isinstance(options, list) else []
    twice = sorted({one for one in ids if ids.count(one) > 1})
    faults = [say("options: {twice} stands for several", twice=twice)] if twice else []
    default, chosen = payload.text("default_if_timeout"), payload.text("chosen_option_id")
    if default not in (*ids, WAIT, ABORT):
        faults.append(
            say(
                "default_if_timeout: {default!r} is not an option; choose one of {ids}, {wait} or {abort}",
                default=default,
                ids=ids,
                wait=WAIT,
                abort=ABORT,
            )
        )
    if chosen and chosen not in ids:
        faults.append(say("chosen_option_id: {chosen!r} is not an option; choose one of {ids}", chosen=chosen, ids=ids))
    created, decided = (timestamps.parse(payload.text(key)) for key in ("created_at", "decided_at"))
    if created and decided and decided < created:
        faults.append(say("decided_at: it was decided before it was asked"))
    if split_seat(payload.text("from_seat"))[1] == split_seat(payload.text("to_seat"))[1]:
        faults.append(say("to_seat: a seat asks another, not itself"))
    return faults
