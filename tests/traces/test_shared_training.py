"""Watching a training in several processes, where PyTorch is: nobody waits for anybody."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("this PyTorch trains in one process", allow_module_level=True)
SCRIPT = Path(__file__).parent / "shared_training.py"
SHARED = "its weights are shared among processes (FSDP, DTensor)"


def trained(kind: str, processes: int, folder: Path) -> list[tuple[dict[str, Any], str]]:
    """Of each process what it printed, and what it said besides."""
    asked = [sys.executable, str(SCRIPT), kind]
    running = [
        subprocess.Popen(
            [*asked, str(rank), str(processes), str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for rank in range(processes)
    ]  # fmt: skip
    found = []
    for process in running:
        out, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        found.append((json.loads(out.splitlines()[-1]), said))
    return found


def test_one_of_two_keeps_its_step_while_the_other_goes_on(tmp_path: Path) -> None:
    (first, _), (second, said) = trained("ddp", 2, tmp_path)
    assert first["saved"] == []
    assert second["saved"] == [str(tmp_path / "kept-rank1.gstrace")]
    assert "Step 3 of the loop, the first at which loss > 50" in said
    assert len(first["losses"]) == len(second["losses"]) == 5
    with zipfile.ZipFile(second["saved"][0]) as file:
        graph = json.loads(file.read("graph.json"))
    assert graph["title"] == "Net"
    assert {"first.weight", "norm.running_mean"} <= {given["name"] for given in graph["inputs"]}
    remarks = " ".join(remark["text"] for remark in graph["remarks"])
    assert "This is process 1 of 2: the gradients here are of its part of the batch" in remarks
    assert "computed again" not in remarks  # it is the very loss
    assert not [remark for remark in graph["remarks"] if "input" in remark]


@pytest.mark.parametrize("processes", [1, 2])
def test_of_weights_that_are_shared_no_step_is_kept_and_it_is_said(
    processes: int, tmp_path: Path
) -> None:
    found = trained("fsdp", processes, tmp_path)
    for printed, said in found:
        assert printed["saved"] == []
        assert len(printed["losses"]) == 5
        assert f"{SHARED}: conditions are asked of the part in this process" in said
    if processes == 2:
        assert f"It could not be kept: ValueError: {SHARED}" in found[1][1]
    assert not [*tmp_path.glob("*.gstrace*")]
