"""`./dev devices`: what is known of each emulated system, and whether that is what libraries do."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.rule_statuses import cells
from tests.devices import card_rows
from tests.devices.holding import all_mismatches
from tests.devices.page import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "devices.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """0: what is measured agrees; 1: something does not."""
    parser = argparse.ArgumentParser(prog="./dev devices", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--page", action="store_true", help="write docs/devices.md anew")
    parser.add_argument(
        "--every", metavar="N", type=int, default=1, help="only each Nth of the cases"
    )
    options = parser.parse_args(arguments)
    if options.page:
        PAGE.write_text(page(), encoding="utf-8", newline="\n")
        return 0
    found = summary(options.every)
    text = json.dumps({"profiles": found}) if options.json else readable(found)
    sys.stdout.write(f"{text}\n")
    return 1 if any(row["mismatches"] for row in found.values()) else 0


def summary(every: int = 1) -> dict[str, dict[str, Any]]:
    """Of each profile how many cells there are, and of what kind; how many cases its library, or a
    card, was asked; and those in which it gives something else."""
    found: dict[str, dict[str, Any]] = {}
    for profile in PROFILES:
        counts = Counter(cell.status for cell in cells(profile))
        kinds = {status: counts[status] for status in ("measured", "read", "unknown")}
        found[profile] = {"cells": sum(counts.values()), **kinds, "cases": 0, "mismatches": 0}
    for library, _, _, asked, differ in all_mismatches(every):
        found[library]["cases"] += asked
        found[library]["mismatches"] += len(differ)
    for row in card_rows.ROWS:
        found["cupy"]["cases"] += 1
        found["cupy"]["mismatches"] += not card_rows.is_held(row)
    return found


def readable(found: dict[str, dict[str, Any]]) -> str:
    head = ("system", *next(iter(found.values())))
    rows = [head, *((name, *map(str, row.values())) for name, row in found.items())]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())
