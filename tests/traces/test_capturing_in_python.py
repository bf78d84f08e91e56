"""gradstep.capture_torch and gradstep.watch, where PyTorch and Gradstep are in one Python."""

from __future__ import annotations

import copy
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import gradstep  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # of PyTorch's own parts


def model() -> tuple[Any, Any, Any]:
    torch.manual_seed(2)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.4), torch.nn.Linear(4, 2))
    return net, torch.randn(5, 3), torch.tensor([0, 1, 1, 0, 1])


def test_a_model_is_captured_opened_and_differentiated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **more: started.append(argv))
    net, x, y = model()
    before = copy.deepcopy(net.state_dict())
    file = tmp_path / "net.gstrace"
    found = gradstep.capture_torch(
        net, (x,), torch.nn.functional.cross_entropy, (y,), path=file, open=True
    )
    gradients = found.grad()
    assert {*gradients} == {"0/weight", "0/bias", "2/weight", "2/bias"}
    assert all(np.isfinite(g).all() and np.any(g) for g in gradients.values())
    assert [argv[-1] for argv in started] == [str(file)]
    assert all(torch.equal(before[name], w) for name, w in net.state_dict().items())
    assert all(w.grad is None for w in net.parameters())


def test_without_dropout_the_gradients_are_pytorchs() -> None:
    net, x, y = model()
    net.eval()
    gradients = gradstep.capture_torch(net, x, torch.nn.functional.cross_entropy, y).grad()
    torch.nn.functional.cross_entropy(net(x), y).backward()
    for name, weight in net.named_parameters():
        ours = gradients[name.replace(".", "/")]
        np.testing.assert_allclose(ours, weight.grad.numpy(), rtol=1e-5, atol=1e-7)


def test_a_loop_is_watched(tmp_path: Path) -> None:
    net, x, y = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    file = tmp_path / "kept.gstrace"
    loss = torch.nn.functional.cross_entropy
    with gradstep.watch(net, loss, "step == 2", file) as watched:
        for _ in range(3):
            out = watched.loss(net(x), y)
            optimizer.zero_grad()
            out.backward()
            optimizer.step()
    assert watched.saved == [str(file)]
    assert gradstep.open(file).grad()


def test_an_operation_of_a_library_is_one_that_nobody_knows(tmp_path: Path) -> None:
    """With a derivative of its own, which PyTorch keeps as it keeps a torch.autograd.Function."""

    @torch.library.custom_op("gradstep_tests::thrice", mutates_args=())
    def thrice(x: torch.Tensor) -> torch.Tensor:  # type: ignore[name-defined]
        return x * 3

    thrice.register_fake(torch.empty_like)
    thrice.register_autograd(lambda ctx, g: g * 3)

    class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.l = torch.nn.Linear(3, 2)

        def forward(self, x: Any) -> Any:
            return thrice(self.l(x)).tanh()

    def loss(out: Any) -> Any:
        return out.pow(2).mean()

    file = tmp_path / "net.gstrace"
    gradstep.capture_torch(Net(), torch.randn(5, 3), loss, path=file)
    found = gradstep.open(file)
    assert "gradstep_tests.thrice.default" in found.operations.values()
    assert "gradients end there" in found.note
