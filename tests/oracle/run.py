"""`./dev oracle`: print the table of every recorded entry, or its counts as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from tests.oracle.table import MISMATCH, SKIPPED, Row, names, table
from tests.support import oracle


def main(arguments: Sequence[str] | None = None) -> int:
    """0: everything that was checked agrees; 1: something does not; 2: there is no such case."""
    parser = argparse.ArgumentParser(prog="./dev oracle", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these cases alone")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(arguments)
    known = names()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        sys.stderr.write(f"oracle: no case '{unknown[0]}'; the cases are {', '.join(known)}\n")
        return 2
    rows = {name: table(name) for name in options.names or known}
    found = summary([row for each in rows.values() for row in each])
    text = json.dumps(found, ensure_ascii=False) if options.json else readable(rows, found)
    sys.stdout.write(f"{text}\n")
    return 1 if found["mismatches"] else 0


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """How many checks there were, those that failed, and what was left out."""
    skipped = [r for r in rows if r.result == SKIPPED]
    return {
        "cases": len(rows) - len(skipped),
        "mismatches": [
            {"case": r.case, "entry": r.entry, "kind": r.kind, "difference": r.detail}
            for r in rows
            if r.result == MISMATCH
        ],
        "skipped": [{"case": r.case, "entry": r.entry, "reason": r.detail} for r in skipped],
    }


def readable(rows: dict[str, list[Row]], found: dict[str, Any]) -> str:
    """A table for each case, and the counts."""
    lines: list[str] = []
    for name, each in rows.items():
        lines += [f"{name}: {oracle.case(name)['topic']}", *_lines(each), ""]
    lines.append(
        f"case files: {len(rows)}, {found['cases']} checks, {len(found['mismatches'])} mismatches, "
        f"{len(found['skipped'])} entries skipped for the reason beside them"
    )
    return "\n".join(lines)


def _lines(rows: Sequence[Row]) -> list[str]:
    width = min(64, max((len(row.entry) for row in rows), default=0))
    return [f"  {row.entry:<{width}}  {row.kind:<8}  {_result(row)}" for row in rows]


def _result(row: Row) -> str:
    return f"{row.result}: {row.detail}" if row.detail else row.result


if __name__ == "__main__":
    sys.exit(main())
