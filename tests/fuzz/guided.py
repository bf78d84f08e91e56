"""`./dev fuzz KIND --guided`: Atheris (libFuzzer) looks for cases that reach other code.

Its bytes are what decides a mutant, in place of a generator of random numbers: it changes a byte,
and one choice in the making of a case is another. It runs on the Python of .bench/atheris, which
has Atheris and what `core` needs.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.bench.environments import NotAvailableError, python_of
from tests.fuzz.case import Case
from tests.fuzz.failure import ROOT

CORPUS = ROOT / "out" / "fuzz"  # what reaches other code, kept from one campaign to the next


def start(kind: str, minutes: float) -> int:
    """0: it went to its end; 1: Atheris is not to be had, or a case killed it."""
    try:
        python = python_of("atheris", may_install=True)
    except NotAvailableError as error:
        sys.stderr.write(f"fuzz: {error}\n")
        return 1
    corpus = CORPUS / kind
    corpus.mkdir(parents=True, exist_ok=True)
    limits = ["-rss_limit_mb=4096", "-timeout=30", f"-max_total_time={int(60 * minutes)}"]
    limits.append(f"-artifact_prefix={corpus.parent}{os.sep}")  # a case that kills it
    command = [str(python), "-m", "tests.fuzz.guided", kind, str(corpus), *limits]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return int(subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode != 0)


class Chosen(random.Random):
    """Random numbers out of bytes, and where there are no more, out of a generator that they seed:
    who draws until it suits, as `sample` does, would never come to an end with zeros."""

    def __init__(self, data: bytes) -> None:
        super().__init__(0)
        self._data, self._at = data, 0
        self._rest = random.Random(data)

    def _take(self, count: int) -> int:
        part = self._data[self._at : self._at + count]
        self._at += count
        return int.from_bytes(part + self._rest.randbytes(count - len(part)), "little")

    def getrandbits(self, k: int) -> int:
        return self._take((k + 7) // 8) & ((1 << k) - 1)

    def random(self) -> float:
        return self._take(2) / 65536


def _main(arguments: list[str]) -> None:
    import atheris

    with atheris.instrument_imports(include=["gradstep.core"]):
        from tests.fuzz import documents, doors, graphdefs, onnx_mutants
        from tests.fuzz.campaign import keep
        from tests.fuzz.failure import failure_of
        from tests.fuzz.pipeline import try_case
    makers: dict[str, Callable[[random.Random], Case]] = {
        "documents": documents.case,
        "graphdef": graphdefs.case,
        "onnx": onnx_mutants.case,
        "text": doors.case,
        "expressions": doors.expression_case,
    }
    make, seen = makers[arguments[1]], set[str]()

    def one(data: bytes) -> None:
        case = make(Chosen(data))
        try:
            try_case(case, heavy=False)
        except Exception as error:
            failure = failure_of(error)
            if failure.key not in seen:
                seen.add(failure.key)
                path = keep(case, Path("out", "fuzz", "failed"))
                sys.stderr.write(f"fuzz: {failure.key}: {failure.words}: {path}\n")

    atheris.Setup([arguments[0], *arguments[2:]], one)
    atheris.Fuzz()


if __name__ == "__main__":
    _main(sys.argv)
