"""Signing in (the form at `/`) and signing out."""

from flask import Blueprint, Response, request, url_for
from flask_babel import lazy_gettext as _
from wtforms import EmailField, HiddenField, PasswordField
from wtforms.validators import InputRequired

from engine.accounts import service
from engine.accounts.service import Origin
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.accounts.messages import words
from web.forms import Form, trimmed
from web.request import keep, now, session

pages = Blueprint("accounts", __name__)


class SignInForm(Form):
    """Address, password, and where to go afterwards."""

    email = EmailField(_("E-mail address"), [InputRequired()], filters=[trimmed])
    password = PasswordField(_("Password"), [InputRequired()])
    next = HiddenField()


def show(form: SignInForm | None = None, status: int = 200) -> Response:
    """Show the form to a stranger."""
    form = form or SignInForm(next=request.args.get("next", ""))
    return htmx.render(
        "accounts/sign_in.html", status=status, form=form, next=auth.local_path(form.next.data)
    )


def attempt() -> Response:
    """Try to sign in; an unknown address and a wrong password get the same answer (SEC-03)."""
    form = SignInForm()
    if not form.validate():
        return show(form, errors.FORM_REFUSED)
    keep()  # a refused try is counted
    origin = Origin(request.remote_addr, str(request.user_agent))
    answer = service.sign_in(
        session(), form.email.data or "", form.password.data or "", origin, now()
    )
    if isinstance(answer, Refused):
        if "retry_after" in answer.params:
            errors.too_many(int(answer.params["retry_after"]))
        form.show(answer, words)
        return show(form, errors.FORM_REFUSED)
    before = auth.session_token()
    if before is not None:
        service.sign_out(session(), before, now())
    auth.start_session(answer.token, answer.person)
    return htmx.see_other(auth.local_path(form.next.data) or url_for("home.index"))


@pages.post("/sign-out")
@auth.open_to_members
def sign_out() -> Response:
    """End this browser's session, here and in the database."""
    token = auth.session_token()
    if token is not None:
        service.sign_out(session(), token, now())
    auth.end_session()
    return htmx.see_other(url_for("home.index"))
