"""One thing of each area, for tests that go over all routes: the ids that fill its addresses.

A new area adds its line; the probe fails for a route with an id whose area has none.
"""

from collections.abc import Callable, Mapping
from typing import Final

from sqlalchemy.orm import Session

from tests.factories import accounts

Ids = Mapping[str, str]


def _api_key(session: Session, workspace_id: int) -> Ids:
    row, _secret = accounts.api_key(session, workspace_id)
    return {"public_id": row.public_id}


# blueprint → makes rows in a workspace and returns the values of its routes' arguments
SAMPLES: Final[Mapping[str, Callable[[Session, int], Ids]]] = {
    "api_keys": _api_key,
}
