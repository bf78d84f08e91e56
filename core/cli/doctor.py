"""What this machine has: Python, packages, Qt, fonts, a display, devices; and what to do."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from gradstep.core.cli.application_protocol import Answer, Application
from gradstep.core.engine.kernels.kernel_libraries import LIBRARIES
from gradstep.core.engine.kernels.kernel_registry import ALTERNATIVES
from gradstep.core.errors import GradstepError
from gradstep.core.host.device_services import DeviceServices
from gradstep.core.host.machine_report import MachineFact, as_text, examine
from gradstep.core.host.remote_engine import HERE, read_address
from gradstep.core.installation import extra_command, is_checkout
from gradstep.core.native_extension import SWITCH, extension
from gradstep.core.program import sandbox
from gradstep.core.program.sandbox import bubblewrap, landlock, seccomp

QT_BINDING = "PySide6-Essentials"  # without it nothing is to be said of Qt
_PACKAGES = ("numpy", "msgspec", "networkx", "protobuf", QT_BINDING, "pyqtgraph")
_OF_ENGINES = ("Python", *_PACKAGES)  # an engine elsewhere shows no window
# In a process of its own: a Qt that cannot be loaded must not take the doctor down.
_QT = (
    "import sys; from PySide6.QtGui import QFontDatabase, QGuiApplication; "
    "app = QGuiApplication(['doctor', '-platform', 'offscreen']); "
    "print(len(QFontDatabase.families()))"
)
_PATIENCE_S = 30.0  # for what devices say of themselves: "still asking" would be no answer here
_APT = "sudo apt-get install"
_FONTS = "fonts-dejavu-core"
# What Qt loads and a fresh Debian or Ubuntu lacks, under names that all of them know; as in ./dev.
QT_PACKAGES = (
    "libegl1 libgl1 libdbus-1-3 libfontconfig1 libglib2.0-0 libgssapi-krb5-2 libxkbcommon-x11-0 "
    "libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libwayland-cursor0 libwayland-egl1 "
    f"{_FONTS}"
)
SANDBOX, TOUR, NATIVE = "sandbox", "gradstep tour", "native tables"


def execute(args: argparse.Namespace, app: Application) -> Answer:
    """All findings. A GPU, display or optional library that is missing is no failure: exit status 1
    is for what keeps Gradstep from working."""
    if args.engine and args.engine != HERE:
        every = examine(read_address(args.engine))
        return _answer(every, [f for f in every if f.name in _OF_ENGINES])
    packages = [*_packages()]
    has_qt = any(f.ok for f in packages if f.name == QT_BINDING)
    findings = [_python(), *packages, *(_qt() if has_qt else ()), _display()]
    findings += [_sandbox(), _end()]
    optional = [*_devices(app.devices()), _native(), *_kernels()]
    needed = [f for f in findings if f.name not in ("display", SANDBOX)]
    return _answer([*findings, *optional], needed)


def _answer(every: Sequence[MachineFact], needed: Iterable[MachineFact]) -> Answer:
    data = {"checks": msgspec.to_builtins(every)}
    return Answer(data, as_text(every), 0 if all(f.ok for f in needed) else 1)


def _python() -> MachineFact:
    ok = sys.version_info >= (3, 11)
    return MachineFact("Python", ok, platform.python_version(), "install Python 3.11 or later")


def _packages() -> Iterator[MachineFact]:
    for name in _PACKAGES:
        try:
            yield MachineFact(name, True, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            yield MachineFact(
                name, False, "not installed", f"run {extra_command()}", [extra_command()]
            )


def _qt() -> Iterator[MachineFact]:
    try:
        done = subprocess.run(
            [sys.executable, "-c", _QT], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield _qt_fails(f"it did not start ({error})")
        return
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it did not start"])[-1]
        yield _qt_fails(reason)
        return
    fonts = int(done.stdout.split()[-1])
    yield MachineFact("Qt", True, "starts off-screen")
    fix, command = f"install {_FONTS}", f"{_APT} {_FONTS}"
    yield MachineFact("fonts", fonts > 0, f"{fonts} families", fix, [command])


def _qt_fails(reason: str) -> MachineFact:
    """Mostly it is a system library that is not there."""
    if is_checkout():
        commands = ["./dev setup"]
        fix = "run ./dev setup: it installs the system libraries that Qt needs"
    elif shutil.which("apt-get"):
        commands = [f"{_APT} {QT_PACKAGES}"]
        fix = f"install the system libraries that Qt needs: {commands[0]}"
    else:
        fix, commands = "install the library that it names, with your system's package manager", []
    return MachineFact("Qt", False, reason, fix, commands)


def _display() -> MachineFact:
    found = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    shown = bool(found) or sys.platform in ("win32", "darwin")
    text = found or ("the desktop" if shown else "none")
    command, where = ("./dev run", "on a virtual one") if is_checkout() else (TOUR, "without one")
    fix = f"{command} plays the tutorial {where}"
    return MachineFact("display", shown, text, fix, [command])


def _sandbox() -> MachineFact:
    """What keeps a document's Python from network and files."""
    has = {
        f"Landlock, version {landlock.abi()}": bool(landlock.abi()),
        "seccomp": not seccomp.why_not(),
        "bubblewrap": not bubblewrap.why_not(),
    }
    text = "; ".join(name for name, there in has.items() if there) or "none"
    if reason := sandbox.why_not():
        text = reason
    elif not has["bubblewrap"]:
        text += f" (bubblewrap: {bubblewrap.why_not()})"
    fix = 'install bubblewrap: without it nothing runs "without network and files"'
    commands = [f"{_APT} bubblewrap"] if sys.platform == "linux" else []
    return MachineFact(SANDBOX, not reason, text, fix if commands else "", commands)


def _end() -> MachineFact:
    """Whether anything can outlive the window."""
    words = {
        "linux": "with the window, and all that it started (PR_SET_PDEATHSIG, subreaper)",
        "win32": "with the window, and all that it started (job object)",
    }
    text = words.get(sys.platform, "with the window, and its process group")
    return MachineFact("engine's end", True, text)


def _native() -> MachineFact:
    """What runs small plans many times sooner, to the same bits."""
    there, gain = extension(), "runs plans as tables of NumPy's own loops, to the same bits"
    if there.make is not None:
        return MachineFact(NATIVE, True, f"{there.version}; {gain}")
    fix, commands = "install the package gradstep-native: docs/native.md says how", []
    if os.environ.get(SWITCH) == "0":
        fix, commands = f"unset {SWITCH}", [f"unset {SWITCH}"]
    elif is_checkout():
        fix, commands = "./dev native builds it", ["./dev native"]
    return MachineFact(NATIVE, False, f"{there.why_not}; {gain}", fix, commands)


def _kernels() -> Iterator[MachineFact]:
    """What `--kernels` may use, and for what: time relative to NumPy's."""
    commands = [extra_command("kernels")]
    for library in LIBRARIES:
        gains = [f"{a.type} in {a.gain}" for a in ALTERNATIVES if a.library is library]
        text = f"with --kernels, {', '.join(gains)} of NumPy's time"
        try:
            library.load()
        except GradstepError as error:
            why = error.message.removeprefix(f"{library.name} ").removeprefix("is ")
            yield MachineFact(library.name, False, f"{why}; {text}", error.hint, commands)
        else:
            yield MachineFact(library.name, True, f"{library.version}; {text}")


def _devices(devices: DeviceServices) -> Iterator[MachineFact]:
    for device in devices.describe(_PATIENCE_S):
        yield MachineFact(device.name, device.available, device.text, commands=device.commands)
