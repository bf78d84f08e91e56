"""Nothing that an engine started outlives the window, whatever it is doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from gradstep.core.host.engine_client import EngineClient
from tests.core.host.test_engine_process import control, opened, until

ROOT = Path(__file__).parents[4]
MARK = "GRADSTEP_TEST_MARK"  # in the environment of all that a test starts
SOON = 2.0  # seconds until nothing may be left

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

BODIES = {  # what user code is at when the window dies
    "loop": "while True: pass",
    "power": "7 ** 10**8",
    "session": "subprocess.Popen(['sleep', '600'], start_new_session=True); time.sleep(600)",
    "orphan": "subprocess.run(['setsid', '--fork', 'sleep', '600']); time.sleep(600)",
    "deaf": "subprocess.run(['sh', '-c', 'trap : TERM HUP INT; while :; do sleep 1; done'])",
}
WINDOW = """
import sys, time
from pathlib import Path
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.protocol.messages import Control, Open
clients = []
for file in map(Path, sys.argv[1:]):
    setup = [sys.executable, "-m", "gradstep.core.host.process.engine_entry"]
    clients.append(client := EngineClient(setup))
    client.send(Open(trusted=True), [file.read_bytes()])
    client.send(Control(command="continue_"))
time.sleep(600)
"""


def marked(mark: str) -> list[str]:
    """The command lines of the processes that have the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                environment = (folder / "environ").read_bytes()
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if f"{MARK}={mark}".encode() in environment.split(b"\0"):
                found.append(command.replace(b"\0", b" ").decode())
    return found


def busy(witness: Path, body: str) -> str:
    return (
        f"import subprocess, time\ndef f(w):\n    open({str(witness)!r}, 'w').close()\n    {body}\n"
    )


@pytest.mark.slow
def test_all_are_gone_when_the_window_is_killed(pyfunc: Callable, tmp_path: Path) -> None:
    mark = str(uuid.uuid4())
    for name, body in BODIES.items():
        (tmp_path / f"{name}.gradstep").write_bytes(pyfunc(busy(tmp_path / name, body)))
    window = subprocess.Popen(
        [sys.executable, "-c", WINDOW, *map(str, tmp_path.glob("*.gradstep"))],
        env={**os.environ, MARK: mark},
        cwd=ROOT,
    )
    try:
        until(lambda: all((tmp_path / name).exists() for name in BODIES))
        until(lambda: sum("sleep" in command for command in marked(mark)) >= 3)
    finally:
        window.kill()
        window.wait()
    killed = time.monotonic()
    while (left := marked(mark)) and time.monotonic() - killed < SOON:
        time.sleep(0.02)
    assert not left


@pytest.mark.engine_process
@pytest.mark.slow
def test_a_killed_engine_takes_its_children_along(
    client: EngineClient, pyfunc: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Restart engine does it; and a supervisor that is killed before it could do anything."""
    monkeypatch.setenv(MARK, mark := str(uuid.uuid4()))
    data = pyfunc(busy(tmp_path / "witness", BODIES["session"]))
    opened(client, data)
    client.send(control_message())
    until((tmp_path / "witness").exists)
    until(lambda: len(marked(mark)) == 3)  # supervisor, engine, child
    client.kill()
    until(lambda: not marked(mark))
    client.restart()
    control(client, "pause")
    os.kill(client.pid, signal.SIGKILL)
    until(lambda: not marked(mark))


def control_message():
    from gradstep.core.protocol.messages import Control

    return Control(command="continue_")
