"""No file costs more than it may before it is refused: measured, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.bombs import BOMBS, MOST, Bomb

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in /proc")

# Opens the files that it is given, and prints of each the most memory that it took meanwhile.
MEASURE = """
import json, resource, sys
from gradstep.core.errors import GradstepError
from gradstep.core.host.file_worker import prepare
from gradstep.core.io.open_document import read
from gradstep.core.ops.typing.inference import infer_declared

def memory(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(what))

prepare()
size = memory("VmSize:") + (1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (size, size))
for path in sys.argv[1:]:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before, said = memory("VmRSS:"), ""
    try:
        infer_declared(read(path).graph)
    except GradstepError as error:
        said = error.message
    print(json.dumps([said, memory("VmHWM:") - before]), flush=True)
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, int]]:
    """Bomb -> what was said of it, and bytes that it cost."""
    paths = [str(bomb.build(tmp_path_factory.mktemp("bomb"))) for bomb in BOMBS]
    command = [sys.executable, "-c", MEASURE, *paths]
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = map(json.loads, done.stdout.splitlines())
    return {bomb.name: (said, cost) for bomb, (said, cost) in zip(BOMBS, answers, strict=True)}


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb.name)
@pytest.mark.slow
def test_a_bomb_costs_little(bomb: Bomb, measured: dict[str, tuple[str, int]]) -> None:
    said, cost = measured[bomb.name]
    assert bool(said) != bomb.opens, said
    assert bomb.said in said
    assert cost < MOST, f"{cost >> 20} MiB"
