"""Timestamps: read every shape that seats write, print the one that Memory writes. Pure; the clock is handed in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_SHORTEST = len("2026-01-01")


def to_utc(text: str) -> str:
    """Return `text` as a sortable UTC timestamp `YYYY-MM-DDTHH:MM:SS.ffffffZ`, or "" when it is none.

    Read are ISO 8601 dates and date-times with `T` or a blank, with or without fraction and offset; a time without offset
    is taken as UTC. Dates before year 1 or after 9999 (also after shifting to UTC) are none.
    """
    moment = parse(text)
    return "" if moment is None else f"{moment.isoformat(timespec='microseconds')[:26]}Z"


def parse(text: str) -> datetime | None:
    """Return the moment that `text` names, in UTC, or None."""
    stripped = text.strip().strip("\"'")
    if len(stripped) < _SHORTEST or not stripped[0].isdigit():
        return None
    try:
        moment = datetime.fromisoformat(stripped)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def from_name(name: str) -> str:
    """Return the timestamp at the head of a file name (`2026-04-27T18-30-00Z-slug`, `2026-04-27-slug`), or ""."""
    day, rest = name[:10], name[10:]
    if len(day) != _SHORTEST or day[4] != "-" or day[7] != "-":
        return ""
    clock = rest[1:9].replace("-", ":")
    if rest[:1] in ("T", "_") and clock.replace(":", "").isdigit() and len(clock) == len("00:00:00"):
        return to_utc(f"{day}T{clock}") or to_utc(day)
    return to_utc(day)


def from_mtime(nanoseconds: int) -> str:
    """Return a file's modification time as a sortable UTC timestamp with microseconds."""
    return to_utc((_EPOCH + timedelta(microseconds=nanoseconds // 1000)).isoformat())


def print_moment(moment: datetime) -> str:
    """Print the timestamp of a record: UTC, microseconds, `Z`."""
    return to_utc(moment.isoformat())


def print_stamp(moment: datetime) -> str:
    """Print the timestamp that begins a record's file name: `2026-04-27T18-30-00-123456Z`."""
    return print_moment(moment).replace(":", "-").replace(".", "-")


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
