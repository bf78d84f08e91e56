"""What this machine has: Python, packages, Qt, fonts, a display, devices; and what to do."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from core.cli.output import table
from core.cli.ports import Answer, Application
from core.engine.kernels.library import LIBRARIES
from core.engine.kernels.registry import ALTERNATIVES
from core.errors import GradstepError
from core.host.devices import DeviceServices

_PACKAGES = ("numpy", "msgspec", "networkx", "protobuf", "PySide6-Essentials", "pyqtgraph")
# In a process of its own: a Qt that cannot be loaded must not take the doctor down.
_QT = (
    "import sys; from PySide6.QtGui import QFontDatabase, QGuiApplication; "
    "app = QGuiApplication(['doctor', '-platform', 'offscreen']); "
    "print(len(QFontDatabase.families()))"
)
_QT_FIX = "run ./dev setup: it installs the system libraries that Qt needs"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; `fix` says what to do when it is not ok."""

    name: str
    ok: bool
    text: str
    fix: str = ""


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """All findings. A GPU, display or optional library that is missing is no failure: exit status 1
    is for what keeps Gradstep from working."""
    findings = [_python(), *_packages(), *_qt(), _display()]
    optional = [*_kernels(), *_devices(app.devices())]
    needed = [f for f in findings if f.name != "display"]
    rows = [["ok" if f.ok else "--", f.name, _with_fix(f)] for f in (*findings, *optional)]
    data = {"checks": [asdict(f) for f in (*findings, *optional)]}
    return Answer(data, table(rows), 0 if all(f.ok for f in needed) else 1)


def _python() -> Finding:
    ok = sys.version_info >= (3, 11)
    return Finding("Python", ok, platform.python_version(), "install Python 3.11 or later")


def _packages() -> Iterator[Finding]:
    for name in _PACKAGES:
        try:
            yield Finding(name, True, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(name, False, "not installed", "run ./dev setup")


def _qt() -> Iterator[Finding]:
    try:
        done = subprocess.run(
            [sys.executable, "-c", _QT], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Finding("Qt", False, f"it did not start ({error})", _QT_FIX)
        return
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it did not start"])[-1]
        yield Finding("Qt", False, reason, _QT_FIX)
        return
    fonts = int(done.stdout.split()[-1])
    yield Finding("Qt", True, "starts off-screen")
    yield Finding("fonts", fonts > 0, f"{fonts} found", "install fonts-dejavu-core")


def _display() -> Finding:
    found = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    shown = bool(found) or sys.platform in ("win32", "darwin")
    text = found or ("the desktop" if shown else "none")
    return Finding("display", shown, text, "./dev run plays the tutorial on a virtual one")


def _kernels() -> Iterator[Finding]:
    """What `--kernels` may use, and for what: time relative to NumPy's."""
    for library in LIBRARIES:
        gains = [f"{a.type} in {a.gain}" for a in ALTERNATIVES if a.library is library]
        text = f"with --kernels, {', '.join(gains)} of NumPy's time"
        try:
            library.load()
        except GradstepError as error:
            why = error.message.removeprefix(f"{library.name} ")
            yield Finding(library.name, False, f"{why}; {text}", error.hint)
        else:
            yield Finding(library.name, True, f"{library.version}; {text}")


def _devices(devices: DeviceServices) -> Iterator[Finding]:
    for device in devices.describe():
        yield Finding(device.name, device.available, device.text)


def _with_fix(finding: Finding) -> str:
    if finding.ok or not finding.fix:
        return finding.text
    return f"{finding.text}\n{finding.fix}"
