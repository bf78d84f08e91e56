"""The wheel of `native/`: built where there is a C compiler, used beside an installed Gradstep."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.packaging.findings import expect, run
from tests.packaging.proof import Proof

# The stable ABI: one wheel for every Python from 3.11 on.
_FITS_EVERY_PYTHON = "-cp311-abi3-"
_WARMING = 3  # runs: the second makes the table


def why_not() -> str:
    """Why none can be built here; empty where it can."""
    return "" if any(map(shutil.which, ("cc", "gcc", "clang"))) else "there is no C compiler"


def build(uv: str, tree: Path, out: Path, environment: Mapping[str, str]) -> Path:
    """Raises CheckFailedError."""
    run([uv, "build", "--wheel", "--out-dir", out, tree / "native"], out.parent, environment)
    (wheel,) = out.glob("gradstep_native-*.whl")
    expect(_FITS_EVERY_PYTHON in wheel.name, f"{wheel.name} is of one Python's ABI")
    return wheel


def use(uv: str, wheel: Path, proof: Proof) -> str:
    """Beside the installation of `proof`: `doctor` sees it, and a fast run gives the same bits."""
    document = proof.example("tutorial")
    question = "run", document, "--fast", "--runs", str(_WARMING), "--json"
    before = json.loads(proof.gradstep(*question))
    run(
        [uv, "pip", "install", "--python", proof.installed.python, wheel],
        proof.work,
        proof.environment,
    )
    checks = json.loads(proof.gradstep("doctor", "--json"))["checks"]
    (seen,) = (check for check in checks if check["name"] == "native tables")
    expect(seen["ok"], f"doctor: {seen['text']}")
    expect(json.loads(proof.gradstep(*question)) == before, "it computes something else")
    return seen["text"].partition(";")[0] + ", the same bits"
