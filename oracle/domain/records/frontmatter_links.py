"""Read the relations to other records and the tasks that the frontmatter of a record names. Pure."""

from __future__ import annotations

import unicodedata

from oracle.domain.compiling import compiled
from oracle.domain.markdown.documents import Document, as_list
from oracle.domain.names import ENTITY, entity
from oracle.domain.values import value

RELATIONS = ("supersedes", "retires", "contradicts", "supports", "extends", "derived-from")
TASK_KEYS = ("task_id", "related_task_ids", "related_task", "related-task")
RELATION_KEYS = {"derived_from": "derived-from", **{name: name for name in RELATIONS}}
_NOTHINGS = frozenset(("", "null", "~", "none", "nil", "n/a", "false", "无", "無", "なし", "없음"))
_ANCHOR = r"(?<=\S)#(?=[^\s#-]).*"  # and not `C# for tools`, a title
_TASK_WORD = r"[A-Z][A-Z0-9]*-[0-9]+|(?:GH)?#[0-9]+"
SEPARATORS = str.maketrans(dict.fromkeys(";，、；", ","))


@value
class Relation:
    """A typed relation that frontmatter states: `target` is an entity, or a reference to a record as it was written."""

    type: str
    target: str
    line: int


def relations(document: Document) -> list[Relation]:
    """Return the relations that frontmatter states, in its order."""
    found = []
    for key, stated in document.fields.items():
        if key in RELATION_KEYS:
            line = document.key_lines.get(key, 1)
            texts = [_reference(part) for item in as_list(stated) for part in _references_in(item)]
            found += [Relation(RELATION_KEYS[key], text, line) for text in texts if text]
        elif key in TASK_KEYS:
            line = document.key_lines.get(key, 1)
            tasks = [_task(part) for item in as_list(stated) for part in _tasks_in(item)]
            found += [Relation("related-task", task, line) for task in tasks if task]
    return found


def _split(text: str) -> list[str]:
    """Return the ids that one text lists: parts between commas or semicolons, when no part has a blank inside."""
    if "," not in text and ";" not in text and text.isascii():
        return [text]
    parts = [part.strip() for part in text.translate(SEPARATORS).split(",")]
    if len(parts) == 1 or any(len(part.split()) > 1 for part in parts):
        return [text]
    return [part for part in parts if part]


def _references_in(text: str) -> list[str]:
    """Return the records that one text lists; a comma may belong to an alias, and without a blank to a file's name."""
    return _split(text) if "|" not in text and (", " in text or "; " in text) else [text]


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
    ref = ref.rpartition("/.agents/memory/")[2]
    if ref.startswith("/"):
        ref = ref[1:] if ref.startswith(("/projects/", "/shared/", "/learnings/")) else ""
    for suffix in (".md", ".json"):
        ref = ref.removesuffix(suffix)
    return "" if says_nothing(ref) else ref


def says_nothing(text: str) -> bool:
    """Return whether a text is what people write where there is nothing to name."""
    return text.strip("-–—").casefold() in _NOTHINGS


def _tasks_in(text: str) -> list[str]:
    """Return the tasks that one text lists, also with mere blanks between ids."""
    parts, words = _split(text), text.split()
    return words if len(parts) == 1 < len(words) and all(map(compiled(_TASK_WORD).fullmatch, words)) else parts


def _task(text: str) -> str:
    """Return a task as an entity, or "" for none."""
    value = one_line(text).removeprefix("[[").removesuffix("]]")
    if says_nothing(value):
        return ""
    return value if value.startswith(ENTITY) else entity("taskid", unicodedata.normalize("NFC", value))


def one_line(text: str) -> str:
    """Return a text with blanks in the place of control characters."""
    if text.isprintable():  # most are, and asking is cheap
        return text.strip()
    return "".join(" " if ord(char) < 32 else char for char in text).strip()
