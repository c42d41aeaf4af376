"""A real OpenSMTPD that delivers everything to one maildir.

It has one control socket and one spool a machine, so runs on the same machine take turns. It
needs root, to change to its own users.
"""

import fcntl
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Final

import pytest

from tests.support import programs
from tests.support.servers import Server
from tests.support.waiting import wait_for

_TURN: Final = Path(tempfile.gettempdir()) / "stellwerk-opensmtpd.lock"
_USER: Final = "mail"
_CONFIG: Final = """\
listen on 127.0.0.1 port {port} hostname mx.example
action "keep" maildir "{maildir}" virtual {{ "@" = {user} }}
match from any for any action "keep"
"""


class OpenSmtpd(Server):
    """A running OpenSMTPD."""

    def __init__(self) -> None:
        paths = programs.need("OpenSMTPD", ("smtpd", "smtpctl"), root=True)
        self._control = paths["smtpctl"]
        super().__init__("smtpd")
        self.maildir = self.folder / "mail"
        self.folder.chmod(0o755)
        self.maildir.mkdir()
        shutil.chown(self.maildir, _USER)
        config = self.folder / "smtpd.conf"
        config.write_text(_CONFIG.format(port=self.port, maildir=self.maildir, user=_USER))
        self.spawn([paths["smtpd"], "-d", "-f", config])

    @property
    def url(self) -> str:
        """Return the address for STELLWERK_SMTP_URL."""
        return f"smtp://127.0.0.1:{self.port}"

    def delivered(self) -> list[EmailMessage]:
        """Return the messages in the maildir, oldest first."""
        files = sorted(self.maildir.glob("new/*"), key=lambda path: path.stat().st_mtime_ns)
        return [message_from_bytes(path.read_bytes(), policy=policy.default) for path in files]

    def wait_for_mails(self, count: int, seconds: float = 30.0) -> list[EmailMessage]:
        """Return the messages once at least `count` are delivered."""
        wait_for(lambda: len(self.delivered()) >= count, f"{count} mails in the maildir", seconds)
        return self.delivered()

    def rest(self) -> None:
        """Wait until nothing is left in the spool, which the next one on this machine would send.

        A delivered mail leaves the spool only a moment after it stands in the maildir.
        """
        wait_for(lambda: not self._queued(), "an empty spool", 30)

    def _queued(self) -> bytes:
        shown = subprocess.run([self._control, "show", "queue"], check=True, capture_output=True)
        return shown.stdout.strip()


@pytest.fixture
def opensmtpd() -> Iterator[OpenSmtpd]:
    """Return a running OpenSMTPD with an empty maildir."""
    with _TURN.open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        server = OpenSmtpd()
        yield server
        try:
            server.rest()
        finally:
            server.stop()
