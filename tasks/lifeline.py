"""Ties a child to its supervisor: when that one is killed, the child ends by itself, gracefully.

Otherwise a killed `stellwerk up` would leave a web server on its port and a worker on its queues.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import Final

_LOOK_S: Final = 0.5


def tie(on_loss: Callable[[], None]) -> None:
    """Call `on_loss` once this process has lost the parent it has now."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
        on_loss()

    threading.Thread(target=watch, name="Lifeline", daemon=True).start()
