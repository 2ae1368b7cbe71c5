"""Answer a question from fact files: by a dotted key in it, or by the words of a key."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache

from oracle.app.answers.reply import CitedFact
from oracle.app.context import Context
from oracle.domain import tables, timestamps
from oracle.domain.values import value
from oracle.errors import InvalidName, InvalidRecord, NotInMemory, OracleError
from oracle.store.disk import steps
from oracle.store.root import facts

_KEY = re.compile(r"(?<![\w./@:-])[\w-]+(?:\.[\w-]+)+(?![\w/@])")
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MOST_LEAVES = 20_000
_MOST_FACTS = 3
_MOST_PROJECTS = 20
"""Projects whose facts are shown side by side."""
_ENOUGH = 0.6
"""Share of the question's own words that a key must hold when the question does not spell the key."""


@cache
def _asking() -> frozenset[str]:
    return frozenset(tables.load("questions")["fact"].split())


@value
class _Leaf:
    path: str
    key: str
    place: str
    value: object
    words: frozenset[str]
    own: frozenset[str]
    project: frozenset[str]
    """The words of its project's name: a question may say of which project it asks."""
    is_hidden: bool


def find_facts(context: Context, question: str, *, project: str = "") -> tuple[CitedFact, ...]:
    """Return the facts that a question asks for: those whose key it spells, else the few that its words name alone.

    Without a project, those of the machine and of all projects are searched.
    """
    keys = dict.fromkeys(key.rstrip(".") for key in _KEY.findall(question))
    spelled = [found for key in keys for found in _look_up(context, key, project)]
    return tuple(spelled) if spelled else _by_words(context, question, project)


def _look_up(context: Context, key: str, project: str) -> list[CitedFact]:
    """Return the fact at a key: the project's, else the machine's and those of all projects side by side."""
    found = [_find(context, key, project)]
    if not project:
        name = f"{key.partition('.')[0]}.json"
        places = (owner for owner, path in facts.project_files(context.root) if path.rpartition("/")[2] == name)
        found += [_find(context, key, owner) for owner in places]
    return [item for item in found if item is not None][:_MOST_PROJECTS]


def _find(context: Context, key: str, project: str) -> CitedFact | None:
    try:
        fact = facts.find(context.root, key, project)
    except (NotInMemory, InvalidName, InvalidRecord):
        return None
    _, _, rest = key.partition(".")
    is_hidden = False
    for part in key.split("."):
        is_hidden = facts.hides(part, is_secret=is_hidden)
    return _cite(context, fact.path, key, f"$.{rest}" if rest else "$", fact.value, is_hidden=is_hidden)


def _cite(context: Context, path: str, key: str, place: str, content: object, *, is_hidden: bool) -> CitedFact | None:
    raw = steps.read(context.root.join(path))
    if raw is None:
        return None
    shown = facts.veiled(content, is_secret=is_hidden)
    moment = timestamps.from_mtime(context.clock.now_ns())
    digest = hashlib.sha256(raw).hexdigest()
    return CitedFact(f"{path}:{key}", key, path, place, shown, digest, moment, is_hidden=shown != content)


def _by_words(context: Context, question: str, project: str) -> tuple[CitedFact, ...]:
    asked = frozenset(_words(_in_english(question))) - _asking()
    if not asked or any(not word.isascii() for word in asked):
        return ()
    scored = []
    for leaf in _leaves(context, project):
        named = max(_named(leaf, asked), _named(leaf, asked - leaf.project))
        if named:
            scored.append((-named, leaf.key, leaf.path, leaf))
    best = sorted(scored, key=lambda item: item[:3])[: _MOST_FACTS if project else _MOST_PROJECTS]
    keys = list(dict.fromkeys(leaf.key for count, _, _, leaf in best if count == best[0][0]))[:_MOST_FACTS]
    kept = [leaf for count, _, _, leaf in best if count == best[0][0] and leaf.key in keys]
    cited = [_cite(context, item.path, item.key, item.place, item.value, is_hidden=item.is_hidden) for item in kept]
    return tuple(item for item in cited if item is not None)


def _named(leaf: _Leaf, asked: frozenset[str]) -> int:
    """Return how many words of a leaf a question has, 0 where they are too few to ask for it.

    `primary language` asks for `box.primary_language`, `host` for any.
    """
    named = leaf.words & asked
    is_whole = named == asked and len(leaf.own) > 1
    is_more = len(named) > len(leaf.own) and len(named) >= _ENOUGH * len(asked)
    return len(named) if leaf.own and leaf.own <= asked and (is_whole or is_more) else 0


def _in_english(question: str) -> str:
    """Return a question with Chinese words of facts in English, without what a Chinese question is made with."""
    if question.isascii():
        return question
    table = tables.load("questions")
    for pair in table["zh_glossary"].split():
        wide, _, word = pair.partition("=")
        question = question.replace(wide, f" {word} ")
    return re.sub(tables.expand(table["zh_fact"]), " ", question)


def _words(text: str) -> list[str]:
    return [_singular(word.lower()) for word in _WORD.findall(_HUMP.sub(" ", text.replace("_", " ")))]


def _singular(word: str) -> str:
    is_one = len(word) <= 3 or not word.endswith("s") or word.endswith(("ss", "us", "is")) or word in _asking()
    return word if is_one else word[:-1]


def _leaves(context: Context, project: str) -> Iterator[_Leaf]:
    number = 0
    for path in _files(context, project):
        try:
            content = facts.load(context.root, path)
        except OracleError:
            continue
        name = path.rpartition("/")[2].removesuffix(".json")
        for leaf in _below(content, path, [name], is_secret=facts.hides(name)):
            number += 1
            if number > _MOST_LEAVES:
                return
            yield leaf


def _files(context: Context, project: str) -> Iterator[str]:
    yield from (path for _, path in facts.project_files(context.root, project))
    yield from (path for _, path in facts.fact_files(context.root))


def _below(content: object, path: str, parts: list[str], *, is_secret: bool) -> Iterator[_Leaf]:
    if isinstance(content, dict) and len(parts) < 32:
        for key, item in content.items():
            yield from _below(item, path, [*parts, str(key)], is_secret=facts.hides(str(key), is_secret=is_secret))
    elif isinstance(content, list) and any(isinstance(item, dict | list) for item in content) and len(parts) < 32:
        for index, item in enumerate(content):
            yield from _below(item, path, [*parts, str(index)], is_secret=is_secret)
    elif content is not None and len(parts) > 1:
        named = (frozenset(_words(part)) - _asking() for part in reversed(parts) if not part.isdecimal())
        own = next((words for words in named if words), frozenset())
        words = frozenset(_words(" ".join(parts)))
        place = "$" + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts[1:])
        project = frozenset(_words(path.split("/")[1])) if path.startswith("projects/") else frozenset()
        yield _Leaf(path, ".".join(parts), place, content, words, own, project, is_secret)
