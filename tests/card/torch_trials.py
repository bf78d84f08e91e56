"""`./dev torch`: hold PyTorch's way through Gradstep to NumPy, on this processor."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.device_transfer import put
from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.table import lookup
from tests.bench.environments import ROOT, NotAvailableError, python_of
from tests.card import example_trials, op_trials
from tests.card.device import Device, open_device
from tests.card.excuses import EXCUSES

Row = Mapping[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """0: nothing is refused and nothing differs, or PyTorch is not there; 1: something; 2: bad
    usage."""
    options = _parser().parse_args(arguments)
    if importlib.util.find_spec("torch") is None:
        try:
            return _elsewhere(sys.argv[1:] if arguments is None else arguments)
        except NotAvailableError as error:
            return error.say("PyTorch", options.json)
    began = time.monotonic()
    with contextlib.redirect_stdout(sys.stderr):  # what operations print is no answer
        found = tried(open_device("torch"), options.only)
    found["seconds"] = round(time.monotonic() - began)
    sys.stdout.write((json.dumps(found, indent=1) if options.json else readable(found)) + "\n")
    return 1 if found["refused"] or found["differ"] or found["examples"]["differ"] else 0


def _elsewhere(arguments: Sequence[str]) -> int:
    """Go on in an environment that has PyTorch. Raises NotAvailableError."""
    python = python_of("torch-device", may_install=True)
    os.chdir(ROOT)
    os.execv(python, [str(python), "-m", "tests.card.torch_trials", *arguments])


def tried(device: Device, only: Sequence[str] = ()) -> dict[str, Any]:
    """ops, samples, out_forms: how many were tried. refused: what fails there alone; differ: what
    is farther from NumPy than the comparison allows; excused: where that is known, and no fault;
    inexact: op type -> the largest 99th percentile of ULPs, where some bit is another one; host:
    op types that compute on the host, whatever the device; waits: how often it waited for elements
    in all. examples: the same of all examples, node by node and in three runs."""
    names = [name for name in op_trials.types() if not only or name in only]
    rows = {name: op_trials.try_one(device, f"op|torch|{name}")["rows"] for name in names}
    every = [{"op": name, **row} for name, each in rows.items() for row in each]
    plain = [row for row in every if "form" not in row]
    apart = [row for row in every if row["verdict"] == "differs"]
    return {
        "ops": len(names),
        "samples": len(plain),
        "out_forms": len(every) - len(plain),
        "refused": [_said(row) for row in every if row["verdict"] == "refused"],
        "differ": [_said(row) for row in apart if not _is_excused(row)],
        "excused": [_said(row) for row in apart if _is_excused(row)],
        "inexact": _inexact(plain),
        "host": [name for name in names if computes_on_host(device, name)],
        "waits": sum(row.get("waits", 0) for row in plain),
        "examples": _examples(device, only),
    }


def computes_on_host(device: Device, name: str) -> bool:
    """Whether the first sample's results are none of PyTorch's, nor what the op was given."""
    backend, definition = device.backend(), lookup(name)
    case, _ = next(iter(op_trials.trials(definition)))
    inputs = [put(backend, np.asarray(x)) for x in case.inputs]
    state = definition.state
    inputs += [put(backend, state.first_count(case.operation))] if state.counter else []
    before = device.count()
    try:
        results = run_op(backend, case.operation, inputs)
    except GradstepError:
        return False
    moved = any(result is x for result in results for x in inputs)
    return bool(results) and not moved and device.counted(before)["computed"] == 0


def _examples(device: Device, only: Sequence[str]) -> dict[str, Any]:
    names = [name for name in example_trials.names() if not only or name in only]
    found = {name: example_trials.try_one(device, f"example|torch|{name}") for name in names}
    parts = ("refused", "differ", "stops", "apart")
    verdicts: dict[str, int] = {}
    for each in found.values():
        for verdict, count in each["verdicts"].items():
            verdicts[verdict] = verdicts.get(verdict, 0) + count
    return {
        "tried": len(found),
        "verdicts": verdicts,
        "differ": {n: r[k] for n, r in found.items() for k in parts if r.get(k)},
    }


def _is_excused(row: Row) -> bool:
    return (row["op"], row["dtype"]) in EXCUSES


def _said(row: Row) -> list[Any]:
    form = row.get("form", "plain")
    return [row["op"], row["dtype"], row["sample"], form, row.get("text", "")]


def _inexact(rows: Sequence[Row]) -> dict[str, float]:
    found: dict[str, float] = {}
    for row in rows:
        if row["verdict"] in ("close", "differs"):
            found[row["op"]] = max(found.get(row["op"], 0.0), row.get("ulp_p99", 0.0))
    return found


def readable(found: Row) -> str:
    """A few lines, the worst first."""
    examples = found["examples"]
    lines = [
        f"{found['ops']} operations, {found['samples']} samples, {found['out_forms']} given out: "
        f"{len(found['refused'])} refused, {len(found['differ'])} differ, "
        f"{len(found['inexact'])} not to the last bit, {len(found['host'])} on the host; "
        f"{examples['tried']} examples {examples['verdicts']}"
    ]
    for kind in ("refused", "differ", "excused"):
        lines += [f"  {kind}: {' '.join(map(str, each))[:300]}" for each in found[kind][:40]]
    lines += [f"  example {name}: {str(what)[:300]}" for name, what in examples["differ"].items()]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev torch", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME", help="these alone")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


if __name__ == "__main__":
    sys.exit(main())
