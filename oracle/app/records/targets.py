"""The target that a person typed: a slug, a path or an entity. Cheap to import: every query passes here."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.domain.names import RECORD_SUFFIXES, is_entity, parse_target


def resolve(context: Context, text: str) -> str:
    """Return the target that a person named: a slug, a path or an entity. Raises UsageError.

    A path is taken from the working directory if it leads to a file of the Root, else from the Root.
    """
    text = _from_here(context, text.strip()) or text
    if text.startswith("/"):
        base = os.path.realpath(context.root.path)
        name = parse_target(text, base if text.startswith(base + "/") else context.root.path)
    else:
        name = parse_target(text)
    stated = text.strip().rstrip("/")
    if name.startswith("entity:file:") and ("./" in name or "//" in name):
        from oracle.domain.links.links import settle_target

        return settle_target(name)
    if is_entity(name) or (name.isascii() and not stated.endswith(RECORD_SUFFIXES)):
        return name
    from oracle.index.read import names

    suffix = stated[stated.rfind(".") :] if stated.endswith(RECORD_SUFFIXES) else ""
    return context.index.read(lambda connection: names.slug_meant(connection, name, suffix))


def _from_here(context: Context, text: str) -> str:
    """Return the path of a file of the Root that a text leads to from the working directory, "" for any other text."""
    if text.startswith("/") or not (text.startswith(("./", "../")) or text.endswith(RECORD_SUFFIXES)):
        return ""
    try:
        found = next((path for path in map(os.path.abspath, (text, f"{text}.md")) if os.path.isfile(path)), "")
    except (OSError, ValueError):  # the working directory is gone; a NUL
        return ""
    folder, name = os.path.split(found)
    for place in (found, f"{os.path.realpath(folder)}/{name}"):
        for base in (context.root.path, os.path.realpath(context.root.path)):
            if found and place.startswith(f"{base}/"):
                return place[len(base) + 1 :]
    return ""
