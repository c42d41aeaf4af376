"""What the API keeps for the life of its process: the tokens it has leased for each key."""

from typing import Final, cast

from flask import Flask, current_app

from web.api.purse import Purse
from web.request import runtime

_KEY: Final = "stellwerk_purse"


def install(app: Flask) -> None:
    """Give `app` its purse; the engine must have been registered before."""
    with app.app_context():
        started = runtime()
    app.extensions[_KEY] = Purse(started.uow, started.settings.api_rate)


def purse() -> Purse:
    """Return the leased tokens of this process."""
    return cast(Purse, current_app.extensions[_KEY])
