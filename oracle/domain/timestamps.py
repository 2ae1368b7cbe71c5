"""Timestamps: read every shape that seats write, print the one that Memory writes. Pure; the clock is handed in."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from oracle.wording import Sentence, say

NS = 1_000_000_000
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHORTEST = len("2026-01-01")
_SHORTEST_SPELLED, _LONGEST_SPELLED = len("2026-01"), 96
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_WEEKDAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}"
_ZONE = r"(?P<zone>Z|(?:UTC|GMT)?[+-][0-9]{2}:?[0-9]{2}|UTC|GMT)"
_CLOCK = r"(?P<time>[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
_TIME = rf"(?:(?:T|,? {{1,2}}){_CLOCK} ?{_ZONE}?(?: \([A-Za-z ]{{1,40}}\))?)?"
_YEAR_FIRST = (
    r"(?P<year>[0-9]{4})(?:(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})"
    rf"| ?年 ?(?P<moon>[0-9]{{1,2}}) ?月 ?(?P<sun>[0-9]{{1,2}}) ?日)(?:,? \(?{_WEEKDAY}\)?)?" + _TIME
)
_MONTH_NAMED = (
    rf"(?:{_WEEKDAY},? )?(?:(?P<before>[0-9]{{1,2}})(?:st|nd|rd|th|\.)?(?: of)?[ -](?P<name>[A-Za-z]{{3,9}})\.?,?"
    r"|(?P<leading>[A-Za-z]{3,9})\.? (?P<after>[0-9]{1,2})(?:st|nd|rd|th)?,?)[ -](?P<year>[0-9]{4})" + _TIME
)
_YEAR_BEHIND_TIME = (
    rf"{_WEEKDAY} (?P<leading>[A-Za-z]{{3}}) {{1,2}}(?P<after>[0-9]{{1,2}}) {_CLOCK}(?: {_ZONE})? (?P<year>[0-9]{{4}})"
)
_MONTH_ALONE = r"(?P<year>[0-9]{4})[-/.](?P<month>[0-9]{2})|(?P<name>[A-Za-z]{3,9})\.?,? (?P<named>[0-9]{4})"
_DIGITS = r"(?P<year>(?:19|20)[0-9]{2})(?P<month>[0-9]{2})(?P<day>[0-9]{2})(?:(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?:[0-9]{2})?)?"
_SECONDS = r"1[0-9]{9}(?:[0-9]{3})?"
_END_OF_DAY = r"(.{10}[T ])24(:00(?::00(?:[.,]0+)?)?(?:Z|[+-].+)?)"
_LEAP_SECOND = r"(.{10}[T ][0-9]{2}:[0-9]{2}:)60((?:[.,][0-9]+)?(?:Z|[+-].+)?)"
_YEAR_LAST = r"[0-9]{1,2}([-/.])[0-9]{1,2}\1(?:[0-9]{4}|[0-9]{2})(?![0-9])"


def to_minute(stamp: str) -> str:
    """Return a sortable timestamp as people read it in a list: `2026-11-29 18:30`."""
    return stamp[:16].replace("T", " ")


def to_utc(text: str) -> str:
    """Return `text` as a sortable UTC timestamp `YYYY-MM-DDTHH:MM:SS.ffffffZ`, or "" for no time.

    These shapes are read: ISO 8601, other dates that begin with the year (`2026/11/28`, `2026年11月28日`, `202611281830`), and
    dates with the English name of their month (`28 Nov 2026`). A weekday, brackets of a link and seconds since 1970 are
    read too; a month alone is its first day. A time without an offset is UTC. 24:00 is the next day, second 60 the next one.

    `03/04/2026` may be two days, so it is not read. Nor are dates before year 1 or after 9999.
    """
    moment = parse(text)
    return "" if moment is None else f"{moment.isoformat(timespec='microseconds')[:26]}Z"


def parse(text: str) -> datetime | None:
    """Return the moment that `text` names, in UTC, or None."""
    stripped = text.strip().strip("\"'<>[]")
    if len(stripped) >= _SHORTEST and stripped[0].isdigit() and not stripped.isdigit():
        try:
            return _in_utc(stripped)
        except OverflowError:
            return None
        except ValueError:
            pass
    iso = _spell(stripped) if _SHORTEST_SPELLED <= len(stripped) <= _LONGEST_SPELLED else ""
    try:
        return _in_utc(iso) if iso else None
    except (ValueError, OverflowError):
        return None


def _in_utc(text: str) -> datetime:
    text = text.replace("z", "Z")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = _read_overflow(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _read_overflow(text: str) -> datetime:
    """Read 24:00 as the next day's beginning and second 60 as the next second. Raises ValueError, OverflowError."""
    from oracle.domain.compiling import compiled

    if found := compiled(_END_OF_DAY).fullmatch(text):
        return datetime.fromisoformat(f"{found[1]}00{found[2]}") + timedelta(days=1)
    if found := compiled(_LEAP_SECOND).fullmatch(text):
        return datetime.fromisoformat(f"{found[1]}59{found[2]}") + timedelta(seconds=1)
    raise ValueError(text)


def _spell(text: str) -> str:
    """Return a date in another spelling as ISO 8601, or "" when it may be two or is not a date."""
    from oracle.domain.compiling import compiled

    if compiled(_SECONDS).fullmatch(text):
        return f"{from_ns(int(text[:10]) * NS):%Y-%m-%dT%H:%M:%SZ}"
    shapes = (_YEAR_FIRST, _MONTH_NAMED, _YEAR_BEHIND_TIME, _DIGITS, _MONTH_ALONE)
    found = next((match for shape in shapes if (match := compiled(shape).fullmatch(text))), None)
    if found is None:
        return ""
    parts = {name: part for name, part in found.groupdict().items() if part}
    named = next((parts[name] for name in ("name", "leading") if name in parts), "")
    month = _month(named) if named else int(parts.get("month") or parts["moon"])
    day = int(next((parts[name] for name in ("day", "sun", "before", "after") if name in parts), 1))
    return f"{parts.get('year') or parts['named']}-{month:02d}-{day:02d}{_clock(parts)}"


def _clock(parts: Mapping[str, str]) -> str:
    """Return the time of a day as ISO 8601, "" for none."""
    clock = parts.get("time", "")
    if "hour" in parts:
        clock = f"{parts['hour']}:{parts['minute']}"
    if not clock:
        return ""
    hour, colon, rest = clock.partition(":")
    number = int(hour)
    if half := parts.get("half", "").lower():
        number = number % 12 + 12 * (half == "p") if 1 <= number <= 12 else 99
    zone = parts.get("zone", "")
    zone = zone[3:] or "Z" if zone[:3] in ("UTC", "GMT") else zone
    return f"T{number:02d}{colon}{rest}{zone}"


def _month(name: str) -> int:
    """Return the number of a month by its English name, whole or cut to at least three letters; 0 for another word."""
    wanted = name.lower()
    return next((number for number, month in enumerate(_MONTHS, 1) if month.startswith(wanted)), 0)


def is_ambiguous(text: str) -> bool:
    """Return whether `text` is a date of numbers alone whose year comes last: day or month may come first."""
    from oracle.domain.compiling import compiled

    return compiled(_YEAR_LAST).match(text.strip().strip("\"'")) is not None


def from_name(name: str) -> str:
    """Return the timestamp at the head of a file name (`2026-04-27T18-30-00Z-slug`, `2026-04-27-slug`), or ""."""
    day, rest = name[:10], name[10:]
    if len(day) != _SHORTEST or day[4] != "-" or day[7] != "-":
        return ""
    clock = rest[1:9].replace("-", ":")
    if rest[:1] in ("T", "_") and clock.replace(":", "").isdigit() and len(clock) == len("00:00:00"):
        return to_utc(f"{day}T{clock}") or to_utc(day)
    return to_utc(day)


def from_ns(nanoseconds: int) -> datetime:
    """Return the moment so many nanoseconds after 1970-01-01, in UTC, cut to the microsecond."""
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def to_ns(moment: datetime) -> int:
    """Return how many nanoseconds after 1970-01-01 a moment is."""
    return (moment - _EPOCH) // timedelta(microseconds=1) * 1000


def from_mtime(nanoseconds: int) -> str:
    """Return a file's modification time as a sortable UTC timestamp with microseconds."""
    return f"{from_ns(nanoseconds).isoformat(timespec='microseconds')[:26]}Z"


def print_moment(moment: datetime) -> str:
    """Print the timestamp of a record: UTC, microseconds, `Z`."""
    return to_utc(moment.isoformat())


def print_stamp(moment: datetime) -> str:
    """Print the timestamp that begins a record's file name: `2026-04-27T18-30-00-123456Z`."""
    return print_moment(moment).replace(":", "-").replace(".", "-")


def parse_stamp(name: str) -> datetime | None:
    """Return the moment that `print_stamp` printed at the head of a file name, None for another name."""
    return parse(f"{name[:10]}T{name[11:19].replace('-', ':')}.{name[20:26]}Z") if name[26:27] == "Z" else None


def say_age(seconds: float) -> Sentence:
    """Return a length of time in its largest whole unit, from days to seconds."""
    if seconds >= _DAY:
        return say("{days} d", days=int(seconds // _DAY))
    if seconds >= _HOUR:
        return say("{hours} h", hours=int(seconds // _HOUR))
    if seconds >= _MINUTE:
        return say("{minutes} min", minutes=int(seconds // _MINUTE))
    return say("{seconds} s", seconds=int(seconds))


@lru_cache(maxsize=4096)
def print_second(second: int) -> str:
    """Print a second since 1970 as projections do: `2026-04-27T18:30:00Z`, within the years 1 to 9999.

    They print the mtime of the source, so that a rebuild gives the same bytes.
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(min(max(second, -62_135_596_800), 253_402_300_799)))
