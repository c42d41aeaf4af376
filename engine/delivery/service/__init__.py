"""The verbs of delivery: queue mail, keep templates, senders and sending domains."""

from engine.delivery.service.previewing import Kept, PreviewedMail, Reader, preview_mail
from engine.delivery.service.requests import Queued, Withheld, request_many
from engine.delivery.service.senders import (
    AttestedDomain,
    CreatedSender,
    SenderInput,
    attest_domain,
    create_sender,
    delete_domain,
    delete_sender,
    set_default_sender,
    update_sender,
)
from engine.delivery.service.sends import SendRequest, enqueue_many
from engine.delivery.service.templates import (
    Preview,
    TemplateInput,
    check_subject,
    create_template,
    delete_template,
    preview_template,
    update_template,
)

__all__ = [
    "AttestedDomain",
    "CreatedSender",
    "Kept",
    "Preview",
    "PreviewedMail",
    "Queued",
    "Reader",
    "SendRequest",
    "SenderInput",
    "TemplateInput",
    "Withheld",
    "attest_domain",
    "check_subject",
    "create_sender",
    "create_template",
    "delete_domain",
    "delete_sender",
    "delete_template",
    "enqueue_many",
    "preview_mail",
    "preview_template",
    "request_many",
    "set_default_sender",
    "update_sender",
    "update_template",
]
