"""What a template must be before it is kept or shown: judged, laid out, tried once; pure."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from engine.core.outcome import Refused, invalid
from engine.delivery.compose.layout import nested_too_deep, to_html, with_inline_styles
from engine.delivery.compose.liquid import Broken, parse
from engine.delivery.compose.render import (
    Flaw,
    MailData,
    Source,
    compile_source,
    mended,
    render,
)
from engine.delivery.models import MARKETING, PURPOSES

_LONGEST_NAME: Final = 200
LONGEST_SUBJECT: Final = 500
LONGEST_BODY: Final = 300_000
# A stranger with a name: a template must render for somebody of whom nothing else is known.
SAMPLE: Final = {"first_name": "Test", "last_name": "User", "email": "test@user.example"}


@dataclass(frozen=True)
class TemplateInput:
    """A template as people write it: html or mjml (exactly one), Liquid in all texts.

    text None: derived from the HTML. allow_repeat None: by purpose (decision A17).
    """

    name: str
    subject: str
    html: str | None = None
    mjml: str | None = None
    text: str | None = None
    purpose: str = MARKETING
    allow_repeat: bool | None = None


def judged(given: TemplateInput, at: datetime) -> dict[str, Any] | Refused:
    """Return the columns to store, or why the template cannot be used (see create_template)."""
    flaw = _flaw(given)
    if flaw is not None:
        return flaw
    # What people wrote is judged as they wrote it, so that line and column are theirs.
    written = given.mjml if given.mjml is not None else (given.html or "")
    pointer = "/html" if given.mjml is None else "/mjml"
    broken = nested_too_deep(written) or parse(written, html=True)
    if isinstance(broken, Broken):
        return broken.refused(pointer)
    laid_out = written if given.mjml is None else to_html(written)
    if isinstance(laid_out, Broken):
        return laid_out.refused(pointer)
    rendered_html = with_inline_styles(laid_out)
    tried = _trial(Source(given.subject, rendered_html, given.text), at)
    if tried is not None:
        return tried.broken.refused(pointer if tried.part == "html" else f"/{tried.part}")
    return {**asdict(given), "rendered_html": rendered_html, "updated_at": at}


def _trial(source: Source, at: datetime) -> Flaw | None:
    """Render once for a sample person: an endless loop shows now and not at the first mail."""
    compiled = compile_source(source)
    if isinstance(compiled, Flaw):
        return compiled
    mail = render(compiled, MailData(contact=SAMPLE, workspace={"name": "Test"}), at)
    return mail if isinstance(mail, Flaw) else None


def _flaw(given: TemplateInput) -> Refused | None:
    if not given.name.strip():
        return invalid("required", "/name")
    if (given.html is None) == (given.mjml is None):
        return invalid("html_or_mjml", "/html")
    if given.purpose not in PURPOSES:
        return invalid("purpose_unknown", "/purpose")
    limits = {
        "name": _LONGEST_NAME,
        "subject": LONGEST_SUBJECT,
        "html": LONGEST_BODY,
        "mjml": LONGEST_BODY,
        "text": LONGEST_BODY,
    }
    for part, limit in limits.items():
        text = getattr(given, part) or ""
        if len(text) > limit:
            return invalid("too_long", f"/{part}", limit=limit)
        if mended(text) != text:
            return invalid("bad_character", f"/{part}")
    return None
