"""The pages of mail templates: the list, the editor, its preview, two versions side by side."""

from typing import Any

from flask import Blueprint, Response, flash, make_response, request, url_for
from flask_babel import gettext, ngettext
from markupsafe import Markup
from werkzeug.exceptions import NotFound

from engine.audience import queries as audience
from engine.automations.queries.using import using
from engine.automations.service.discarding import discard_template
from engine.core.outcome import Refused, missing
from engine.delivery import queries, service
from engine.delivery.queries import TemplateRow
from engine.delivery.queries.template_lines import page_lines
from engine.delivery.service import Queued, TemplateInput, Withheld
from engine.delivery.service.trying import send_test
from web import auth, errors, htmx
from web.request import now, session
from web.sends.views import MAIL_POLICY
from web.tables import Page
from web.templates import gallery, showing
from web.templates.editing import TemplateForm, begun, changes, filled, same
from web.templates.messages import words
from web.templates.showing import Shown

pages = Blueprint("templates", __name__, url_prefix="/templates")


@pages.get("")
@auth.requires("templates:read")
def index() -> Response:
    """Show the templates, the newest first."""
    after = request.args.get("cursor")
    lines, following = page_lines(session(), auth.person().workspace_id, after)
    return htmx.render(
        "templates/list.html", templates=lines, page=Page(following, first=after is None)
    )


@pages.get("/new")
@auth.requires("templates:manage")
def new() -> Response:
    """Show the form of a new template; with `language` and `text` it begins as in the gallery."""
    if "text" not in request.args:
        return _show(None, TemplateForm(formdata=None), None)
    starter = gallery.find(request.args.get("language", ""), request.args["text"])
    if starter is None:
        raise NotFound
    return _show(None, begun(starter.given), _look(starter.given), starter=starter)


@pages.post("/new")
@auth.requires("templates:manage")
def create() -> Response:
    """Create a template."""
    form = TemplateForm()
    if not form.validate():
        return _show(None, form, None, errors.FORM_REFUSED)
    made = service.create_template(
        session(), auth.person().workspace_id, form.given(), auth.actor(), now()
    )
    if isinstance(made, Refused):
        form.refuse(made)
        return _show(None, form, None, errors.FORM_REFUSED)
    flash(gettext("The template is saved."))
    return htmx.see_other(url_for("templates.detail", public_id=made.public_id))


@pages.get("/<public_id>")
@auth.requires("templates:read")
def detail(public_id: str) -> Response:
    """Show a template with its preview; in a form where the role may change it."""
    row = _found(public_id)
    return _show(row, filled(row), _look(_written(row)))


@pages.post("/<public_id>")
@auth.requires("templates:manage")
def save(public_id: str) -> Response:
    """Save a template, unless somebody else has changed it since the form was opened."""
    row, form = _found(public_id), TemplateForm()
    if not form.validate():
        return _show(row, form, None, errors.FORM_REFUSED)
    given, seen = form.given(), form.version.data or ""
    if same(row, given):
        flash(gettext("Nothing was changed, so nothing was saved."))
        return htmx.see_other(url_for("templates.detail", public_id=public_id))
    expected = int(seen) if seen.isascii() and seen.isdigit() and len(seen) < 10 else 0
    kept = service.update_template(
        session(),
        auth.person().workspace_id,
        public_id,
        given,
        auth.actor(),
        now(),
        expected_version=expected,
    )
    if isinstance(kept, Refused):
        errors.abort_if_missing(kept)
        return _conflict(public_id, form) if kept.kind == "conflict" else _refused(row, form, kept)
    flash(gettext("The template is saved."))
    return htmx.see_other(url_for("templates.detail", public_id=public_id))


@pages.post("/new/preview")
@auth.requires("templates:manage")
def preview_new() -> Response:
    """Show the text of a template that is not there yet as somebody would get it."""
    return _preview(None)


@pages.post("/<public_id>/preview")
@auth.requires("templates:manage")
def preview(public_id: str) -> Response:
    """Show what stands in the form as somebody would get it; nothing is saved."""
    return _preview(_found(public_id))


@pages.post("/new/frame")
@auth.requires("templates:manage")
def frame_of_input() -> Response:
    """Show nothing but the HTML of what stands in the form, shut in by a policy of its own."""
    return framed(TemplateForm().given())


@pages.get("/<public_id>/body")
@auth.requires("templates:read")
def body(public_id: str) -> Response:
    """Show nothing but the HTML of a template as it is saved; `contact` says for whom."""
    return framed(_written(_found(public_id)))


@pages.post("/<public_id>/delete")
@auth.requires("templates:manage")
def delete(public_id: str) -> Response:
    """Delete a template that no automation uses."""
    _found(public_id)
    kept = discard_template(session(), auth.person().workspace_id, public_id, auth.actor(), now())
    if kept is None:
        flash(gettext("The template is deleted."))
        return htmx.see_other(url_for("templates.index"))
    errors.abort_if_missing(kept)
    refusal = ngettext(
        "%(num)s automation uses this template, so it stays.",
        "%(num)s automations use this template, so it stays.",
        int(kept.params["count"]),
    )
    flash(refusal, "stop")
    return htmx.see_other(url_for("templates.detail", public_id=public_id))


@pages.post("/<public_id>/test")
@auth.requires("templates:manage")
def test(public_id: str) -> Response:
    """Send what is saved to the signed-in person, and to nobody else."""
    row, form = _found(public_id), TemplateForm()
    if not same(row, form.given()):
        form.form_errors.append(gettext("Save it first: a test mail is made of what is saved."))
        return _show(row, form, None, errors.FORM_REFUSED)
    me, contact = auth.person(), request.form.get("contact", "").strip()
    found = audience.find_person(session(), me.workspace_id, contact) if contact else None
    sent: Queued | Withheld | Refused = missing("contact_not_found")
    if found is not None or not contact:
        reader = found.public_id if found else None
        sent = send_test(
            session(), me.workspace_id, public_id, me.email, reader, auth.actor(), now()
        )
    if isinstance(sent, Queued):
        flash(gettext("A test mail to %(address)s is on its way.", address=me.email))
        return htmx.see_other(
            url_for("templates.detail", public_id=public_id, contact=contact or None)
        )
    reason = sent if isinstance(sent, Refused) else Refused(sent.reason)
    form.form_errors.append(words(reason))
    return _show(row, form, None, errors.FORM_REFUSED)


def _found(public_id: str) -> TemplateRow:
    row = queries.get_template(session(), auth.person().workspace_id, public_id)
    if row is None:
        raise NotFound
    return row


def _written(row: TemplateRow) -> TemplateInput:
    return filled(row).given()


def _look(given: TemplateInput, *, brief: bool = False) -> Shown:
    """Return the preview for whom the request names; brief: the mail alone, without counts."""
    contact = request.values.get("contact", "").strip()[:320]
    workspace_id = auth.person().workspace_id
    if not brief:
        return showing.look(session(), workspace_id, given, contact, now())
    found = showing.look_at_mail(session(), workspace_id, given, contact, now())
    return found if isinstance(found, Shown) else Shown(html=found[1].html)


def _preview(row: TemplateRow | None) -> Response:
    form = TemplateForm()
    shown = _look(form.given())
    if htmx.wants_fragment():
        # Half a text is no fault while somebody types it.
        return htmx.render("templates/_preview.html", shown=shown)
    return _show(row, form, shown, errors.FORM_REFUSED if shown.flaw else 200)


def framed(given: TemplateInput) -> Response:
    """Return the HTML of a template alone, shut in by a policy of its own."""
    shown = _look(given, brief=True)
    plain = Markup("<!doctype html><p>{}</p>").format(shown.flaw)
    answer = make_response(plain if shown.flaw else shown.html)
    answer.headers["Content-Security-Policy"] = MAIL_POLICY
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


def _refused(row: TemplateRow, form: TemplateForm, refused: Refused) -> Response:
    form.refuse(refused)
    return _show(row, form, None, errors.FORM_REFUSED)


def _conflict(public_id: str, form: TemplateForm) -> Response:
    """Show what somebody else saved meanwhile beside what was about to be saved."""
    session().expire_all()
    row = _found(public_id)
    form.version.data = str(row.version)
    return htmx.render(
        "templates/conflict.html",
        status=errors.STATUS["conflict"],
        template=row,
        form=form,
        changes=changes(row, form),
    )


def _show(
    row: TemplateRow | None,
    form: TemplateForm,
    shown: Shown | None,
    status: int = 200,
    starter: gallery.Starter | None = None,
) -> Response:
    context: dict[str, Any] = {"template": row, "form": form, "shown": shown, "starter": starter}
    context["contact"] = request.values.get("contact", "").strip()[:320]
    if row is not None:
        context["uses"] = using(session(), auth.person().workspace_id, row.public_id)
    return htmx.render("templates/edit.html", status=status, **context)
