"""Replace relative dates in a text by absolute ones, in English and Chinese: `Thursday`, `next week`, `下周四`, `明天`. Pure.

What comes again (`every Monday`, `每周四`), what has a date beside it, code and links stay as they are. Libraries that look for
dates in a text find too many: dateparser reads `We` as Wednesday and `may` as May.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from oracle.domain.compiling import compiled
from oracle.domain.markdown.masks import blank, mask_code

Resolve = Callable[[re.Match[str], date], str]

_LINK = r"\[\[[^\]\n]*\]\]|https?://\S+|\]\([^)\n]*\)"
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = r"Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DAY = rf"(?P<day>{'|'.join(_DAYS)})"
_SHORT_DAY = r"(?P<day>Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)"
_AGAIN = r"(?<!\bevery )(?<!\beach )(?<!\bweekly )(?<!\bour )(?<!\bBlack )(?<!\bCyber )(?<!\bGood )"
_DATED = rf"(?!,?\s*\(?\s*(?:the\s+)?(?:\d|{_MONTH}))"
_MEETING = r"(?!\s+(?:stand-?up|sync|retro|meeting|review|call|demo)s?\b)"
_RANGE = rf"(?!\s*(?:to|through|-|–|—)\s*(?:{'|'.join(day[:3] for day in _DAYS)}))"
_NOT_A_RANGE_END = r"(?<!day to )(?<!day through )(?<!day-)(?<!day–)"
_NUMBER = r"(?P<number>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_NUMBERS = dict(zip("one two three four five six seven eight nine ten".split(), range(1, 11), strict=True))
_UNIT = r"(?P<unit>day|week|month|year)s?"
_HAN_NUMBER = r"(?P<number>\d{1,3}|[一二两三四五六七八九十])"
_HAN_NUMBERS = {**dict(zip("一二三四五六七八九十", range(1, 11), strict=True)), "两": 2}
_HAN_DAYS = {**dict(zip("一二三四五六日", range(7), strict=True)), "天": 6, "末": 5}
_HAN_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_HAN_WEEK = r"(?:周|星期|礼拜)"
_COUNTED = r"(?<![每各一二两三四五六七八九十几半\d])(?<!每个)"
_OFFSETS = {
    **{"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1, "day after tomorrow": 2, "day before yesterday": -2},
    **{"今": 0, "明": 1, "后": 2, "大后": 3, "昨": -1, "前": -2, "大前": -3},
}
_STEPS = {
    "next": 1,
    "last": -1,
    "past": -1,
    "下下": 2,
    "下": 1,
    "上": -1,
    "上上": -2,
    "明": 1,
    "去": -1,
    "后": 2,
    "前": -2,
}


def make_absolute(text: str, today: date) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the text with absolute dates, and what was replaced as (before, after). `today` is the day it was said."""
    changes: list[tuple[str, str]] = []
    for pattern, resolve in _RULES:
        links = [match.span() for match in compiled(_LINK).finditer(text)]
        masked = blank(mask_code(text), links)
        for match in reversed([*compiled(pattern).finditer(masked)]):
            found = resolve(match, today)
            changes.append((match[0], found))
            text = text[: match.start()] + found + text[match.end() :]
    return text, tuple(dict.fromkeys(changes))


def _relative_day(match: re.Match[str], today: date) -> str:
    name = " ".join(match["name"].lower().split())
    return f"{today + timedelta(_OFFSETS[name])}"


def _part_of_day(match: re.Match[str], today: date) -> str:
    return f"the {match['part'].lower()} of {today}"


def _han_day(match: re.Match[str], today: date) -> str:
    part = match["part"]
    return f"{today + timedelta(_OFFSETS[match['name']])}{'' if part in '天日' else f' {part}'}"


def _weekday(match: re.Match[str], today: date) -> str:
    day = next(number for number, name in enumerate(_DAYS) if name.startswith(match["day"].lower()[:3]))
    step = (match["step"] or "").strip().lower()
    if step in ("last", "past"):
        return f"{today - timedelta((today.weekday() - day) % 7 or 7)}"
    if step in ("next", "this"):
        return f"{_monday(today, step) + timedelta(day)}"
    return f"{today + timedelta((day - today.weekday()) % 7 or 7)}"


def _han_weekday(match: re.Match[str], today: date) -> str:
    day, step = _HAN_DAYS[match["day"]], match["step"]
    if step:
        return f"{_monday(today, step) + timedelta(day)}"
    return f"{today + timedelta((day - today.weekday()) % 7 or 7)}"


def _monday(today: date, step: str) -> date:
    """Return the Monday of the week that is so many weeks away."""
    return today + timedelta(7 * _STEPS.get(step, 0) - today.weekday())


def _period(match: re.Match[str], today: date) -> str:
    unit, step = match["unit"].lower(), match["step"].lower()
    if unit == "week":
        return f"the week of {_monday(today, step)}"
    if unit == "weekend":
        return f"the weekend of {_monday(today, step) + timedelta(5)}"
    return _name_of(_first_of(unit, today, _STEPS.get(step, 0)), unit)


def _han_period(match: re.Match[str], today: date) -> str:
    unit, step = match["unit"], match["step"]
    if _HAN_UNITS.get(unit) == "week":
        return f"{_monday(today, step)} 那一周"
    name = "quarter" if unit.startswith("季") else _HAN_UNITS[unit]
    found = _name_of(_first_of(name, today, _STEPS.get(step, 0)), name)
    return f"{found} 年" if name == "year" else found


def _end_of_period(match: re.Match[str], today: date) -> str:
    return _end_of(match["unit"].lower(), (match["step"] or "").strip().lower(), today)


def _end_of(unit: str, step: str, today: date) -> str:
    """Return the last day of a period; of a week its Friday, or the next one."""
    if unit == "day":
        return f"{today}"
    if unit == "week":
        friday = _monday(today, step) + timedelta(4)
        return f"{friday if friday >= today else friday + timedelta(7)}"
    return f"{_first_of(unit, today, _STEPS.get(step, 0) + 1) - timedelta(1)}"


def _end_in_letters(match: re.Match[str], today: date) -> str:
    units = {"D": "day", "W": "week", "M": "month", "Q": "quarter", "Y": "year"}
    return _end_of(units[match["letter"]], "", today)


def _han_end(match: re.Match[str], today: date) -> str:
    return _end_of(_HAN_UNITS[match["unit"]], match["step"] or "", today)


def _distance(match: re.Match[str], today: date) -> str:
    said, unit = match["number"].lower(), match["unit"].lower()
    number = int(said) if said.isdigit() else _NUMBERS.get(said, 1)
    found, is_day = _away(today, unit, -number if match["ago"] else number)
    return f"{'on' if is_day else 'in'} {found}"


def _han_distance(match: re.Match[str], today: date) -> str:
    said, unit = match["number"], _HAN_UNITS[match["unit"]]
    number = int(said) if said.isdigit() else _HAN_NUMBERS[said]
    return _away(today, unit, -number if "前" in match["side"] else number)[0]


def _away(today: date, unit: str, number: int) -> tuple[str, bool]:
    """Return the day, month or year that is so far away, and whether it is a day."""
    if unit in ("day", "week"):
        return f"{today + timedelta(number * (7 if unit == 'week' else 1))}", True
    return _name_of(_first_of(unit, today, number), unit), False


def _first_of(unit: str, today: date, step: int) -> date:
    """Return the first day of the month, quarter or year that is `step` of them away."""
    length = {"month": 1, "quarter": 3, "year": 12}[unit]
    months = (today.year * 12 + today.month - 1) // length * length + step * length
    return date(months // 12, months % 12 + 1, 1)


def _name_of(first: date, unit: str) -> str:
    """Return a month as 2026-03, a quarter as 2026-Q1, a year as 2026."""
    names = {"month": f"{first:%Y-%m}", "quarter": f"{first.year}-Q{(first.month + 2) // 3}", "year": f"{first.year}"}
    return names[unit]


_RULES: tuple[tuple[str, Resolve], ...] = (
    (
        rf"(?i){_AGAIN}(?<!at the )\b(?:the )?end of (?:the )?(?P<step>this |next )?(?P<unit>week|month|quarter|year)\b",
        _end_of_period,
    ),
    (r"\bEO(?P<letter>[DWMQY])\b", _end_in_letters),
    (
        r"(?i)\b(?:the )?(?P<name>day\s+after\s+tomorrow|day\s+before\s+yesterday|today|tonight|tomorrow|yesterday)\b",
        _relative_day,
    ),
    (r"(?i)\bthis (?P<part>morning|afternoon|evening)\b", _part_of_day),
    (
        rf"(?i){_AGAIN}{_NOT_A_RANGE_END}\b(?P<step>next |last |past |this |coming |upcoming )?{_DAY}\b{_DATED}{_MEETING}{_RANGE}",
        _weekday,
    ),
    (
        rf"\b(?:(?<=on )|(?<=by )|(?<=until )|(?<=before )|(?<=after )|(?<=since )|(?=next |last |this ))"
        rf"(?P<step>next |last |this )?{_SHORT_DAY}\b{_DATED}{_RANGE}",
        _weekday,
    ),
    (r"(?i)\b(?:the )?(?P<step>next|last|this|past) (?P<unit>week|weekend|month|quarter|year)\b", _period),
    (rf"(?i)(?<!expire )(?<!expires )(?<!every )\bin {_NUMBER} {_UNIT}\b(?:' time)?(?P<ago>(?!))?", _distance),
    (rf"(?i)\b{_NUMBER} {_UNIT} (?:(?P<ago>ago)|from (?:now|today))\b", _distance),
    (
        r"(?P<name>大后|大前|今|明|昨|后(?=天)|前(?=天))(?<![先\d一二两三四五六七八九十]后)"
        r"(?P<part>[天日晚早](?![生气性文色空]))",
        _han_day,
    ),
    (
        rf"{_COUNTED}(?P<step>下下|下|上上|上|本|这)?个?{_HAN_WEEK}(?P<day>[一二三四五六日天末])(?!次|回|版|遍|\s*[到至~-])"
        "(?<![到至]周[一二三四五六日])",
        _han_weekday,
    ),
    (rf"{_COUNTED}(?P<step>下下|下|上上|上|本|这)个?(?P<unit>周|星期|礼拜)(?![期边围年转报会])", _han_period),
    (r"(?<!每)(?P<step>下|本|这)?个?(?P<unit>[月年])底", _han_end),
    (r"(?P<step>下|上|本|这)个?(?P<unit>月|季度)(?![球底光份])", _han_period),
    (r"(?<![以之提])(?P<step>明|今|去|前|后)(?P<unit>年)(?!度)", _han_period),
    (
        rf"{_HAN_NUMBER}\s?个?(?P<unit>天|周|星期|礼拜|月|年)(?P<side>之后|以后|后|之前|以前|前)"
        "(?!过期|失效|到期|自动)",
        _han_distance,
    ),
)
