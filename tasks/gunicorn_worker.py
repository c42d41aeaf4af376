"""The web server's worker class: silent connections do not hold up the end of the process.

A browser opens spare connections and says nothing on them. The library waits five seconds for each,
four at a time, even once the process has been told to end; here it looks up every moment.
"""

import time
from typing import Any, Final

from gunicorn.workers.gthread import DEFAULT_WORKER_DATA_TIMEOUT, TConn, ThreadWorker

_LOOK_S: Final = 0.25


class PromptWorker(ThreadWorker):  # type: ignore[misc]  # the library has no types
    """Threads that stop waiting for a first word when the process is to end."""

    def handle(self, conn: TConn) -> Any:
        """Handle one connection in a thread; close one that is silent while the process ends."""
        patience = time.monotonic() + DEFAULT_WORKER_DATA_TIMEOUT
        while not conn.initialized and not conn.wait_for_data(_LOOK_S):
            if not self.alive:
                # The library closes what raised at once; a polite close would wait two seconds.
                raise TimeoutError
            if time.monotonic() >= patience:
                break
        return super().handle(conn)
