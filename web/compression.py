"""Sends pages, fragments and our files compressed to whoever reads that.

Answers of the API stay as they are: a compressed one would bear another ETag, which If-Match of a
later call has to name.
"""

from typing import Final

from flask import Flask, Response, request
from flask_compress import Compress

# Below this the header of the compressed form costs more than it saves.
LEAST: Final = 1_000
_TEXTS: Final = (
    "text/html",
    "text/css",
    "text/javascript",
    "application/javascript",
    "image/svg+xml",
)


def register(app: Flask) -> None:
    """Compress each answer that is a text of some length.

    Pages bear the form token beside text from their address. Compressing both gives nothing away,
    because other sites cannot have a browser ask with our cookie, but for whole pages (SameSite).
    """
    app.config.update(
        COMPRESS_ALGORITHM=["br", "gzip"],
        COMPRESS_MIN_SIZE=LEAST,
        COMPRESS_MIMETYPES=list(_TEXTS),
        COMPRESS_STREAMS=False,
    )
    Compress(app)
    app.after_request(_at_hand)


def _at_hand(response: Response) -> Response:
    """Read a file of ours whole and close it; what compresses streams leaves their files open."""
    if request.endpoint == "static" and response.status_code == 200:
        response.direct_passthrough = False
        response.make_sequence()
    return response
