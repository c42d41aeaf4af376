"""What all forms share: CSRF by flask-wtf, words by flask-babel, the engine's refusals on fields.

A form only draws and coerces; the engine judges, and what it refuses is copied onto the fields.
"""

from collections.abc import Callable
from typing import Any

from flask_wtf import FlaskForm

from engine.core.outcome import Problem, Refused


class Form(FlaskForm):  # type: ignore[misc]  # the library has no types
    """Base of every form."""

    def show(self, refused: Refused, words: Callable[[Problem | Refused], str]) -> None:
        """Put the words of a refusal where they belong.

        A problem goes to the field that its pointer names (`/name` → name), everything else to
        the top of the form. words: turns a problem or a refusal into a sentence.
        """
        left = list(refused.problems)
        for problem in refused.problems:
            field = self._fields.get(problem.pointer.strip("/").split("/")[0])
            if field is not None:
                field.errors = (*field.errors, words(problem))
                left.remove(problem)
        # The form's own list: FlaskForm reads it as the errors of no field.
        self.form_errors += [words(problem) for problem in left]
        if not refused.problems:
            self.form_errors.append(words(refused))


def trimmed(value: Any) -> Any:
    """Filter of text fields: white space around what people type means nothing."""
    return value.strip() if isinstance(value, str) else value
