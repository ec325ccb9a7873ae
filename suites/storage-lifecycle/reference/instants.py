"""Instants as integer milliseconds since 0001-01-01, computed without a time zone."""

from __future__ import annotations

from datetime import date

SECOND = 1_000
DAY = 86_400_000


def read(instant: str) -> int:
    """Milliseconds of `YYYY-MM-DDTHH:MM:SS.mmmZ`."""
    day = date(int(instant[0:4]), int(instant[5:7]), int(instant[8:10])).toordinal()
    hours, minutes, seconds = int(instant[11:13]), int(instant[14:16]), int(instant[17:19])
    return day * DAY + ((hours * 60 + minutes) * 60 + seconds) * SECOND + int(instant[20:23])


def write(milliseconds: int) -> str:
    """The instant of a number of milliseconds."""
    day, rest = divmod(milliseconds, DAY)
    seconds, fraction = divmod(rest, SECOND)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{date.fromordinal(day).isoformat()}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"


#: The last instant a deadline may have.
LAST = read("2099-12-31T23:59:59.999Z")
