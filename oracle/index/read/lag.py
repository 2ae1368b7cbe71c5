"""How long ago the files of records changed that the index has learned of since a moment."""

from __future__ import annotations

import sqlite3


def changed_since(connection: sqlite3.Connection, since_ns: int) -> list[int]:
    """Return when each record's file last changed (its ctime, ns since 1970), of those that did after `since_ns`."""
    return [changed for (changed,) in connection.execute("SELECT ctime_ns FROM record WHERE ctime_ns > ?", (since_ns,))]
