"""The task gate: whether a prompt asks for work that an experience may help with. Pure; the words are in `experience_gate.toml`.

Each part gives its points once. Verbs are counted where they ask for an action: `test the parser`, but not `the test results`,
not what a knowledge question is about, and not what the prompt forbids.
"""

from __future__ import annotations

from functools import cache

from oracle.domain import tables
from oracle.domain.compiling import compiled
from oracle.domain.injection.envelope import TAG
from oracle.domain.values import AsJson, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ENOUGH = 3
"""Points from which experiences are recalled."""
SHORTEST = 12
"""Characters below which a prompt never recalls any."""

_LONGEST = 4000
_MOST_SHOWN = 5
_SENTENCE = r"(?<=[.!?;])\s+|[。！？；\n]+"
_WORD = r"[a-z][\w']*(?:-\w+)*|[^\w\s]"
_NEAR = 3
"""Words after a negation in which an action is forbidden."""


@value
class GatePart(AsJson):
    """A part of the score: its name, its points, and the words of the prompt that gave them."""

    name: str
    points: int
    words: tuple[str, ...]


@value
class GateVerdict:
    """Whether a prompt recalls experiences, why, and the parts of its score.

    `reason` is one of `score`, `cron`, `short`, `envelope` and `system`.
    """

    recalls: bool
    reason: str
    parts: tuple[GatePart, ...] = ()

    @property
    def score(self) -> int:
        """The sum of the parts."""
        return sum(part.points for part in self.parts)

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        score = {"score": self.score, "enough": ENOUGH, "parts": [part.as_json() for part in self.parts]}
        return {"recalls": self.recalls, "reason": self.reason, **score}


def judge(prompt: str, *, is_cron: bool = False, shortest: int = SHORTEST) -> GateVerdict:
    """Return whether a prompt recalls experiences. A cron session always does, unless its prompt is short or a system text."""
    text = prompt.strip()
    small = text.lower()
    if f"<{TAG}" in small:
        return GateVerdict(False, "envelope")
    if ("<" in small or small[:1] in "tc[") and _search("where", "system", small):
        return GateVerdict(False, "system")
    if len(text) < shortest:
        return GateVerdict(False, "short")
    parts = tuple(_parts(text[:_LONGEST]))
    if is_cron:
        return GateVerdict(True, "cron", parts)
    return GateVerdict(sum(part.points for part in parts) >= ENOUGH, "score", parts)


def _parts(text: str) -> Iterator[GatePart]:
    """Yield the parts that a prompt has."""
    small = text.lower().replace("’", "'")
    sentences = [one.strip() for one in compiled(_SENTENCE).split(small) if one.strip()]
    knowledge = [one for one in sentences if _asks_to_know(one)]
    told = [one for one in sentences if one not in knowledge]
    actions = [compiled(_table("where")["negated_zh"]).sub(" ", one) for one in told]
    found = {
        "side_effect": [*_verbs("side_effect", actions), *_written("side_effect", actions)],
        "execution": [*_verbs("execution", actions), *_written("execution", actions)],
        "failure": [*_written("failure", told), *_search("failure", "pattern", small)],
        "object": [*_written("object", [small]), *_search("object", "pattern", text)],
        "experience": _written("experience", [small]),
        "chat": [*_verbs("chat", sentences), *_search("chat", "pattern", small)],
    }
    if not any(found.values()):
        found["chat"] = _search("chat", "small_talk", small)
    if not (found["side_effect"] or found["execution"] or found["object"]):
        asking = [one for one in sentences if one.endswith(("?", "？", "吗", "呢"))]
        found["knowledge"] = [one[:60] for one in (*knowledge, *asking)]
    for name, words in found.items():
        if words:
            yield GatePart(name, int(_table(name)["points"]), tuple(dict.fromkeys(words))[:_MOST_SHOWN])


def _asks_to_know(sentence: str) -> bool:
    """Return whether a sentence asks for knowledge alone, and not how to do something or why something failed."""
    if not _search("knowledge", "pattern", sentence):
        return False
    is_trouble = _search("knowledge", "trouble", sentence)
    return not (is_trouble and (_written("failure", [sentence]) or _search("failure", "pattern", sentence)))


# -- words -------------------------------------------------------------------------------------------------------------


def _written(name: str, sentences: Iterable[str]) -> list[str]:
    """Return the words, phrases and Chinese words of a part that sentences hold."""
    words, inner = _words(name, "words"), _inner(name)
    pattern = _table(name).get("pattern", "") if name in ("side_effect", "execution") else ""
    found: list[str] = []
    for sentence in sentences:
        found += [word for word in compiled(_WORD).findall(sentence) if word in words]
        found += [phrase for phrase in inner if phrase in sentence]
        found += compiled(pattern).findall(sentence) if pattern else []
    return found


def _verbs(name: str, sentences: Iterable[str]) -> list[str]:
    """Return the verbs of a part that ask for an action."""
    verbs, nouns = _forms(name, "verbs"), _words(name, "nouns")
    forms = _forms(name, "nouns") - nouns
    negated = _words("where", "negated")
    found: list[str] = []
    for sentence in sentences:
        tokens = compiled(_WORD).findall(sentence)
        for at, word in enumerate(tokens):
            plain = word.removeprefix("re-")
            is_action = plain in verbs or plain in forms or (plain in nouns and _is_asked(tokens, at))
            if is_action and negated.isdisjoint(tokens[max(0, at - _NEAR) : at]):
                found.append(word)
    return found


def _is_asked(tokens: list[str], at: int) -> bool:
    """Return whether a word that is a noun too asks for an action: by the words beside it, or at the start of a clause."""
    before, behind = tokens[at - 1] if at else ".", tokens[at + 1] if at + 1 < len(tokens) else "."
    if behind in _words("where", "follows"):
        return True
    starts = not before[0].isalnum() and before not in "-`'\"("
    return (starts or before in _words("where", "lead")) and behind not in _words("where", "compound")


def _search(name: str, key: str, text: str) -> list[str]:
    """Return what a pattern finds in a text."""
    found = (match[0] for match in compiled(_pattern(name, key)).finditer(text))
    return [" ".join(word.split()).strip(" ,.:;!?，。；：") for word in found if word.strip()]


def _table(name: str) -> Mapping[str, str]:
    table: Mapping[str, str] = tables.load("experience_gate")[name]
    return table


@cache
def _pattern(name: str, key: str) -> str:
    return tables.expand(_table(name)[key])


@cache
def _words(name: str, key: str) -> frozenset[str]:
    return frozenset(_table(name).get(key, "").split())


@cache
def _inner(name: str) -> tuple[str, ...]:
    """Return what is looked for inside of a text: phrases, and Chinese words."""
    table = _table(name)
    phrases = table.get("phrases", "").strip("\n").replace("\n", "|").split("|")
    return tuple(phrase for phrase in (*phrases, *table.get("zh", "").split()) if phrase)


@cache
def _forms(name: str, key: str) -> frozenset[str]:
    """Return the words with their forms in -ing."""
    words = _words(name, key)
    dropped = {f"{word[:-1]}ing" for word in words if word.endswith("e")}
    return words | dropped | {f"{word}ing" for word in words} | {f"{word}{word[-1]}ing" for word in words}
