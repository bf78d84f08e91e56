"""Corner cases where libraries do not agree, as each library's own function answers them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tests.card.libraries import open_library, tried
from tests.card.rules import floats, indices, integers, products, reductions, subnormals
from tests.card.rules.row import Row

_SUBJECTS = (indices, integers, floats, reductions, subnormals, products)
ROWS: dict[str, Row] = {name: row for each in _SUBJECTS for name, row in each.rows().items()}


def try_one(device: str, task: str) -> dict[str, Any]:
    """task: "rule|LIBRARY|ROW"."""
    _, name, row = task.split("|", 2)
    function = ROWS[row].of(name)
    if function is None:
        return {"absent": "it has no such function"}
    try:
        library = open_library(name, device)
    except (ImportError, RuntimeError) as error:
        return {"absent": str(error)[:160]}

    def run() -> Any:
        return function(library.xp, *(library.put(x) for x in ROWS[row].inputs))

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tried(library, run)
