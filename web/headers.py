"""The security headers of every answer. A route may set a policy of its own; it is then kept."""

from typing import Final

from flask import Flask, Response, request

from web.request import runtime

POLICY: Final = "; ".join(
    (
        "default-src 'self'",
        # Bootstrap draws its arrows and ticks as data: pictures.
        "img-src 'self' data:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_ALWAYS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_YEAR: Final = 365 * 24 * 3600


def register(app: Flask) -> None:
    """Add the headers to every answer, static files and errors included."""
    app.after_request(_secure)


def _secure(response: Response) -> Response:
    if "Content-Security-Policy" not in response.headers:
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Frame-Options"] = "DENY"
    for name, value in _ALWAYS.items():
        response.headers.setdefault(name, value)
    if runtime().settings.secure:
        response.headers.setdefault("Strict-Transport-Security", f"max-age={_YEAR}")
    if request.endpoint != "static":
        # Pages show personal data; the Back button after signing out must not.
        response.headers.setdefault("Cache-Control", "no-store")
    return response
