"""How often a step of each workload launches, waits and copies: counted on the host, for a card
counts nothing, and kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.card import host_counts
from tests.card.device import COUNTED

KNOWN = Path(__file__).parents[2] / "data" / "gpu" / "host_bench_counts.json"


def known(table: Path = KNOWN) -> dict[str, dict[str, list[int]]]:
    """ "WORKLOAD WAY" -> "step" and "fed step" -> launches, waits and copies."""
    found: dict[str, dict[str, list[int]]] = json.loads(table.read_text(encoding="utf-8"))
    return found


def write(found: Mapping[str, Any], table: Path = KNOWN) -> None:
    """Put what was counted ("count|cupy|WORKLOAD|WAY" -> the answer) into the table; what was not
    run stays as it is."""
    rows = {}
    for task, row in found.items():
        _, _, workload, way = task.split("|")
        rows[f"{workload} {way}"] = {
            "step": [row["counts"][name] for name in COUNTED],
            "fed step": [row["fed_counts"][name] for name in COUNTED],
        }
    host_counts.write(rows, table)
