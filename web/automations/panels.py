"""What stands in the right rail: the form of a step, of the trigger, of the settings, and so on.

A panel is the context of one fragment; `template` names it, `selected` the station it is about.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask_babel import gettext as _
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from engine.automations import editing
from engine.automations.editing import Place, Pointer
from engine.core.db import JsonObject
from engine.core.outcome import Refused
from web.automations import drafts, faults, matching, messages, offering
from web.automations.drafts import Draft
from web.automations.faults import Way
from web.automations.kinds.base import Sent
from web.automations.kinds.step_forms import STEP_FORMS
from web.automations.kinds.steps import STEPS
from web.automations.kinds.trigger_forms import TRIGGER_FORMS
from web.automations.settings import SettingsForm, TriggerForm
from web.automations.track import SETTINGS, START
from web.request import now

Panel = dict[str, Any]
NEXT: Final = "next"
COUNT: Final = "count"


def asked(
    session: Session, workspace_id: int, draft: Draft, wanted: Mapping[str, str]
) -> Panel | None:
    """Return the panel that an address asks for (`step` or `add`); None for none, or in vain."""
    if "add" in wanted:
        return add(draft, drafts.read_place(wanted["add"]))
    selected = wanted.get("step", "")
    if selected == START:
        return trigger(session, workspace_id, draft)
    if selected == SETTINGS:
        return settings(draft)
    return step(session, workspace_id, draft, selected) if selected else None


def step(
    session: Session,
    workspace_id: int,
    draft: Draft,
    key: str,
    sent: Sent = None,
    refused: Refused | None = None,
) -> Panel | None:
    """Return the form of a step; None where there is no such step. sent: what was posted."""
    found = draft.step(key)
    if found is None:
        return None
    kind = STEP_FORMS.get(found["type"])
    form = kind.fill(found["config"], offering.read(session, workspace_id, kind.wants), sent)
    if sent is not None:
        form.validate()
    ways = _ways(draft, found, sent)
    where = f"/steps/{draft.index(key)}"
    top = faults.place(refused, where, form, kind, ways)
    index, last = draft.index(key), len(draft.document["steps"]) - 1
    return {
        "template": "automations/_step.html",
        "selected": key,
        "step": found,
        "kind": kind,
        "form": form,
        "ways": ways,
        "number": index + 1,
        "first": index == 0,
        "last": index == last,
        "title": draft.titles[key],
        "places": _places(draft, key),
        "onward": _onward(found),
        "asks": bool(_pointing(draft, key)) or len(editing.exits(found)) > 1,
        "sentence": kind.sentence(found["config"] if sent is None else kind.read(form), now()),
        "mistakes": [*faults.of_form(form), *faults.of_ways(ways), *top],
        # Without script a button asks how many people the rule fits; what was typed stays.
        "matches": matching.read(session, workspace_id, sent) if sent and COUNT in sent else None,
    }


def trigger(
    session: Session,
    workspace_id: int,
    draft: Draft,
    sent: Sent = None,
    refused: Refused | None = None,
) -> Panel:
    """Return the form of what starts the automation."""
    wants = frozenset[str]().union(*(kind.wants for _name, kind in TRIGGER_FORMS.items()))
    choices = offering.read(session, workspace_id, wants)
    stored = draft.document["trigger"]
    form = TriggerForm(formdata=sent, data={"type": stored["type"]}, meta={"csrf": False})
    form.parts = {
        name: kind.fill(
            stored["config"] if name == stored["type"] else {}, choices, sent, f"{name}-"
        )
        for name, kind in TRIGGER_FORMS.items()
    }
    chosen = form.parts.get(form.type.data)
    if sent is not None and form.validate() and chosen is not None:
        chosen.validate()
    kind = TRIGGER_FORMS.get(form.type.data) if form.type.data in TRIGGER_FORMS else None
    top = faults.place(refused, "/trigger", chosen, kind, [])
    wrong = [*faults.of_form(form), *(faults.of_form(chosen) if chosen is not None else ()), *top]
    return {
        "template": "automations/_trigger.html",
        "selected": START,
        "form": form,
        "kinds": list(TRIGGER_FORMS.items()),
        "mistakes": wrong,
    }


def settings(draft: Draft, sent: Sent = None, refused: Refused | None = None) -> Panel:
    """Return the form of name, description, re-entry and pause."""
    form = SettingsForm.of(draft.document, sent)
    if sent is not None:
        form.validate()
    top = faults.place(refused, "", form, None, [])
    return {
        "template": "automations/_settings.html",
        "selected": SETTINGS,
        "form": form,
        "mistakes": [*faults.of_form(form), *top],
    }


def add(draft: Draft, place: Place) -> Panel | None:
    """Return the choice of a kind for a new step; None where there is no such place."""
    if place not in editing.places(draft.document):
        return None
    return {
        "template": "automations/_add.html",
        "selected": "",
        "place": drafts.write_place(place),
        "where": draft.behind(place),
        "kinds": list(STEP_FORMS.items()),
        "mistakes": [],
    }


def delete(draft: Draft, key: str, refused: Refused | None = None) -> Panel | None:
    """Return the question where everybody goes on who is led to a step that is deleted."""
    found = draft.step(key)
    if found is None:
        return None
    pointing = [(each, _pointer_words(draft, each)) for each in _pointing(draft, key)]
    follow = draft.told.graph.steps[draft.index(key)]
    places = [step["key"] for step in draft.document["steps"]]
    goes = follow.after
    if follow.exits:
        goes = next(iter(follow.exits.values()))
    after = places[goes] if goes < len(places) and places[goes] != key else "end"
    return {
        "template": "automations/_delete.html",
        "selected": key,
        "title": draft.titles[key],
        "pointing": [(f"to.{each.step}.{each.exit or ''}", words) for each, words in pointing],
        "targets": drafts.targets(draft, key),
        "suggested": after,
        "onward": _onward(found),
        "mistakes": [] if refused is None else [faults.Mistake("", "", messages.reason(refused))],
    }


def relinked(draft: Draft, key: str, sent: MultiDict[str, str]) -> dict[Pointer, str | None]:
    """Return where each way to a step shall lead now, as the form of `delete` says."""
    wanted: dict[Pointer, str | None] = {}
    for each in _pointing(draft, key):
        target = sent.get(f"to.{each.step}.{each.exit or ''}")
        if target is not None:
            wanted[each] = target or None
    return wanted


def read_ways(sent: MultiDict[str, str], names: Sequence[str]) -> dict[str, str | None]:
    """Return what was chosen for some ways out; None: the next in order."""
    return {name: sent.get(name) or None for name in names}


def _ways(draft: Draft, found: JsonObject, sent: Sent) -> list[Way]:
    key, kind = found["key"], STEPS.get(found["type"])
    graph_step = draft.told.graph.steps[draft.index(key)]
    if graph_step.kind.ends:
        return []
    names = editing.exits(found)
    offered = [("", _following(draft, key)), *drafts.targets(draft, key)]
    stored = {name: found["config"].get(name) for name in names} or {NEXT: found["next"]}
    ways = []
    for name, target in stored.items():
        value = str(target or "") if sent is None else sent.get(name, "")
        label = (
            _("Then")
            if name == NEXT
            else _("%(exit)s leads to", exit=kind.way_out(name).capitalize())
        )
        known = {option for option, _words in offered}
        more = [] if value in known else [(value, draft.titles.get(value, value))]
        ways.append(Way(name, str(label), value, [*offered, *more]))
    return ways


def _following(draft: Draft, key: str) -> str:
    steps = draft.document["steps"]
    place = draft.index(key) + 1
    title = draft.titles[steps[place]["key"]] if place < len(steps) else str(_("End"))
    return str(_("The next in order: %(step)s", step=title))


def _places(draft: Draft, key: str) -> list[tuple[str, str]]:
    return [
        (drafts.write_place(place), draft.behind(place))
        for place in editing.places(draft.document)
        if place.after != key
    ]


def _onward(found: JsonObject) -> list[tuple[str, str]]:
    names = editing.exits(found)
    words = STEPS.get(found["type"])
    return [(name, words.way_out(name)) for name in names] if len(names) > 1 else []


def _pointing(draft: Draft, key: str) -> list[Pointer]:
    return [each for each in editing.pointers(draft.document, key) if each.step != key]


def _pointer_words(draft: Draft, pointer: Pointer) -> str:
    return draft.behind(Place(pointer.step, pointer.exit))
