"""Models recorded anew by PyTorch, which lives in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.environments import ROOT, NotAvailableError, python_of

RECORD = Path(__file__).with_name("record_torch.py")
ENVIRONMENT = "torch-traces"


def record(folder: Path, names: Sequence[str], python: Path | None = None) -> None:
    """Write the traces of these models into a folder; of one that cannot be recorded there is none,
    and standard error says why.

    python: an interpreter that has PyTorch; else one in .bench/, made when it is first asked for.
    Raises NotAvailableError where there is none."""
    interpreter = str(python or python_of(ENVIRONMENT, may_install=True))
    command = [interpreter, "-B", str(RECORD), "--into", str(folder), *names]  # assets are packed
    try:
        subprocess.run(command, check=False, cwd=ROOT, stdout=sys.stderr, env=_environment())
    except OSError as error:
        raise NotAvailableError(f"{command[0]}: {error.strerror}") from error


def _environment() -> dict[str, str]:
    """Without what would lead that interpreter to our own packages."""
    return {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}
