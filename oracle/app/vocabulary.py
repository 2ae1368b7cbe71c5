"""The words that records bear: for people who complete a name, and for the hint to one who asked for another."""

from __future__ import annotations

import os

from oracle.app.oracle import Oracle
from oracle.domain.slugs import ENTITY
from oracle.index import words
from oracle.store import facts

MAX_OFFERED = 200
COLUMNS = ("project", "seat", "kind", "status", "author")
"""What `names` can be asked for."""


def names(oracle: Oracle, what: str) -> list[str]:
    """Return the different values of one of COLUMNS that records bear, by the alphabet; a status is the effective one."""
    return oracle.index.read(lambda connection: words.distinct(connection, what))


def offer(oracle: Oracle, what: str, beginning: str) -> list[str]:
    """Return up to MAX_OFFERED names that begin so, from the index as it stands; none where there is no index (yet).

    `what` is one of COLUMNS, slug, target (a slug or an entity), task or fact. Nothing is written or brought up to date.
    """
    if what == "fact":
        labels = (label.removeprefix("machine/") for label, _ in facts.fact_files(oracle.root))
        return sorted({label for label in labels if label.startswith(beginning)})[:MAX_OFFERED]
    database = oracle.index.database
    if not os.path.isfile(oracle.root.database) or not database.is_ready():
        return []
    connection = database.connect()
    if what in COLUMNS:
        return [name for name in words.distinct(connection, what) if name.startswith(beginning)][:MAX_OFFERED]
    if what == "task":
        prefix = "entity:taskid:"
        found = words.entities_beginning(connection, prefix + beginning, MAX_OFFERED)
        return [name.removeprefix(prefix) for name in found]
    entities = words.entities_beginning(connection, beginning, MAX_OFFERED) if what == "target" else []
    if beginning.startswith(ENTITY):
        return entities
    return [*entities, *words.slugs_beginning(connection, beginning, MAX_OFFERED)][:MAX_OFFERED]
