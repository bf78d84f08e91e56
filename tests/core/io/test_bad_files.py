"""Of each bad file one line says what it is and what to do; it costs little memory and time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.core.io.bad_files import BAD_FILES, BadFile

ROOT = Path(__file__).parents[3]
MOST = 128 << 20  # bytes, over what the program has without the file
LONGEST = 20.0  # seconds of the processor: none takes one
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in /proc")

# Opens the files that it is given, and prints what is said of each and what that cost.
MEASURE = """
import json, resource, sys, time
from gradstep.core.errors import GradstepError
from gradstep.core.host.file_worker import prepare
from gradstep.core.io.open_document import read

def memory(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(what))

prepare()
size = memory("VmSize:") + (1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (size, size))
for path in sys.argv[1:]:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before, began, found = memory("VmRSS:"), time.process_time(), {}
    try:
        found = {"opened": read(path).note}
    except GradstepError as error:
        found = {"said": error.message, "hint": error.hint, "kind": error.kind}
    found |= {"bytes": memory("VmHWM:") - before, "seconds": time.process_time() - began}
    print(json.dumps(found), flush=True)
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    paths = [str(bad.build(tmp_path_factory.mktemp("bad"))) for bad in BAD_FILES]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", MEASURE, *paths]
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = map(json.loads, done.stdout.splitlines())
    return {bad.name: answer for bad, answer in zip(BAD_FILES, answers, strict=True)}


@pytest.mark.parametrize("bad", BAD_FILES, ids=lambda bad: bad.name)
def test_one_line_says_what_it_is_and_what_to_do(
    bad: BadFile, found: dict[str, dict[str, Any]]
) -> None:
    answer = found[bad.name]
    assert "said" in answer, "it opened"
    assert re.search(bad.said, answer["said"]), answer["said"]
    assert re.search(bad.do, answer["hint"]), answer["hint"]
    assert "\n" not in answer["said"] + answer["hint"]
    assert len(answer["said"]) < 600
    assert answer["kind"] in ("FileError", "MemoryLimitError", "InvalidArgumentError")


def test_it_costs_little(found: dict[str, dict[str, Any]]) -> None:
    dear = [n for n, a in found.items() if a["bytes"] >= MOST or a["seconds"] >= LONGEST]
    assert not dear
