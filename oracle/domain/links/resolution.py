"""Where the words of a link lead: which record a reference means.

Pure functions over slugs and names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from unicodedata import category, normalize

from oracle.domain.links.links import ROOT_FOLDERS, compose, decode
from oracle.domain.names import project_of

_HERE = frozenset({"", ".", ".."})
"""Last parts of a reference that name no record: it means its own."""


def reference_key(ref: str) -> str:
    """Return the key under which the index finds candidates: the words of the last path component, without its stamp.

    Case, blanks, punctuation and normal forms make no difference, and neither does what lies beyond the bytes that a
    title gives to a file name.
    """
    return _cut(ref.rpartition("/")[2])


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
            self._by_name.setdefault(_fold(slug.rpartition("/")[2]), []).append(slug)

    def resolve(self, ref: str, source: str) -> str | None:
        """Return the slug of these that `ref` means in the record `source`, or None.

        First the source's folder is tried, then every path that ends with the words: of the same project, nearest in the
        tree, shortest, first in the alphabet. The case counts first, then it does not. If no path is spelt so, the words
        are compared, then the names without their stamps: of the same project, newest, nearest, shortest. Last come the
        names that records give themselves. A path that begins with `./` or `../` means just that place.

        The answer is `source` when the words mean their own record, of which the caller makes no edge. But a bare title
        means a namesake of the same project before itself.
        """
        name = ref.rpartition("/")[2]
        spelt = self._slugs if name in _HERE else self._by_name.get(_fold(name), ())
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
        for spelt in (compose, _fold, _words):
            wanted = spelt(ref)
            found = {slug for name, slug in self._named if spelt(name) == wanted}
            if found:
                return min(found, key=_order_from(source))
        return None


def namesakes(name: str, candidates: Collection[str]) -> list[str]:
    """Return the slugs that a person may mean by `name`, a slug or the end of one, the newest stamp first.

    The best spelling alone counts: as written, without case, the same words, without the stamp, cut as a file name is.
    """
    for of_name, of_slug in ((compose, compose), (_fold, _fold), *_LOOSE):
        ending = "/" + of_name(name)
        found = [slug for slug in candidates if f"/{of_slug(slug)}".endswith(ending)]
        if found:
            return sorted(sorted(found, key=lambda slug: (len(slug), slug)), key=stamp_of, reverse=True)
    return []


def stamp_of(slug: str) -> str:
    """Return the digits of the timestamp at the head of a slug's name, which sort by time, or ""."""
    words = _words(slug.rpartition("/")[2])
    stamp = words[: len(words) - len(_unstamped(words))]
    return "".join(char for char in stamp if char.isdigit())


def _resolve_spelt(ref: str, source: str, candidates: Collection[str]) -> str | None:
    """Return the slug whose path is spelt as the reference is, but for case."""
    places, tail = _places(ref, source)
    exact = (places[0], tail) if tail.startswith(ROOT_FOLDERS) else places[:1]
    for fold in (compose, _fold):
        slugs = {fold(slug): slug for slug in sorted(candidates, reverse=True)}
        for place in exact:
            if (slug := slugs.get(fold(place))) is not None:
                return slug
        if tail:
            ending = "/" + fold(tail)
            found = (slug for folded, slug in slugs.items() if f"/{folded}".endswith(ending))
            if best := min(found, key=_order_from(source), default=None):
                return best
    return None


def _order_from(source: str) -> Callable[[str], tuple[bool, int, int, str]]:
    """Return the key that sorts slugs by their place: of the source's project, nearest to it, shortest, by the alphabet."""
    project, folders = project_of(source), source.split("/")[:-1]

    def order(slug: str) -> tuple[bool, int, int, str]:
        return project_of(slug) != project, -_count_shared(slug, folders), len(slug), slug

    return order


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
            key=lambda slug: (project_of(slug) == project, stamp_of(slug), _count_shared(slug, folders)),
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
    if ref.startswith("/"):
        return [tail], tail
    project = project_of(source)
    places = [_join(folder, ref), _join(f"projects/{project}", ref), tail] if project else [_join(folder, ref), tail]
    return places, tail


def _join(folder: str, ref: str) -> str:
    parts = [part for part in folder.split("/") if part]
    for part in ref.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else normalize("NFC", normalize("NFC", text).casefold())


# Words ----------------------------------------------------------------------------------------------------------------

_NAME_BYTES = 80
"""Bytes of a title that its file name has at most."""

_BLANKS = {code: " " for code in range(128) if not chr(code).isalnum()}
_DIGITS = str.maketrans("123456789", "000000000")
_STAMPS = tuple(
    sorted(
        {
            *("00000000-", "00000000t0000-", "00000000t000000-", "00000000t000000z-"),
            *("0000-00-00-", "0000-00-00t00-00-", "0000-00-00t00-00z-", "0000-00-00t000000z-"),
            *(
                f"0000-00-00{joint}00-00-00{end}"
                for joint in "t-"
                for end in ("-", "z-", "-000z-", "-000000z-", "-000000000z-")
            ),
        },
        key=len,
        reverse=True,
    )
)
"""How timestamps look at the head of a name, once it is words: every digit a 0, the longest first."""


def _words(path: str) -> str:
    """Return a path as the words of its parts, joined by hyphens; a part without letters and digits stays as it is."""
    return "/".join([_words_of(part) for part in path.split("/")])


def _words_of(part: str) -> str:
    folded = _fold(decode(part))
    if folded.isascii():
        return "-".join(folded.translate(_BLANKS).split()) or folded
    plain = normalize("NFKC", normalize("NFKC", folded).casefold())
    return (
        "-".join("".join([char if char.isalnum() or category(char) in ("Mn", "Mc") else " " for char in plain]).split())
        or folded
    )


def _plain(path: str) -> str:
    """Return a path as words, the last part without its stamp."""
    folder, slash, name = _words(path).rpartition("/")
    return folder + slash + _unstamped(name)


def _unstamped(words: str) -> str:
    """Return a name without the timestamps at its head: a title may begin with one of its own."""
    while words[:4].isdigit():
        shape = words[:32].translate(_DIGITS)
        stamp = next((stamp for stamp in _STAMPS if shape.startswith(stamp)), "")
        if not stamp:
            break
        words = words[len(stamp) :]
    return words


def _cut(path: str) -> str:
    """Return the words of a path, the last part as short as a file name made of them."""
    folder, slash, name = _plain(path).rpartition("/")
    if len(name) * 4 > _NAME_BYTES:
        name = name.encode("utf-8", "surrogatepass")[:_NAME_BYTES].decode("utf-8", "ignore").strip("-")
    return folder + slash + name


_LOOSE = ((_words, _words), (_plain, _plain), (_cut, _plain))
"""How a reference and a slug are compared when no path is spelt as the reference is."""
