"""Capturing models that do more than compute, where PyTorch is installed: what is kept and said."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import gradstep  # noqa: E402
from gradstep.core.io.open_document import read  # noqa: E402

F = torch.nn.functional
ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # of PyTorch's own parts


@pytest.fixture(scope="module")
def exporter() -> Iterator[Any]:
    folder = str(ROOT / "assets" / "capture")
    sys.path.insert(0, folder)
    yield importlib.import_module("gradstep_torch")
    sys.path.remove(folder)


class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
    """Two linear layers, and what a test does with them."""

    def __init__(self, forward: Callable[..., Any]) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.a, self.b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
        self.does = forward

    def forward(self, *args: Any) -> Any:
        return self.does(self, *args)


def x() -> Any:
    torch.manual_seed(4)
    return torch.randn(4, 3)


def opened(exporter: Any, path: Path, model: Any, *args: Any) -> tuple[dict[str, Any], Any]:
    """What `save` returns, and the trace; its gradients are PyTorch's but where a remark says
    otherwise."""
    said = exporter.save(path, model, args)
    state = torch.random.get_rng_state()
    assert all(weight.grad is None for weight in model.parameters())
    model(*args).sum().backward()
    torch.random.set_rng_state(state)
    found = gradstep.open(path)
    ours = found.grad()
    for name, weight in model.named_parameters():
        own = ours[name.replace(".", "/")]
        if name in said["differ"]:
            continue
        assert (own is None) == (weight.grad is None), name
        if own is not None:
            np.testing.assert_allclose(own, weight.grad.to_dense(), rtol=1e-4, atol=1e-6)
    return said, found


# -- hooks and checkpoints -------------------------------------------------------------------------


@pytest.mark.parametrize("hook", ["register_full_backward_hook", "register_full_backward_pre_hook"])
@pytest.mark.parametrize("changes", [False, True])
def test_hooks_of_modules_are_no_operations(
    exporter: Any, tmp_path: Path, hook: str, changes: bool
) -> None:
    model = Net(lambda net, x: net.b(net.a(x)).pow(2).mean())
    getattr(model.b, hook)(lambda module, *back: (back[0][0] * 2,) if changes else None)
    said, _ = opened(exporter, tmp_path / "net.gstrace", model, x())
    behind = {"a.weight", "a.bias", *(("b.weight", "b.bias") if "pre" in hook else ())}
    assert {*said["differ"]} == (behind if changes else set())


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")  # of the inner one
def test_a_reentrant_checkpoint_is_what_it_computes(exporter: Any, tmp_path: Path) -> None:
    def again(function: Any, value: Any) -> Any:
        return torch.utils.checkpoint.checkpoint(function, value, use_reentrant=True)

    def forward(net: Any, x: Any) -> Any:
        h = again(lambda h: again(net.b, h.tanh()).sin(), net.a(x))
        return F.dropout(h, 0.4).pow(2).mean()

    said, found = opened(exporter, tmp_path / "net.gstrace", Net(forward), x())
    assert (said["differ"], said["remarks"]) == ({}, [])
    assert "b/linear/MatMul" in found.operations
    assert "apply" not in vars(torch.utils.checkpoint.CheckpointFunction)


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
def test_a_reentrant_checkpoint_of_what_has_no_gradient_gives_none(
    exporter: Any, tmp_path: Path
) -> None:
    def forward(net: Any, x: Any) -> Any:
        h = torch.utils.checkpoint.checkpoint(net.a, x, use_reentrant=True)
        return net.b(h).pow(2).mean()

    said, found = opened(exporter, tmp_path / "net.gstrace", Net(forward), x())
    assert said["differ"] == {}
    assert found.grad()["a/weight"] is None


def test_where_autograd_grad_is_refused_it_is_said(exporter: Any, tmp_path: Path) -> None:
    """As checkpoints of other libraries refuse it, which no reading of theirs can replace."""

    def refuse(back: Any) -> None:
        raise RuntimeError("incompatible with .grad()\nat all")

    def forward(net: Any, x: Any) -> Any:
        h = net.a(x)
        if not torch.compiler.is_exporting():
            h.register_hook(refuse)
        return h.pow(2).mean()

    said = exporter.save(tmp_path / "net.gstrace", Net(forward), x())
    assert said["differ"] == {}
    assert said["remarks"] == [
        "the model refuses autograd.grad (incompatible with .grad()); its gradients could not be "
        "held against the graph's"
    ]


# -- names -----------------------------------------------------------------------------------------


class Größe(torch.autograd.Function):  # type: ignore[misc, name-defined]
    """A Function whose name has other letters."""

    @staticmethod
    def forward(ctx: Any, value: Any) -> Any:
        return value * 2

    @staticmethod
    def backward(ctx: Any, back: Any) -> Any:
        return back * 3


@pytest.mark.parametrize(
    ("key", "own"),
    [
        ("a b", "a_b"),
        ("x+y", "x_y"),
        ("a:b", "a_b"),
        ("^a", "_a"),
        ("größe", "gro_e"),
        ("层", "_"),
        ("it's", "it_s"),
        ("a[0]", "a_0_"),
        ("a/b", "a/b"),
        ("a//b", "a/_/b"),
        ("/", "_/_"),
        ("-q", "-q"),
        ("_p", "_p"),
    ],
)
def test_any_key_is_a_name_that_opens(exporter: Any, tmp_path: Path, key: str, own: str) -> None:
    class Keyed(torch.nn.ModuleDict):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return (self[key](x) * self["p"][key]).pow(2).sum()

    layers = {key: torch.nn.Linear(3, 2), "p": torch.nn.ParameterDict({key: torch.ones(2)})}
    model, path = Keyed(layers), tmp_path / "net.gstrace"
    exporter.save(path, model, x())
    found = gradstep.open(path)
    begun = re.sub("^-", "_", own)  # an operation's name does not begin so
    assert {*found.grad()} == {f"{begun}/weight", f"{begun}/bias", f"p/{own}"}
    assert any(name.startswith(f"{begun}/linear/") for name in found.operations)
    written = {op.name: op.attrs.get("_foreign_name", "") for op in read(path).graph}
    assert written[f"p/{own}"] == ("" if own == key else f"p.{key}")


def test_keys_that_would_be_the_same_stay_apart(exporter: Any, tmp_path: Path) -> None:
    """And what is a name already stays what it is; remarks and `differ` have PyTorch's names."""

    class Keyed(torch.nn.ModuleDict):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            for layer in self.values():
                x = layer(x).tanh()
            return x.pow(2).sum()

    keys = "a b", "a+b", "a_b", "A:B"
    model, path = Keyed({key: torch.nn.Linear(3, 3) for key in keys}), tmp_path / "net.gstrace"
    model["a b"].weight.register_hook(lambda back: back * 2)
    said = exporter.save(path, model, x())
    with zipfile.ZipFile(path) as file:
        graph = json.loads(file.read("graph.json"))
    called = {one.get("written", one["name"]): one["name"] for one in graph["inputs"]}
    assert called["a_b.weight"] == "a_b.weight"
    assert {called[f"{key}.weight"] for key in keys} == {
        f"{own}.weight" for own in ("a_b", "A_B_1", "a_b_2", "a_b_3")
    }
    assert [*said["differ"]] == ["a b.weight"]
    assert said["differ"]["a b.weight"].startswith("a b.weight: PyTorch's gradient")
    document = read(path)
    (remark,) = document.recorded.remarks.values()
    assert remark == said["differ"]["a b.weight"]
    assert {*document.recorded.remarks} == {called["a b.weight"].replace(".", "/")}


def test_a_function_may_have_any_letters(exporter: Any, tmp_path: Path) -> None:
    def forward(net: Any, größe: Any) -> Any:
        return Größe.apply(net.a(größe)).pow(2).sum()

    said, found = opened(exporter, tmp_path / "net.gstrace", Net(forward), x())
    assert {*said["differ"]} == {"a.weight", "a.bias"}
    assert "Gro_e has a backward of its own" in found.note


# -- what is written as it runs --------------------------------------------------------------------


def clip(net: Any, x: Any) -> Any:
    with torch.no_grad():
        net.a.weight.mul_(0.5)
    return net.a(x).pow(2).mean()


def clip_by_data(net: Any, x: Any) -> Any:
    net.a.weight.data.mul_(0.5)
    return net.a(x).pow(2).mean()


def clip_behind_a_decision(net: Any, x: Any) -> Any:
    return clip(net, x) * (2 if x.sum() > -100 else 3)


@pytest.mark.parametrize("forward", [clip, clip_by_data, clip_behind_a_decision])
def test_a_weight_that_the_model_writes_to_is_left_as_it_was(
    exporter: Any, tmp_path: Path, forward: Any
) -> None:
    model, path = Net(forward), tmp_path / "net.gstrace"
    before = model.a.weight.detach().clone()
    said = exporter.save(path, model, x())
    assert torch.equal(model.a.weight, before)
    assert [*said["differ"]] == ["a.weight"]
    assert "the model writes to it as it runs" in said["differ"]["a.weight"]
    assert "a hook" not in said["differ"]["a.weight"]
    assert np.array_equal(read(path).initial["a/weight"].array, before)


def test_what_was_computed_is_written_as_it_was_before_the_model_writes(
    exporter: Any, tmp_path: Path
) -> None:
    """Of a weight turned on its side, which lies where the weight does."""

    def clip_behind_a_view(net: Any, x: Any) -> Any:
        y = x @ net.a.weight.t().contiguous().t().t()
        with torch.no_grad():
            net.a.weight.mul_(0.5)
        return (y + x @ net.a.weight.t()).pow(2).mean()

    model, path = Net(clip_behind_a_view), tmp_path / "net.gstrace"
    before = model.a.weight.detach().clone()
    exporter.save(path, model, x())
    recorded = read(path).recorded
    assert recorded is not None
    turned, (first, *_) = before.numpy().T, recorded.values.values()
    assert np.array_equal(first.array, turned)


class Counting(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A loss that counts its calls, and is larger with each."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, out: Any) -> Any:
        self.calls += 1
        return (self.calls if out.sum() > -1e9 else 0) * out.pow(2).mean()


@pytest.mark.parametrize("how", ["save", "watch"])
def test_buffers_of_a_loss_are_from_before_its_call(
    exporter: Any, tmp_path: Path, how: str
) -> None:
    """As those of a model are, though a decision of either has both run once more."""
    model, loss, path = Net(lambda net, x: net.a(x)), Counting(), tmp_path / "net.gstrace"
    if how == "save":
        exporter.save(path, model, x(), loss=loss)
    else:
        with exporter.watch(model, loss=loss, when="step == 2", save=path):
            loss(model(x())).backward()
            model.zero_grad()
            loss(model(x())).backward()
    before = 0 if how == "save" else 1
    assert loss.calls == (0 if how == "save" else 2)  # as the loop itself counts
    document = read(path)
    held = [v.array for name, v in document.initial.items() if "calls" in name]
    assert [array.tolist() for array in held] == [before]
    with zipfile.ZipFile(path) as trace:
        assert not any("loss" in r["text"] for r in json.loads(trace.read("graph.json"))["remarks"])


@pytest.mark.parametrize("how", ["save", "watch"])
def test_weights_are_copied_once(
    exporter: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """They are large; a decision of the model's has it run once more, as a watched step has."""
    model = Net(lambda net, x: net.a(x).pow(2).mean() * (2 if x.sum() > -100 else 3))
    copied, clone = [], torch.Tensor.clone

    def counting(tensor: Any, **options: Any) -> Any:
        if type(tensor) is torch.Tensor and tensor.data_ptr() == model.a.weight.data_ptr():
            copied.append(tensor)
        return clone(tensor, **options)

    path = tmp_path / "net.gstrace"
    monkeypatch.setattr(torch.Tensor, "clone", counting)
    if how == "save":
        exporter.save(path, model, x())
    else:
        with exporter.watch(model, loss=lambda out: out, when="step == 1", save=path) as watched:
            watched.loss(model(x())).backward()
    assert path.exists()
    assert len(copied) == 1


def test_a_weight_of_a_bounded_norm_is_named_with_the_cause(exporter: Any, tmp_path: Path) -> None:
    model = torch.nn.Embedding(5, 3, max_norm=0.5)
    given, before = torch.tensor([1, 2, 2, 0]), model.weight.detach().clone()
    path = tmp_path / "net.gstrace"
    said = exporter.save(path, model, given, loss=lambda out: out.pow(2).sum())
    assert "max_norm" in said["differ"]["weight"]
    assert torch.equal(model.weight, before)


@pytest.mark.parametrize(
    "weight",
    [
        lambda: torch.nn.Parameter(torch.randn(3, 2)[:, 0]),
        lambda: torch.nn.Parameter(torch.ones(1).expand(3)),
    ],
)
def test_a_weight_that_does_not_lie_in_one_piece_is_captured(
    exporter: Any, tmp_path: Path, weight: Callable[[], Any]
) -> None:
    model = Net(lambda net, x: (net.a(x) * net.c).sum())
    model.c = weight()
    model.register_buffer("d", torch.arange(6.0)[::2])
    said, _ = opened(exporter, tmp_path / "net.gstrace", model, x())
    assert not said["differ"]


def test_noise_that_a_derivative_reads_gives_no_false_alarm(exporter: Any, tmp_path: Path) -> None:
    model = Net(lambda net, x: F.rrelu(net.a(x), training=True).pow(2).sum())
    said, _ = opened(exporter, tmp_path / "net.gstrace", model, x())
    assert (said["differ"], said["remarks"]) == ({}, [])


def test_sparse_gradients_are_gradients(exporter: Any, tmp_path: Path) -> None:
    class Sparse(torch.nn.Embedding):  # type: ignore[misc, name-defined]
        def forward(self, given: Any) -> Any:
            return super().forward(given).pow(2).sum()

    said, _ = opened(
        exporter, tmp_path / "net.gstrace", Sparse(5, 3, sparse=True), torch.tensor([1, 2, 2])
    )
    assert said["differ"] == {}


def test_data_is_detached(exporter: Any, tmp_path: Path) -> None:
    model = Net(lambda net, x: net.b(net.a(x).data @ net.b.weight.data).pow(2).sum())
    said, found = opened(exporter, tmp_path / "net.gstrace", model, x())
    assert (said["differ"], said["remarks"]) == ({}, [])
    assert found.grad()["a/weight"] is None


def test_what_is_written_by_way_of_data_is_said(exporter: Any, tmp_path: Path) -> None:
    """PyTorch goes back as if nothing had been written."""

    def forward(net: Any, x: Any) -> Any:
        h = net.a(x)
        h.data.clamp_(-0.1, 0.1)
        return h.pow(2).sum()

    said, found = opened(exporter, tmp_path / "net.gstrace", Net(forward), x())
    assert {*said["differ"]} == {"a.weight", "a.bias"}
    place = f"by way of .data: {Path(__file__).name}:{forward.__code__.co_firstlineno + 2}"
    assert place in said["differ"]["a.weight"]
    assert place in found.note


# -- losses of one element, and what cannot be traced ----------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_an_output_of_one_element_is_a_loss(
    exporter: Any, tmp_path: Path, shape: tuple[int, ...]
) -> None:
    model = Net(lambda net, x: net.a(x).pow(2).sum().reshape(shape))
    _, found = opened(exporter, tmp_path / "net.gstrace", model, x())
    assert found.grad()["a/weight"] is not None
    assert "no loss" not in found.note


def masked(net: Any, x: Any) -> Any:
    h = net.a(x)
    return F.mse_loss(h[x > 0], x[x > 0])


def packed(net: Any, x: Any) -> Any:
    torch.manual_seed(0)
    layer = torch.nn.LSTM(3, 2, batch_first=True)
    given = torch.nn.utils.rnn.pack_padded_sequence(net.a(x)[None], [4], batch_first=True)
    return layer(given)[1][0].sum()


def counted(net: Any, x: Any) -> Any:
    chosen = (x[:, 0] > -9).nonzero().squeeze(1)
    return sum(net.a.weight[i % 3].sum() for i in chosen.tolist())


def connected(net: Any, x: Any) -> Any:
    return F.ctc_loss(net.a(x).log_softmax(-1), torch.tensor([1, 2]), (4,), (2,))


@dataclass
class Result:
    """What a model may give that PyTorch was not told of."""

    total: Any


def in_a_class(net: Any, x: Any) -> Any:
    return Result(net.a(x).sum())


def penalized(net: Any, x: Any) -> Any:
    given = x.clone().requires_grad_()
    (slope,) = torch.autograd.grad(net.a(given).tanh().sum(), given, create_graph=True)
    return (slope.norm() - 1).square()


def _total(out: Any) -> Any:
    return out.total if isinstance(out, Result) else out


def by_numpy(net: Any, x: Any) -> Any:
    scale = float(x.numpy().mean())
    return net.a(x * scale).sum()


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # PyTorch asks for one
@pytest.mark.parametrize(
    ("forward", "line", "words", "instead"),
    [
        (masked, 2, "the numbers in a tensor decide", "multiply by a mask"),
        (packed, 4, "a packed sequence cannot be traced", "the padded batch"),
        (counted, 2, "the numbers in a tensor decide", "loops numbers of Python's"),
        (by_numpy, 1, "what NumPy computes cannot be traced", "compute it with torch"),
        (connected, 1, "ctc_loss cannot be traced", "another loss"),
        (in_a_class, None, "of a class that cannot be traced", "torch.export.register_dataclass"),
        (penalized, None, "a gradient that the model itself asks for", "formula"),
    ],
)
def test_what_cannot_be_traced_is_said_with_its_line_and_a_way_out(
    exporter: Any, tmp_path: Path, forward: Any, line: int | None, words: str, instead: str
) -> None:
    with pytest.raises(exporter.NotTracedError) as caught:
        exporter.save(tmp_path / "net.gstrace", Net(forward), x(), loss=_total)
    first, second, *_ = str(caught.value).splitlines()
    place = f"{Path(__file__).name}:{forward.__code__.co_firstlineno + (line or 0)}"
    assert first.startswith("In the model: " if line is None else f"{place}: ")
    assert words in first
    assert instead in first
    assert second.startswith("PyTorch says: ")


def test_a_mask_in_a_loss_is_said_with_its_line(exporter: Any, tmp_path: Path) -> None:
    """It is found in the graph, where no line of the program runs any more."""

    def loss(out: Any, target: Any) -> Any:
        known = target >= 0
        return F.cross_entropy(out[known], target[known])

    target = torch.tensor([0, 2, -1, 1])
    with pytest.raises(exporter.NotTracedError) as caught:
        exporter.save(tmp_path / "net.gstrace", torch.nn.Linear(3, 3), x(), loss, target)
    place = f"{Path(__file__).name}:{loss.__code__.co_firstlineno + 2}"
    assert str(caught.value).startswith(f"{place}: a size or a way that the numbers")


def test_a_model_that_fails_by_itself_says_so_itself(exporter: Any, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied") as caught:
        exporter.save(tmp_path / "net.gstrace", torch.nn.Linear(5, 1), x())
    assert type(caught.value) is RuntimeError


def test_models_are_recorded_by_an_interpreter_that_knows_nothing_of_us(tmp_path: Path) -> None:
    script = ROOT / "tests" / "traces" / "record_torch.py"
    plain = {key: text for key, text in os.environ.items() if not key.startswith("PYTHON")}
    command = [sys.executable, "-B", str(script), "--into", str(tmp_path), "mlp"]
    subprocess.run(command, check=True, cwd=ROOT, env=plain, capture_output=True)
    assert (tmp_path / "mlp.gstrace").is_file()
