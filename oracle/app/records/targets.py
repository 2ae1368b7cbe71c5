"""The target that a person typed: a slug, a path or an entity. Cheap to import: every query passes here."""

from __future__ import annotations

import os

from oracle.app.context import Context
from oracle.domain.names import RECORD_SUFFIXES, is_entity, parse_target


def resolve(context: Context, text: str) -> str:
    """Return the target that a person named: a slug, a path under the Root or an entity. Raises UsageError."""
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
