"""Edges out of prose: what a text mentions, which records it points at, and where those words lead.

Pure functions over text and slugs.
"""

from __future__ import annotations

from collections.abc import Collection
from unicodedata import category, normalize

from oracle.domain.links.pages import (
    COMMIT,
    COMPONENT,
    FILE,
    KEY,
    PROJECT,
    RECORD,
    ROOT_FOLDERS,
    TASK,
    URL,
    Extraction,
    Mention,
    Page,
    Reference,
    compose,
)
from oracle.domain.names.slugs import project_of
from oracle.domain.values import value

__all__ = [
    "DEFAULT_PATTERNS",
    "EDGE_TYPES",
    "RELATIONS",
    "Extraction",
    "Mention",
    "Namesakes",
    "Patterns",
    "Reference",
    "extract",
    "namesakes",
    "reference_key",
    "resolve",
    "stamp_of",
    "unresolved_target",
]

RELATIONS = ("supersedes", "contradicts", "supports", "extends", "derived-from", "related-task", "retires")
CLAIMS = {"supersedes": "claims-supersedes", "retires": "claims-retires"}
"""What a relation is called that would end a record of another seat, and so has no effect."""
EDGE_TYPES = (TASK, COMMIT, FILE, URL, KEY, PROJECT, COMPONENT, RECORD, *RELATIONS, *CLAIMS.values())


_HERE = frozenset({"", ".", ".."})
"""Last parts of a reference that name no record: it means its own."""


@value
class Patterns:
    """What a Root or project configures: task prefixes (None: any but well-known standards) and component suffixes."""

    task_prefixes: frozenset[str] | None = None
    component_suffixes: tuple[str, ...] = ("Phasic", "Physics", "View", "Engine", "Layer", "Component")


DEFAULT_PATTERNS = Patterns()


def extract(text: str, patterns: Patterns = DEFAULT_PATTERNS) -> Extraction:
    """Read the edges of a record's body (front matter cut off); code and comments give none. Never raises.

    What one reader has taken is hidden from the next. A reader is called only when the text holds a mark that all of its finds
    share. Readers are loaded when a text is first read: programs that only resolve links need none.
    """
    from oracle.domain.links import addresses, entities, references
    from oracle.domain.markdown.masks import blank, mask_code

    page = Page(text)
    prose = keys = references.hide_comments(mask_code(text))
    if joints := entities.find_joints(text):
        page.beside = blank(text, joints, filler="_")
    if ":" in prose and "://" in prose:
        prose = addresses.read_urls(page, prose)
    prose = named = entities.hide_formulas(references.read_all(page, prose))
    if "." in prose or "/" in prose:
        prose = addresses.read_files(page, prose)
    if "[" in keys and "[KEY:" in keys:
        entities.read_keys(page, keys)
    if "_" in prose and (spans := entities.find_emphasis(prose)):
        page.beside = blank(page.beside, spans, filler="*")
        prose, named = blank(prose, spans, filler="*"), blank(named, spans, filler="*")
    prose, named = addresses.hide_mail(prose), addresses.hide_mail(named)
    entities.read_tasks(page, prose, prefixes=patterns.task_prefixes)
    entities.read_commits(page, prose)
    entities.read_components(page, named, suffixes=patterns.component_suffixes)
    return page.finish()


# Where the words lead -------------------------------------------------------------------------------------------------


def reference_key(ref: str) -> str:
    """Return the key under which the index finds candidates: the words of the last path component, without its stamp.

    Case, blanks, punctuation and normal forms make no difference, and neither does what lies beyond the bytes that a
    title gives to a file name.
    """
    return _cut(ref.rpartition("/")[2])


def resolve(ref: str, source: str, candidates: Collection[str]) -> str | None:
    """Return the slug among `candidates` (all slugs with the reference's key) that `ref` means in `source`, or None.

    Tried in order: the source's folder, its project, the Root, then any record whose path ends with the words (the same
    project first, then the shortest slug, then the alphabet); all of it with the case as written, then without case. When
    no path is spelt so, the same words do, whatever is between them, then the name without the stamp at its head: the
    same project first, then the newest stamp, the source's folder, the shortest slug, the alphabet. A path that begins with
    `./` or `../` means just that place. The answer is `source` itself when the words point at their own record: a self
    link, of which the caller makes no edge; but a bare title means a namesake of the same project sooner than itself.
    """
    return Namesakes(candidates).resolve(ref, source)


class Namesakes:
    """The slugs of one key, arranged so that many references to them are resolved in little more than one look each."""

    __slots__ = ("_by_name", "_loose", "_slugs")

    def __init__(self, slugs: Collection[str]) -> None:
        self._slugs = slugs
        self._loose: dict[tuple[str, str], str | None] = {}
        self._by_name: dict[str, list[str]] = {}
        for slug in slugs:
            self._by_name.setdefault(_fold(slug.rpartition("/")[2]), []).append(slug)

    def resolve(self, ref: str, source: str) -> str | None:
        """Return the slug that `ref` means in `source`: see the function of that name."""
        name = ref.rpartition("/")[2]
        alike = self._slugs if name in _HERE else self._by_name.get(_fold(name), ())
        found = _resolve_spelt(ref, source, alike) if alike else None
        return self._resolve_loosely(ref, source) if found is None and self._slugs else found

    def _resolve_loosely(self, ref: str, source: str) -> str | None:
        asked = (ref, source.rpartition("/")[0])
        if asked not in self._loose:
            self._loose[asked] = _best(ref, source, self._slugs)
        found = self._loose[asked]
        if found != source:
            return found
        other = _best(ref, source, [slug for slug in self._slugs if slug != source])
        return other if other is not None and project_of(other) == project_of(source) else found


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
    project = project_of(source)
    for fold in (compose, _fold):
        slugs = {fold(slug): slug for slug in sorted(candidates, reverse=True)}
        for place in places:
            if (slug := slugs.get(fold(place))) is not None:
                return slug
        if tail:
            ending = "/" + fold(tail)
            found = (slug for folded, slug in slugs.items() if folded.endswith(ending))
            if best := min(found, key=lambda slug: (project_of(slug) != project, len(slug), slug), default=None):
                return best
    return None


def _best(ref: str, source: str, candidates: Collection[str]) -> str | None:
    """Return the best of the slugs that have the words of a reference."""
    places, tail = _places(ref, source)
    if places == [source]:
        return None
    project, folder = project_of(source), source.rpartition("/")[0]
    for of_ref, of_slug in _LOOSE:
        ending = "/" + of_ref(tail or places[0])
        found = (slug for slug in candidates if _ends("/" + of_slug(slug), ending, whole=not tail))
        best = max(
            sorted(found, key=lambda slug: (len(slug), slug)),
            key=lambda slug: (project_of(slug) == project, stamp_of(slug), slug.rpartition("/")[0] == folder),
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
    `learnings/` at the Root. `resolve` answers with this very slug once it is the only candidate.
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
    folded = _fold(part)
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
