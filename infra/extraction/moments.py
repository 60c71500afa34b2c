"""Dates and times of day in a clause, with their spans, resolved against the event's own day.

Only what has one meaning is read: "7:30" without a part of day may be morning or evening, and
"3/4" may be March or April. dateparser resolves days and months; this module finds the spans.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final

from dateparser.date import DateDataParser

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAYS: Final = (
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"
)  # fmt: skip
_WEEKDAY: Final = f"(?:{'|'.join(_WEEKDAYS)})"
_ORDINAL: Final = r"\d{1,2}(?:st|nd|rd|th)"
_NO_DATE: Final = r"(?!\s+(?:floor|street|st\b|avenue|ave|time|one|place|grade|row))"
_HOURS: Final = {
    word: number
    for number, word in enumerate(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
         "twelve"), 1
    )
}  # fmt: skip
_HOUR: Final = rf"(?:\d{{1,2}}|{'|'.join(_HOURS)})"
_PART: Final = r"(?:morning|afternoon|evening|night)"

_DATE: Final = re.compile(
    rf"\b(?:(?P<iso>\d{{4}}-\d{{2}}-\d{{2}})"
    rf"|(?P<of>(?:{_ORDINAL}|\d{{1,2}})\s+(?:of\s+)?(?:{_MONTH}|this month|next month)\b"
    rf"(?:,?\s+\d{{4}}\b)?)"
    rf"|(?P<month>(?<!\bi )(?<!you )(?<!we )(?<!they ){_MONTH}\s+(?:the\s+)?\d{{1,2}}"
    rf"(?:st|nd|rd|th)?\b(?!:)(?:,?\s+\d{{4}}\b)?)"
    rf"|(?P<week>{_WEEKDAY}\s+(?:of\s+)?(?:next|this)\s+week)"
    rf"|(?P<weekday>(?:(?:next|this|last|coming|this coming)\s+)?{_WEEKDAY})"
    rf"|(?P<relative>day after tomorrow|day before yesterday|tomorrow|today|tonight|yesterday"
    rf"|in (?:\d{{1,2}}|two|three|four|five|six) (?:days|weeks)"
    rf"|(?:\d{{1,2}}|two|three|four|five|six) (?:days|weeks) ago)"
    rf"|(?P<day>(?<=the\s){_ORDINAL}{_NO_DATE}|(?<=on\s){_ORDINAL}{_NO_DATE}))(?!\w|/)"
)
_TIME: Final = re.compile(
    rf"\b(?:(?P<before>{_PART})\s+(?:at\s+)?)?"
    rf"(?:(?P<shift>half past|quarter past|quarter to)\s+(?P<hour>{_HOUR})"
    rf"|(?P<clock>\d{{1,2}}:\d{{2}})|(?P<plain>{_HOUR})|(?P<name>noon|midday|midnight))"
    rf"(?!(?!(?:am|pm)\b)[\w:/]|\.\d)(?:\s*o'clock)?"
    rf"(?:\s*(?P<half>a\.?m\b\.?|p\.?m\b\.?)|\s+(?P<after>(?:in the|at|this|tomorrow)\s+{_PART}))?"
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a time of day at [start, end) of a clause."""

    start: int
    end: int
    value: date | time


def find_dates(text: str, today: datetime, *, past: bool = False) -> tuple[Moment, ...]:
    """Return the dates of a lower-case clause; ``today`` is the event's local time, no zone.

    A day without month or year is the next one, or with ``past`` the last one.
    """
    found = []
    for match in _DATE.finditer(text):
        day = _resolve(match[0], str(match.lastgroup), today, "past" if past else "future")
        if day is not None:
            found.append(Moment(match.start(), match.end(), day))
    return tuple(found)


def find_times(text: str) -> tuple[Moment, ...]:
    """Return the times of day of a lower-case clause that have one meaning."""
    found = []
    for match in _TIME.finditer(text):
        at = _read_time(match)
        if at is not None:
            found.append(Moment(match.start(), match.end(), at))
    return tuple(found)


def _resolve(text: str, form: str, today: datetime, prefer: str) -> date | None:
    if form == "iso":
        try:
            return date.fromisoformat(text)
        except ValueError:
            return None
    if form == "week":
        monday = today.date() - timedelta(days=today.weekday())
        weeks = 1 if "next" in text else 0
        return monday + timedelta(days=_WEEKDAYS.index(text.split(maxsplit=1)[0]), weeks=weeks)
    if form == "relative" and text in {"today", "tonight"}:
        return today.date()
    if form == "day":
        return _find_day(int(re.sub(r"\D", "", text)), today.date(), prefer)
    if form == "weekday":
        text = text.replace("this coming ", "").replace("coming ", "")
    data = _parser(today.replace(hour=0, minute=0), prefer).get_date_data(text)
    if data.date_obj is None or (form != "relative" and data.period != "day"):
        return None
    day: date = data.date_obj.date()
    if not _has_day(text, form, day):
        return None
    is_today = (day.month, day.day) == (today.month, today.day)
    return today.date() if is_today and not re.search(r"\d{4}", text) else day


def _find_day(number: int, today: date, prefer: str) -> date | None:
    """Return the next, or for the past the last, day of a month that has this number."""
    step = timedelta(days=-1 if prefer == "past" else 1)
    day = today
    for _ in range(62):
        if day.day == number:
            return day
        day += step
    return None


def _has_day(text: str, form: str, day: date) -> bool:
    """Return whether a resolved date keeps the number that was said: the 31st of June is none."""
    if form not in {"of", "month"}:
        return True
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    return day.day in numbers


@lru_cache(maxsize=64)
def _parser(today: datetime, prefer: str) -> Any:
    settings = {
        "RELATIVE_BASE": today,
        "PREFER_DATES_FROM": prefer,
        "TIMEZONE": "UTC",
        "RETURN_AS_TIMEZONE_AWARE": False,
        "PREFER_DAY_OF_MONTH": "first",
    }
    return DateDataParser(languages=["en"], settings=settings)


def _read_time(match: re.Match[str]) -> time | None:
    if match["name"]:
        return time(0) if match["name"] == "midnight" else time(12)
    part = (match["before"] or (match["after"] or "").rpartition(" ")[2]) or None
    half = match["half"]
    if match["clock"]:
        hour, minute = (int(item) for item in match["clock"].split(":"))
        certain = hour >= 10 or match["clock"].startswith("0")
        if not (half or part or certain):
            return None
    else:
        word = match["hour"] or match["plain"]
        hour, minute = _HOURS.get(word) or int(word), 0
        if not (half or part) or hour > 24:
            return None
    hour = _turn(hour, part, half[0] if half else None)
    shifted = {None: 0, "half past": 30, "quarter past": 15, "quarter to": -15}[match["shift"]]
    total = hour * 60 + minute + shifted
    if hour > 23 or minute > 59 or not 0 <= total < 24 * 60:
        return None
    return time(total // 60, total % 60)


def _turn(hour: int, part: str | None, half: str | None) -> int:
    """Return the hour of the day: 12 pm is noon, 12 at night and 12 am are midnight."""
    late = half == "p" or (half is None and part in {"afternoon", "evening", "night"})
    early = half == "a" or (half is None and part == "morning")
    if hour == 12 and (early or (half is None and part == "night")):
        return 0
    return hour + 12 if late and hour < 12 else hour
