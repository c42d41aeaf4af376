"""The families of things that a configuration may name, and that another workspace may lack."""

from collections.abc import Mapping
from typing import Final

TEMPLATE: Final = "template"
TOPIC: Final = "topic"
PROPERTY: Final = "property"
SECRET: Final = "secret"  # noqa: S105 - the name of a family
FAMILIES: Final = (TEMPLATE, TOPIC, PROPERTY, SECRET)

# By its place below the configuration (a JSON pointer without the first slash): the family and the
# public id, of a property its key.
References = Mapping[str, tuple[str, str]]
