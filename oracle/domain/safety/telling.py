"""What was found in a text, in words for people. For programs it is `rule in place`, as in `assignment in body`."""

from __future__ import annotations

from oracle.domain.safety.privacy import MARK, PrivacyFinding
from oracle.wording import Sentence, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_KINDS = {
    "assignment": say("a password, PIN or other named credential"),
    "private-key": say("a private key"),
    "url-password": say("a password in an address"),
    "authorization": say("a login in a header, a cookie or a command"),
    "seed-phrase": say("the words of a wallet"),
}
_VENDORS = say("a token or key in a format of its own")

PERSONAL = {
    "mail": say("a mail address"),
    "phone": say("a phone number"),
    "chat-id": say("the id of a chat or a user"),
    "home-path": say("a path into somebody's home"),
}


def tell_found(found: Sentence) -> Sentence:
    """Say what was found in which field, and the name of its rule."""
    rule, place = found.values["rule"], found.values["place"]
    if is_owners(found):
        return say("what {rule} blocks, in the field {place}", rule=rule, place=place)
    what = _KINDS.get(str(rule), _VENDORS)
    return say("{what} ({rule}) in the field {place}", what=what, rule=rule, place=place)


def is_owners(found: Sentence) -> bool:
    """Return whether a rule of the owner of the Root was found, by its file and line, and no credential."""
    return ":" in str(found.values["rule"])


def tell_replaced(found: Iterable[Sentence], *, again: Sentence) -> list[Sentence]:
    """Say what was taken out of which field, and what to do if it was no secret: `again`."""
    lines = [
        say(
            "Taken out: {what}. {mark} is in its place now.",
            what=tell_found(one),
            mark=MARK if is_owners(one) else f"[REDACTED:{one.values['rule']}]",
        )
        for one in found
    ]
    return [*lines, again] if lines else []


def tell_personal(found: PrivacyFinding) -> Sentence:
    """Say what personal data is where."""
    return say(
        "personal data: {what} in line {line} of the field {place}",
        what=PERSONAL.get(found.rule, found.rule),
        line=found.line,
        place=found.place,
    )
