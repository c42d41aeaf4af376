"""ETags: an answer is named by its content, and a PUT must name what it replaces."""

import hashlib
from dataclasses import replace
from typing import Final

from engine.core.outcome import Refused
from web.api.door import Answer, Call

IF_MATCH_REQUIRED: Final = Refused("if_match_required", "precondition_required")
ETAG_MISMATCH: Final = Refused("etag_mismatch", "precondition_failed")


def etag(answer: Answer) -> Answer:
    """Return `answer` with an ETag over what it shows."""
    return replace(answer, headers={**answer.headers, "ETag": tag(answer)})


def tag(answer: Answer) -> str:
    """Return the ETag of an answer: a hash of its body, quoted."""
    text = "" if answer.body is None else answer.body.model_dump_json()
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'


def precondition(call: Call, current: Answer) -> Refused | None:
    """Return why a PUT may not replace `current`: no If-Match (428), or another ETag (412)."""
    if call.etag is None:
        return IF_MATCH_REQUIRED
    return None if call.etag.removeprefix("W/") == tag(current) else ETAG_MISMATCH
