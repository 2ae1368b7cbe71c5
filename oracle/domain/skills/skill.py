"""A skill: a SKILL.md with its frontmatter, which is optional, and what it requires. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from oracle.domain.markdown.documents import Value, as_list, as_map, as_text
from oracle.domain.values import value

SOURCES = ("extra", "bundled", "managed", "personal", "project", "workspace")
"""Where skills come from. Of two with one name that of the later source counts."""

FILE = "SKILL.md"
LARGEST = 256 * 1024
"""Bytes of a SKILL.md; a larger one is left out."""

_HOSTS = ("openclaw", "clawdbot", "clawdis")
"""Below which key of `metadata` a host keeps what a skill requires; it may be in `metadata` itself."""
_SYSTEMS = {"macos": "darwin", "osx": "darwin", "mac": "darwin", "windows": "win32", "win": "win32"}
_LONGEST_NAME, _LONGEST_DESCRIPTION = 64, 1024


@value
class Requirements:
    """What a skill needs: all of `bins` and one of `any_bins`, variables, keys of a configuration, one of some systems."""

    bins: tuple[str, ...] = ()
    any_bins: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()


@value
class Skill:
    """A skill on disk. `key` names it in settings; `is_hidden` keeps it from models; `is_always` waives what it requires."""

    name: str
    description: str
    path: str
    root: str
    source: str
    key: str = ""
    is_hidden: bool = False
    is_always: bool = False
    requires: Requirements = Requirements()

    def as_json(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"name": self.name, "description": self.description, "path": self.path, "source": self.source}


def interpret(fields: Mapping[str, Value], body: str, *, path: str, root: str, source: str) -> Skill:
    """Read a skill from its frontmatter and text; what is missing comes from the folder's name and the first paragraph."""
    metadata = as_map(fields.get("metadata", ""))
    host = next((found for name in _HOSTS if (found := as_map(metadata.get(name, "")))), metadata)
    needed = as_map(host.get("requires", ""))
    folder = path.rsplit("/", 2)[-2]
    name = _one_line(as_text(fields.get("name", "")))[:_LONGEST_NAME] or folder
    return Skill(
        name=name,
        description=(_one_line(as_text(fields.get("description", ""))) or _first_paragraph(body))[
            :_LONGEST_DESCRIPTION
        ],
        path=path,
        root=root,
        source=source,
        key=_one_line(as_text(host.get("skillKey", ""))) or name,
        is_hidden=_is_true(fields.get("disable-model-invocation", "")),
        is_always=_is_true(host.get("always", "")),
        requires=Requirements(
            bins=_words(needed.get("bins", "")),
            any_bins=_words(needed.get("anyBins", "")),
            env=_words(needed.get("env", "")),
            config=_words(needed.get("config", "")),
            systems=tuple(_SYSTEMS.get(word.lower(), word.lower()) for word in _words(host.get("os", ""))),
        ),
    )


def _words(stated: Value) -> tuple[str, ...]:
    return tuple(word.strip() for word in as_list(stated) if word.strip())


def _is_true(stated: Value) -> bool:
    return as_text(stated).strip().lower() in ("true", "yes", "1", "on")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _first_paragraph(body: str) -> str:
    paragraphs = (part.strip() for part in body.split("\n\n"))
    return _one_line(next((part for part in paragraphs if part and not part.startswith(("#", "---", "```"))), ""))
