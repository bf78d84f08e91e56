"""What TensorFlow did: the recorded cases under tests/data/oracle."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

CASES = Path(__file__).parents[1] / "data" / "oracle" / "cases"


@cache
def case(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def array(tensor: dict[str, Any]) -> np.ndarray:
    """A recorded tensor; NaN and infinities are strings there."""
    data = np.array(tensor["data"], dtype=object).astype(tensor["dtype"])
    return data.reshape(tensor["shape"])


def message(entry: dict[str, Any]) -> str:
    """TensorFlow's words, without the node that it appends."""
    return str(entry["message"]).partition("\n")[0]
