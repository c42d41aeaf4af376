"""What templates may call: dates, durations, numbers, signals, links to the page one is on.

Owns how values look in words; leaves which values a page shows to its view, and the drawing of
the track plan to web.plan. Everything here is pure reading of its arguments and of the request.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

from babel.dates import format_datetime, format_timedelta
from babel.numbers import format_decimal
from flask import Flask, request, url_for
from flask_babel import get_locale, get_timezone, gettext, lazy_gettext
from markupsafe import Markup

from engine.core import clock
from web.auth import may_open
from web.plan import lay

NOTHING = "–"
"""What stands where there is no value."""

_MOMENT = timedelta(seconds=1)
_ONE = frozenset({timedelta(hours=1), timedelta(days=1)})
_DAY = {"de": "EEE d. MMM", "en": "EEE d MMM"}


@dataclass(frozen=True)
class Signal:
    """A state as it is shown everywhere: tone (go, hold, stop, off) gives shape and colour."""

    tone: str
    word: object


# One table for the whole console, so that a colour never means two things (machine, value).
SIGNALS: Mapping[tuple[str, str], Signal] = {
    ("automation", "draft"): Signal("off", lazy_gettext("Draft")),
    ("automation", "active"): Signal("go", lazy_gettext("Active")),
    ("automation", "paused"): Signal("hold", lazy_gettext("Paused")),
    ("run", "running"): Signal("go", lazy_gettext("On the way")),
    ("run", "waiting"): Signal("hold", lazy_gettext("Waiting")),
    ("run", "held"): Signal("hold", lazy_gettext("Held")),
    ("run", "completed"): Signal("off", lazy_gettext("Finished")),
    ("run", "cancelled"): Signal("stop", lazy_gettext("Ended early")),
    # Nothing went wrong: somebody paused, stopped or deleted.
    ("run", "left"): Signal("off", lazy_gettext("Ended early")),
    ("step_run", "pending"): Signal("hold", lazy_gettext("Waiting")),
    ("step_run", "executing"): Signal("go", lazy_gettext("Under way")),
    ("step_run", "completed"): Signal("go", lazy_gettext("Done")),
    ("step_run", "failed"): Signal("stop", lazy_gettext("Failed")),
    ("step_run", "skipped"): Signal("off", lazy_gettext("Skipped")),
    # How pages tell two states that are stored as others.
    ("step_run", "held"): Signal("hold", lazy_gettext("Held")),
    ("step_run", "left"): Signal("off", lazy_gettext("Left")),
    ("approval", "pending"): Signal("hold", lazy_gettext("Waiting")),
    ("approval", "granted"): Signal("go", lazy_gettext("Granted")),
    ("approval", "denied"): Signal("stop", lazy_gettext("Denied")),
    ("approval", "withdrawn"): Signal("off", lazy_gettext("Over")),
    ("run_job", "running"): Signal("go", lazy_gettext("Under way")),
    ("run_job", "done"): Signal("off", lazy_gettext("Done")),
    ("run_job", "stopped"): Signal("hold", lazy_gettext("Stopped")),
    ("send", "queued"): Signal("hold", lazy_gettext("Queued")),
    ("send", "sent"): Signal("go", lazy_gettext("Accepted")),
    ("send", "kept"): Signal("off", lazy_gettext("Kept here")),
    ("send", "delivered"): Signal("go", lazy_gettext("Delivered")),
    ("send", "opened"): Signal("go", lazy_gettext("Opened")),
    ("send", "clicked"): Signal("go", lazy_gettext("Clicked")),
    ("send", "bounced"): Signal("stop", lazy_gettext("Bounced")),
    ("send", "complained"): Signal("stop", lazy_gettext("Complained")),
    ("send", "failed"): Signal("stop", lazy_gettext("Failed")),
    ("send", "unknown"): Signal("stop", lazy_gettext("Outcome unknown")),
    ("api_key", "live"): Signal("go", lazy_gettext("In use")),
    ("api_key", "unused"): Signal("off", lazy_gettext("Never used")),
    ("api_key", "revoked"): Signal("stop", lazy_gettext("Revoked")),
}

# (heading, ((label, endpoint), …)): areas whose endpoint is not registered are left out.
_NAVIGATION: tuple[tuple[object, tuple[tuple[object, str], ...]], ...] = (
    (
        lazy_gettext("Work"),
        (
            (lazy_gettext("Needs attention"), "attention.index"),
            (lazy_gettext("Automations"), "automations.index"),
            (lazy_gettext("Requests"), "approvals.index"),
        ),
    ),
    (
        lazy_gettext("Look up"),
        (
            (lazy_gettext("Runs"), "runs.index"),
            (lazy_gettext("People"), "people.index"),
            (lazy_gettext("Suppression list"), "suppressions.index"),
            (lazy_gettext("Outbox"), "sends.index"),
        ),
    ),
    (lazy_gettext("Prepare"), ((lazy_gettext("Templates"), "templates.index"),)),
    (
        lazy_gettext("Workspace"),
        (
            (lazy_gettext("Audit log"), "audit.index"),
            (lazy_gettext("Secrets"), "secrets.index"),
            (lazy_gettext("API keys"), "api_keys.index"),
            (lazy_gettext("Settings"), "workspace.index"),
        ),
    ),
)


@dataclass(frozen=True)
class NavItem:
    """One link of the navigation; `current` when the page belongs to this area."""

    label: object
    url: str
    current: bool
    endpoint: str = ""


@dataclass(frozen=True)
class NavGroup:
    """A named group of areas, never empty."""

    label: object
    items: tuple[NavItem, ...]


def signal(value: str | None, machine: str) -> Signal:
    """The signal of a stored status; an unknown one is shown as it is stored, hollow."""
    return SIGNALS.get((machine, str(value)), Signal("off", value or NOTHING))


def number(value: float | None) -> str:
    """A count in the reader's language ("1,412", "1.412"); a dash where there is none."""
    return NOTHING if value is None else str(format_decimal(value, locale=_language()))


def when(value: datetime | None, exact: bool = False) -> str | Markup:
    """An instant with weekday and zone as a <time>; `exact` adds the seconds.

    The year stands only where it is not this one. Shown in the workspace's zone (decision G6:
    never the server's); the UTC instant is in `datetime` and in the title.
    """
    if value is None:
        return NOTHING
    local = value.astimezone(get_timezone())
    year = "" if local.year == clock.now().year else " y"
    day = _DAY.get(_language(), _DAY["en"])
    pattern = f"{day}{year}, HH:mm{':ss' if exact else ''}"
    words = f"{format_datetime(local, pattern, locale=_language())} {local.tzname()}"
    utc = value.astimezone(UTC)
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        utc.isoformat(timespec="seconds"), utc.strftime("%Y-%m-%d %H:%M:%S"), words
    )


def time_of_day(value: datetime | None) -> str | Markup:
    """Only the time with seconds, for a line of a log whose day is written above it."""
    if value is None:
        return NOTHING
    local = value.astimezone(get_timezone())
    utc = value.astimezone(UTC)
    return Markup('<time datetime="{}" title="{} UTC">{}</time>').format(
        utc.isoformat(timespec="seconds"),
        utc.strftime("%Y-%m-%d %H:%M:%S"),
        local.strftime("%H:%M:%S"),
    )


def log_time(value: datetime | None, before: datetime | None = None) -> str | Markup:
    """An instant in a log: with its day where that differs from the one told before."""
    if value is None:
        return ""
    zone = get_timezone()
    if before is not None and before.astimezone(zone).date() == value.astimezone(zone).date():
        return time_of_day(value)
    return when(value, exact=True)


def ago(value: datetime | None) -> str:
    """How long ago or ahead an instant is, in words ("4 seconds ago", "in 20 hours")."""
    if value is None:
        return str(gettext("never"))
    span = value - clock.now()
    if abs(span) < _MOMENT:
        return str(gettext("just now"))
    return _delta(span, direction=True)


def duration(value: float | timedelta | None) -> str:
    """A span in words; a number is seconds. Short ones keep a decimal ("0.8 s")."""
    if value is None:
        return NOTHING
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 60:
        shown = format_decimal(round(seconds, 1), locale=_language())
        return f"{shown} s"
    return _delta(timedelta(seconds=seconds), direction=False)


def here(**changes: str | None) -> str:
    """The address of this very page with some query values changed (None removes one).

    The answer to a form has no address one could open again; from there it leads home.
    """
    if request.method not in {"GET", "HEAD"}:
        return url_for("home.index")
    kept = [(name, value) for name, value in request.args.items(True) if name not in changes]
    kept += [(name, value) for name, value in changes.items() if value is not None]
    query = f"?{urlencode(kept)}" if kept else ""
    return f"{request.script_root}{quote(request.path)}{query}"


def exists(endpoint: str) -> bool:
    """Whether the reader may open this page: no link leads into the void or to a refusal."""
    return may_open(endpoint)


def navigation() -> tuple[NavGroup, ...]:
    """The side navigation: only areas that exist, the current one marked."""
    groups = []
    for heading, links in _NAVIGATION:
        items = tuple(
            NavItem(label, url_for(endpoint), endpoint.split(".")[0] == request.blueprint, endpoint)
            for label, endpoint in links
            if exists(endpoint)
        )
        if items:
            groups.append(NavGroup(heading, items))
    return tuple(groups)


def register(app: Flask) -> None:
    """Make the filters and globals known to the templates of this app."""
    app.jinja_env.filters.update(
        when=when,
        time_of_day=time_of_day,
        ago=ago,
        duration=duration,
        number=number,
        signal=signal,
    )
    app.jinja_env.globals.update(
        here=here,
        log_time=log_time,
        exists=exists,
        navigation=navigation,
        lay_track=lay,
        language=_language,
    )


def _language() -> str:
    locale = get_locale()
    return locale.language if locale is not None else "en"


def _delta(span: timedelta, direction: bool) -> str:
    # One hour is an hour, as the step says; 61 minutes stay minutes, for an hour would be wrong.
    threshold = 1.0 if abs(span) in _ONE else 1.2
    return str(
        format_timedelta(span, add_direction=direction, threshold=threshold, locale=_language())
    )
