"""The verbs of audience; each answers a value or a refusal and never commits."""

from engine.audience.service.contacts import (
    delete_contact,
    judge_patches,
    save_contact,
    save_contacts,
    update_contact,
    update_contacts,
)
from engine.audience.service.definitions import (
    create_property,
    create_topic,
    delete_property,
    delete_topic,
    update_property,
    update_topic,
)
from engine.audience.service.foreseeing import Foreseen, Sketch, foresee_update
from engine.audience.service.happenings import fire_event, receive_event
from engine.audience.service.memberships import (
    subscribe,
    subscribe_many,
    unsubscribe,
    unsubscribe_many,
)
from engine.audience.service.opting_out import OptedOut, opt_out
from engine.audience.service.suppressing import release, suppress

__all__ = [
    "Foreseen",
    "OptedOut",
    "Sketch",
    "create_property",
    "create_topic",
    "delete_contact",
    "delete_property",
    "delete_topic",
    "fire_event",
    "foresee_update",
    "judge_patches",
    "opt_out",
    "receive_event",
    "release",
    "save_contact",
    "save_contacts",
    "subscribe",
    "subscribe_many",
    "suppress",
    "unsubscribe",
    "unsubscribe_many",
    "update_contact",
    "update_contacts",
    "update_property",
    "update_topic",
]
