"""The peers' own Python environments, in .bench/, made when a benchmark first wants one, and
those of the tools that mutate and fuzz, of ONNX and of CuPy without a card, made likewise.

None of this is a dependency of the project. A peer that cannot be had costs only its rows.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".bench"
OURS = "gradstep"  # the project's own environment
_NUMPY = "numpy==2.4.6"


@dataclass(frozen=True)
class Environment:
    """installs: commands to try in order, until one succeeds; {python} is the environment's.
    ours: whether Gradstep itself, of this checkout, is to be imported there."""

    name: str
    installs: tuple[tuple[str, ...], ...]
    ours: bool = False


class NotAvailableError(Exception):
    """Why there is no such environment."""

    def say(self, what: str, is_json: bool) -> int:
        """That `what` is not here. Returns the exit status: nothing is wrong."""
        said = f"{what} is not here, and cannot be had: {self}"
        sys.stdout.write((json.dumps({"skipped": said}) if is_json else said) + "\n")
        return 0


def _uv(*packages: str) -> tuple[str, ...]:
    return ("{uv}", "pip", "install", "--quiet", "--python", "{python}", *packages)


# PyTorch: a CPU build where pip's own configuration knows one, else from where uv finds it;
# the plain package brings gigabytes of CUDA.
_TORCH = "torch==2.13.0"
_TRANSFORMERS = "transformers==5.24.0"
_ML_DTYPES = "ml_dtypes>=0.5.1,<0.6"
_RUNTIME = ("onnx==1.23.2", "onnxruntime==1.32.0", "onnxscript==0.7.2")
_PIP = ("{python}", "-m", "pip", "install", "--quiet")
_CORE = (_NUMPY, _ML_DTYPES, "networkx>=3.4,<4", "msgspec>=0.20,<0.23")  # what operations import
ENVIRONMENTS = {
    each.name: each
    for each in (
        Environment(
            "torch",
            (
                (*_PIP, f"{_TORCH}+cpu", _NUMPY),
                _uv("--torch-backend", "cpu", _TORCH, _NUMPY),
            ),
        ),
        Environment("tensorflow", (_uv("tensorflow==2.21.0", _NUMPY),)),
        Environment("jax", (_uv("jax[cpu]==0.10.2", _NUMPY),)),
        Environment("autograd", (_uv("autograd==1.9.1", _NUMPY),)),
        Environment("cosmic-ray", (_uv("cosmic-ray==8.7.0"),)),
        # What ./dev fuzz --guided runs on: Atheris, and all that core imports.
        Environment(
            "atheris",
            (
                _uv(
                    *(
                        "atheris==3.0.0",
                        _NUMPY,
                        _ML_DTYPES,
                        "networkx>=3.4,<4",
                        "msgspec>=0.20,<0.23",
                    ),
                    *("platformdirs>=4.3,<5", "protobuf>=5,<8", "tensorboardX>=2.6.4,<3"),
                    *("graphlay>=0.3.1,<0.4", "threadpoolctl>=3.5,<4"),
                ),
            ),
            ours=True,
        ),
        # CuPy on a machine without a card (./dev gpu --host), and what its device is built with.
        Environment(
            "hostcuda",
            (
                _uv(
                    *(
                        "cupy-cuda13x==14.2.0",
                        "nvidia-cuda-runtime>=13,<14",
                        "nvidia-cuda-crt>=13,<14",
                        "nvidia-cuda-nvrtc>=13,<14",
                    ),
                    *("Cython>=3.2,<3.3", "setuptools>=80", "scipy==1.17.1", _NUMPY),
                    *(_ML_DTYPES, "networkx>=3.4,<4", "msgspec>=0.20,<0.23", "hypothesis>=6.150"),
                ),
            ),
            ours=True,
        ),
        # PyTorch as a device of Gradstep's (./dev torch).
        Environment(
            "torch-device",
            (
                (*_PIP, f"{_TORCH}+cpu", *_CORE),
                _uv("--torch-backend", "cpu", _TORCH, *_CORE),
            ),
            ours=True,
        ),
        # PyTorch, which records the models of tests/traces (./dev traces --live).
        Environment(
            "torch-traces",
            (
                (*_PIP, f"{_TORCH}+cpu", _TRANSFORMERS, _NUMPY),
                _uv("--torch-backend", "cpu", _TORCH, _TRANSFORMERS, _NUMPY),
            ),
        ),
        # JAX and two libraries of networks, which record its functions (./dev traces --jax --live).
        Environment(
            "jax-traces",
            (_uv("jax[cpu]==0.10.2", "flax==0.12.8", "equinox==0.13.8", _NUMPY),),
        ),
        # ONNX, which writes the cases of its own suite (./dev onnx).
        Environment("onnx", (_uv("onnx==1.23.2", _NUMPY),)),
        # PyTorch and ONNX Runtime, which write whole networks (./dev onnx --models).
        Environment(
            "onnx-models",
            (
                (*_PIP, f"{_TORCH}+cpu", _TRANSFORMERS, _NUMPY, *_RUNTIME),
                _uv("--torch-backend", "cpu", _TORCH, _TRANSFORMERS, _NUMPY, *_RUNTIME),
            ),
        ),
        # Gradstep itself beside the libraries that its optional kernels use.
        Environment(
            "kernels",
            (
                _uv(
                    *("scipy==1.17.1", "onednn-cpu-gomp==2023.2.0", "numba==0.68.1", _NUMPY),
                    *(
                        _ML_DTYPES,
                        "networkx>=3.4,<4",
                        "msgspec>=0.20,<0.23",
                        "platformdirs>=4.3,<5",
                    ),
                    "threadpoolctl>=3.5,<4",
                ),
            ),
            ours=True,
        ),
    )
}


def python_of(name: str, may_install: bool) -> Path:
    """The interpreter of environment `name`. Raises NotAvailableError with the reason."""
    if name == OURS:
        return Path(sys.executable)
    python = _python(name)
    if not _ready(name).exists():
        if not may_install:
            raise NotAvailableError(f"{name} is not installed in .bench/ (./dev bench installs it)")
        _install(ENVIRONMENTS[name])
    if ENVIRONMENTS[name].ours:
        for packages in (FOLDER / name).glob("lib/python*/site-packages"):
            link_checkout(packages)
    return python


def link_checkout(packages: Path) -> None:
    """Have `import gradstep` find this checkout there, whatever its folder is called."""
    link = packages / "gradstep"
    if not link.exists():
        link.unlink(missing_ok=True)  # to a checkout that is gone
        link.symlink_to(ROOT, target_is_directory=True)


def _python(name: str) -> Path:
    return FOLDER / name / "bin" / "python"


def _ready(name: str) -> Path:
    """A file that is there once everything is installed; it says what."""
    return FOLDER / name / "installed.txt"


def _install(environment: Environment) -> None:
    uv = os.environ.get("GRADSTEP_UV") or shutil.which("uv")
    if uv is None:
        raise NotAvailableError("there is no uv to install it with")
    folder, python = FOLDER / environment.name, _python(environment.name)
    sys.stderr.write(f"dev: installing {environment.name} into {folder.relative_to(ROOT)}/\n")
    FOLDER.mkdir(exist_ok=True)
    make = ("{uv}", "venv", "--quiet", "--clear", "--seed", "--python", sys.executable, str(folder))
    _do(make, uv, python)
    errors: list[str] = []
    for command in environment.installs:
        try:
            _do(command, uv, python)
        except NotAvailableError as error:
            errors.append(str(error))
        else:
            _ready(environment.name).write_text(" ".join(command[1:]) + "\n")
            return
    raise NotAvailableError(errors[-1])


def _do(command: tuple[str, ...], uv: str, python: Path) -> None:
    words = [word.format(uv=uv, python=python) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        raise NotAvailableError(f"{words[0].rpartition('/')[2]}: {lines[-1].strip()}")
