"""The editor's forms: every edit of a draft is a POST that saves at once, and can be undone."""

from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

from flask import Response, request
from flask_babel import gettext as _
from pydantic import ValidationError
from werkzeug.exceptions import BadRequest, NotFound

from engine.automations import editing, service
from engine.automations.editing import Edit
from engine.automations.kinds.steps import STEPS as STEP_KINDS
from engine.automations.kinds.triggers import TRIGGERS as TRIGGER_KINDS
from engine.automations.service import Act, Saved
from engine.core.db import JsonObject
from engine.core.outcome import Refused
from web import auth, errors
from web.automations import conflicts, drafts, offering, panels, workplace
from web.automations.blueprint import pages
from web.automations.drafts import Draft
from web.automations.kinds.base import tidy
from web.automations.kinds.step_forms import STEP_FORMS
from web.automations.kinds.trigger_forms import TRIGGER_FORMS
from web.automations.panels import Panel
from web.automations.settings import SettingsForm
from web.automations.track import SETTINGS, START
from web.request import now, session

Op = Callable[[JsonObject], Edit]
Asked = Callable[[Refused], Panel | None]


@pages.post("/<public_id>/steps")
@auth.requires("automations:manage")
def insert(public_id: str) -> Response:
    """Put a new step where the form says, and open its form."""
    draft = _draft(public_id)
    kind = request.form.get("kind", "")
    if kind not in STEP_FORMS:
        raise BadRequest
    place = drafts.read_place(request.form.get("place", ""))
    key = editing.new_key(draft.document, kind)
    config = _config(kind, {}) if "typed" in request.form else {}
    if config is None:
        raise BadRequest
    op = partial(editing.insert, place=place, kind=kind, key=key, config=config)
    act = Act("insert", {"step": key, "kind": kind})
    said = _("Step inserted. It is part of the draft.")
    return _save(draft, op, act, key, said, lambda _refused: panels.add(draft, place))


@pages.post("/<public_id>/steps/<key>")
@auth.requires("automations:manage")
def configure(public_id: str, key: str) -> Response:
    """Save the form of a step; or only count whom its rule fits, with what was typed."""
    draft = _draft(public_id)
    found = draft.step(key)
    if found is None:
        return conflicts.gone(draft, key)
    config = _config(found["type"], found["config"])
    names = drafts.exits(found["type"], config or {}, found["config"])
    ways = panels.read_ways(request.form, names)
    next_ = request.form.get(panels.NEXT) or None
    if panels.NEXT not in request.form:
        next_ = found["next"]
    workspace_id = auth.person().workspace_id

    def asked(refused: Refused | None) -> Panel | None:
        return panels.step(session(), workspace_id, draft, key, request.form, refused)

    if panels.COUNT in request.form:
        return workplace.refuse(draft, asked(None), HTTPStatus.OK)
    if config is None:
        return workplace.refuse(draft, asked(None), errors.FORM_REFUSED)
    model = STEP_KINDS.get(found["type"]).Config
    wanted = drafts.settled(model, {**config, **ways}, found["config"])
    op = partial(editing.configure, key=key, config=wanted, next_=next_)
    act = Act("configure", {"step": key, "kind": found["type"]})
    return _save(draft, op, act, key, _("Saved in the draft."), asked)


@pages.get("/<public_id>/steps/<key>/delete")
@auth.requires("automations:manage")
def ask_delete(public_id: str, key: str) -> Response:
    """Ask where everybody goes on who is led to the step."""
    draft = _draft(public_id)
    panel = panels.delete(draft, key)
    return conflicts.gone(draft, key) if panel is None else workplace.show(draft, panel)


@pages.post("/<public_id>/steps/<key>/delete")
@auth.requires("automations:manage")
def delete(public_id: str, key: str) -> Response:
    """Delete a step; whoever fell through to it goes on where it led."""
    draft = _draft(public_id)
    found = draft.step(key)
    if found is None:
        return conflicts.gone(draft, key)
    relink = panels.relinked(draft, key, request.form)
    op = partial(editing.delete, key=key, relink=relink, onward=request.form.get("onward") or None)
    act = Act("delete", {"step": key, "kind": found["type"]})
    said = _("Step deleted from the draft. Undo brings it back.")
    return _save(draft, op, act, "", said, lambda refused: panels.delete(draft, key, refused))


@pages.post("/<public_id>/steps/<key>/duplicate")
@auth.requires("automations:manage")
def duplicate(public_id: str, key: str) -> Response:
    """Put a copy right behind a step."""
    draft = _draft(public_id)
    found = draft.step(key)
    if found is None:
        return conflicts.gone(draft, key)
    twin = editing.new_key(draft.document, found["type"])
    act = Act("duplicate", {"step": key, "kind": found["type"]})
    said = _("Step duplicated. This is the copy.")
    return _save(draft, partial(editing.duplicate, key=key), act, twin, said, _same(draft, key))


@pages.post("/<public_id>/steps/<key>/move")
@auth.requires("automations:manage")
def move(public_id: str, key: str) -> Response:
    """Move a step one place up or down in the order."""
    draft = _draft(public_id)
    by = {"up": -1, "down": 1}.get(request.form.get("to", ""))
    if by is None:
        raise BadRequest
    said = _("Step moved up.") if by < 0 else _("Step moved down.")
    return _save(
        draft, partial(editing.move, key=key, by=by), _moved(draft, key), key, said,
        _same(draft, key),
    )  # fmt: skip


@pages.post("/<public_id>/steps/<key>/move-to")
@auth.requires("automations:manage")
def move_to(public_id: str, key: str) -> Response:
    """Move a step to another place, into a branch for example."""
    draft = _draft(public_id)
    place = drafts.read_place(request.form.get("place", ""))
    onward = request.form.get("onward") or None
    op = partial(editing.move_to, key=key, place=place, onward=onward)
    return _save(draft, op, _moved(draft, key), key, _("Step moved."), _same(draft, key))


@pages.post("/<public_id>/trigger")
@auth.requires("automations:manage")
def save_trigger(public_id: str) -> Response:
    """Save what starts the automation."""
    draft = _draft(public_id)
    workspace_id = auth.person().workspace_id

    def asked(refused: Refused | None) -> Panel:
        return panels.trigger(session(), workspace_id, draft, request.form, refused)

    shown = asked(None)
    name = shown["form"].type.data
    if shown["mistakes"] or name not in TRIGGER_FORMS:
        return workplace.refuse(draft, shown, errors.FORM_REFUSED)
    config = TRIGGER_FORMS.get(name).read(shown["form"].parts[name])
    stored = draft.document["trigger"]
    if stored["type"] == name:
        config = drafts.settled(TRIGGER_KINDS.get(name).Config, config, stored["config"])
    op = partial(editing.set_trigger, kind=name, config=config)
    act = Act("trigger", {"kind": name})
    return _save(draft, op, act, START, _("Saved in the draft."), asked)


@pages.post("/<public_id>/settings")
@auth.requires("automations:manage")
def save_settings(public_id: str) -> Response:
    """Save name, description, re-entry and what a pause does."""
    draft = _draft(public_id)
    form = SettingsForm.of(draft.document, request.form)
    if not form.validate():
        panel = panels.settings(draft, request.form)
        return workplace.refuse(draft, panel, errors.FORM_REFUSED)
    op = partial(editing.set_settings, **form.wanted())
    return _save(
        draft, op, Act("settings"), SETTINGS, _("Saved in the draft."),
        lambda refused: panels.settings(draft, request.form, refused),
    )  # fmt: skip


@pages.post("/<public_id>/undo")
@auth.requires("automations:manage")
def undo(public_id: str) -> Response:
    """Undo the newest change of the draft, whoever made it."""
    draft = _draft(public_id)
    done = service.undo(*_who(draft), auth.actor(), now())
    return _walked(draft, done, _("Undone."))


@pages.post("/<public_id>/redo")
@auth.requires("automations:manage")
def redo(public_id: str) -> Response:
    """Do again what was undone last."""
    draft = _draft(public_id)
    done = service.redo(*_who(draft), auth.actor(), now())
    return _walked(draft, done, _("Done again."))


def _draft(public_id: str) -> Draft:
    """Return the draft as it stands, or the page of an unknown automation."""
    draft = drafts.load(session(), auth.person().workspace_id, public_id)
    if draft is None:
        raise NotFound
    return draft


def _who(draft: Draft) -> tuple[Any, int, str, int]:
    return session(), auth.person().workspace_id, draft.public_id, workplace.seen_version()


def _config(kind: str, stored: JsonObject) -> JsonObject | None:
    """Return the configuration that was posted; None where a field is not filled in properly."""
    shape = STEP_FORMS.get(kind)
    choices = offering.read(session(), auth.person().workspace_id, shape.wants)
    form = shape.fill(stored, choices, request.form)
    if not form.validate():
        return None
    model = STEP_KINDS.get(kind).Config
    try:
        defaults = model().model_dump()
    except ValidationError:
        defaults = {}
    return tidy(shape.read(form), stored, defaults)


def _same(draft: Draft, key: str) -> Asked:
    """Return what shows the form of a step again, with the refusal."""
    workspace_id = auth.person().workspace_id
    return lambda refused: panels.step(session(), workspace_id, draft, key, None, refused)


def _moved(draft: Draft, key: str) -> Act:
    found = draft.step(key)
    return Act("move", {"step": key, "kind": found["type"] if found else ""})


def _save(draft: Draft, op: Op, act: Act, selected: str, said: str, asked: Asked) -> Response:
    """Store an edit and show the work again, or what refused it where that belongs."""
    seen = workplace.seen_version()
    workspace_id = auth.person().workspace_id
    done = service.edit(
        session(), workspace_id, draft.public_id, seen, op, act, auth.actor(), now()
    )
    if isinstance(done, Saved):
        changed = done.version != draft.version
        return workplace.saved(draft, selected, said if changed else _("Nothing was changed."))
    if done.reason == "stale":
        return conflicts.stale(draft, op, selected)
    if done.reason in ("step_not_found", "place_not_found"):
        return conflicts.gone(draft, selected)
    return workplace.refuse(draft, asked(done), errors.status_of(done))


def _walked(draft: Draft, done: Saved | Refused, said: str) -> Response:
    selected = request.form.get("step", "")
    if isinstance(done, Saved):
        return workplace.saved(draft, selected, said)
    if done.reason == "stale":
        return conflicts.stale(draft, None, selected)
    return workplace.refused_walk(draft, done, selected)
