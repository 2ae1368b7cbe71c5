"""How much of a question each passage holds, in its words or in similar ones: an answer needs more than nearness.

A passage may be near to a question that it does not answer, as both are about the same things. So each word in the question is
looked for alone, in the passage or by its most similar word. Needs the semantic extra; only the quick model reads words.
"""

from __future__ import annotations

from oracle.app.search.ranking.semantic import meaning_of
from oracle.domain.values import replace
from oracle.index.fold import STOP_WORDS, is_run, tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from oracle.app.context import Context
    from oracle.app.records.views import Hit
    from oracle.app.search.models import Model, Rows

_UNLIKE, _UNLIKE_PAIRS = 0.3, 0.5
"""Cosines up to which two words have nothing in common, and two pairs of characters: many share one of the two."""


def look_closer(context: Context, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, those that are near with what they hold of the question; unchanged without the quick model."""
    meaning = meaning_of(context)
    model = meaning.reader_of_words() if meaning is not None else None
    return read_words(model, hits) if model is not None else list(hits)


def read_words(model: Model, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits, each that is near with the share of the question that it holds, 0 to 1, as `held`."""
    near = {at: _words_of(hit.snippet) for at, hit in enumerate(hits) if hit.nearness > 0}
    words = dict.fromkeys(word for at, own in near.items() for word in (*own, *(word for word, _ in hits[at].missing)))
    rows = model.read(list(words)) if words else None
    places = {word: place for place, word in enumerate(words)}
    return [replace(hit, held=_held(hit, near[at], places, rows)) if at in near else hit for at, hit in enumerate(hits)]


def _words_of(text: str) -> list[str]:
    """Return the words of a text that say something, and of a run of characters its pairs."""
    return [word for word in dict.fromkeys(tokens(text)) if len(word) > 1 and word.isalpha() and word not in STOP_WORDS]


def _held(hit: Hit, own: Sequence[str], places: Mapping[str, int], rows: Rows | None) -> float:
    """Return 1 less the share of each missing word, as far as the passage has no similar word."""
    if rows is None or not own or not hit.missing:
        return max(0.0, 1.0 - sum(share for _, share in hit.missing))
    cosines = (rows[[places[word] for word, _ in hit.missing]] @ rows[[places[word] for word in own]].T).tolist()
    pairs = [is_run(word) for word in own]
    held = 1.0
    for (word, share), row in zip(hit.missing, cosines, strict=True):
        unlike = [_UNLIKE_PAIRS if is_pair and is_run(word) else _UNLIKE for is_pair in pairs]
        similar = max((one - least) / (1 - least) for one, least in zip(row, unlike, strict=True))
        held -= share * (1 - max(0.0, similar))
    return max(0.0, held)
