"""How often a run of each example, and each operation, launches, waits and copies: what is known,
and what is more now.

Only the host's device counts, and what it counts is the same on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.card.device import COUNTED

_FOLDER = Path(__file__).parents[1] / "data" / "gpu"
KNOWN = _FOLDER / "host_counts.json"  # of examples
OPS_KNOWN = _FOLDER / "host_op_counts.json"  # of the sample that takes most


def more(found: Mapping[str, list[int]], table: Path = KNOWN) -> list[list[Any]]:
    """Name, what, how often it is known to be, and how often it was; of those in the table."""
    known: dict[str, list[int]] = json.loads(table.read_text(encoding="utf-8"))
    return [
        [name, what, before, now]
        for name, counts in found.items()
        for what, before, now in zip(COUNTED, known.get(name, counts), counts, strict=True)
        if now > before
    ]


def write(found: Mapping[str, Any], table: Path = KNOWN) -> None:
    """Put what was found into the table; what was not run stays as it is known."""
    known = {**json.loads(table.read_text(encoding="utf-8")), **found}
    rows = (f" {json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
    table.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
