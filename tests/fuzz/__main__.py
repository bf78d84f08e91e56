"""`./dev fuzz`: files, texts, commands and wires as nobody meant them, and what becomes of them."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: workers are forked

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fuzz.campaign import Campaign, failure_in, keep, reduced
from tests.fuzz.failure import ROOT
from tests.fuzz.kinds import Kind, kinds
from tests.fuzz.pipeline import try_case

_EVER = 1 << 62


def main(arguments: Sequence[str] | None = None) -> int:
    """0: nothing failed; 1: something did; 2: bad usage."""
    there = kinds()
    options = _parser([*there]).parse_args(arguments)
    if options.window:
        from tests.fuzz.window import rewire_in_window

        answer = rewire_in_window(options.start, options.cases or 40, options.minutes)
        _report(options, {"wires": answer})
        return int(bool(answer["failures"]))
    chosen = options.kind or [name for name in there if name != "expressions"]
    if unknown := [name for name in chosen if name not in there]:
        sys.stderr.write(f"fuzz: no kind '{unknown[0]}'; the kinds are {', '.join(there)}\n")
        return 2
    if options.guided:
        from tests.fuzz.guided import start

        return start(chosen[0], options.minutes or 10)
    if options.case is not None:
        return _alone(there[chosen[0]], options.seed, options.case)
    found = {name: _tried(there[name], name, options) for name in chosen}
    _report(options, found)
    return int(any(one["failures"] for one in found.values()))


def _parser(names: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev fuzz", description=__doc__)
    parser.add_argument(
        "kind", nargs="*", help=f"{', '.join(names)}; all of them where none is said"
    )
    parser.add_argument("--minutes", type=float, help="of each kind at most")
    parser.add_argument("--cases", type=int, help="of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="the first case's number")
    parser.add_argument("--case", type=int, help="this one alone, here, with its traceback")
    parser.add_argument(
        "--guided", action="store_true", help="let Atheris look for cases that reach other code"
    )
    parser.add_argument("--window", action="store_true", help="wires, dragged in the real window")
    parser.add_argument("--forget", action="store_true", help="keep no failing case")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    return parser


def _tried(kind: Kind, name: str, options: argparse.Namespace) -> Mapping[str, Any]:
    count = options.cases or (_EVER if options.minutes else kind.usual)
    numbers = kind.numbers(options.start, count)
    seconds = 60 * options.minutes if options.minutes else _EVER
    campaign, began = Campaign(), time.monotonic()
    campaign.run(kind, options.seed, numbers, seconds)
    if not options.forget:
        _keep(campaign, kind, options.seed)
    took, failed = time.monotonic() - began, sum(campaign.counts.values())
    _say(f"{name}: {campaign.tally.cases} cases in {took:.0f} s, {failed} failed")
    return campaign.as_json()


def _keep(campaign: Campaign, kind: Kind, seed: int) -> None:
    """Write the smallest case of each failure into tests/data/attack."""
    for found in campaign.first.values():
        case = kind.make(seed, found.number)
        if case is None or failure_in(case, heavy=True) is None:
            _say(f"case {found.number} does not fail alone: {found.failure.key}")
            continue
        path = keep(reduced(case, found.failure, _say))
        _say(f"case {found.number}: {found.failure.key}: {path.relative_to(ROOT)}")


def _alone(kind: Kind, seed: int, number: int) -> int:
    case = kind.make(seed, number)
    if case is None:
        _say(f"case {number} is refused before it begins")
        return 0
    try_case(case, kind.is_heavy(number))
    _say(f"case {number} does not fail")
    return 0


def _report(options: argparse.Namespace, found: Mapping[str, Mapping[str, Any]]) -> None:
    if options.json:
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
        return
    for name, one in found.items():
        counts = ", ".join(f"{value} {key}" for key, value in one.items() if key != "failures")
        sys.stdout.write(f"{name}: {counts}\n")
        for failure in one["failures"]:
            words = "case {case}, {times} times: {key}\n    {words}\n".format(**failure)
            sys.stdout.write(f"  {words}")


def _say(text: str) -> None:
    sys.stderr.write(f"fuzz: {text}\n")


if __name__ == "__main__":
    sys.exit(main())
