"""An automation as a file: taking it out of a workspace, and into one as a draft."""

import json
import re
from http import HTTPStatus
from typing import Final

from flask import Response, flash, request, url_for
from flask_babel import gettext as _
from werkzeug.exceptions import NotFound

from engine.automations import service
from engine.automations.exporting import write_export
from engine.automations.queries.revisions import get_revision
from engine.core.db import JsonObject
from engine.core.outcome import Refused
from web import auth, errors, htmx
from web.automations import imported, messages, track
from web.automations.blueprint import pages
from web.request import now, session

JSON: Final = "application/json"
CREATE: Final = "create"
_UNSPEAKABLE: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME: Final = 60


@pages.get("/<public_id>/export")
@auth.requires("automations:read")
def export(public_id: str) -> Response:
    """Send the draft, or the revision in `?revision=`, as a file for another workspace."""
    workspace_id = auth.person().workspace_id
    content = _content(workspace_id, public_id, request.args.get("revision", ""))
    written = write_export(session(), workspace_id, content, now())
    if isinstance(written, Refused):
        # Of another version; its page says so.
        return htmx.see_other(url_for("automations.detail", public_id=public_id))
    text = json.dumps(written, ensure_ascii=False, indent=2) + "\n"
    answer = Response(text, mimetype=JSON)
    answer.headers.set(
        "Content-Disposition", "attachment", filename=f"{_file_name(content['name'])}.json"
    )
    return answer


@pages.route("/import", methods=["GET", "POST"])
@auth.requires("automations:manage")
def import_file() -> Response:
    """Take a file or its text; show the draft that it would become; create that."""
    if request.method != "POST":
        return _ask("")
    sent = _sent()
    opened = imported.read(sent)
    if isinstance(opened, Refused):
        return _ask(_text(sent), opened)
    workspace_id = auth.person().workspace_id
    found = imported.preview(session(), workspace_id, opened, request.form)
    if isinstance(found, Refused):
        return _ask(_text(sent), found)
    if request.form.get("act") != CREATE:
        return _show(_text(sent), found)
    done = service.create(
        session(), workspace_id, found.document, auth.actor(), now(), imported=True
    )
    if isinstance(done, Refused):
        return _ask(_text(sent), done)
    flash(_("Draft created from the file. Nobody enters until it is activated."))
    return htmx.see_other(url_for("automations.detail", public_id=done.public_id))


def _content(workspace_id: int, public_id: str, revision: str) -> JsonObject:
    row = service.find(session(), workspace_id, public_id)
    if row is None:
        raise NotFound
    if not revision:
        return service.draft_document(session(), row)
    short = revision.isascii() and revision.isdigit() and len(revision) < 7
    frozen = get_revision(session(), workspace_id, public_id, int(revision)) if short else None
    if frozen is None:
        raise NotFound
    return frozen.document


def _file_name(name: str) -> str:
    """Return a name for the file that every system takes."""
    plain = _UNSPEAKABLE.sub("-", name.casefold()).strip("-")[:_LONGEST_NAME].strip("-")
    return plain or "automation"


def _sent() -> bytes:
    file = request.files.get("file")
    if file is not None and file.filename:
        with file.stream as stream:
            return bytes(stream.read())
    return request.form.get("text", "").encode("utf-8", "replace")


def _text(sent: bytes) -> str:
    """Return what was sent as the form keeps it; nothing of what is too large to be sent again."""
    text = sent.decode("utf-8", "replace").replace("\0", "\ufffd")
    return text if len(sent) <= imported.LARGEST else ""


def _ask(text: str, refused: Refused | None = None) -> Response:
    return htmx.render(
        "automations/import.html",
        status=HTTPStatus.OK if refused is None else errors.FORM_REFUSED,
        text=text,
        faults=imported.faults(refused) if refused else None,
        largest=imported.LARGEST,
    )


def _show(text: str, found: imported.Preview) -> Response:
    document = found.document
    return htmx.render(
        "automations/import_preview.html",
        text=text,
        name=document["name"],
        description=document.get("description") or "",
        reentry=messages.reentry(document["reentry"]),
        on_pause=document["on_pause"],
        rows=track.stations(found.told),
        steps=len(document["steps"]),
        gaps=found.gaps,
        more=found.more,
        problems=found.problems,
        warnings=found.warnings,
        left_out=found.left_out,
    )
