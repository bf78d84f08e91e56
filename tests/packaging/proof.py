"""That an installed Gradstep works, used as a user would: its command, far from the checkout."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.packaging.findings import CheckFailedError, Findings, expect, run
from tests.packaging.places import Installed, clean_environment

_HERE = Path(__file__).parent
_GRADIENT = [0.56751364, -0.99436176]  # of the tutorial's c
_STAGES = 8  # pictures of a tour
_ENDED = 128 + signal.SIGTERM  # the window's own exit status when it is asked to end
_COLOURS = 40  # at least, on a screen that shows a document
_PATIENCE = 60.0  # seconds for a window to show


class Proof:
    """The checks of one installation. folder: an empty one, with a home and a place to work in.
    before: what is written before each command; see hidden_checkout.

    The window needs the X server that $DISPLAY names.
    """

    def __init__(
        self,
        way: str,
        installed: Installed,
        folder: Path,
        version: str,
        before: Sequence[str] = (),
    ) -> None:
        self.way, self.installed, self.version, self.before = way, installed, version, before
        self.home, self.work = folder / "home", folder / "work"
        self.data = self.home / "data"
        for each in (self.home, self.work, self.data):
            each.mkdir()
        self.environment = environment_in(self.home)
        self._inside: dict[str, Any] = {}

    def into(self, findings: Findings) -> None:
        """Make every check; without the package itself the rest says nothing."""
        if not findings.check(f"{self.way}: from within", self.from_within):
            return
        for name, looked_at in self._checks().items():
            findings.check(f"{self.way}: {name}", looked_at)

    def _checks(self) -> Mapping[str, Callable[[], str]]:
        return {
            "--version": self.says_its_version,
            "doctor": self.is_healthy,
            "grad of an example": self.differentiates,
            "grad in the sandbox": self.differentiates_confined,
            "shot": self.draws,
            "tour": self.plays_the_tutorial,
            "window": self.shows_a_window,
            "desktop": self.enters_the_menu,
        }

    def gradstep(self, *words: str | Path, status: int = 0) -> str:
        command = [*self.before, self.installed.command, *words]
        return run(command, self.work, self.environment, status)

    def example(self, name: str) -> Path:
        """One that lies inside of the installed package."""
        return Path(self._inside["package"]) / "assets" / "examples" / f"{name}.gradstep"

    def from_within(self) -> str:
        """Modules, the process that reads files, the one that lays out, and the engine."""
        text = (_HERE / "inside.py").read_text(encoding="utf-8")
        command = [*self.before, self.installed.python, "-"]
        said = run(command, self.work, self.environment, given=text)
        found = self._inside = json.loads(said)
        checkout = str(_HERE.parents[1])
        expect(not found["package"].startswith(f"{checkout}/"), f"it is {found['package']}")
        expect(checkout not in found["path"], "the checkout is on sys.path")
        expect(not found["foreign"], f"modules from elsewhere: {found['foreign']}")
        expect(found["operations"] == 8, f"the file reader found {found['operations']} operations")
        expect(found["places"] == 3, f"the layout process placed {found['places']} of 3 boxes")
        expect("cpu" in found["engine"], "the engine has no cpu")
        confined = found.get("confined")
        expect(confined is None or "cpu" in confined, "the confined engine has no cpu")
        walls = f"without a sandbox: {found['sandbox']}" if confined is None else "sandbox, too"
        return f"reader, layout and engine work; {walls}; {found['examples']} examples"

    def says_its_version(self) -> str:
        said = self.gradstep("--version").strip()
        expect(said == f"gradstep {self.version}", f"it says {said}")
        return said

    def is_healthy(self) -> str:
        checks = json.loads(self.gradstep("doctor", "--json"))["checks"]
        text = json.dumps(checks)
        expect("./dev" not in text, "it names ./dev, which only a checkout has")
        return f"{sum(check['ok'] for check in checks)} of {len(checks)} are there"

    def differentiates(self) -> str:
        question = "--of", "loss", "--wrt", "c", "--json"
        found = json.loads(self.gradstep("grad", self.example("tutorial"), *question))
        gradient = found["gradients"]["c"]["data"]
        expect(gradient == _GRADIENT, f"the gradient of c is {gradient}, not {_GRADIENT}")
        return f"d loss/d c = {gradient}"

    def differentiates_confined(self) -> str:
        """With Python of the document's own."""
        if self._inside["sandbox"]:
            return f"there is none here: {self._inside['sandbox']}"
        question = "--of", "loss", "--wrt", "c", "--sandbox", "--json"
        found = json.loads(self.gradstep("grad", self.example("override_add"), *question))
        return f"d loss/d c = {found['gradients']['c']['data']}"

    def draws(self) -> str:
        self.gradstep("shot", self.example("tutorial"), "shot.png", "--step", "14")
        return f"{(self.work / 'shot.png').stat().st_size >> 10} KiB"

    def plays_the_tutorial(self) -> str:
        self.gradstep("tour", "--out", "tour")
        pictures = [*(self.work / "tour").glob("*.png")]
        expect(len(pictures) == _STAGES, f"{len(pictures)} pictures, not {_STAGES}")
        return f"{len(pictures)} pictures"

    def shows_a_window(self) -> str:
        """The window itself, on the screen; ended as a desktop's session ends it."""
        command = [*self.before, self.installed.command, self.example("tutorial")]
        with subprocess.Popen(
            command, cwd=self.work, env=self.environment, stderr=subprocess.PIPE, text=True
        ) as window:
            try:
                colours = self._wait_for_colours(window)
            finally:
                window.terminate()
            _, said = window.communicate(timeout=_PATIENCE)
        expect(window.returncode == _ENDED, f"it ended with {window.returncode}: {said[-300:]}")
        expect("Traceback" not in said, said[-300:])
        return f"{colours} colours on the screen; it ended when it was asked to"

    def _wait_for_colours(self, window: subprocess.Popen[str]) -> int:
        until = time.monotonic() + _PATIENCE
        colours = 0
        while time.monotonic() < until:
            expect(window.poll() is None, "it ended by itself")
            out = self.work / "screen.png"
            grab = [sys.executable, _HERE / "screen_grab.py", out]
            colours = int(run(grab, self.work, self.environment))
            if colours >= _COLOURS:
                return colours
        raise CheckFailedError(f"the screen has {colours} colours after {_PATIENCE:g} s")

    def enters_the_menu(self) -> str:
        before = _tree(self.data)
        written = json.loads(self.gradstep("desktop", "install", "--json"))["written"]
        entry = (self.data / "applications" / "gradstep.desktop").read_text(encoding="utf-8")
        command = self.installed.command
        expect(f'Exec="{command}" %f' in entry, f"it does not start {command}")
        self.gradstep("desktop", "uninstall")
        left = _tree(self.data) - before
        expect(not left, f"uninstalling leaves {sorted(left)}")
        return f"{len(written)} files written, all of them taken away"


def environment_in(home: Path) -> dict[str, str]:
    """What a user's shell has, in a home of its own, on the display that there is."""
    folders = {
        f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE")
    }
    return {
        **clean_environment(),
        **folders,
        "XDG_DATA_HOME": str(home / "data"),
        "HOME": str(home),
        "QT_QPA_PLATFORM": os.environ.get("QT_QPA_PLATFORM", ""),
    }


def _tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
