"""The graph in the ranking: records that a question names, what their links lead to, who contradicts whom.

A question that names a record and asks who, what or which is answered by the records that it is linked with. First come those of
the kind that is asked for whose linking sentence speaks of the relation, until the scores fall.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import chain, islice

from oracle.app.records.views import Summary
from oracle.app.search.ranking.anchors import Anchor, unnamed
from oracle.app.search.ranking.pages import PageSentence, RecordPage, Scored
from oracle.app.search.ranking.query import SearchQuery
from oracle.app.search.ranking.scoring import Ranking
from oracle.app.search.ranking.sentences import LINK, Names, sentences_of, speaks_of, spoken_of
from oracle.domain.compiling import compiled
from oracle.domain.links.links import reference_key
from oracle.domain.names import entity
from oracle.domain.relations import relations
from oracle.domain.relations.patterns import PERSON, without_question_words, word_list
from oracle.domain.values import value
from oracle.index.db import Connection
from oracle.index.fold import fold, lower, tokens
from oracle.index.read import candidates

_CUT, _BELOW = 0.55, 0.8
"""Share of the best score below which a neighbour is no answer, and how much lower it then ranks."""
_GOES_ON, _WRONG_END = 0.8, 0.3
"""What counts of a relation in a sentence that goes on about it, and in one where it goes the other way."""
_IN_A_LIST, _OF_NO_KIND = -0.1, 0.8
"""What a list of links beside the text says, and the share left to a record of no kind where others are of the one asked for."""
_FROM_ENTITY = 30
_SUPPORTED, _CONTRADICTED, _NEAR_STRONG = 0.1, 1.2, 0.1
"""What an edge gives or takes, in shares of the weight of the question's heaviest word."""
_TOPS, _FIRST, _LIFTED = 2, 5, 3
"""Best records whose links are followed, records behind which what they lead to is put, and how many."""
_MOST_LINKS = 60
"""Links of a page that are followed by their words."""
_MOST_NAMES = 200
"""Plain names on a page that are looked up."""
_PLAIN_NAME = r"\b[A-Z]\w*(?:['’-]\w{2,})*(?: (?:& )?[A-Z]\w*(?:['’-]\w{2,})*){0,4}"
_NAMESPACES = ("taskid", "file", "component", "key", "commit")


@value
class Neighbour:
    """A record at the other end of a link of an anchor; `kind` is the type of the edge, "" where no edge says it."""

    record: int
    anchor: Anchor
    kind: str = ""


def entities_named(connection: Connection, question: SearchQuery) -> list[int]:
    """Return records that mention an entity which the question names."""
    names = [chunk.strip("?!,;:.()[]\"'`") for chunk in question.text.split()]
    odd = [
        name for name in names if compiled(r"[^\W_]").search(name) and compiled(r"[\d/._#-]|[a-z][A-Z]").search(name)
    ]
    wanted = [entity(space, name) for name in odd[:10] for space in _NAMESPACES]
    return candidates.entity_sources(connection, wanted, _FROM_ENTITY) if wanted else []


def find_neighbours(
    connection: Connection, anchors: Iterable[Anchor], pages: Mapping[int, RecordPage]
) -> list[Neighbour]:
    """Return what is at the other end of the anchors' links. A link that leads nowhere is followed by its words."""
    found: list[Neighbour] = []
    for anchor in anchors:
        rows = candidates.neighbours(connection, anchor.record, anchor.slug, _written(anchor))
        found += [Neighbour(other, anchor, kind) for other, kind in rows]
        page = pages.get(anchor.record)
        others = _linked(connection, page) if page is not None else []
        found += [Neighbour(other, anchor) for other in others if other != anchor.record]
    return found


def find_unfollowed(anchors: Iterable[Anchor], pages: Mapping[int, RecordPage]) -> list[Neighbour]:
    """Return the pages that name an anchor in plain words, or by a link, wherever the index thinks that it leads."""
    found: list[Neighbour] = []
    for anchor in anchors:
        words = set(tokens(anchor.title))
        names = Names.of(anchor.title, anchor.slug)
        for record, page in pages.items() if words else ():
            if record != anchor.record and page.postings.keys() >= words and speaks_of(page, names):
                found.append(Neighbour(record, anchor))
    return found


def _written(anchor: Anchor) -> list[str]:
    """Return how texts write the name of a record: its title, and a path that ends with its name."""
    folders, _, tail = anchor.slug.rpartition("/")
    paths = [*(f"{place}/{tail}" for place in folders.split("/")[1:]), tail, f"{tail}.md"]
    return [fold(anchor.title), *(" ".join(tokens(path)) for path in paths)]


def _linked(connection: Connection, page: RecordPage) -> list[int]:
    """Return the records that a page names: by links, with the folder before the name or without, and in plain words."""
    titles: dict[str, None] = {}
    keys: dict[str, None] = {}
    text = "\n".join(page.lines)
    for match in islice(compiled(_PLAIN_NAME).finditer(compiled(LINK).sub("|", text)), _MOST_NAMES):
        words = match[0].split()
        keys.update((reference_key("-".join(tokens(" ".join(words[at:])))), None) for at in range(len(words)))
    for match in islice(compiled(LINK).finditer(text), _MOST_LINKS):
        for part in match.group("wiki", "alias", "text", "place"):
            folder, _, name = (part or "").partition("#")[0].removesuffix(".md").rpartition("/")
            words = tokens(name)
            if words:
                titles[" ".join(words)] = keys[reference_key(name)] = None
                keys[reference_key(f"{folder.rpartition('/')[2]}-{name}")] = None
    return [*candidates.titled(connection, titles), *candidates.keyed(connection, list(keys))]


class Relations:
    """Which neighbours answer a question, and where in their pages the link is spoken of."""

    def __init__(
        self,
        question: SearchQuery,
        anchors: Sequence[Anchor],
        summaries: Mapping[int, Summary],
        pages: Mapping[int, RecordPage],
    ) -> None:
        self._summaries = summaries
        self._pages = pages
        self._anchors = {anchor.record for anchor in anchors}
        self._classes = {record: _classes_of(summary) for record, summary in summaries.items()}
        # an anchor may have been filtered out of the summaries
        self._names = {anchor.record: Names.of(anchor.title, anchor.slug) for anchor in anchors}
        self._names |= {record: Names.of(summary.title, summary.slug) for record, summary in summaries.items()}
        self._kind = self._find_kinds()
        text = unnamed(question.text, anchors)
        beside = {word for word in tokens(without_question_words(text)) if len(word) > 1 or word.isascii()}
        beside -= {word for anchor in anchors for word in anchor.words} | word_list("no_cues")
        words = [word for word in question.words if word in beside]
        about = self._kind.get(anchors[0].record, "") if anchors else ""
        self._asks_for_itself = relations.asks_for_itself(text)
        self._query = relations.read_relation(text, words, about)
        known = set().union(*self._classes.values())
        self._kinds = set() if self._query.asks_who else {_singular(word) for word in words} & known
        if self._kinds:
            words = [word for word in words if _singular(word) not in self._kinds]
            self._query = relations.read_relation(text, words, about)

    def _find_kinds(self) -> dict[int, str]:
        """Return what each record is about, "" if unknown, by its own folder, else by that of a link to it."""
        kinds = {record: relations.kind_of(self._classes.get(record, ())) for record in self._names}
        if all(kinds.values()):
            return kinds
        said: dict[str, str] = {}
        for page in self._pages.values():
            for mention in (mention for sentence in sentences_of(page).all for mention in sentence.mentions):
                if kind := relations.kind_of({_singular(mention.folder)}):
                    said.update(dict.fromkeys(mention.keys, kind))
        for record, names in self._names.items():
            kinds[record] = kinds[record] or next((said[key] for key in names.keys if key in said), "")
        return kinds

    def answers(self, neighbours: Iterable[Neighbour]) -> list[tuple[int, float, int]]:
        """Return (record, 0 to 1, passage or -1) of the neighbours that answer, best first.

        Where the scores fall, others of the kind that is asked for follow, as far as 1 below zero. None answers a question for
        the record that it names.
        """
        if self._asks_for_itself:
            return []
        kinds: dict[tuple[int, Anchor], set[str]] = {}
        for neighbour in neighbours:
            if neighbour.record not in self._anchors and neighbour.record in self._pages:
                kinds.setdefault((neighbour.record, neighbour.anchor), set()).add(neighbour.kind)
        best: dict[int, tuple[float, int]] = {}
        for (record, anchor), types in kinds.items():
            score, at = self._judge(record, anchor.record, types)
            before = best.get(record, (-1.0, -1))
            best[record] = (max(score, before[0]), at if score > before[0] or before[1] < 0 else before[1])
        wanted = self._of_kind(best)
        best |= {record: (best[record][0] * _OF_NO_KIND, best[record][1]) for record in self._unsure(wanted)}
        top = max((best[record][0] for record in wanted), default=0.0)
        narrowed = len(wanted) < len(best)
        if top <= 0 and not narrowed:
            return []  # nothing says that these answer
        found = [(record, *best[record]) for record in wanted if narrowed or best[record][0] >= _CUT * top]
        found = [(record, fit if fit >= _CUT * top else fit - _BELOW, at) for record, fit, at in found]
        return sorted(found, key=lambda row: (-row[1], self._summaries[row[0]].slug))

    def _judge(self, other: int, anchor: int, types: Iterable[str]) -> tuple[float, int]:
        """Return how well the edges and the sentences of both pages speak of the relation, and in which passage of the other's."""
        typed = [kind.split("-") for kind in types if kind and not kind.startswith("references-")]
        best = max((self._query.fits(" ".join(words), words) for words in typed), default=0.0)
        place, spoken = -1, -1.0
        for home, target in ((other, anchor), (anchor, other)):
            page = self._pages.get(home)
            for sentence, at in spoken_of(page, self._names[target]) if page is not None else ():
                score = self._fit(sentence, at, home=home, target=target, anchor=anchor)
                if score > spoken:
                    spoken = score
                    place = sentence.at if home == other else place
        return max(best, spoken) if best or spoken > -1 else 0.0, place

    def _fit(self, sentence: PageSentence, at: int, *, home: int, target: int, anchor: int) -> float:
        heading = sentence.heading
        if relations.is_aside(heading):
            return _IN_A_LIST
        title = lower(self._summaries[home].title)
        text = lower(sentence.text).replace(title, "_" * len(title))
        fit = self._query.fits(text, tokens(text), at)
        if heading and fit < relations.FAMILY:
            fit = max(fit, self._query.heads(heading, text))
        if at < 0:
            return fit * _GOES_ON
        if self._query.goes_either_way or self._kind[home] == self._kind[target] != "":
            head = f"{heading}: " if heading else ""
            if not self._query.suits(head + text, len(head) + at, asked_is_link=target != anchor):
                return fit * _WRONG_END
        return fit

    def _of_kind(self, records: Iterable[int]) -> list[int]:
        """Return the records of the kind that is asked for; all of them when the question names no kind, or none has it."""
        records = list(records)
        wanted = [record for record in records if self._kinds & self._classes[record]]
        return wanted or [record for record in records if self._may_be(record)] or records

    def _unsure(self, records: Iterable[int]) -> list[int]:
        """Return the records of unknown kind, when others are known to be of the kind that is asked for."""
        unsure = [record for record in records if not self._kind[record]]
        known = any(self._kind[record] in self._query.kinds for record in records)
        return unsure if known and not self._kinds else []

    def _may_be(self, record: int) -> bool:
        """Return whether a record is of a kind that is asked for, by its title when nothing else says what it is."""
        kinds = self._query.kinds
        if self._kind[record] or not kinds:
            return self._kind[record] in kinds
        return kinds != {PERSON} or relations.looks_like_a_person(self._summaries[record].title)


def weigh_links(
    edges: Iterable[tuple[int, str, int, str]], *, strong: Sequence[int], times: Mapping[int, str]
) -> dict[int, float]:
    """Return what the edges give to each record: support and strong neighbours a little, a newer contradiction takes.

    `edges` are (source, type, target, the source's time or ""); `strong` are the best matches by words.
    """
    points: dict[int, float] = {}
    supported: dict[int, int] = {}
    for source, kind, target, moment in dict.fromkeys(edges):
        if kind == "contradicts":
            if (moment or times.get(source, "")) > times.get(target, ""):
                points[target] = points.get(target, 0.0) - _CONTRADICTED
        elif kind == "supports":
            supported[target] = supported.get(target, 0) + (1 if moment else 0)
        elif (source in strong) != (target in strong):
            weak = target if source in strong else source
            points[weak] = max(points.get(weak, 0.0), _NEAR_STRONG)
    for target, number in supported.items():
        points[target] = points.get(target, 0.0) + min(3, number) * _SUPPORTED
    return points


def put_linked_behind(
    ranking: Ranking, scored: Sequence[Scored], edges: Iterable[tuple[int, int]], retired: Container[int]
) -> list[Scored]:
    """Put records that are linked with the best ones behind the first few: those that hold most of what the best lack.

    A question may need what the records of its words lead to, in words of theirs. `edges` are pairs of sources.
    """
    best: dict[int, Scored] = {}
    for one in scored:
        if one.source not in retired:
            best.setdefault(one.source, one)
    order = {source: place for place, source in enumerate(best)}
    adds: dict[int, float] = {}
    for top, other in chain.from_iterable(((one, other), (other, one)) for one, other in edges):
        if order.get(top, _TOPS) < _TOPS and order.get(other, 0) >= _FIRST:
            lacking = ranking.coverage(best[other].terms - best[top].terms)
            adds[other] = max(adds.get(other, 0.0), lacking)
    lifted = [best[source] for source in sorted(adds, key=lambda source: (-adds[source], order[source]))[:_LIFTED]]
    end = scored.index(list(best.values())[_FIRST]) if lifted else len(scored)
    return [*scored[:end], *lifted, *(one for one in scored[end:] if one not in lifted)]


def _classes_of(record: Summary) -> frozenset[str]:
    """Return the words that say what kind of thing a record is about: its kind, seat, folders, the first part of its name."""
    parts = record.path.split("/")
    head = parts[-1].replace("__", "--").split("--")
    words = [record.kind, record.seat, *parts[2:-1], *head[:-1]]
    project = _singular(record.project)
    own = {_singular(word) for part in words for word in tokens(part)}
    return frozenset(own | ({project} if relations.kind_of({project}) else set()))


def _singular(word: str) -> str:
    if word in ("people", "persons"):
        return "person"
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
