"""The ways to install, each into a place of its own that is removed with the folder around it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.packaging.findings import run

_OURS = ("PYTHON", "VIRTUAL_ENV", "GRADSTEP", "XDG_", "CONDA", "QT_", "PYQTGRAPH", "PYTEST")


def clean_environment() -> dict[str, str]:
    """Nothing of the checkout's; what an installer needs to reach an index stays."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}


@dataclass(frozen=True)
class Installed:
    """command: the `gradstep` that users type. python: the interpreter under it."""

    command: Path
    python: Path


@dataclass(frozen=True)
class Sources:
    """uv: the command. tree: a copy of the checkout. wheel: what was built from it."""

    uv: str
    tree: Path
    wheel: Path


Install = Callable[[Sources, Path, Mapping[str, str]], Installed]


def from_wheel(sources: Sources, folder: Path, environment: Mapping[str, str]) -> Installed:
    python = folder / "env" / "bin" / "python"
    run([sources.uv, "venv", "--python", sys.executable, folder / "env"], folder, environment)
    run([sources.uv, "pip", "install", "--python", python, sources.wheel], folder, environment)
    return Installed(python.with_name("gradstep"), python)


def by_uv_tool(sources: Sources, folder: Path, environment: Mapping[str, str]) -> Installed:
    own = {"UV_TOOL_DIR": str(folder / "tools"), "UV_TOOL_BIN_DIR": str(folder / "bin")}
    install = [sources.uv, "tool", "install", "--python", sys.executable, sources.tree]
    run(install, folder, {**environment, **own})
    return Installed(folder / "bin" / "gradstep", folder / "tools" / "gradstep" / "bin" / "python")


def by_pip(sources: Sources, folder: Path, environment: Mapping[str, str]) -> Installed:
    python = folder / "env" / "bin" / "python"
    run([sys.executable, "-m", "venv", folder / "env"], folder, environment)
    run([python, "-m", "pip", "install", "-q", sources.tree], folder, environment)
    return Installed(python.with_name("gradstep"), python)


def by_pipx(sources: Sources, folder: Path, environment: Mapping[str, str]) -> Installed:
    own = {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}
    pipx = [sources.uv, "tool", "run", "pipx", "install", "--python", sys.executable]
    run([*pipx, sources.tree], folder, {**environment, **own})
    python = folder / "pipx" / "venvs" / "gradstep" / "bin" / "python"
    return Installed(folder / "bin" / "gradstep", python)


WAYS: Mapping[str, Install] = {
    "wheel": from_wheel,
    "uv": by_uv_tool,
    "pip": by_pip,
    "pipx": by_pipx,
}
