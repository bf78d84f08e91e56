"""Models recorded anew by PyTorch or JAX, which live in environments of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.environments import ROOT, NotAvailableError, python_of

RECORD = Path(__file__).with_name("record_torch.py")


def record(
    folder: Path, names: Sequence[str], python: Path | None = None, framework: str = "torch"
) -> None:
    """Write the traces of these models into a folder; of one that cannot be recorded there is none,
    and standard error says why.

    python: an interpreter that has the framework; else one in .bench/, made when it is first asked
            for. Raises NotAvailableError where there is none."""
    interpreter = str(python or python_of(f"{framework}-traces", may_install=True))
    script = str(RECORD.with_name(f"record_{framework}.py"))
    command = [interpreter, "-B", script, "--into", str(folder), *names]  # assets are packed
    try:
        subprocess.run(command, check=False, cwd=ROOT, stdout=sys.stderr, env=_environment())
    except OSError as error:
        raise NotAvailableError(f"{command[0]}: {error.strerror}") from error


def _environment() -> dict[str, str]:
    """Without what would lead that interpreter to our own packages."""
    return {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}
