"""Where the words of a link lead: which record a reference means.

Pure functions over slugs and names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from oracle.domain.links.links import (
    ROOT_FOLDERS,
    compose,
    cut_words,
    fold_case,
    plain_words,
    unstamped,
    words_of,
)
from oracle.domain.names import FOREIGN, home_of, project_of

_HERE = frozenset({"", ".", ".."})
"""Last parts of a reference that name no record: it means its own."""


class Namesakes:
    """The slugs of one key, arranged so that many references to them are resolved in little more than one look each.

    `named` are pairs of a name of this key that a record gives itself, and its slug.
    """

    __slots__ = ("_by_name", "_loose", "_named", "_slugs")

    def __init__(self, slugs: Collection[str], named: Iterable[tuple[str, str]] = ()) -> None:
        self._slugs = slugs
        self._named = list(named)
        self._loose: dict[tuple[str, str], str | None] = {}
        self._by_name: dict[str, list[str]] = {}
        for slug in slugs:
            self._by_name.setdefault(fold_case(slug.rpartition("/")[2]), []).append(slug)

    def resolve(self, ref: str, source: str) -> str | None:
        """Return the slug of these that `ref` means in the record `source`, or None.

        The first of these that finds a record counts:

        - the source's folder
        - paths that end with the words, first with and then without regard to case
        - paths of the same words
        - names without their stamps
        - names that records give themselves

        A path that begins with `./` or `../` means just that place.

        Of several paths that end so, one of the same project is taken. Then come a folder above the source, the nearest in the
        tree, the shortest, the first in the alphabet. Where words are compared, the newest comes before the nearest.

        The answer is `source` when the words mean their own record, of which the caller makes no edge. But a bare title
        means a namesake of the same project before itself.
        """
        name = ref.rpartition("/")[2]
        spelt = self._slugs if name in _HERE else self._by_name.get(fold_case(name), ())
        found = _resolve_spelt(ref, source, spelt) if spelt else None
        if found is None and self._slugs:
            found = self._resolve_loosely(ref, source)
        return self._resolve_by_name(ref, source) if found is None and self._named else found

    def _resolve_loosely(self, ref: str, source: str) -> str | None:
        asked = (ref, source.rpartition("/")[0])
        if asked not in self._loose:
            self._loose[asked] = _best(ref, source, self._slugs)
        found = self._loose[asked]
        if found != source:
            return found
        other = _best(ref, source, [slug for slug in self._slugs if slug != source])
        return other if other is not None and project_of(other) == project_of(source) else found

    def _resolve_by_name(self, ref: str, source: str) -> str | None:
        """Return the nearest record that gives itself this name, spelt so or of the same words."""
        if ref.startswith(("./", "../")):
            return None
        for spelt in (compose, fold_case, words_of):
            wanted = spelt(ref)
            found = {slug for name, slug in self._named if spelt(name) == wanted}
            if found:
                return min(found, key=_order_from(source))
        return None


def namesakes(name: str, candidates: Collection[str]) -> list[str]:
    """Return the slugs that a person may mean by `name`, a slug or the end of one, the newest stamp first.

    The best spelling alone counts: as written, without case, the same words, without the stamp, cut as a file name is.
    """
    for of_name, of_slug in ((compose, compose), (fold_case, fold_case), *_LOOSE):
        ending = "/" + of_name(name)
        found = [slug for slug in candidates if f"/{of_slug(slug)}".endswith(ending)]
        if found:
            return sorted(sorted(found, key=lambda slug: (len(slug), slug)), key=stamp_of, reverse=True)
    return []


def stamp_of(slug: str) -> str:
    """Return the digits of the timestamp at the head of a slug's name, which sort by time, or ""."""
    words = words_of(slug.rpartition("/")[2])
    stamp = words[: len(words) - len(unstamped(words))]
    return "".join(char for char in stamp if char.isdigit())


def _resolve_spelt(ref: str, source: str, candidates: Collection[str]) -> str | None:
    """Return the slug whose path is spelt as the reference is, but for case."""
    places, tail = _places(ref, source)
    exact = (places[0], tail) if tail.startswith(ROOT_FOLDERS) else places[:1]
    for fold in (compose, fold_case):
        slugs = {fold(slug): slug for slug in sorted(candidates, reverse=True)}
        for place in exact:
            if (slug := slugs.get(fold(place))) is not None:
                return slug
        if tail:
            ending = "/" + fold(tail)
            found = (slug for folded, slug in slugs.items() if f"/{folded}".endswith(ending))
            if best := min(found, key=_order_from(source, depth=tail.count("/")), default=None):
                return best
    return None


def _order_from(source: str, *, depth: int = 0) -> Callable[[str], tuple[bool, bool, int, int, str]]:
    """Return the key that sorts slugs by their place: of the source's project, nearest to it, shortest, by the alphabet.

    `depth` is how many folders the reference names.
    """
    project, folders = project_of(source), source.split("/")[:-1]

    def order(slug: str) -> tuple[bool, bool, int, int, str]:
        is_above, shared = _nearness(slug, folders, depth)
        return project_of(slug) != project, not is_above, -shared, len(slug), slug

    return order


def _nearness(slug: str, folders: Sequence[str], depth: int) -> tuple[bool, int]:
    """Return whether a slug without its last `depth` folders is in a path or above it, and how many folders they share."""
    own = slug.count("/") - depth
    shared = min(own, _count_shared(slug, folders))
    return shared == own, shared


def _count_shared(slug: str, folders: Sequence[str]) -> int:
    """Return how many folders a slug shares with a path, from the Root on."""
    count = 0
    for one, other in zip(slug.split("/")[:-1], folders, strict=False):
        if one != other:
            break
        count += 1
    return count


def _best(ref: str, source: str, candidates: Collection[str]) -> str | None:
    """Return the best of the slugs that have the words of a reference."""
    places, tail = _places(ref, source)
    if places == [source]:
        return None
    project, folders = project_of(source), source.split("/")[:-1]
    for of_ref, of_slug in _LOOSE:
        ending = "/" + of_ref(tail or places[0])
        found = (slug for slug in candidates if _ends("/" + of_slug(slug), ending, whole=not tail))
        best = max(
            sorted(found, key=lambda slug: (len(slug), slug)),
            key=lambda slug: (project_of(slug) == project, stamp_of(slug), *_nearness(slug, folders, tail.count("/"))),
            default=None,
        )
        if best is not None:
            return best
    return None


def _ends(path: str, ending: str, *, whole: bool) -> bool:
    return path == ending if whole else path.endswith(ending)


def unresolved_target(ref: str, source: str) -> str:
    """Return the slug that `ref` would have if its record were where the words point; never outside the Root.

    A bare name points into the source's folder, a path into its project, a path from `projects/`, `shared/` or
    `learnings/` at the Root. `Namesakes.resolve` answers with this very slug once it is the only candidate.
    """
    places, tail = _places(ref, source)
    if places == [source]:
        return source
    if not tail or "/" not in tail:
        return compose(places[0])
    if tail.startswith(ROOT_FOLDERS):
        return compose(tail)
    return compose(places[min(1, len(places) - 1)])


def _places(ref: str, source: str) -> tuple[list[str], str]:
    """Return the slugs that `ref` may stand for, the likeliest first, and the path to search for by ending, if any."""
    folder = source.rpartition("/")[0]
    if ref.rpartition("/")[2] in _HERE:
        return [source], ""
    if ref.startswith(("./", "../")):
        return [_join(folder, ref)], ""
    tail = _join("", ref)
    home = home_of(source)
    if ref.startswith("/"):
        return ([_join(home, ref)] if source.startswith(FOREIGN) else [tail]), tail
    places = [_join(folder, ref), _join(home, ref), tail] if home else [_join(folder, ref), tail]
    return places, tail


def _join(folder: str, ref: str) -> str:
    parts = [part for part in folder.split("/") if part]
    for part in ref.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


_LOOSE = ((words_of, words_of), (plain_words, plain_words), (cut_words, plain_words))
"""How a reference and a slug are compared when no path is spelt as the reference is."""
