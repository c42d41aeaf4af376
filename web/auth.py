"""Who may see a page: every route says so itself, and a route that says nothing is closed.

Owns the signed-in person of a request and the permission beside each route; sessions and roles
are those of engine.accounts. API keys are the business of web.api.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar, cast
from urllib.parse import urlsplit

import structlog
from flask import Flask, Response, current_app, make_response, redirect, request, url_for
from flask import session as browser
from flask_login import LoginManager, UserMixin, current_user, login_user, logout_user
from werkzeug.exceptions import Forbidden
from werkzeug.wrappers import Response as BaseResponse

from engine.accounts import permissions, service
from engine.accounts.service import Person
from engine.accounts.service.sessions import SEEN_EVERY
from engine.core.audit import Actor
from web import htmx
from web.request import (
    WRITES,
    begin_writing,
    enter_workspace,
    now,
    refuse_nul,
    runtime,
    session,
)

ViewT = TypeVar("ViewT", bound=Callable[..., object])
_MARK: Final = "stellwerk_permission"
_ANYBODY: Final = ""
_SIGNED_IN: Final = "*"
# Programs show a key, never a cookie; web.api asks for it.
_API: Final = "/api/"
_SIGN_IN: Final = "home.index"
# What a browser keeps when somebody else signs in: the language, nothing of the person before.
_KEPT: Final = ("language",)


def register(app: Flask) -> None:
    """Ask every page who is there. Call it before CSRF protection: an ended session comes first."""
    manager = LoginManager(app)
    manager.session_protection = None
    manager.user_loader(_resume)
    app.before_request(_admit)


def open_to_strangers(view: ViewT) -> ViewT:
    """Mark a page that needs nobody to be signed in."""
    return _mark(view, _ANYBODY)


def open_to_members(view: ViewT) -> ViewT:
    """Mark a page that everybody who is signed in may see, whatever the role."""
    return _mark(view, _SIGNED_IN)


def requires(permission: str) -> Callable[[ViewT], ViewT]:
    """Mark a page that needs `permission` (decision G10); without it the answer is 403."""
    if permission not in permissions.PERMISSIONS:
        raise KeyError(permission)
    return lambda view: _mark(view, permission)


def asked_of(endpoint: str) -> str | None:
    """Return the mark of a route: a permission, `*` for members, '' for anybody, None without."""
    view = current_app.view_functions.get(endpoint)
    return cast("str | None", getattr(view, _MARK, None))


def may(permission: str) -> bool:
    """Whether the signed-in person holds `permission`; templates ask before they show a control."""
    found = signed_in_person()
    return found is not None and permissions.may(found.role, permission)


def may_open(endpoint: str) -> bool:
    """Whether this reader may open the page, so that no link leads to a refusal."""
    wanted = asked_of(endpoint)
    if wanted is None or wanted == _ANYBODY:
        return endpoint in current_app.view_functions
    return signed_in_person() is not None if wanted == _SIGNED_IN else may(wanted)


def signed_in_person() -> Person | None:
    """Return the signed-in person, or None for a stranger."""
    return current_user.person if current_user and current_user.is_authenticated else None


def person() -> Person:
    """Return the signed-in person of a page that is not open to strangers."""
    found = signed_in_person()
    if found is None:
        raise RuntimeError("this page is open to strangers, it has no person")
    return found


def actor() -> Actor:
    """Return the signed-in person as the one who acts, for the audit log."""
    return Actor(f"user:{person().public_id}", request.remote_addr, str(request.user_agent))


def start_session(token: str, who: Person) -> None:
    """Sign the browser in with a fresh cookie: nothing of a session before it survives."""
    kept = {name: browser[name] for name in _KEPT if name in browser}
    browser.clear()
    browser.update(kept)
    browser.permanent = True
    login_user(_SignedIn(who, token))


def session_token() -> str | None:
    """Return the token of this browser's session, whether it is still good or not."""
    return cast("str | None", browser.get("_user_id"))


def end_session() -> None:
    """Forget who is signed in at this browser."""
    logout_user()
    kept = {name: browser[name] for name in _KEPT if name in browser}
    browser.clear()
    browser.update(kept)


def local_path(address: str | None) -> str | None:
    """Return `address` if it is a path of this console, else None: nobody is sent elsewhere."""
    if not address or not address.startswith("/") or address.startswith(("//", "/\\")):
        return None
    if any(ord(char) < 32 or char == "\\" for char in address):
        return None
    parts = urlsplit(address)
    return None if parts.scheme or parts.netloc else address


@dataclass(frozen=True)
class _SignedIn(UserMixin):  # type: ignore[misc]  # the library has no types
    person: Person
    token: str

    def get_id(self) -> str:
        """Return what the cookie bears: the secret of the session, never the user's id."""
        return self.token


def _resume(token: str) -> _SignedIn | None:
    if request.method == "POST" and request.endpoint == _SIGN_IN:
        # Who signs in anew is nobody yet: a session narrowed to the workspace of the person before
        # could not find somebody of another one.
        return None
    found = service.resume_session(session(), token, now())
    if found is None:
        return None
    enter_workspace(found.workspace_id)
    structlog.contextvars.bind_contextvars(user=found.public_id)
    return _SignedIn(found, token)


def _mark(view: ViewT, permission: str) -> ViewT:
    setattr(view, _MARK, permission)
    return view


def _admit() -> BaseResponse | None:
    if request.endpoint is None or request.endpoint == "static" or request.path.startswith(_API):
        return None
    wanted = asked_of(request.endpoint)
    if wanted is None:
        raise Forbidden
    stranger_is_refused = wanted != _ANYBODY
    if stranger_is_refused and session_token() is None:
        return _send_to_sign_in()
    if request.method in WRITES:
        _read_form()
        begin_writing()
    return _admit_member(wanted) if stranger_is_refused else None


def _admit_member(wanted: str) -> BaseResponse | None:
    found = signed_in_person()
    if found is None:
        return _send_to_sign_in()
    if wanted != _SIGNED_IN and not permissions.may(found.role, wanted):
        raise Forbidden
    _note_seen(found)
    return None


def _read_form() -> None:
    """Read the whole form before a transaction begins; see begin_writing."""
    request.get_data(parse_form_data=True)
    refuse_nul(request.form)


def _note_seen(found: Person) -> None:
    if found.seen_at is not None and now() - found.seen_at <= SEEN_EVERY:
        return
    token = cast(str, session_token())
    if request.method in WRITES:
        service.note_seen(session(), token, now())
        return
    # Once a minute a page that only reads leaves this one trace, in a transaction of its own.
    with runtime().uow.begin() as apart:
        service.note_seen(apart, token, now())


def _page_around() -> str | None:
    """Return the address of the page that a part or a form belongs to, as a path of this console.

    htmx names the page; a form that is sent as browsers do comes from the page before.
    """
    by_htmx = request.headers.get("HX-Current-URL")
    try:
        parts = urlsplit(request.referrer or "" if by_htmx is None else by_htmx)
    except ValueError:
        return None
    if by_htmx is None and parts.netloc != request.host:
        return None
    return local_path(f"{parts.path}?{parts.query}" if parts.query else parts.path)


def _send_to_sign_in() -> BaseResponse:
    """Lead to the sign-in page, and back afterwards where that makes sense."""
    here = request.full_path.rstrip("?") if request.method == "GET" else _page_around()
    address = url_for("home.index", next=local_path(here))
    if htmx.wants_fragment():
        # Swapping the sign-in page into a corner of this one would help nobody.
        answer: Response = make_response("", 401)
        answer.headers["HX-Redirect"] = url_for("home.index", next=_page_around())
        return answer
    return redirect(address, 303 if request.method != "GET" else 302)
