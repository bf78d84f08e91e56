"""Recording the traces of JAX functions in tests/data/traces, where JAX, flax and equinox are.

    python tests/traces/record_jax.py [NAME…] [--into FOLDER]

Run from the checkout's folder: sources are named as they are seen from there. With --into the traces
are left in that folder, and the archive stays as it is (`./dev traces --jax --live` asks for that).
"""

from __future__ import annotations

import argparse
import sys
import traceback
import zipfile
from pathlib import Path

WITH_SOURCES = ("mlp", "rules")
ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "assets" / "capture"), str(Path(__file__).parent), str(ROOT)]

import gradstep_jax  # noqa: E402
import jax_functions  # noqa: E402
import trace_archive  # noqa: E402


def main() -> int:
    """How many could not be recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="these anew, the others as they are")
    parser.add_argument("--into", type=Path, help="a folder for the traces alone")
    args = parser.parse_args()
    failed, folder = 0, args.into or trace_archive.traces("jax")
    for name, case in jax_functions.cases().items():
        if args.names and name not in args.names:
            continue
        try:
            print(name, _record(folder / f"{name}.gstrace", case))
        except Exception:
            failed += 1
            print(name, "FAILED")
            traceback.print_exc()
    if not args.into:
        trace_archive.pack(folder, "jax")
    return failed


def _record(path, case):
    said = gradstep_jax.save(path, case.f, *case.args, wrt=case.wrt, paths=False)
    if path.stem not in WITH_SOURCES:
        _without_sources(path)
    return said


def _without_sources(path):
    """The file of all functions goes with few of their traces."""
    with zipfile.ZipFile(path) as file:
        members = {n: file.read(n) for n in file.namelist() if not n.startswith("sources/")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    sys.exit(main())
