"""Small turns between what queries and services return and what an operation answers."""

import hashlib
from dataclasses import replace

from engine.core.outcome import Problem, Refused
from web.api.door import Answer

INVALID_CURSOR = Refused("invalid_input", "invalid", (Problem("?cursor", "invalid_cursor"),))


def etag(answer: Answer) -> Answer:
    """Return `answer` with an ETag over what it shows."""
    return replace(answer, headers={**answer.headers, "ETag": tag(answer)})


def tag(answer: Answer) -> str:
    """Return the ETag of an answer: a hash of its body, quoted."""
    text = "" if answer.body is None else answer.body.model_dump_json()
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
