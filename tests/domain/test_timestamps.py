"""Timestamps: every shape that seats write, one that Memory writes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.domain.timestamps import from_mtime, from_name, is_ambiguous, print_moment, print_stamp, to_utc

moments = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-11-27T21:29:03.379585Z", "2026-11-27T21:29:03.379585Z"),
        ("2026-11-27T21:29:03Z", "2026-11-27T21:29:03.000000Z"),
        ("2026-11-27t21:29:03z", "2026-11-27T21:29:03.000000Z"),
        ("2026-11-27T21:38:05+00:00", "2026-11-27T21:38:05.000000Z"),
        ("2026-04-01T07:00:00+08:00", "2026-03-31T23:00:00.000000Z"),
        ("2026-04-01 07:00", "2026-04-01T07:00:00.000000Z"),
        ("2026-04-01", "2026-04-01T00:00:00.000000Z"),
        ('"2026-11-27T21:43:12Z"', "2026-11-27T21:43:12.000000Z"),
        (" 2026-04-01 ", "2026-04-01T00:00:00.000000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("0999-01-01", "0999-01-01T00:00:00.000000Z"),
        ("2026/11/28", "2026-11-28T00:00:00.000000Z"),
        ("2026.1.5", "2026-01-05T00:00:00.000000Z"),
        ("2026/11/28 9:05", "2026-11-28T09:05:00.000000Z"),
        ("2026年11月28日", "2026-11-28T00:00:00.000000Z"),
        ("28 Nov 2026", "2026-11-28T00:00:00.000000Z"),
        ("28-Nov-2026", "2026-11-28T00:00:00.000000Z"),
        ("1st november 2026", "2026-11-01T00:00:00.000000Z"),
        ("Nov 28, 2026", "2026-11-28T00:00:00.000000Z"),
        ("Sept. 3 2026", "2026-09-03T00:00:00.000000Z"),
        ("Sat, 28 Nov 2026 18:30:00 +0800", "2026-11-28T10:30:00.000000Z"),
        ("28 Nov 2026 18:30 UTC", "2026-11-28T18:30:00.000000Z"),
        ("[[2026-11-28]]", "2026-11-28T00:00:00.000000Z"),
        ("2026-11-28 Sat", "2026-11-28T00:00:00.000000Z"),
        ("<2026-11-28 Sat 09:05>", "2026-11-28T09:05:00.000000Z"),
        ("2026-11-28 9:05 PM", "2026-11-28T21:05:00.000000Z"),
        ("Nov 28, 2026 12:05 am", "2026-11-28T00:05:00.000000Z"),
        ("28th of November 2026", "2026-11-28T00:00:00.000000Z"),
        ("Sat Nov 28 2026 18:30:00 GMT+0800 (China Standard Time)", "2026-11-28T10:30:00.000000Z"),
        ("Sat Nov 28 18:30:00 UTC 2026", "2026-11-28T18:30:00.000000Z"),
        ("Sun Nov  1 18:30:00 2026", "2026-11-01T18:30:00.000000Z"),
        ("20261128", "2026-11-28T00:00:00.000000Z"),
        ("202611281830", "2026-11-28T18:30:00.000000Z"),
        ("20261128183015", "2026-11-28T18:30:00.000000Z"),
        ("1764354600", "2025-11-28T18:30:00.000000Z"),
        ("1764354600000", "2025-11-28T18:30:00.000000Z"),
        ("2026-11", "2026-11-01T00:00:00.000000Z"),
        ("November 2026", "2026-11-01T00:00:00.000000Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000Z"),
        ("2016-12-31 23:59:60.25", "2017-01-01T00:00:00.250000Z"),
        ("2017-01-01T07:59:60+08:00", "2017-01-01T00:00:00.000000Z"),
        ("2026-12-31T24:00:00Z", "2027-01-01T00:00:00.000000Z"),
        ("2026-12-31T24:00", "2027-01-01T00:00:00.000000Z"),
        ("2026-02-28 24:00:00.000+02:00", "2026-02-28T22:00:00.000000Z"),
        ("2026/11/28 24:00", "2026-11-29T00:00:00.000000Z"),
        ("28 Nov 2026 23:59:60 UTC", "2026-11-29T00:00:00.000000Z"),
    ],
)
def test_shapes(text: str, utc: str) -> None:
    assert to_utc(text) == utc


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026",
        "2026-13-01",
        "2026-02-30",
        "0001-01-01T00:00:00+08:00",
        "9999-12-31T23:59:59-08:00",
        "{{date}}",
        "2026-04-01T25:00:00",
        "2026-04-01T24:00:01",
        "2026-04-01T24:01",
        "2026-04-01T23:59:61",
        "2026-04-01T23:60:00",
        "2026-02-30T24:00",
        "9999-12-31T24:00:00Z",
        "03/04/2026",
        "28.11.2026",
        "2026/13/01",
        "2026/11.28",
        "31 Feb 2026",
        "28 Mayo 2026",
        "28 Nov",
        "before 28 Nov 2026",
        "28 Nov 2026 or so",
        "20261328",
        "99991128",
        "2026112818",
        "13:05 PM 28 Nov 2026",
        "28 Nov 2026 13:05 PM",
        "Maybe 2026",
    ],
)
def test_what_is_none(text: str) -> None:
    assert to_utc(text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [("03/04/2026", True), ("28.11.2026", True), ("3-4-26", True), ("2026/03/04", False), ("28 Nov 2026", False)],
)
def test_dates_that_may_be_two(text: str, expected: bool) -> None:
    assert is_ambiguous(text) == expected


@given(st.from_regex(r"[0-9A-Za-z/.: 年月日,+-]{8,40}", fullmatch=True))
def test_no_spelling_breaks_it(text: str) -> None:
    assert len(to_utc(text)) in (0, 27)


@given(st.text(max_size=40))
def test_no_text_breaks_it(text: str) -> None:
    assert len(to_utc(text)) in (0, 27)
    assert len(from_name(text)) in (0, 27)


@given(moments, moments)
def test_printed_moments_sort_as_they_follow(one: datetime, other: datetime) -> None:
    assert to_utc(print_moment(one)) == print_moment(one)
    assert (print_moment(one) < print_moment(other)) == (one < other)
    assert (print_stamp(one) < print_stamp(other)) == (one < other)
    assert from_name(f"{print_stamp(one)}-slug")[:19] == print_moment(one)[:19]


@pytest.mark.parametrize(
    ("name", "utc"),
    [
        ("2026-04-27T18-30-00Z-slug", "2026-04-27T18:30:00.000000Z"),
        ("2026-04-27-slug", "2026-04-27T00:00:00.000000Z"),
        ("2026-04-27", "2026-04-27T00:00:00.000000Z"),
        ("2026-04-27T99-99-99-slug", "2026-04-27T00:00:00.000000Z"),
        ("2026_04_27-slug", ""),
        ("slug-2026-04-27", ""),
        ("2026-99-99-x", ""),
    ],
)
def test_names(name: str, utc: str) -> None:
    assert from_name(name) == utc


@given(st.integers(-(2**62), 2**63 - 1))
def test_any_mtime_prints(nanoseconds: int) -> None:
    assert from_mtime(nanoseconds) == print_moment(
        datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)
    )
