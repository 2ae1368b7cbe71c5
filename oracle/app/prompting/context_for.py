"""Context for a prompt: experiences and memories in one envelope. Nothing where nothing is relevant enough."""

from __future__ import annotations

import zlib
from itertools import islice
from math import inf
from time import monotonic

from oracle.app.prompting import sessions
from oracle.app.prompting.memories import RankedMemory, find_memories
from oracle.domain.injection import envelope, prompts
from oracle.domain.injection.envelope import ContextItem, ContextSection, Envelope
from oracle.domain.values import replace, value
from oracle.store.root.features import load_experience, load_injection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from oracle.app.context import Context

EVENT = "inject"
"""The event of the journal."""

_RULE, _CHANGED_RULES = "Lasting rule", "Rules that changed"
_RECORD_IT = (
    'The prompt seems to state a rule that is to last. `oracle remember --type feedback "…"` records it, and replaces a record'
    " of the same topic."
)

_SAME = 0.6
"""The relevance from which a record may be one that a rule replaces."""


@value
class SessionPrompt:
    """A prompt, and the session that it belongs to; every field but the text may be empty."""

    text: str
    session_id: str = ""
    prompt_id: str = ""
    folder: str = ""
    project: str = ""
    seat: str = ""
    is_cron: bool = False
    until: float = inf
    """When the client stops waiting, by the monotonic clock."""

    def is_awaited(self) -> bool:
        """Return whether the client still waits. If not, it is given something else, and nothing may be kept as given."""
        return monotonic() < self.until


def context_for(context: Context, prompt: SessionPrompt) -> str:
    """Return the envelope for a prompt, "" for none. The same prompt id is given the same text again, as a hook may be late.

    Of a host without prompt ids, the same text counts as the same prompt.

    A prompt that asks to leave memory out, or that already holds an envelope, is given nothing, and nothing is written.
    """
    settings = load_injection(context.root)
    query = prompts.prepare_query(prompt.text) if settings["enabled"] else ""
    if not query or envelope.holds(prompt.text) or is_bypassed(settings, prompt.session_id, prompt.folder):
        return ""
    given = sessions.load(context, prompt.session_id)
    prompt_id = prompt.prompt_id or f"text-{zlib.crc32(prompt.text.encode('utf-8', 'replace')):08x}"
    before = given.text_of(prompt_id)
    if before is not None:
        return before
    made = _compose(context, prompt, query, settings, given)
    if not prompt.is_awaited():
        return ""
    if made.text or prompt.prompt_id:
        sessions.keep(context, prompt.session_id, given, prompt_id, made.text, made.items)
    if made.text:
        note(context, "UserPromptSubmit", prompt, made)
    return made.text


def is_bypassed(settings: Mapping[str, Any], session_id: str, folder: str) -> bool:
    """Return whether the owner leaves a session or a folder out."""
    return prompts.is_bypassed(settings["bypass_session_patterns"], session_id, folder)


def note(context: Context, hook: str, prompt: SessionPrompt, made: Envelope) -> None:
    """Note in the journal what a session was given."""
    about = {name: getattr(prompt, name) for name in ("session_id", "prompt_id", "project", "seat")}
    items = [item.slug or item.path for item in made.items]
    context.note(EVENT, {**about, "hook": hook, "items": items, "characters": len(made.text)})


def _compose(
    context: Context, prompt: SessionPrompt, query: str, settings: Mapping[str, Any], given: sessions.SessionGiven
) -> Envelope:
    limit, threshold = settings["limit"], settings["threshold"]
    lessons = _lessons(context, prompt, query)
    memories: list[RankedMemory] = []
    if settings["memories"] and limit:
        memories = find_memories(context, query, project=prompt.project, limit=limit, threshold=threshold)
    rules = _changed_rules(context, prompt, given)
    quoted = {rule.slug for rule in rules}
    items = given.new(one.item for one in memories if one.item.slug not in quoted)
    sections = [
        ContextSection(_CHANGED_RULES, "They replace what this session was given before.", rules, is_list=True),
        envelope.experiences(given.new(lessons), settings["experience_chars"]),
        envelope.memories(items, settings["memory_chars"]),
    ]
    return render(
        context,
        [*sections, *_rule(query, memories)],
        cites=settings["citations"],
        names_git=bool(items) and any(one.is_of_project for one in memories),
        extra=_RECORD_IT if prompts.states_rule(query) else "",
    )


def _changed_rules(context: Context, prompt: SessionPrompt, given: sessions.SessionGiven) -> tuple[ContextItem, ...]:
    """Return the rules of people that changed since the session was given them."""
    if not given.items or not sessions.is_outdated(context, prompt.session_id, given):
        return ()
    from oracle.app.prompting.rules import find_changed

    return find_changed(context, prompt.project, given)


def _rule(query: str, memories: list[RankedMemory]) -> list[ContextSection]:
    """Return the record that a lasting rule of the prompt would replace, if one is near."""
    if not prompts.states_rule(query):
        return []
    near = [one for one in memories if one.relevance >= _SAME]
    if not near:
        return []
    nearest = max(near, key=lambda one: one.relevance).item
    about = "The nearest record, which the rule would replace if it says the same."
    return [
        ContextSection(_RULE, about, (ContextItem(nearest.title, path=nearest.path, date=nearest.date),), is_list=True)
    ]


def render(context: Context, sections: Sequence[ContextSection], **options: Any) -> Envelope:  # noqa: ANN401
    """Return the envelope of sections, without credentials and what the owner of the Root blocks. Raises RulesUnusable.

    Every text of every item is cleaned. The items of the envelope are the ones that were given, so that they are known again.
    """
    whole = [item for section in sections for item in section.items]
    clean = _cleaned(context, whole)
    given = {id(shown): item for shown, item in zip(clean, whole, strict=True)}
    left = iter(clean)
    shown = [replace(section, items=tuple(islice(left, len(section.items)))) for section in sections]
    made = envelope.render(shown, date=context.stamp(), **options)
    return Envelope(made.text, tuple(given[id(item)] for item in made.items))


def _cleaned(context: Context, whole: list[ContextItem]) -> list[ContextItem]:
    known = sessions.load_clean(context) if whole else frozenset()
    doubted = [item for item in whole if sessions.text_mark(item) not in known]
    if not doubted:
        return whole
    from oracle.app.guard import open_guard

    guard = open_guard(context)
    if not guard.finds_in(text for item in doubted for text in item.texts.values()):
        sessions.keep_clean(context, known, doubted)
        return whole
    return [replace(item, **{name: guard.clean(text)[0] for name, text in item.texts.items()}) for item in whole]


def _lessons(context: Context, prompt: SessionPrompt, query: str) -> tuple[ContextItem, ...]:
    """Return the experiences for a prompt; what recalls them is imported only where they are enabled."""
    if not load_experience(context.root).enabled:
        return ()
    from oracle.app.experiences.recall import recall

    return recall(context, query, project=prompt.project, is_cron=prompt.is_cron)
