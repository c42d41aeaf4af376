"""Starts the product as a newcomer would: fresh clone, empty environment, bare PATH.

PATH holds only links to python3, make, git and coreutils. `make run` has to answer on its port
within 90 s of the clone, stop gracefully on Ctrl-C, and start again within seconds.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST_START_S = 90
SECOND_START_S = 30
STOP_S = 30


def bare_path(folder: Path) -> Path:
    """Return a folder with links to python3, make, git and coreutils, and nothing else."""
    folder.mkdir()
    # The real interpreter: the one of this virtual environment's base, not a wrapper script.
    base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    (folder / "python3").symlink_to(base.resolve())
    listed = subprocess.run(
        ["/usr/bin/dpkg", "-L", "coreutils"], check=True, capture_output=True, text=True
    ).stdout.split()
    programs = [path for path in listed if "/bin/" in path or "/sbin/" in path]
    for program in ["/usr/bin/make", "/usr/bin/git", *programs]:
        (folder / Path(program).name).symlink_to(program)
    return folder


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(clone: Path, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start `make run` in a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [Path(environment["PATH"]) / "make", "run"],
        cwd=clone,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )


def wait_for_answer(process: subprocess.Popen[bytes], address: str, end: float) -> None:
    """Return once the address answers 200; exit with a word when the time is up."""
    while time.monotonic() < end:
        if process.poll() is not None:
            sys.exit(f"make run ended with {process.returncode}")
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.2)
    sys.exit(f"{address} did not answer in time")


def interrupt(process: subprocess.Popen[bytes]) -> None:
    """Press Ctrl-C: the whole group gets SIGINT and must be gone soon after."""
    os.killpg(process.pid, signal.SIGINT)
    process.wait(STOP_S)
    end = time.monotonic() + STOP_S
    while time.monotonic() < end:
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.2)
    sys.exit("processes of the group live on after Ctrl-C")


def one_start(clone: Path, environment: dict[str, str], began: float, limit: float) -> None:
    """Start, wait for the answer, stop; exit with a word when any of it fails."""
    process = start(clone, environment)
    try:
        address = f"http://127.0.0.1:{environment['STELLWERK_PORT']}/"
        wait_for_answer(process, address, began + limit)
        print(f"answered after {time.monotonic() - began:.1f} s (limit {limit} s)", flush=True)
        interrupt(process)
        print("stopped gracefully", flush=True)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def main() -> None:
    """Clone, start, stop, start again."""
    with tempfile.TemporaryDirectory(prefix="stellwerk-fresh-") as name:
        folder = Path(name)
        environment = {
            "PATH": str(bare_path(folder / "bin")),
            "STELLWERK_PORT": str(free_port()),
        }
        clone = folder / "clone"
        began = time.monotonic()
        subprocess.run(["/usr/bin/git", "clone", "--quiet", ROOT, clone], check=True)
        one_start(clone, environment, began, FIRST_START_S)
        one_start(clone, environment, time.monotonic(), SECOND_START_S)


if __name__ == "__main__":
    main()
