"""The addresses of all pages, generated from the routes: lists, and one of each thing."""

from collections.abc import Mapping

from flask import Flask

from tests.web.support import fill, methods, page_rules

# What is no page of the console: figures for programs, a file, a mail's frame, options of a list.
APART = frozenset(
    {
        "automations.export",
        "automations.sentence",
        "automations.simulated_mail",
        "health.live",
        "health.ready",
        "health.figures",
        "people.choose",
        "sends.body",
        "templates.body",
        "templates.gallery_body",
    }
)
# Confirmations stand in the page too; without script they are open.
DIALOGS = {"automations.detail": "?ask=pause"}


def addresses(app: Flask, ids: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the address of every page that `ids` can fill; without ids only the lists."""
    # All pages of the guide are made alike: one with explained words and one with lists do.
    found = ["/help/editor", "/help/start"]
    for rule in page_rules(app):
        area = rule.endpoint.split(".")[0]
        if "GET" not in methods(rule) or rule.endpoint in APART:
            continue
        if rule.arguments - ids.get(area, {}).keys():
            continue
        address = fill(app, rule, ids.get(area, {}))
        found.append(address)
        if rule.endpoint in DIALOGS:
            found.append(address + DIALOGS[rule.endpoint])
    return found
