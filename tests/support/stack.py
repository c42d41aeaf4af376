"""The real thing: `stellwerk` processes on a private port with a HOME of their own.

Nothing is patched. The database and the queue are those of the leg.
"""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.waiting import free_port, wait_for

PROGRAM: Final = Path(sys.executable).with_name("stellwerk")
OWNER: Final = "owner@stellwerk.example"
PASSWORD: Final = "correct horse battery staple"


@dataclass(frozen=True)
class Answer:
    """An HTTP answer: status, headers, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the parsed body."""
        return json.loads(self.body)


class Stack:
    """One installation: an environment, and the processes started in it."""

    def __init__(self, home: Path, database_url: str, redis_url: str | None) -> None:
        self.home = home
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self.database_url = database_url
        self.api_key = secrets.token_urlsafe(32)
        self.env = {
            "PATH": os.environ.get("PATH", ""),
            "STELLWERK_HOME": str(home),
            "STELLWERK_DATABASE_URL": database_url,
            "STELLWERK_BASE_URL": self.base_url,
            "STELLWERK_PORT": str(self.port),
            "STELLWERK_TESTING": "1",
            "STELLWERK_TEST_CLOCK": str(home / "test-clock"),
        }
        if redis_url:
            self.env["STELLWERK_REDIS_URL"] = redis_url
        self.processes: list[subprocess.Popen[bytes]] = []
        home.mkdir(parents=True, exist_ok=True)

    def cli(self, *arguments: str, stdin: str | None = None) -> str:
        """Run one command to its end and return what it printed; raises when it fails."""
        done = self.try_cli(*arguments, stdin=stdin)
        if done.returncode != 0:
            raise AssertionError(f"stellwerk {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def try_cli(
        self, *arguments: str, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run one command to its end and return how it ended."""
        return subprocess.run(
            [PROGRAM, *arguments], env=self.env, cwd=self.home, input=stdin or "",
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def setup(self) -> Any:
        """Create owner, workspace and the full-scope key `api_key`; return the JSON answer."""
        printed = self.cli(
            "setup", "--email", OWNER, "--password-stdin", "--workspace", "Acme",
            "--api-key", self.api_key, "--json", stdin=f"{PASSWORD}\n",
        )  # fmt: skip
        return json.loads(printed)

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a long-running command (`up`, `web`, `worker`) in a process group of its own."""
        log = self.home / f"{arguments[0]}-{len(self.processes)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [PROGRAM, *arguments], env=self.env, cwd=self.home, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self.processes.append(process)
        return process

    def up(self) -> "Stack":
        """Set up, start web and worker, and wait until the console answers."""
        self.setup()
        self.start("up", "--no-demo")
        self.wait_until_ready()
        return self

    def wait_until_ready(self, seconds: float = 60.0) -> None:
        """Wait until /health/live answers 200."""
        wait_for(self._is_live, f"the console at {self.base_url}", seconds, ignore=OSError)

    def _is_live(self) -> bool:
        for process in self.processes:
            if process.poll() is not None:
                raise AssertionError(f"a process ended with {process.returncode}: {self.logs()}")
        return self.request("GET", "/health/live").status == 200

    def request(
        self,
        method: str,
        path: str,
        document: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Return the answer to one request; `document` goes out as JSON."""
        data = None if document is None else json.dumps(document).encode()
        asked = urllib.request.Request(  # noqa: S310 - always the loopback address of this stack
            self.base_url + path, data=data, method=method, headers=dict(headers or {})
        )
        if data is not None:
            asked.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(asked, timeout=30) as got:  # noqa: S310 - as above
                return Answer(got.status, dict(got.headers), got.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, dict(error.headers), error.read())

    def api(self, method: str, path: str, document: object = None, **headers: str) -> Answer:
        """Return the answer to one call of /api/v1 with the full-scope key."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named["Authorization"] = f"Bearer {self.api_key}"
        return self.request(method, f"/api/v1{path}", document, named)

    def move_clock(self, seconds: float) -> None:
        """Set how far the clock of all processes is ahead of the machine's."""
        (self.home / "test-clock").write_text(str(seconds))

    def logs(self) -> str:
        """Return what the processes have printed so far."""
        return "\n".join(
            f"--- {path.name}\n{path.read_text(errors='replace')}"
            for path in sorted(self.home.glob("*.log"))
        )

    def stop(self, process: subprocess.Popen[bytes], seconds: float = 30.0) -> int:
        """Stop one process gracefully and return its exit code."""
        process.terminate()
        return process.wait(seconds)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kill a process and its children at once, as a power cut would."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)

    def close(self) -> None:
        """End everything that still runs."""
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(15)
            self.kill(process)
        for pid in self.left():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def left(self) -> list[int]:
        """Return the processes of this installation, found by their HOME.

        Never by a group's number alone: once its leader has ended, the number may be another's.
        """
        mine = f"STELLWERK_HOME={self.home}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mine in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        return found


@pytest.fixture
def stack(tmp_path: Path, database_url: str, redis_url: str | None) -> Iterator[Stack]:
    """Return an installation on which nothing has been started yet; see Stack.up()."""
    made = Stack(tmp_path / "stack-home", database_url, redis_url)
    yield made
    made.close()
