"""What watching a training costs while nothing happens: of a ResNet-18's step, in per cent.

    ./dev bench watch [--rounds 15] [--python PYTHON] [--json]

Steps with and without take turns, each by its CPU time on one thread; a figure is the median of the
ratios within each round, between its quartiles. What watch itself does is timed by itself, too: it
is less than steps differ on a machine that does anything else. PyTorch is that of an environment in
.bench/, or of --python.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.environments import ROOT, NotAvailableError, python_of
from tests.bench.sized import row_of
from tests.bench.spread import Spread, ratio

SCRIPT = ROOT / "tests" / "traces" / "watch_overhead.py"
TARGETS = {"watched": 1.0, "watched, itself": 1.0}  # per cent, while nothing happens
TITLES = {"with": "watched", "followed": "watched and followed"}


def main(arguments: Sequence[str] | None = None) -> int:
    """0: measured, target met or not, or there is no PyTorch; 1: it could not be."""
    options = _parser().parse_args(arguments)
    try:
        python = options.python or python_of("torch", may_install=True)
    except NotAvailableError as error:
        return error.say("PyTorch", options.json)
    command = [str(python), "-B", str(SCRIPT), str(options.rounds)]  # assets are packed
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return 1
    found = json.loads(done.stdout)
    text = json.dumps({"rows": rows(found)}) if options.json else table(found)
    sys.stdout.write(f"{text}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench watch", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="steps of each kind")
    parser.add_argument("--python", type=Path, metavar="PYTHON", help="one that has PyTorch")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def overheads(found: Mapping[str, Any]) -> dict[str, Spread]:
    """In per cent of a step without: title -> what a step costs more, and what watch does in it."""
    seconds, spreads = found["seconds"], {}
    for kind, title in TITLES.items():
        spreads[title] = _per_cent(ratio(seconds[kind], seconds["without"]), 1)
        spreads[f"{title}, itself"] = _per_cent(ratio(found["itself"][kind], seconds["without"]), 0)
    return spreads


def _per_cent(ratios: Spread, less: int) -> Spread:
    return Spread(*(100 * (each - less) for each in (ratios.median, ratios.low, ratios.high)))


def rows(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The medians in per cent, with their quartiles."""
    return [
        {**row_of(title, spread.median, TARGETS.get(title)), "low": spread.low, "high": spread.high}
        for title, spread in overheads(found).items()
    ]


def table(found: Mapping[str, Any]) -> str:
    """What was measured, in lines."""
    plain = Spread.of(found["seconds"]["without"]).median
    lines = [
        f"{1000 * plain:.0f} ms a step without, PyTorch {found['torch']}; when={found['when']!r}:"
    ]
    lines += [
        f"{title:>30} {each.median:+.2f} % ({each.low:+.2f} … {each.high:+.2f}){_target(title)}"
        for title, each in overheads(found).items()
    ]
    return "\n".join(lines)


def _target(title: str) -> str:
    return f", target {TARGETS[title]:g} %" if title in TARGETS else ""


if __name__ == "__main__":
    sys.exit(main())
