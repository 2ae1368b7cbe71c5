"""The values that a machine and its hub exchange: rows of files, refusals, homes and machines."""

from __future__ import annotations

from oracle.domain.values import value

MAX_FILE = 16 * 2**20
"""The largest file in bytes that a hub takes."""
MAX_BATCH = 8 * 2**20
"""The most bytes of content in one batch; a larger file travels alone."""
MAX_ROWS = 1000
"""The most rows in one batch."""
INLINE = 2**20
"""Up to how many bytes a pulled row brings its content with it."""


@value
class Row:
    """A file as the hub holds it, or its tombstone.

    `owner` is a machine's id; the hub sets it on a push. `epoch` is that of the home of the path's seat, 0 for a path of no
    seat. `sha256` is in hexadecimal. `content` is None for a tombstone, and for content that must be fetched apart.
    """

    path: str
    owner: str
    epoch: int
    sha256: str
    size: int
    content: bytes | None
    removed: bool = False


@value
class Refused:
    """A row that the hub did not take. `reason` is a key of `REASONS`."""

    path: str
    reason: str


REASONS = ("path", "size", "digest", "owner", "home", "epoch")
"""Why a hub refuses a row. The path is not allowed, the file is too large, or the digest is not that of the content.

Or another machine owns the path, the home of its seat is another machine, or the epoch is not that of this home.
"""


@value
class Cursor:
    """Up to where a machine has pulled: a row of one hub, by its transaction and path. The default is the beginning.

    `hub` changes when a hub was restored or its standby took over; then a pull begins again.
    """

    hub: str = ""
    xid: int = 0
    path: str = ""


@value
class Pulled:
    """One page of changes, in the hub's order, the cursor after it, and whether more is ready.

    `restarted` tells that the hub is not that of the cursor, so that the page is the first of all rows. `waits` tells that
    there are rows that can't come yet, because a transaction before them is still open.
    """

    rows: tuple[Row, ...]
    cursor: Cursor
    more: bool = False
    restarted: bool = False
    waits: bool = False


@value
class Home:
    """The machine on which a seat runs, and how often that was decided. `since` is the hub's own time in ISO 8601."""

    project: str
    seat: str
    machine: str
    epoch: int
    since: str = ""


@value
class TeamMachine:
    """A machine of a team. The times are the hub's own, in ISO 8601, "" for none; `unseen` is in seconds."""

    id: str
    name: str
    joined_at: str = ""
    seen_at: str = ""
    unseen: float = 0.0
    program_version: str = ""


@value
class Membership:
    """What a Root knows of its hub: `_state/hub.json`. `machine` is "" until it joined.

    `dsn` is a libpq connection string without a password. `projects` is empty for all. `is_insecure` allows a connection to
    another host that is not verified.
    """

    team: str = ""
    dsn: str = ""
    machine: str = ""
    name: str = ""
    projects: tuple[str, ...] = ()
    is_insecure: bool = False
