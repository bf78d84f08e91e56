"""Capturing loops, where PyTorch is installed: each iteration as it was, and how much is kept."""

from __future__ import annotations

import importlib
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch._higher_order_ops", reason="this PyTorch has no while_loop")
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # of PyTorch's own parts


@pytest.fixture(scope="module")
def exporter() -> Iterator[Any]:
    folder = str(ROOT / "assets" / "capture")
    sys.path.insert(0, folder)
    yield importlib.import_module("gradstep_torch")
    sys.path.remove(folder)


def looped(draws: bool) -> Any:
    from torch._higher_order_ops import while_loop

    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.l = torch.nn.Linear(4, 4)

        def forward(self, x: Any) -> Any:
            def body(i: Any, h: Any) -> Any:
                h = torch.tanh(self.l(h))
                return i + 1, torch.nn.functional.dropout(h, 0.5) if draws else h

            return while_loop(lambda i, h: i < 6, body, (torch.tensor(0), x))[1].sum()

    torch.manual_seed(3)
    return Net()


def saved(exporter: Any, path: Path, draws: bool = False, **more: Any) -> Any:
    torch.manual_seed(5)
    said = exporter.save(path, looped(draws), (torch.randn(2, 4),), paths=False, **more)
    with zipfile.ZipFile(path) as file:
        return said, json.loads(file.read("graph.json")), file.namelist()


def body_of(graph: Any) -> dict[str, Any]:
    [loop] = [node for node in graph["nodes"] if node["op"] == "control.while_loop"]
    return {node["name"]: node for node in loop["args"]["body"]["graph"]["nodes"]}


def test_every_iteration_is_there(exporter: Any, tmp_path: Path) -> None:
    import numpy as np

    _, graph, members = saved(exporter, path := tmp_path / "a.gstrace")
    tanh = body_of(graph)["tanh"]["outputs"][0]
    with zipfile.ZipFile(path) as file:
        places, values, back = (
            np.load(file.open(tanh[key])) for key in ("iterations", "values", "gradients")
        )
    assert places.tolist() == [[0], [1], [2], [3], [4], [5]]
    assert values.shape == back.shape == (6, 2, 4)
    h = torch.from_numpy(values)[:-1]
    again = torch.tanh(looped(False).l(h))
    assert torch.allclose(again, torch.from_numpy(values)[1:], atol=1e-6)
    assert np.allclose(back[-1], 1)  # of a sum
    told = {tanh[key] for key in ("iterations", "values", "gradients")}
    assert told <= {*members}


def test_of_much_the_first_iterations_are_kept(
    exporter: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And all that was drawn, since it is drawn again."""
    import numpy as np

    monkeypatch.setattr(exporter, "LOOPS", 200)
    said, graph, _ = saved(exporter, path := tmp_path / "b.gstrace", draws=True)
    assert any("while_loop: the values of its first iterations" in r for r in said["remarks"])
    with zipfile.ZipFile(path) as file:
        kept = {
            name: np.load(file.open(node["outputs"][-1]["iterations"])).ravel().tolist()
            for name, node in body_of(graph).items()
        }
    assert kept["tanh"] == [0, 1]
    assert kept["native_dropout"] == [0, 1, 2, 3, 4, 5]


def test_without_values_only_what_was_drawn_is_kept(exporter: Any, tmp_path: Path) -> None:
    _, graph, _ = saved(exporter, tmp_path / "c.gstrace", draws=True, values=False)
    body = body_of(graph)
    assert "values" not in body["tanh"]["outputs"][0]
    assert "values" in body["native_dropout"]["outputs"][1]
    assert not any("gradients" in out for node in body.values() for out in node["outputs"])
