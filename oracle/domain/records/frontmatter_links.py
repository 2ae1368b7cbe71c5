"""Read the records and the tasks that a text of frontmatter lists. Pure."""

from __future__ import annotations

import unicodedata

from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import one_line, says_nothing
from oracle.domain.names import ENTITY, entity

_ANCHOR = r"(?<=\S)#(?=[^\s#-]).*"  # and not `C# for tools`, a title
_TASK_WORD = r"[A-Z][A-Z0-9]*-[0-9]+|(?:GH)?#[0-9]+"
SEPARATORS = str.maketrans(dict.fromkeys(";，、；", ","))


def _split(text: str) -> list[str]:
    """Return the ids that one text lists: parts between commas or semicolons, when no part has a blank inside."""
    if "," not in text and ";" not in text and text.isascii():
        return [text]
    parts = [part.strip() for part in text.translate(SEPARATORS).split(",")]
    if len(parts) == 1 or any(len(part.split()) > 1 for part in parts):
        return [text]
    return [part for part in parts if part]


def references_in(text: str) -> list[str]:
    """Return the records that one text lists, without what people put around them.

    A comma may belong to an alias, and without a blank to the name of a file.
    """
    parts = _split(text) if "|" not in text and (", " in text or "; " in text) else [text]
    return [found for part in parts if (found := _reference(part))]


def _reference(text: str) -> str:
    """Return a slug without what people put around it: brackets of links, an alias, an anchor, a suffix, a Root's path.

    What names no record, a URL or the number of a task, is an entity.
    """
    ref = one_line(text).strip("`")
    if ref.startswith(ENTITY):
        return ref
    if ref.endswith(")") and ref.startswith("[") and "](" in ref:
        ref = ref[ref.rindex("](") + 2 : -1]
    if ref.startswith(("https://", "http://", "#", "GH#")):
        return entity("url" if "://" in ref else "taskid", ref)
    ref = ref.removeprefix("[[").removesuffix("]]").split("|")[0].strip(" <>").replace("\\", "/")
    if "#" in ref:
        ref = compiled(_ANCHOR).sub("", ref)
    ref = ref.removeprefix("oracle://record/").rpartition("/.agents/memory/")[2]
    if ref.startswith("/"):
        ref = _below_root(ref)
    for suffix in (".md", ".json"):
        ref = ref.removesuffix(suffix)
    return "" if says_nothing(ref) else ref


def _below_root(path: str) -> str:
    """Return what an absolute path names in any Root, which begins with the last folder that every Root has; "" for none."""
    for folder in ("projects/", "shared/", "learnings/"):
        _, found, rest = path.rpartition(f"/{folder}")
        if found:
            return folder + rest
    return ""


def tasks_in(text: str) -> list[str]:
    """Return the tasks that one text lists as entities, also with mere blanks between ids."""
    parts, words = _split(text), text.split()
    listed = words if len(parts) == 1 < len(words) and all(map(compiled(_TASK_WORD).fullmatch, words)) else parts
    return [found for part in listed if (found := _task(part))]


def _task(text: str) -> str:
    """Return a task as an entity, or "" for none."""
    value = one_line(text).removeprefix("[[").removesuffix("]]")
    if says_nothing(value):
        return ""
    return value if value.startswith(ENTITY) else entity("taskid", unicodedata.normalize("NFC", value))
