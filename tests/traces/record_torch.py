"""Recording the traces of tests/data/traces, where PyTorch is installed.

    python tests/traces/record_torch.py [NAME…] [--into FOLDER]

Run from the checkout's folder: sources are named as they are seen from there. With --into the traces
are left in that folder, and the archive stays as it is (`./dev traces --live` asks for that).
"""

from __future__ import annotations

import argparse
import logging
import sys
import traceback
import warnings
import zipfile
from pathlib import Path

WITH_SOURCES = ("resnet18", "hook")
ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "assets" / "capture"), str(Path(__file__).parent), str(ROOT)]

import gradstep_torch  # noqa: E402
import torch  # noqa: E402
import torch_models  # noqa: E402
import trace_archive  # noqa: E402

TAKEN_APART = gradstep_torch.TAKEN_APART


def main() -> int:
    """How many could not be recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="these anew, the others as they are")
    parser.add_argument("--into", type=Path, help="a folder for the traces alone")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    failed, folder = 0, args.into or trace_archive.traces()
    for name, case in _cases().items():
        if args.names and name not in args.names:
            continue
        try:
            print(name, _record(folder / f"{name}.gstrace", case))
        except Exception:
            failed += 1
            print(name, "FAILED")
            traceback.print_exc()
    if not args.into:
        trace_archive.pack(folder)
    return failed


def _cases():
    torch.manual_seed(7)
    found = torch_models.cases()
    try:
        return {**found, **torch_models.hugging_face()}
    except ImportError:
        return found


def _record(path, case):
    torch.manual_seed(11)
    model = case.make().train(case.train)
    for parameter in model.parameters():
        if not parameter.any():  # else what is behind it gets no gradient
            torch.nn.init.normal_(parameter, std=0.1)
    torch.manual_seed(5)
    gradstep_torch.TAKEN_APART = ("",) if case.core else TAKEN_APART
    said = gradstep_torch.save(
        path, model, case.args, loss=case.loss, targets=case.targets, paths=False, **case.more
    )
    if path.stem not in WITH_SOURCES:
        _without_sources(path)
    return said


def _without_sources(path):
    """The file of all models goes with few of their traces."""
    with zipfile.ZipFile(path) as file:
        members = {n: file.read(n) for n in file.namelist() if not n.startswith("sources/")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    sys.exit(main())
