"""./dev onnx: ONNX's own node suite, each case opened as a model, run and compared.

With --models, networks that PyTorch exports and those that come with ONNX instead: run, held
against ONNX Runtime, and differentiated.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.bench.environments import ROOT, NotAvailableError, python_of
from tests.onnx.left_out import why_left_out
from tests.onnx.model_verdicts import judge_model
from tests.onnx.node_cases import Case, judge, pack, recorded

EXPORT = Path(__file__).with_name("export_models.py")
RECORD = Path(__file__).with_name("record_cases.py")
FOLDER = ROOT / ".bench" / "onnx-cases"
_LARGEST, _SMALL = 40_000, 6_000  # bytes of a case that is kept: of the first, of others
_KEPT = 2  # cases of each combination of operators, at most


def main() -> int:
    """0: all that are not left out pass, or ONNX is not to be had; 1: something fails."""
    options = _parser().parse_args()
    if options.models:
        return _models(options)
    try:
        cases = {name: Case.of_bytes(name, data) for name, data in _cases(options.recorded)}
    except NotAvailableError as error:
        return error.say("ONNX", options.json)
    with contextlib.redirect_stdout(sys.stderr):
        found = tried({n: c for n, c in cases.items() if _is_asked_for(n, options.names)})
    if options.keep:
        _keep(found.pop("kept"))
    found.pop("kept", None)
    sys.stdout.write((json.dumps(found) if options.json else _readable(found)) + "\n")
    return 1 if found["failed"] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev onnx", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="those alone that have this in them"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--models", action="store_true", help="whole networks")
    parser.add_argument(
        "--python", metavar="PYTHON", help="with --models: one that has PyTorch and ONNX Runtime"
    )
    parser.add_argument("--recorded", action="store_true", help="those alone that tests keep")
    parser.add_argument("--keep", action="store_true", help="choose those that tests keep anew")
    return parser


def _models(options: argparse.Namespace) -> int:
    """The networks, exported first; 1 where one differs."""
    with tempfile.TemporaryDirectory(prefix="gradstep-onnx-") as folder:
        try:
            python = options.python or python_of("onnx-models", may_install=True)
            command = [str(python), str(EXPORT), folder, *options.names]
            if subprocess.run(command, check=False, stdout=sys.stderr).returncode:
                raise NotAvailableError("its models could not be written; see above")
            if not any(Path(folder).glob("*.onnx")):
                raise NotAvailableError(f"no network has {' or '.join(options.names)} in its name")
        except (NotAvailableError, OSError) as error:
            return NotAvailableError(str(error)).say("ONNX Runtime", options.json)
        found = []
        for path in sorted(Path(folder).glob("*.onnx")):
            found.append(judge_model(path))
            if not options.json:
                sys.stdout.write(found[-1].line() + "\n")
    if options.json:
        models = [{**asdict(verdict), "ok": verdict.ok} for verdict in found]
        sys.stdout.write(json.dumps({"models": models}) + "\n")
    return 0 if found and all(verdict.ok for verdict in found) else 1


def _is_asked_for(name: str, wanted: list[str]) -> bool:
    return not wanted or any(one in name for one in wanted)


def _cases(only_recorded: bool) -> list[tuple[str, bytes]]:
    """Raises NotAvailableError."""
    if only_recorded:
        return sorted(recorded().items())
    if not any(FOLDER.glob("*.npz")):
        python = python_of("onnx", may_install=True)
        FOLDER.mkdir(parents=True, exist_ok=True)
        command = [str(python), str(RECORD), str(FOLDER)]
        if subprocess.run(command, check=False, cwd=os.sep, stdout=sys.stderr).returncode:
            raise NotAvailableError("its suite could not be written; see above")
    return [(path.stem, path.read_bytes()) for path in sorted(FOLDER.glob("*.npz"))]


def tried(cases: Mapping[str, Case]) -> dict[str, Any]:
    """cases, passed: how many; fixed: of these, how many had inputs made a part of the model;
    failed: what does not pass, and why; left_out: reason -> how many."""
    passed, fixed = [], 0
    failed: list[dict[str, str]] = []
    left: Counter[str] = Counter()
    for name, case in cases.items():
        if reason := why_left_out(case):
            left[reason] += 1
            continue
        verdict = judge(case)
        fixed += verdict.is_fixed and not verdict.problem
        if verdict.problem:
            failed.append({"name": name, "problem": verdict.problem})
        else:
            passed.append(case)
    return {
        "cases": len(cases),
        "passed": len(passed),
        "fixed": fixed,
        "failed": failed,
        "left_out": dict(left.most_common()),
        "kept": passed,
    }


def _keep(passed: list[Case]) -> None:
    """The smallest of each combination of operators, into the archive."""
    by_types: dict[str, list[Case]] = {}
    for case in sorted(passed, key=_size):
        types = " ".join(node.op_type for node in case.model.graph.node)
        chosen = by_types.setdefault(types, [])
        if _size(case) <= (_SMALL if chosen else _LARGEST) and len(chosen) < _KEPT:
            chosen.append(case)
    chosen = [case for each in by_types.values() for case in each]
    pack({case.name: (FOLDER / f"{case.name}.npz").read_bytes() for case in chosen})


def _size(case: Case) -> int:
    return sum(array.nbytes for array in case.arrays.values())


def _readable(found: Mapping[str, Any]) -> str:
    lines = [f"{found['passed']} of {found['cases']} pass, {found['fixed']} with inputs as a part"]
    lines += [f"  left out {count:4}: {reason}" for reason, count in found["left_out"].items()]
    lines += [f"FAILED {one['name']}: {one['problem']}" for one in found["failed"]]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
