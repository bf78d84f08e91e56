"""Watching a training loop, where PyTorch is installed: what it keeps; that it changes nothing."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def exporter() -> Iterator[Any]:
    folder = str(ROOT / "assets" / "capture")
    sys.path.insert(0, folder)
    yield importlib.import_module("gradstep_torch")
    sys.path.remove(folder)


def squared(out: Any, target: Any) -> Any:
    return (out - target).pow(2).mean()


def train(watched: Callable[[Any], Any], steps: int = 6) -> tuple[list[float], Any]:
    """The losses of a small training with dropout and batch norm, and the model. watched: of the
    model, what its loop is in."""
    torch.manual_seed(4)
    layers = torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5)
    model = torch.nn.Sequential(*layers, torch.nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    with watched(model):
        for _ in range(steps):
            loss = squared(model(torch.randn(5, 3)), torch.ones(5, 2))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.detach()))
    return losses, model


def unwatched(_: Any) -> Any:
    return contextlib.nullcontext()


def state_of(model: Any) -> dict[str, Any]:
    return {name: tensor.tolist() for name, tensor in model.state_dict().items()}


def test_a_training_is_the_same_watched_and_kept(exporter: Any, tmp_path: Path) -> None:
    """Losses, weights, buffers and the random numbers after it, though each second step is kept."""
    plain, model = train(unwatched)
    after = torch.rand(3).tolist()
    path = tmp_path / "kept.gstrace"
    found = []

    def watched(of: Any) -> Any:
        found.append(exporter.watch(of, loss=squared, when="", save=path, every=2))
        return found[0]

    losses, other = train(watched)
    assert losses == plain
    assert state_of(other) == state_of(model)
    assert torch.rand(3).tolist() == after
    assert found[0].saved == [str(tmp_path / f"kept-{step}.gstrace") for step in (2, 4, 6)]
    assert all(Path(name).is_file() for name in found[0].saved)


def test_the_function_is_called_by_its_own_name_again(exporter: Any) -> None:
    before = squared
    train(lambda model: exporter.watch(model, loss=squared, when="loss > 1e9"))
    assert squared is before
    assert torch.Tensor.backward.__module__ == "torch._tensor"


@pytest.mark.parametrize(
    ("when", "text"),
    [
        ("los > 1", "there is no 'los'"),
        ("loss >", "is no condition"),
        ("__import__('os')", "there is no '__import__'"),
        ("loss.real", "Attribute is not for conditions"),
        ("[x for x in (1,)]", "is not for conditions"),
    ],
)
def test_a_condition_that_is_none(exporter: Any, when: str, text: str) -> None:
    with pytest.raises(ValueError, match=".*".join(text.split())):
        exporter.watch(torch.nn.Linear(1, 1), when=when)


@pytest.mark.parametrize(
    ("when", "step"),
    [
        ("step == 3", 3),
        ("norm(grad) > 0 and step % 4 == 0", 4),
        ("largest(weight['0.weight']) > 0", 1),
        ("not isfinite(loss) or step > 5", 6),
        ("norm(grad['3.bias']) < 0", None),
    ],
)
def test_conditions(exporter: Any, tmp_path: Path, when: str, step: int | None) -> None:
    path, found = tmp_path / "hit.gstrace", []

    def watched(model: Any) -> Any:
        found.append(exporter.watch(model, loss=squared, when=when, save=path, stop=True))
        return found[0]

    losses, _ = train(watched)
    assert path.is_file() == (step is not None)
    assert len(losses) == (6 if step is None else step - 1)


def test_a_loss_that_something_else_decides_is_remarked(exporter: Any, tmp_path: Path) -> None:
    calls: list[int] = []

    def moody(out: Any, target: Any) -> Any:
        calls.append(1)
        return squared(out, target) * len(calls)

    model = torch.nn.Linear(2, 1)
    path = tmp_path / "moody.gstrace"
    watched = exporter.watch(model, loss=moody, when="step == 2", save=path)
    with watched:
        for _ in range(2):
            watched.loss(model(torch.ones(3, 2)), torch.zeros(3, 1)).backward()
    with zipfile.ZipFile(path) as file:
        remarks = json.loads(file.read("graph.json"))["remarks"]
    assert any("computed again of the same arguments" in one["text"] for one in remarks)
