"""The words of runs: why one ended, why a step failed or did nothing, what an act did."""

from collections.abc import Mapping
from typing import Final

from flask_babel import lazy_gettext as _
from flask_babel.speaklater import LazyString

from engine.core.outcome import Refused

# Why an act on a run was refused.
REASONS: Final[Mapping[str, LazyString]] = {
    "run_not_found": _("There is no such run."),
    "unknown_step": _("The revision of this run has no such step."),
    "being_executed": _(
        "A worker is at this step right now. Wait a moment, look again, and repeat it then."
    ),
    "nothing_failed": _("Nothing has failed here: the person is waiting, and goes on in time."),
    "already_ended": _("This run has ended already."),
    "already_inside": _(
        "The person has entered this automation anew and is inside with a younger run. Nobody is "
        "inside twice."
    ),
    "automation_not_active": _(
        "The automation is not active, so the person would leave it at the next step. Resume it "
        "first."
    ),
    "automation_deleted": _("The automation was deleted; nobody goes on in it."),
    "contact_removed": _("The person was deleted; nothing happens to them any more."),
    "loop_cap": _("This run has been through 100 steps: it went in a loop and goes on no more."),
    "unreadable_revision": _(
        "The revision of this run, or the step in it, cannot be begun by this version."
    ),
    "nothing_to_dismiss": _("This run does not ask for attention."),
    "nothing_matches": _("No run matches any more."),
    "too_many": _("More than %(limit)s runs at once: narrow the filter."),
    "action_needed": _("Say what is to be done."),
    "step_needed": _("Say which step to move to."),
    "act_raised": _(
        "The program made a mistake with this run, so it was left as it is. The worker’s log says "
        "what happened."
    ),
    "job_raised": _(
        "The program made a mistake and could not go on; the worker’s log says what happened. "
        "What was done stays done. Ask for the rest anew with the same filters."
    ),
    "run_job_not_found": _("There is no such job."),
    "view_not_found": _("There is no such view."),
    "view_name_missing": _("Give the view a name."),
    "view_name_too_long": _(
        "A name has at most %(limit)s characters; this one has %(length)s. Shorten it."
    ),
    "view_name_invalid": _("The name holds a character that cannot be kept."),
    "view_empty": _("No filter is set, so there is nothing to keep. Set one, then save the view."),
    "view_too_long": _("These filters are too long to be kept. Shorten one of the texts."),
    "too_many_views": _(
        "You have %(limit)s views, and no more fit. Open one that you do not need, and delete it."
    ),
    "job_is_done": _("It has done all its runs already."),
}
# What an act did, for the line above the page.
DID: Final[Mapping[str, LazyString]] = {
    "retry": _("The run goes on. Tried again: %(step)s"),
    "skip-step": _("The step was skipped. The person now stands at: %(step)s"),
    "move": _("The person was moved. Now at: %(step)s"),
    "cancel": _("The run has been ended."),
    "dismiss": _("The run no longer asks for attention."),
}
# What is done to many runs, as the title of a job.
MANY: Final[Mapping[str, LazyString]] = {
    "retry": _("Try many runs again"),
    "skip-step": _("Skip a step for many people"),
    "move": _("Move many people to another step"),
    "cancel": _("End many runs"),
    "dismiss": _("Take many runs off the list of what needs attention"),
}
_HALTED: Final = _("Stopped. What was done stays done; the other runs are left alone.")
_HALTED_BEFORE: Final = _("It was stopped already.")
_SKIPPED_TO_THE_END: Final = _("The step was skipped, and the run has come to its end.")
# ended_reason → why; a run that finished needs no reason.
ENDED: Final[Mapping[str, LazyString]] = {
    "finished": _("It came to the end of the line."),
    "step_failed": _("A step failed for good."),
    "automation_not_active": _("The step became due while the automation was paused."),
    "loop_cap": _("It went in a loop: after 100 steps it was stopped."),
    "removed": _("The person was deleted."),
    "automation_deleted": _("The automation was deleted."),
    "step_not_found": _("The next step could not be begun."),
    "stopped": _("The automation was stopped, and everybody inside with it."),
    "ended_by_person": _("A person ended it."),
}
# error_code → what went wrong.
ERRORS: Final[Mapping[str, LazyString]] = {
    "NO_TEMPLATE": _("The step has no template."),
    "TEMPLATE_NOT_FOUND": _("The template no longer exists."),
    "TEMPLATE_EMPTY": _("The template has no HTML, so there is nothing to send."),
    "NO_SENDER": _("The workspace has no default sender."),
    "NO_ADDRESS": _("The person has no e-mail address."),
    "NO_TOPIC": _("The step has no topic."),
    "WEBHOOK_WITHOUT_ADDRESS": _("The webhook has no address."),
    "WEBHOOK_REFUSED": _("The server did not accept it."),
    "WEBHOOK_UNREACHABLE": _("The server could not be reached."),
    "WEBHOOK_BODY_BROKEN": _("The body of the webhook does not work for this person."),
    "ADDRESS_NOT_ALLOWED": _("The address lies in a private network, where no call may go."),
    "SECRET_NOT_FOUND": _("The secret no longer exists."),
    "SECRET_UNREADABLE": _("The secret cannot be opened with the key of this installation."),
    "TEXT_BROKEN": _("The text of the message does not work for this person."),
    "WINDOW_NEVER_OPENS": _("The hours that are waited for never come."),
    "TOPIC_NOT_FOUND": _("The topic no longer exists."),
    "PROPERTY_NOT_FOUND": _("A property that the step changes no longer exists."),
    "INVALID_VALUE": _("A value that the step sets does not fit its property."),
    "CONTACT_NOT_FOUND": _("The person no longer exists."),
    "NOT_FOUND": _("The person or the automation no longer exists."),
    "RUN_ENDED": _("Cut short: the run ended while this step was waiting."),
    "NOT_ACTIVE": _("It became due while the automation was paused."),
    "STEP_NOT_FOUND": _("The revision has no such step."),
    "LOOP_CAP": _("More than 100 steps in one run: stopped, because it went in a loop."),
    "LEASE_LOST": _("The worker was lost while it executed the step, four times."),
    "INVALID_DUE_TIME": _("The time at which the step was due cannot be read."),
    "NO_OUTCOME": _("The step gave no result."),
    "STEP_CRASHED": _("The step broke off:"),
    # Why a change of the person started no automation any more.
    "chain_ended": _(
        "This change started no automation: within a day, changes by automations had led to one "
        "another 24 times for this person. They go in a loop."
    ),
    # Why a mail was withheld (decisions A4, A17).
    "suppressed": _("The address is on the suppression list."),
    "unsubscribed": _("The person has unsubscribed from marketing mail."),
    "already_received": _("The person got this template within the last 24 hours."),
    "daily_limit": _("The person got as many marketing mails today as the workspace allows."),
    "quiet_hours": _("It was within the quiet hours of the person."),
}
# error_code of a visit at which nothing went wrong: the run ended around it (facts 1.7).
LEFT: Final = frozenset({"NOT_ACTIVE", "RUN_ENDED", "NOT_FOUND"})
# ended_reason of a run that came to grief; the others were ended by somebody.
BROKEN: Final = frozenset({"step_failed", "loop_cap", "step_not_found"})


def refusal(refused: Refused) -> str:
    """Return why an act was refused."""
    words = str(REASONS.get(refused.reason, refused.reason))
    return words % refused.params if "%(" in words else words


def did(action: str, step: str | None) -> str:
    """Return what an act did. step: the title of the step where the person stands, None: nowhere.

    The words are of this room; the title is shown as it stands in the automation.
    """
    if action == "skip-step" and step is None:
        return str(_SKIPPED_TO_THE_END)
    return str(DID[action]) % {"step": step or ""}


def many(action: str) -> str:
    """Return what a job does."""
    return str(MANY.get(action, action))


def halted(*, again: bool) -> str:
    """Return what a stop of a job did. again: somebody had stopped it before."""
    return str(_HALTED_BEFORE if again else _HALTED)


def ended(code: str | None) -> str:
    """Return why a run ended; '' for one that has no reason."""
    return str(ENDED.get(code, code)) if code else ""


def failed(code: str | None, message: str | None) -> str:
    """Return why a step failed; '' where it did not. message: the stored English text."""
    if not code:
        return ""
    if code == "STEP_CRASHED":
        return f"{ERRORS[code]} {message or ''}".strip()
    return str(ERRORS.get(code) or message or code)
