"""Reads of delivery: frozen rows for pages, the API, the automations and the walker."""

from engine.delivery.queries.senders import (
    DomainRow,
    SenderRow,
    default_sender,
    get_domain,
    get_sender,
    page_domains,
    page_senders,
)
from engine.delivery.queries.sends import (
    MessageRow,
    SendDetail,
    SendRow,
    get_send,
    page_sends,
    sends_by_row_id,
)
from engine.delivery.queries.story import story
from engine.delivery.queries.subjects import subjects
from engine.delivery.queries.templates import (
    MailFacts,
    SenderFacts,
    TemplateFacts,
    TemplateRow,
    get_template,
    mail_facts,
    newest_names,
    page_templates,
    template_names,
    without_way_out,
)

__all__ = [
    "DomainRow",
    "MailFacts",
    "MessageRow",
    "SendDetail",
    "SendRow",
    "SenderFacts",
    "SenderRow",
    "TemplateFacts",
    "TemplateRow",
    "default_sender",
    "get_domain",
    "get_send",
    "get_sender",
    "get_template",
    "mail_facts",
    "newest_names",
    "page_domains",
    "page_senders",
    "page_sends",
    "page_templates",
    "sends_by_row_id",
    "story",
    "subjects",
    "template_names",
    "without_way_out",
]
