"""The words of the automations room: refusals and what a check finds, as people read them."""

from collections.abc import Mapping
from typing import Final

from flask_babel import gettext, ngettext
from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.automations.service import Published
from engine.core.audit import Scalar
from engine.core.outcome import Problem, Refused
from web.automations import interruptions
from web.filters import number

# Reasons; the first four are the seed's own sentences (facts 1.13).
REASONS: Final[Mapping[str, LazyString]] = {
    "automation_not_found": _("Automation not found"),
    "illegal_edge": _("Automation is not in a state that allows this transition"),
    "no_steps": _("Automation must have at least one step to be activated"),
    "invalid_trigger_config": _("Automation trigger is missing required configuration"),
    "lost_race": _("Somebody else changed this at the same moment. Nothing was changed by you."),
    "stale": _("The draft was changed in the meantime. Load it again and repeat your change."),
    "check_failed": _("It cannot go live: some steps would fail for certain."),
    "people_inside": _(
        "%(count)s people are still inside, so it cannot become a draft again. Wait for their end, "
        "or stop it: that ends them all."
    ),
    "active_cannot_be_deleted": _("Cannot delete active automations. Please pause first."),
    "invalid_document": _("The document is not sound; see the list of faults."),
    "nothing_held": _(
        "There is nothing to choose here: only an automation that holds people while it is paused "
        "asks how they go on."
    ),
    "start_afresh_needs_active": _("Starting afresh is an activation; ask for active."),
    "cancel_inside_needs_paused": _("Ending everybody inside goes with a pause; ask for paused."),
    "step_not_found": _("This step is no longer in the draft."),
    "place_not_found": _("There is no place for a step there any more."),
    "still_targeted": _(
        "Other steps still lead to this step (%(count)s). Say where each of them leads instead."
    ),
    "too_many_steps": _("An automation has at most 200 steps."),
    "nothing_to_move": _("The step stands there already."),
    "nothing_to_undo": _("There is nothing to undo."),
    "nothing_to_redo": _("There is nothing to redo."),
    "revision_not_found": _("There is no such revision."),
    "not_an_export": _(
        "It is no file of an automation. Choose one that “Export” has made, here or in another "
        "workspace."
    ),
    "newer_format": _(
        "A newer version of Stellwerk has made it (format %(version)s; this one reads up to "
        "%(known)s). Update this installation first."
    ),
    "run_not_found": _("There is no such run."),
    "automation_run_not_found": _("There is no such run."),
    "automation_step_run_not_found": _("There is no such step in this run."),
}
# Faults of a document and findings of a check, by their code.
PROBLEMS: Final[Mapping[str, LazyString]] = {
    "nothing_held": _("Nobody is held here, so there is nothing to choose."),
    "start_afresh_needs_active": _("Only with active."),
    "cancel_inside_needs_paused": _("Only with paused."),
    "unknown_trigger": _("There is no such trigger. Known are: %(known)s."),
    "unknown_step": _("There is no such step. Known are: %(known)s."),
    "reserved_key": _("This key has a meaning of its own; choose another one."),
    "invalid_key": _("A key has letters, digits, - and _, at most 60, a letter or digit first."),
    "duplicate_key": _("The key “%(key)s” stands twice."),
    "missing_target": _("There is no step “%(key)s” to go on to."),
    "endless_cycle": _("These steps lead in a circle that nobody can leave."),
    "delay_without_duration": _("The wait has no length."),
    "delay_too_long": _("The wait is longer than ten years."),
    "condition_missing": _("The branch has no rule."),
    "no_date_property": _("The property “%(name)s” holds no dates."),
    "address_missing": _("The webhook has no address."),
    "no_web_address": _("This is no web address; it begins with https:// or http://."),
    "not_json": _("The body is no JSON."),
    "text_too_long": _("The text may have at most %(limit)s characters."),
    "text_missing": _("The message has no text."),
    "channel_missing": _("The message has no channel."),
    "secret_gone": _("The secret no longer exists, or is of the other kind."),
    "too_many_headers": _("A webhook sends at most %(limit)s further headers."),
    "header_not_allowed": _("The header “%(name)s” cannot be sent."),
    "event_missing": _("The wait has no event."),
    "limit_missing": _("Say how long the event is waited for at most."),
    "weekdays_missing": _("The window has no weekday, so it never opens."),
    "window_closed": _("The window must end after it begins."),
    "too_few_ways": _("A random split needs two ways at least."),
    "shares_not_whole": _("The shares make %(total)s percent together, not 100."),
    "changes_missing": _("The step changes nothing yet."),
    "too_many_changes": _("A step changes at most %(limit)s values."),
    "fixed_key": _("No step can change “%(key)s”."),
    "no_stamp": _("“%(key)s” holds no dates, so it cannot be set to the moment of the step."),
    "set_twice": _("“%(key)s” is given a value and set to the moment of the step; choose one."),
    "not_a_primitive": _("“%(key)s” must be a text, a number, true, false or null."),
    "not_a_text": _("“%(key)s” must be a text or null."),
    "value_too_long": _("The value of “%(key)s” is too long."),
    "value_does_not_fit": _("“%(value)s” is no value for “%(key)s”."),
    "topic_missing": _("The step has no topic."),
    "topic_not_found": _("The topic no longer exists."),
    "property_not_found": _("There is no property “%(name)s”."),
    "template_missing": _("The mail has no template."),
    "template_not_found": _("The template of the mail no longer exists."),
    "no_sender": _("The workspace has no default sender."),
    "template_broken": _(
        "The subject does not work as a template (line %(line)s, column %(column)s): %(message)s"
    ),
    "loop": _("This leads back to “%(key)s”; nobody passes more than 100 steps."),
    "unreachable": _("Nobody gets here: no way leads to this step."),
    "dead_end": _("This way ends here: no step stands behind it, and it names none."),
    "no_unsubscribe_url": _("The template is for marketing, but has no link to unsubscribe."),
    "many_without_address": _(
        "Of the %(of)s newest people %(count)s have no address. Their mails will fail, and five "
        "failed runs in a row pause the automation."
    ),
    "bad_character": _("The subject holds characters that cannot be kept."),
    "not_an_object": _("The rule is not an object."),
    "required": _("Something is missing here."),
    "unknown_kind": _("There is no rule of the kind “%(kind)s”."),
    "unknown_key": _("This key is not known here."),
    "wrong_value": _("This value does not fit here."),
    # What a form may send that a configuration does not take, by the codes of pydantic.
    "float_type": _("This is no number."),
    "int_type": _("This is no number."),
    "finite_number": _("This is no number."),
    "greater_than": _("The number is too small."),
    "string_too_long": _("The text is too long."),
    "string_too_short": _("Something is missing here."),
    "string_pattern_mismatch": _("This is not spelt as it has to be."),
    "literal_error": _("Choose one of the list."),
}


# Acts on a draft, as the buttons of undo and redo name them.
_ACTS: Final[Mapping[str, LazyString]] = {
    "insert": _("inserting a step"),
    "delete": _("deleting a step"),
    "move": _("moving a step"),
    "duplicate": _("duplicating a step"),
    "configure": _("changing a step"),
    "trigger": _("changing the start"),
    "settings": _("changing the settings"),
    "save": _("a change from outside"),
    "restore": _("restoring a revision"),
    "import": _("an import"),
}


def act(code: str) -> str:
    """Return an act on a draft, for the buttons that undo it or do it again."""
    return str(_ACTS.get(code, code))


def reason(refused: Refused) -> str:
    """Return the sentence for a refusal of the automations room."""
    return _said(REASONS.get(refused.reason), refused.reason, refused.params)


def problem(found: Problem) -> str:
    """Return the sentence for one fault or finding."""
    return _said(PROBLEMS.get(found.code), found.code, found.params)


def done(before: str, after: str, told: Mapping[str, Scalar], name: str) -> str:
    """Return what a transition did, for the line above the page; told: as its audit line has it."""
    if after == "paused":
        did = gettext("Automation paused: “%(name)s”. Nobody new enters.", name=name)
        return f"{did} {interruptions.paused(told)}".strip()
    if after == "draft":
        return str(
            gettext("“%(name)s” is a draft again. Nobody enters until it is activated.", name=name)
        )
    if before == "paused":
        did = gettext("Automation resumed: “%(name)s”.", name=name)
        return f"{did} {interruptions.resumed(told)}".strip()
    return str(
        gettext("Automation activated: “%(name)s”. New people enter from now on.", name=name)
    )


def published(done: Published, name: str) -> str:
    """Return what a publish did, for the line above the page."""
    if not done.new:
        return str(gettext("“%(name)s” says so already; nothing was published.", name=name))
    did = gettext("Published: “%(name)s”, revision %(number)s.", name=name, number=done.revision)
    words = [str(did)]
    if done.moved:
        words.append(
            ngettext(
                "%(shown)s person goes on in it.",
                "%(shown)s people go on in it.",
                done.moved,
                shown=number(done.moved),
            )
        )
    if done.stayed:
        words.append(
            ngettext(
                "%(shown)s person finishes the revision they are on.",
                "%(shown)s people finish the revision they are on.",
                done.stayed,
                shown=number(done.stayed),
            )
        )
    return " ".join(words)


def already(status: str, name: str) -> str:
    """Return that nothing was changed, because somebody was faster or pressed twice."""
    if status == "paused":
        return str(gettext("“%(name)s” was paused already; nothing was changed.", name=name))
    if status == "draft":
        return str(gettext("“%(name)s” was a draft already; nothing was changed.", name=name))
    return str(gettext("“%(name)s” was active already; nothing was changed.", name=name))


def reentry(rule: object) -> str:
    """Return whether a person may enter again; rule: as the document has it."""
    if rule == "once":
        return str(gettext("never"))
    if isinstance(rule, Mapping):
        return str(gettext("at most once in %(days)s days", days=rule["days"]))
    return str(gettext("after the end of the run before"))


def _said(words: LazyString | None, code: str, params: Mapping[str, str | int]) -> str:
    """Return the sentence; a code of a later version is spelt out."""
    if words is not None:
        return str(words) % dict(params)
    return str(params.get("detail") or code.replace("_", " "))
