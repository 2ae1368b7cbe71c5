"""Recall experiences for a prompt: those whose situation is the prompt's, best first.

Where the Root has vectors, nearness in meaning counts too, as the search finds it.

The score of an experience is the share of words that its situation and the prompt have in common, rare words counting more. It is
a share of the shorter of the two, so a long prompt does not hide a short situation.
"""

from __future__ import annotations

from math import log

from oracle.app.context import Context
from oracle.app.records.listing import require_present
from oracle.app.records.views import Summary
from oracle.domain.compiling import compiled
from oracle.domain.experiences import experience as rules
from oracle.domain.experiences import gate
from oracle.domain.injection import ranking
from oracle.domain.injection.envelope import ContextItem, strip
from oracle.domain.names import check_name
from oracle.domain.values import replace, value
from oracle.errors import NotInFederation
from oracle.index import fold
from oracle.index.read import candidates, memories
from oracle.store.markdown import records
from oracle.store.root.features import ExperienceSettings, load_experience

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from oracle.domain.experiences.gate import GateVerdict
    from oracle.index.db import Connection

_HITS = 12
"""Hits that are looked at, at least; four times the limit when that is more."""
_FEWEST = 4
"""The least length of the shorter text, in words of medium weight: one word in common is not enough."""
_TERMS, _COMMON = 40, 500
"""How many of the rarest words of a prompt are looked for; and in how many records a word may be, beside rarer ones."""
_MEDIUM = ""
"""The key of the weight of a medium word."""
_LONGEST = 4000
_ENDING = r"(?<=\w)\.[a-z]{1,5}\b"


@value
class Explanation:
    """Why a prompt recalls what it recalls: the gate, the settings, and the experiences that clear the threshold or don't."""

    verdict: GateVerdict
    settings: ExperienceSettings
    recalled: tuple[ContextItem, ...] = ()
    below: tuple[ContextItem, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            **self.verdict.as_json(),
            "enabled": self.settings.enabled,
            "limit": self.settings.limit,
            "threshold": self.settings.threshold,
            "experiences": [as_json(item) for item in self.recalled],
            "below_threshold": [as_json(item) for item in self.below],
        }


def as_json(item: ContextItem) -> dict[str, object]:
    """Return the JSON form of a recalled experience."""
    return {
        "slug": item.slug,
        "title": item.title,
        "path": item.path,
        "lines": list(item.lines),
        "date": item.date,
        "seat": item.seat,
        "status": item.status,
        "score": round(item.score, 4),
        "text": item.text,
    }


def recall(context: Context, query: str, *, project: str = "", is_cron: bool = False) -> tuple[ContextItem, ...]:
    """Return the experiences for a prompt, best first: none unless they are enabled and the gate lets the prompt pass.

    Raises UsageError for settings that can't be read, InvalidName.
    """
    settings = load_experience(context.root)
    if not (settings.enabled and gate.judge(query, is_cron=is_cron).recalls):
        return ()
    return _split(find(context, query, settings, project=project), settings)[0]


def explain(context: Context, query: str, *, project: str = "", is_cron: bool = False) -> Explanation:
    """Return what `recall` decides and why, and what it would recall if it were enabled.

    Raises UsageError for settings that can't be read, NotInFederation for a project without a folder.
    """
    require_present(context, {"project": project})
    settings = load_experience(context.root)
    verdict = gate.judge(query, is_cron=is_cron)
    found = find(context, query, settings, project=project) if verdict.recalls else []
    return Explanation(verdict, settings, *_split(found, settings))


def look_up(context: Context, task: str, *, project: str = "", limit: int = 0) -> tuple[ContextItem, ...]:
    """Return the experiences for a task that somebody asks about: without the gate, and though recall is off.

    `limit` 0 means that of the settings. Raises UsageError, NotInFederation.
    """
    require_present(context, {"project": project})
    settings = load_experience(context.root)
    settings = replace(settings, limit=limit or settings.limit)
    return _split(find(context, task, settings, project=project), settings)[0]


def _split(
    found: Iterable[ContextItem], settings: ExperienceSettings
) -> tuple[tuple[ContextItem, ...], tuple[ContextItem, ...]]:
    """Return the first of the items that clear the threshold, without those that say the same, and the others."""
    clear: dict[str, ContextItem] = {}
    below: list[ContextItem] = []
    for item in found:
        if item.score < settings.threshold:
            below.append(item)
        else:
            clear.setdefault(" ".join(item.text.lower().split()), item)
    return tuple(clear.values())[: settings.limit], tuple(below[: settings.limit])


def find(context: Context, query: str, settings: ExperienceSettings, *, project: str = "") -> list[ContextItem]:
    """Return experiences of a project and of none ("": of any) with their scores, best first, of equals the newest."""
    text = strip(query)[:_LONGEST]
    wanted = check_name(project, "project") if project else ""
    limit = max(4 * settings.limit, _HITS)
    rows = context.index.find(lambda connection: _near(connection, text, wanted, limit))
    by_meaning = _near_in_meaning(context, text, wanted, limit)
    near = {record.slug: record for record in (*map(Summary.from_row, rows), *(record for record, _ in by_meaning))}
    read = {slug: found for slug, record in near.items() if (found := _read(context, record)) is not None}
    if not read:
        return []
    weights = _weigh(
        context, [text, *(f"{one.title}\n{one.situation}\n{one.body}\n{one.summary}" for one, _ in read.values())]
    )
    meant: dict[str, float] = {}
    for record, share in by_meaning:
        meant[record.slug] = max(share, meant.get(record.slug, 0.0))
    items = [
        _item(near[slug], one, last, max(_score(text, one, weights), meant.get(slug, 0.0)))
        for slug, (one, last) in read.items()
    ]
    return sorted(sorted(items, key=lambda item: item.date, reverse=True), key=lambda item: -round(item.score, 4))


def _near(connection: Connection, text: str, project: str, limit: int) -> list[tuple[object, ...]]:
    """Return the experiences that hold the rarest words of a text: common ones tell little and cost most."""
    words = candidates.words_in(_without_endings(text))
    stems = candidates.stemmer().stems(words)
    known = candidates.frequencies(connection, dict.fromkeys(stem or word for word, stem in stems.items()))
    counts = {word: known[stem or word][0] for word, stem in stems.items()}
    rarest = sorted((count, word) for word, count in counts.items() if count)[:_TERMS]
    kept = [(fold.quote(word), count) for at, (count, word) in enumerate(rarest) if at < _FEWEST or count <= _COMMON]
    return memories.experiences(connection, kept, project, limit=limit)


def _near_in_meaning(context: Context, text: str, project: str, limit: int) -> list[tuple[Summary, float]]:
    """Return the experiences nearest to a text in meaning, each with its relevance: none without vectors and their models."""
    from oracle.app.search import search

    if not (context.loads_models and search.has_meaning(context)):
        return []
    filters = {"kind": rules.KIND, "project": project}
    try:
        hits = search.search(context, text, filters, limit=limit, strict=True, with_shared=True)
    except NotInFederation:
        return []
    return [(hit.record, ranking.by_meaning(hit.nearness)) for hit in hits]


def _read(context: Context, record: Summary) -> tuple[rules.Experience, int] | None:
    """Return an experience and the last line of its file, None for one that is gone."""
    try:
        raw = records.load(context.root, record.path)
    except OSError:
        return None
    document = records.parse(record.path, raw)
    return rules.read(record.title, document.body), raw.rstrip().count(b"\n") + 1


def _item(record: Summary, experience: rules.Experience, last_line: int, score: float) -> ContextItem:
    return ContextItem(
        title=record.title,
        text=experience.rendered(),
        path=record.path,
        lines=(1, last_line),
        date=record.sort_ts,
        seat=record.seat,
        status=record.effective_status,
        score=score,
        slug=record.slug,
    )


# -- the score ---------------------------------------------------------------------------------------------------------


def _score(prompt: str, experience: rules.Experience, weights: Mapping[str, float]) -> float:
    """Return how well an experience goes with a prompt, 0 to 1: by its situation, or by all of it."""
    words = _stems(prompt)
    texts = (experience.trigger, f"{experience.trigger}\n{experience.body}\n{experience.summary}")
    return max(_share(words, _stems(text), weights) for text in texts)


def _share(one: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    """Return the weight of the common words as a share of the shorter text's."""
    shorter = min(sum(weights[word] for word in words) for words in (one, other))
    common = sum(weights[word] for word in one & other)
    return min(1.0, common / max(shorter, _FEWEST * weights[_MEDIUM])) if common else 0.0


def _weigh(context: Context, texts: Iterable[str]) -> dict[str, float]:
    """Return the weight of each word, how rare it is among the records, and of a medium one, as `_MEDIUM`.

    A word that no record holds says little of what a prompt has in common with one: it weighs half of a medium one.
    """
    stems = sorted(frozenset().union(*map(_stems, texts)))
    connection = context.index.database.connect()
    size = candidates.size(connection)
    known = {stem: count for stem, (count, _) in candidates.frequencies(connection, stems).items() if count}
    weights = {stem: log(1 + (size + 1) / (1 + count)) for stem, count in known.items()}
    medium = sum(weights.values()) / max(1, len(weights))
    return {_MEDIUM: medium, **{stem: weights.get(stem, medium / 2) for stem in stems}}


def _stems(text: str) -> frozenset[str]:
    return candidates.stems_in(_without_endings(text))


def _without_endings(text: str) -> str:
    """Return a text without the endings of file names."""
    return compiled(_ENDING).sub("", text)
