"""`./dev bench`: measure against the targets; a table or JSON, and docs/benchmarks.md."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from tests.bench import (
    acting,
    canvas,
    debug,
    deriving,
    edits,
    engine,
    memory,
    report,
    run,
    scaling,
    starting,
    train,
    watching,
)
from tests.bench.choices import Choices
from tests.bench.racing import Races
from tests.bench.rows import Row
from tests.bench.targets import TITLES

# By their names; they have options of their own: sizes, shapes, a figure.
_ALONE = {
    "scaling": scaling.main,
    "edits": edits.main,
    "derive": deriving.main,
    "window": acting.main,
    "memory": memory.main,
    "watch": watching.main,
}
GROUPS = ("engine", "run", "train", "canvas", "debug", "start", *_ALONE)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: everything was measured, targets met or not; 1: something of ours could not be, or does
    not compute what the others do; 2: bad usage."""
    parser = _parser()
    options, more = parser.parse_known_args(arguments)
    if (alone := _ALONE.get(options.group)) is not None:
        sized = options.quick and alone is not watching.main
        sizes = ["--sizes", "300,3000"] if sized else []
        counted = alone in (deriving.main, acting.main, watching.main)
        rounds = ["--rounds", "1"] if options.quick and counted else []
        return alone([*sizes, *rounds, *more, *(["--json"] if options.json else [])])
    if more:
        parser.error(f"unrecognized arguments: {' '.join(more)}")
    only = tuple(options.only.lower().split(",")) if options.only else ()
    if unknown := [name for name in only if name not in TITLES]:
        names = ", ".join(TITLES)
        sys.stderr.write(f"bench: no workload '{unknown[0]}'; the workloads are {names}\n")
        return 2
    choices = Choices(options.quick, only)
    rows, races = measured(choices, options.group)
    if options.json:
        text = json.dumps({"rows": [row.as_json() for row in rows]}, ensure_ascii=False)
    else:
        text = report.readable(rows)
    sys.stdout.write(f"{text}\n")
    if options.group is None and not choices.quick and not only:
        _write(rows, races)
    return 1 if any(row.fault for row in rows) else 0


def _write(rows: Sequence[Row], races: Races) -> None:
    """The page, unless its figures would be of this moment rather than of the machine."""
    if doubts := report.doubts(rows, races):
        text = "; ".join(doubts)
        sys.stderr.write(f"bench: {report.PAGE.name} is left as it was: {text}\n")
    else:
        report.write(rows, races)


def measured(choices: Choices, group: str | None) -> tuple[list[Row], Races]:
    """The rows of one group or of all."""
    rows: list[Row] = []
    races: Races = {}
    if group in (None, "engine"):
        rows, races = engine.rows(choices)
    others = {"run": run, "train": train, "debug": debug, "canvas": canvas, "start": starting}
    for name, one in others.items():
        if group == name or (group is None and not choices.only):
            rows += one.rows(choices)
    return rows, races


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("group", nargs="?", choices=GROUPS, help="this alone")
    parser.add_argument("--quick", action="store_true", help="less exact, in under two minutes")
    parser.add_argument("--only", metavar="W1,W4", help="these workloads alone")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
