"""What somebody types into the form of a template."""

from typing import Final

GIVEN: Final[dict[str, str]] = {
    "name": "Greeting",
    "subject": "Hello {{ contact.first_name }}",
    "written": "html",
    "source": "<p>Hello {{ contact.first_name }}</p>\n<p>Line two</p>",
    "text": "",
    "purpose": "marketing",
    "repeat": "",
    "version": "1",
}
