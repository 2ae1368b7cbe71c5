"""What speaks for a passage beside its words: who speaks, the day, the shape of an answer, words side by side. Pure.

Each signal gives a share of the weight of the question's heaviest word, so that none outweighs two words that match.
"""

from __future__ import annotations

from itertools import pairwise

from oracle.app.search.ranking import turns
from oracle.app.search.ranking.dates import nearness
from oracle.domain.compiling import compiled
from oracle.index.read.tokens import count_row, is_wide, lower

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from oracle.app.search.ranking.scoring import Ranking, Scored

_SPEAKER = 0.4
_DAY = 1.0
_SHAPE = 0.2
_PAIR = 0.3
_PHRASE = 2.0
"""Times that a whole Chinese word counts beside its pairs: more than repeating the pairs apart can give."""
_QUESTION = 0.1
"""Share of its score that a passage loses which asks itself."""

_SHAPES = {
    "time": (
        r"(?i)\b(?:yesterday|today|tonight|tomorrow|ago|(?:last|next|this) \w+|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}"
        r"|january|february|march|april|june|july|august|september|october|november|december|weekend|recently)\b|\d ?[年月日]"
    ),
    "number": (
        r"(?i)\b(?:\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|dozens?|hundreds?|first|second|third|fourth|fifth"
        r"|once|twice|(?:a )?(?:couple|few)|several|(?:years?|months?|weeks?|days?|hours?|minutes?))\b|\d"
        r"|[一二两三四五六七八九十百千]"
    ),
    "name": r"(?<=[a-z,] )[A-Z][a-z]+",
}


def add_cheap(ranking: Ranking, found: Sequence[Scored]) -> None:
    """Add what costs no look at the text: the speaker named in the question, its dates against those of the record."""
    words = set(ranking.question.words)
    days = ranking.question.days
    near: dict[int, float] = {}
    phrases = _phrases(ranking)
    for scored in found:
        if scored.source not in near:
            near[scored.source] = nearness(days, scored.page.days)
        for number, phrase, weight in phrases:
            if number in scored.terms or count_row(scored.page.title, phrase):
                scored.add("phrase", _PHRASE * weight)
        is_speaker = not words.isdisjoint(scored.page.speakers[scored.at].split())
        if scored.page.is_conversation:
            turns.add_turn(ranking, scored, is_speaker=is_speaker, near=near[scored.source])
            continue
        scored.add("speaker", _SPEAKER * ranking.heaviest * is_speaker)
        scored.add("date", _DAY * near[scored.source] * ranking.heaviest)


def add_close(ranking: Ranking, found: Sequence[Scored]) -> None:
    """Add what needs the text: the shape of the answer, words of the question side by side, passages that only ask."""
    shapes = [compiled(_SHAPES[name]) for name in sorted(ranking.question.shapes)]
    pairs = _pairs(ranking)
    for scored in found:
        text = scored.page.passages[scored.at].text
        is_turn = scored.page.is_conversation
        if scored.page.asks[scored.at] and not is_turn:
            scored.add("asks", -_QUESTION * scored.score)
        if any(shape.search(text) for shape in shapes):
            scored.add("shape", (turns.SHAPE if is_turn else _SHAPE) * ranking.heaviest)
        if pairs:
            small = lower(text)
            scored.add("pairs", _PAIR * sum(weight for pair, weight in pairs if pair in small))


def _phrases(ranking: Ranking) -> list[tuple[int, tuple[str, ...], float]]:
    """Return the number and the pairs of each Chinese phrase of the question, with the weight of its pairs and characters."""
    terms = list(enumerate(ranking.question.terms))
    weights = {term.tokens[0]: ranking.weights[number] for number, term in terms if len(term.tokens) == 1}
    return [
        (number, term.tokens, sum(weights.get(word, 0.0) for word in {*term.tokens, *"".join(term.tokens)}))
        for number, term in terms
        if len(term.tokens) > 1 and is_wide(term.tokens[0])
    ]


def _pairs(ranking: Ranking) -> list[tuple[str, float]]:
    """Return the neighbouring words of the question with the weight of the lighter of the two."""
    singles = [
        (term.tokens[0], weight)
        for term, weight in zip(ranking.question.terms, ranking.weights, strict=True)
        if len(term.tokens) == 1 and term.tokens[0].isascii()
    ]
    return [(f"{one} {two}", min(weight, other)) for (one, weight), (two, other) in pairwise(singles)]
