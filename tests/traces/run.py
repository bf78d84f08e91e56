"""./dev traces: every recorded trace opened, run, differentiated, and held against its framework.

They are PyTorch's, or JAX's with --jax. --live records the models anew first, with the framework of
an environment in .bench/, or of --python.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.environments import NotAvailableError
from tests.traces.live_recordings import record
from tests.traces.trace_archive import traces
from tests.traces.trace_verdicts import Verdict, judge

_KEYS = ("name", "values", "gradients", "worst", "one_sided", "ok")


def main(arguments: Sequence[str] | None = None) -> int:
    """0: all agree, or there is nothing to record them with; 1: not all; 2: bad usage."""
    options = _parser().parse_args(arguments)
    framework = "jax" if options.jax else "torch"
    recorded = traces(framework)
    known = sorted(path.stem for path in recorded.glob("*.gstrace"))
    if unknown := sorted({*options.names} - {*known}):
        sys.stderr.write(f"traces: no model '{unknown[0]}'; the models are {', '.join(known)}\n")
        return 2
    names = options.names or known
    if not options.live:
        return _judged(recorded, names, options.json)
    with tempfile.TemporaryDirectory(prefix="gradstep-live-") as folder:
        try:
            record(Path(folder), names, options.python, framework)
        except NotAvailableError as error:
            return error.say("JAX" if options.jax else "PyTorch", options.json)
        return _judged(Path(folder), names, options.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev traces", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="these alone")
    parser.add_argument("--jax", action="store_true", help="JAX functions")
    parser.add_argument("--live", action="store_true", help="recorded anew with the framework")
    parser.add_argument(
        "--python", metavar="PYTHON", type=Path, help="with --live: an interpreter that has it"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser


def _judged(folder: Path, names: Sequence[str], as_json: bool) -> int:
    """Of each model in turn; those that there is no trace of are missing."""
    there = [path for name in names if (path := folder / f"{name}.gstrace").is_file()]
    found = []
    for path in there:
        found.append(judge(path))
        if not as_json:
            sys.stdout.write(_line(found[-1]) + "\n")
    missing = [name for name in names if folder / f"{name}.gstrace" not in there]
    if as_json:
        models = [{key: getattr(verdict, key) for key in _KEYS} for verdict in found]
        more: dict[str, Any] = {"missing": missing} if missing else {}
        sys.stdout.write(json.dumps({"models": models, **more}) + "\n")
    elif missing:
        sys.stdout.write(f"not recorded: {', '.join(missing)}\n")
    return 0 if not missing and all(verdict.ok for verdict in found) else 1


def _line(verdict: Verdict) -> str:
    state = "ok" if verdict.ok else "DIFFERS"
    unlowered = f"  unlowered: {', '.join(verdict.unlowered)}" if verdict.unlowered else ""
    return (
        f"{verdict.name:22} {verdict.values:4} values {verdict.gradients:4} gradients  "
        f"worst {verdict.worst:.1e}  {state}  {'; '.join(verdict.off[-6:])}{unlowered}"
    )


if __name__ == "__main__":
    sys.exit(main())
