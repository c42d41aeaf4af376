"""The form of a template: what people type, as the engine takes it, and what differs."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from flask_babel import gettext
from flask_babel import lazy_gettext as _
from wtforms import HiddenField, RadioField, SelectField, StringField, TextAreaField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its types
from wtforms.validators import InputRequired

from engine.core.outcome import Refused
from engine.delivery.models import MARKETING, SERVICE
from engine.delivery.queries import TemplateRow
from engine.delivery.service import TemplateInput
from web.forms import Form, trimmed
from web.templates.messages import words

HTML: Final = "html"
MJML: Final = "mjml"
# The published types still ask for pairs, which the library itself has given up.
_WRITTEN: Any = [SelectChoice(HTML, "HTML"), SelectChoice(MJML, "MJML")]
_PURPOSES: Any = [
    SelectChoice(MARKETING, _("Marketing")),
    SelectChoice(SERVICE, _("Service")),
]
_REPEATS: Any = [
    SelectChoice("", _("As its purpose says")),
    SelectChoice("yes", _("Yes")),
    SelectChoice("no", _("No")),
]
_REPEAT: Final[Mapping[str, bool | None]] = {"yes": True, "no": False}


def _lines(value: Any) -> Any:
    """Browsers send every line break as two characters; a text is kept as it was written."""
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


class TemplateForm(Form):
    """One template. source: in the language `written`; text '': derived from it."""

    name = StringField(_("Name"), [InputRequired()], filters=[trimmed])
    subject = StringField(_("Subject"), [InputRequired()], filters=[trimmed])
    written = RadioField(_("Written in"), choices=_WRITTEN, default=HTML)
    source = TextAreaField(_("Text of the mail"), filters=[_lines])
    text = TextAreaField(_("Plain text"), filters=[_lines])
    purpose = SelectField(_("Purpose"), choices=_PURPOSES, default=MARKETING)
    repeat = SelectField(_("May reach somebody twice within 24 hours"), choices=_REPEATS)
    version = HiddenField()

    def given(self) -> TemplateInput:
        """Return the template that the form asks for."""
        source = self.source.data or ""
        mjml = self.written.data == MJML
        return TemplateInput(
            name=self.name.data or "",
            subject=self.subject.data or "",
            html=None if mjml else source,
            mjml=source if mjml else None,
            text=self.text.data or None,
            purpose=self.purpose.data or "",
            allow_repeat=_REPEAT.get(self.repeat.data or ""),
        )

    def refuse(self, refused: Refused) -> None:
        """Put what the engine found wrong on the fields."""
        fields = {"/html": "/source", "/mjml": "/source"}
        problems = tuple(
            replace(each, pointer=fields.get(each.pointer, each.pointer))
            for each in refused.problems
        )
        self.show(replace(refused, problems=problems), words)


def filled(row: TemplateRow) -> TemplateForm:
    """Return the form as it stands while nobody has typed."""
    return TemplateForm(
        formdata=None,
        name=row.name,
        subject=row.subject,
        written=HTML if row.mjml is None else MJML,
        source=row.html if row.mjml is None else row.mjml,
        text=row.text or "",
        purpose=row.purpose,
        repeat="" if row.allow_repeat is None else "yes" if row.allow_repeat else "no",
        version=str(row.version),
    )


def begun(given: TemplateInput) -> TemplateForm:
    """Return the form of a new template that begins with a text from the gallery."""
    return TemplateForm(
        formdata=None,
        name=given.name,
        subject=given.subject,
        written=HTML if given.mjml is None else MJML,
        source=given.html if given.mjml is None else given.mjml,
        purpose=given.purpose,
    )


def same(row: TemplateRow, given: TemplateInput) -> bool:
    """Return whether a template says already what the form asks for."""
    return all(getattr(row, name) == value for name, value in vars(given).items())


@dataclass(frozen=True)
class Change:
    """A field that two versions have differently; lines: of a long text, as a comparison."""

    label: str
    before: str
    after: str
    lines: Sequence[str] = ()


def changes(row: TemplateRow, form: TemplateForm) -> list[Change]:
    """Return where the form differs from the version that is stored now."""
    stored = filled(row)
    found = []
    for name in ("name", "subject", "written", "source", "text", "purpose", "repeat"):
        before, after = stored[name], form[name]
        if (before.data or "") == (after.data or ""):
            continue
        long = name in {"source", "text"}
        lines = _compared(before.data or "", after.data or "") if long else ()
        label = str(before.label.text)
        found.append(Change(label, _shown(before), _shown(after), lines))
    return found


def _shown(field: Any) -> str:
    named = {str(each.value): str(each.label) for each in getattr(field, "choices", None) or ()}
    data = str(field.data or "")
    return named.get(data, data) or str(gettext("empty"))


def _compared(before: str, after: str) -> list[str]:
    found = difflib.unified_diff(before.splitlines(), after.splitlines(), n=2, lineterm="")
    return [line for line in found if not line.startswith(("---", "+++"))]
