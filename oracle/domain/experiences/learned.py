"""What a finished task teaches: an experience proposed from its receipts. Pure.

It is made from failure and from success, and says nothing about people: a sentence that names a seat is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from oracle.domain.compiling import compiled
from oracle.domain.delivery.receipts import Receipt
from oracle.domain.experiences.experience import LONGEST_TITLE, Experience, bullets
from oracle.domain.markdown.documents import clip
from oracle.domain.names import ROLES

_FAILED = (
    r"(?i)^(?:changes?[-_ ]requested|fail(?:ed|ure)?|blocked|reject(?:ed)?|bounced?|rework|needs[-_ ]work)(?:$|[-_ ])"
)
_SENTENCE = r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+"
_BULLET = r"^\s*(?:[-*+]|\d{1,3}[.)、])\s+|^#{1,6}\s+"
_MOST_SENTENCES, _LONGEST_SITUATION = 5, 600
_SEATS = frozenset((*ROLES, "designer", "qa", "koder"))


def is_bounce(completion: Receipt) -> bool:
    """Return whether a completion sends the work back, or says that it failed."""
    return any(compiled(_FAILED).match(completion.text(key)) for key in ("verdict", "status"))


def propose(
    task_id: str, dispatches: Sequence[Receipt], completions: Sequence[Receipt], seats: Collection[str]
) -> Experience:
    """Return the experience that a task's receipts, the oldest first, hold. `seats` are names that it doesn't repeat."""
    names = "|".join(re.escape(name) for name in sorted({*seats, *_SEATS}, key=len, reverse=True) if name)
    named = re.compile(rf"(?i)(?<![\w-])@?(?:{names})(?![\w-])")

    def sentences(text: str) -> list[str]:
        found = (compiled(_BULLET).sub("", one).strip() for one in compiled(_SENTENCE).split(text))
        return [one for one in found if one and not named.search(one)][:_MOST_SENTENCES]

    title, asked = _asked(task_id, dispatches, sentences)
    bounces = [one for one in completions if is_bounce(one)]
    passed = [one for one in completions if not is_bounce(one)]
    done = [sentence for one in passed for sentence in sentences(_summary(one))]
    learned = [
        f"Sent back ({_outcome(one)}): {' '.join(sentences(_summary(one))[:2]) or 'no reason was given.'}"
        for one in bounces
    ]
    if passed and not bounces:
        learned.append("It passed at the first attempt, so the approach is worth repeating.")
    elif passed:
        learned.append(f"It passed after {len(bounces)} {'attempt' if len(bounces) == 1 else 'attempts'} sent back.")
    checks = [f"Check that {text}." for one in passed[-1:] for text in _checks(one)]
    return Experience(title, asked, bullets(done), bullets([*learned, *checks]))


def _asked(task_id: str, dispatches: Sequence[Receipt], sentences: Callable[[str], list[str]]) -> tuple[str, str]:
    """Return a title and what the task was to reach."""
    first = dispatches[0] if dispatches else None
    lines = sentences(first.question) if first is not None else []
    stated = first.text("title") if first is not None else ""
    title = " ".join((stated or (lines[0] if lines else task_id)).split())
    title = clip(title, LONGEST_TITLE)
    return title, " ".join(lines)[:_LONGEST_SITUATION] or title


def _summary(completion: Receipt) -> str:
    texts = (completion.text(key).strip() for key in ("summary", "user_summary"))
    return next(filter(None, texts), "")


def _outcome(completion: Receipt) -> str:
    return completion.text("verdict") or completion.text("status")


def _checks(completion: Receipt) -> list[str]:
    """Return what the last completion was judged by."""
    verdict, conclusion = completion.text("verdict"), completion.text("ci_conclusion")
    policy = completion.text("test_policy")
    return [
        *([f"CI ends with {conclusion}"] if conclusion else []),
        *([f"a review ends with {verdict}"] if verdict else []),
        *([f"the tests follow the policy {policy}"] if policy and policy != "N/A" else []),
    ]
