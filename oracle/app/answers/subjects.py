"""What a question is about: the entities that it names, and the records that hold them. App room; reads the index and files.

A question that names a task, a commit, a file, a key, a component or a UUID is answered from records that hold it: in a passage,
in the frontmatter, or by an edge. Where it asks for little more than the entity, the passages that name it are the answer.
"""

from __future__ import annotations

from oracle.app.answers import quotes
from oracle.app.records.views import Hit, Summary
from oracle.app.search.search import entities_of, search_by_status
from oracle.domain.compiling import compiled
from oracle.domain.links.entity_query import FILE, EntityQuery, entities_in, without
from oracle.domain.values import value
from oracle.index import fold
from oracle.index.read import query
from oracle.index.read.holders import MOST, holders
from oracle.store.root import facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from oracle.app.context import Context
    from oracle.index.db import Connection

_MARKS = "?!,;:.()[]\"'？！，。：；（）"
_MOST_READ = 40
"""Records whose passages are looked through for the entity."""
_PASSAGES = 2
_BESIDE_BEST = 0.5
_ABOUT = frozenset(
    """about add added adds all any anything associated been belong belongs between can change changed changes class comment
    comments commit commits component concern concerning concerns connected contain contained contains could current
    currently deal deals decision decisions describe described describes description detail details does doing done
    everything exactly exist explain explained file files find finding findings fix fixed fixes found give goes going got
    happen happened happens hash heard history id info information introduce introduced involved issue just key knew know
    known learn learned learnt like look me memory mention mentioned mentions module my news note notes our page path plan
    plans please progress purpose recent recently record recorded records refer referenced references referring regard
    regarding relate related relates relation report review reviewed reviews revision said saw say says sha should show so
    some state stated states status still story summarise summarize summary task tasks tell than their thing things think
    ticket tickets told topic touch touched touches us uuid was work worked works would write written wrote""".split()
)
"""Words that ask for whatever there is about an entity."""
_WIDE_ABOUT = (
    "知道|了解|有关|关于|相关|介绍|说明|解释|描述|总结|情况|进展|状态|记录|记忆|内容|任务|提交|文件|组件|模块|什么|怎么样|怎么|如何|哪些|哪个"
    "|我们|你们|他们|请问|告诉|一下|提到|提及|信息|历史|决定|决策|发现|计划|评审|发生|事情|东西|目前|现在|所有|全部"
)
_WIDE_SINGLE = "[请讲说做干改动是有的了吗呢吧啊和与在对过里中都把被给个些它这那查找看为]"


@value
class Subject:
    """The entities of a question; `held` are the slugs of the records that hold one, each with how many and whether as its own.

    `rest` is what the question asks beside them, "" when that is little; `unknown` are the entities that no record holds.
    """

    entities: tuple[EntityQuery, ...] = ()
    held: Mapping[str, tuple[int, bool]] = {}
    rest: str = ""
    unknown: tuple[EntityQuery, ...] = ()


def read_subject(context: Context, connection: Connection, text: str, filters: Mapping[str, str]) -> Subject:
    """Look for the entities of a question among the records that pass the filters."""
    condition = query.conditions({f"record.{name}": wanted for name, wanted in filters.items()})
    counts: dict[int, tuple[int, bool]] = {}
    known: list[EntityQuery] = []
    unknown: list[EntityQuery] = []
    for asked in entities_of(context, text, filters.get("project", "")):
        found = holders(connection, asked, condition)
        for identifier, is_own in found.items():
            count, owned = counts.get(identifier, (0, False))
            counts[identifier] = (count + 1, owned or is_own)
        if found:
            known.append(asked)
        elif asked.is_sure and not (asked.space == FILE and _is_fact_file(context, asked.text)):
            unknown.append(asked)
    best = sorted(counts, key=lambda identifier: (-counts[identifier][0], -identifier))[:MOST]
    slugs = query.slugs_of(connection, best)
    held = {slugs[identifier]: counts[identifier] for identifier in best if identifier in slugs}
    return Subject(tuple(known), held, _beside(without(text, known)), tuple(unknown))


def _is_fact_file(context: Context, name: str) -> bool:
    ending = f"/{name}"
    files = (*facts.fact_files(context.root), *facts.project_files(context.root))
    return any(f"/{path}".endswith(ending) for _, path in files)


def _beside(text: str) -> str:
    """Return what a question says beside its entities, without the words that ask for whatever there is; "" when that is little."""
    kept = [
        word
        for word in compiled(_WIDE_ABOUT).sub(" ", text).split()
        if fold.compose(word).lower().strip(_MARKS) not in _ABOUT
    ]
    plain = compiled(_WIDE_SINGLE).sub(" ", " ".join(kept))
    words = fold.words_of(fold.compose(plain).lower())
    return " ".join(kept) if any(len(word) > 1 and word not in fold.STOP_WORDS for word in words) else ""


# Passages -------------------------------------------------------------------------------------------------------------


def find(
    context: Context, subject: Subject, filters: Mapping[str, str], limits: Mapping[str, int]
) -> Iterator[list[Hit]]:
    """Yield passages of the records that hold a subject, best first, up to so many for each status in `limits`, "" for any."""
    if not subject.rest:
        for status, limit in limits.items():
            yield _naming(context, subject, {**filters, "status": status})[:limit]
        return
    for hits in search_by_status(context, subject.rest, filters, limits, among=tuple(subject.held)):
        yield _place(subject, hits)


def _place(subject: Subject, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits in order, without those that name other entities of the kind alone."""
    hits = [hit for hit in hits if not _speaks_of_another(subject, hit)]
    best = max((hit.coverage for hit in hits), default=0.0)

    def place(hit: Hit) -> tuple[bool, int, bool]:
        count, is_own = subject.held[hit.record.slug]
        return hit.coverage < _BESIDE_BEST * best, -count, not (is_own or _names(subject, hit.snippet))

    return sorted(hits, key=place)


def _names(subject: Subject, text: str) -> bool:
    return any(asked.is_named_in(text) for asked in subject.entities)


def _speaks_of_another(subject: Subject, hit: Hit) -> bool:
    """Tell whether a passage names others of the kind and not the one asked for, which its record only names elsewhere."""
    _, is_own = subject.held[hit.record.slug]
    if is_own or _names(subject, f"{hit.record.title}\n{hit.snippet}"):
        return False
    spaces = {asked.space for asked in subject.entities}
    return any(other.is_sure and other.space in spaces for other in entities_in(hit.snippet))


def _naming(context: Context, subject: Subject, filters: Mapping[str, str]) -> list[Hit]:
    """Return the passages that name a subject, of a record that just its frontmatter or an edge ties to it the first lines."""
    condition = query.conditions({f"record.{name}": wanted for name, wanted in filters.items()})
    connection = context.index.database.connect()
    rows = query.summaries(connection, query.ids_of(connection, list(subject.held)), condition)
    records = [Summary.from_row(row[1:]) for row in rows]
    records.sort(key=lambda record: (record.sort_ts, record.slug), reverse=True)
    records.sort(key=lambda record: _weight(subject, record))
    found = [list(_passages(context, subject, record)) for record in records[:_MOST_READ]]
    return [hits[at] for at in range(_PASSAGES) for hits in found if at < len(hits)]


def _weight(subject: Subject, record: Summary) -> tuple[int, bool, bool]:
    """Return what orders records: those that hold all first, then those named by it, then those that it belongs to."""
    count, is_own = subject.held[record.slug]
    return -count, not _names(subject, record.title), not is_own


def _passages(context: Context, subject: Subject, record: Summary) -> Iterator[Hit]:
    source = quotes.open_source(context, record)
    made: Sequence[quotes.Quote] = quotes.naming_quotes(source, subject.entities, most=_PASSAGES) if source else ()
    for quote in made or (quotes.Quote(record.path, "", (1, 1), ""),):  # a file that moved: the answerer looks again
        yield Hit(record, 1.0, quote.text, *quote.lines, coverage=1.0)
