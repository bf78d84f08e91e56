"""A program `ssh` that leads to this machine: another home folder, and the command run by a shell.

It is on PATH in the place of the real one. Of hosts it knows, `unreachable` cannot be reached,
`choked` is gone in the middle of its first word, `talkative` prints before the command does, and
all others run it; cutting the connection ends it as the real one ends when the network goes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

_SCRIPT = """#!{python}
import json, os, subprocess, sys, time
said, home, cut = {said!r}, {home!r}, {cut!r}
with open(said, "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
at = sys.argv.index("--")
host, command = sys.argv[at + 1], " ".join(sys.argv[at + 2:])
if host == "unreachable":
    print("ssh: connect to host unreachable port 22: No route to host", file=sys.stderr)
    sys.exit(255)
if host == "choked":
    print("GRD1", end="", flush=True)
    print("Connection closed by 10.0.0.1 port 22", file=sys.stderr)
    sys.exit(255)
if host == "talkative":
    print("Welcome to talkative", flush=True)
child = subprocess.Popen(["/bin/sh", "-c", command], cwd=home, env={{**os.environ, "HOME": home}})
while child.poll() is None:
    if os.path.exists(cut):
        child.kill()
        print("Timeout, server box not responding.", file=sys.stderr)
        sys.exit(255)
    time.sleep(0.02)
sys.exit(255 if child.returncode < 0 else child.returncode)
"""


class OtherMachine:
    """What the stand-in leads to. home: its home folder; address: of an engine there."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self._said, self._cut = folder / "there", folder / "said", folder / "cut"
        self.home.mkdir(parents=True)
        program = folder / "bin" / "ssh"
        program.parent.mkdir()
        script = _SCRIPT.format(
            python=sys.executable, said=str(self._said), home=str(self.home), cut=str(self._cut)
        )
        program.write_text(script, encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        self.address = f"ssh://box{sys.prefix}"

    @property
    def said(self) -> list[list[str]]:
        """What ssh was called with, each time."""
        import json

        return [json.loads(line) for line in self._said.read_text(encoding="utf-8").splitlines()]

    def cut(self) -> None:
        """The network goes, until `mend`."""
        self._cut.touch()

    def mend(self) -> None:
        self._cut.unlink()
