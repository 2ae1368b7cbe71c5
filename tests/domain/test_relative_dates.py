"""Relative dates become absolute, in both languages; what comes again stays."""

from __future__ import annotations

from datetime import date

import pytest

from oracle.domain.relative_dates import make_absolute

TODAY = date(2026, 3, 3)  # a Tuesday


@pytest.mark.parametrize(
    ("text", "absolute"),
    [
        ("No merges after Thursday.", "No merges after 2026-03-05."),
        ("no merges after thursday", "no merges after 2026-03-05"),
        ("The freeze begins tomorrow, ends the day after tomorrow.", "The freeze begins 2026-03-04, ends 2026-03-05."),
        ("Broken since yesterday; fixed today.", "Broken since 2026-03-02; fixed 2026-03-03."),
        ("The demo is next week.", "The demo is the week of 2026-03-09."),
        ("Due next Monday, not this Friday or last Friday.", "Due 2026-03-09, not 2026-03-06 or 2026-02-27."),
        ("On Tuesday we cut the branch.", "On 2026-03-10 we cut the branch."),
        ("Done by Fri.", "Done by 2026-03-06."),
        ("Ready by EOD, at the latest EOW.", "Ready by 2026-03-03, at the latest 2026-03-06."),
        ("by the end of the month", "by 2026-03-31"),
        ("by the end of next quarter", "by 2026-06-30"),
        ("The audit is in two weeks.", "The audit is on 2026-03-17."),
        ("We moved 3 days ago, they a month ago.", "We moved on 2026-02-28, they in 2026-02."),
        ("Next month we leave, last year we came.", "2026-04 we leave, 2025 we came."),
        ("Frozen this weekend, and this morning.", "Frozen the weekend of 2026-03-07, and the morning of 2026-03-03."),
        ("下周四之后冻结合并", "2026-03-12之后冻结合并"),
        ("周四之后冻结合并", "2026-03-05之后冻结合并"),
        ("明天发布，后天复盘，大后天放假", "2026-03-04发布，2026-03-05复盘，2026-03-06放假"),
        ("昨天坏了，今天修好，今晚上线", "2026-03-02坏了，2026-03-03修好，2026-03-03 晚上线"),
        ("上星期五开会，本周日交付", "2026-02-27开会，2026-03-08交付"),
        ("下周评审，下个月上线", "2026-03-09 那一周评审，2026-04上线"),
        ("月底之前完成，年底复查", "2026-03-31之前完成，2026-12-31复查"),
        ("三天后演示，两周前开始，2个月后结束", "2026-03-06演示，2026-02-17开始，2026-05结束"),
        ("去年立项，明年结束", "2025 年立项，2027 年结束"),
    ],
)
def test_a_relative_date_becomes_absolute(text, absolute):
    found, changes = make_absolute(text, TODAY)
    assert found == absolute
    assert changes


@pytest.mark.parametrize(
    "text",
    [
        "Every Monday we release; each Friday we look back.",
        "Fridays are quiet.",
        "Monday to Friday the office is open, Monday-Friday on call.",
        "Our Thursday slot and the Thursday stand-up stay.",
        "The freeze begins on Thursday, 5 March, and ends on Monday (2026-03-09).",
        "On Thursday 2026-03-05 we cut the branch.",
        "Tokens expire in 90 days.",
        "Run `date --date tomorrow`, see https://example.com/today and [[next week]].",
        "At the end of the day, tests matter.",
        "Black Friday is busy.",
        "一周一次，每周四开会，每周一次复盘",
        "周一到周五上班",
        "密码 90 天后过期",
        "下周期的计划看先天条件",
        "The Sun and Monterey are not days.",
    ],
)
def test_what_comes_again_or_has_a_date_stays(text):
    assert make_absolute(text, TODAY) == (text, ())


def test_each_replacement_is_told():
    assert make_absolute("From tomorrow until Friday.", TODAY)[1] == (
        ("tomorrow", "2026-03-04"),
        ("Friday", "2026-03-06"),
    )


@pytest.mark.parametrize("today", [date(2026, 1, 1), date(2026, 12, 31), date(2024, 2, 29), date(2026, 11, 29)])
def test_ends_and_neighbours_of_periods_are_right_at_the_turn_of_the_year(today):
    found, _ = make_absolute("last month, next month, next quarter, end of the year", today)
    last, following, _, end = found.split(", ")
    assert last < f"{today:%Y-%m}" < following
    assert end == f"{today.year}-12-31"
