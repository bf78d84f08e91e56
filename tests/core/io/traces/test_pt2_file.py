"""Programs of torch.export, read without PyTorch: they give what PyTorch gave, and name what they
cannot."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.io.open_document import read
from gradstep.core.io.traces.traced_document import from_pt2

FILES = Path(__file__).parents[3] / "data" / "traces" / "pt2"
NAMES = sorted(path.stem for path in FILES.glob("*.pt2"))
TIED = {"gpt": ("head.weight",)}
WORST = 1e-5  # of the largest: sums of a few hundred float32 products
SHORT = {"scale": 2**-8}  # a gradient that PyTorch rounds to bfloat16


def test_bfloat16_stays_what_it_is() -> None:
    document = read(FILES / "short.pt2")
    assert document.initial["scale"].array.dtype == BFLOAT16
    assert "computed as float32" not in document.note


def test_there_are_programs_of_each_kind() -> None:
    assert {*NAMES} >= {"resnet18", "bidirectional", "gpt", "no_grad", "short"}


def apart(found: np.ndarray, wanted: np.ndarray) -> float:
    assert found.shape == wanted.shape
    scale = max(float(np.abs(wanted).max(initial=0)), 1e-3)
    return float(np.abs(found.astype(float) - wanted.astype(float)).max(initial=0)) / scale


class Opened:
    """A program, what PyTorch recorded of it, and what Gradstep computes of the same inputs."""

    def __init__(self, name: str) -> None:
        self.document = read(FILES / f"{name}.pt2")
        with np.load(FILES / f"{name}.npz") as kept:
            self.recorded = dict(kept)
        self.feeds = {f"{n}:0": array for n, array in self.of("input").items()}
        for tied in TIED.get(name, ()):  # one weight: it has all of the gradient by its first name
            assert tied.replace(".", "/") not in self.document.graph
            self.recorded.pop(f"gradient/{tied}")
        wrt = [TensorRef(n.replace(".", "/")) for n in self.of("gradient")]
        request = GradientRequest(of=self.document.fetches[:1], wrt=tuple(wrt))
        derived = differentiate(self.document.graph, request)
        initial = {name: constant.array for name, constant in self.document.initial.items()}
        self.session = Session(derived.graph, initial=initial)
        self.gradients = [derived.gradients[ref] for ref in wrt]

    def of(self, kind: str) -> dict[str, np.ndarray]:
        named = ((name.partition("/"), array) for name, array in self.recorded.items())
        return {name: array for (what, _, name), array in named if what == kind}

    def run(self, refs: list[TensorRef]) -> list[np.ndarray]:
        return list(self.session.run(refs, self.feeds))


@pytest.mark.parametrize("name", NAMES)
def test_a_program_gives_what_pytorch_gave(name: str) -> None:
    opened = Opened(name)
    outputs = opened.of("output")
    assert len(opened.document.fetches) == len(outputs)
    for found, wanted in zip(opened.run([*opened.document.fetches]), outputs.values(), strict=True):
        assert apart(found, wanted) <= WORST
    gradients = opened.of("gradient")
    assert len(gradients) >= 2
    assert None not in opened.gradients
    found = opened.run([ref for ref in opened.gradients if ref is not None])
    scale = max(float(np.abs(g).max()) for g in gradients.values())
    for (weight, wanted), mine in zip(gradients.items(), found, strict=True):
        # Beside others a gradient that is 0 but for rounding says nothing.
        assert float(np.abs(mine - wanted).max()) <= SHORT.get(weight, WORST) * max(scale, 1), (
            weight
        )


@pytest.mark.parametrize("name", ["resnet18", "short"])
def test_buffers_go_on_as_pytorch_lets_them(name: str) -> None:
    opened = Opened(name)
    opened.session.run([], opened.feeds, targets=opened.document.targets)
    buffers = opened.of("buffer")
    assert buffers
    for buffer, wanted in buffers.items():
        (found,) = opened.session.run([TensorRef(buffer.replace(".", "/"))], {})
        assert apart(np.asarray(found), wanted) <= WORST, buffer


def test_lines_and_modules_are_told() -> None:
    document = read(FILES / "resnet18.pt2")
    (convolution,) = (op for op in document.graph if op.name == "layer2/0/down/0/conv2d/Conv2D")
    assert convolution.attrs["_foreign_op"] == "aten.conv2d.default"
    assert str(convolution.attrs["_source"]).startswith("tests/traces/torch_models.py:")
    assert "layer2/0/down/0/conv2d" in document.view.collapsed


# -- what cannot be read ------------------------------------------------------------------------


def changed(
    name: str, change: Callable[[dict[str, Any]], Any], member: str = "model.json"
) -> bytes:
    """A program in whose JSON something is another."""
    out = io.BytesIO()
    with zipfile.ZipFile(FILES / f"{name}.pt2") as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename.endswith(member):
                told = json.loads(data)
                change(told)
                data = json.dumps(told).encode()
            new.writestr(info, data)
    return out.getvalue()


def refused(data: bytes) -> str:
    with pytest.raises(GradstepError) as caught:
        from_pt2(data, "net.pt2")
    assert caught.value.kind == "FileError"
    assert caught.value.hint
    return f"{caught.value.message}; {caught.value.hint}"


def nodes(told: dict[str, Any]) -> list[dict[str, Any]]:
    return told["graph_module"]["graph"]["nodes"]


def test_a_pickle_stays_closed() -> None:
    def pickled(told: dict[str, Any]) -> None:
        told["config"]["0.weight"]["use_pickle"] = True

    text = refused(changed("mlp", pickled, "weights_config.json"))
    assert "'0.weight', which is never opened" in text


def test_a_newer_schema_is_told() -> None:
    text = refused(changed("mlp", lambda told: told["schema_version"].update(major=9)))
    assert "version 9 of PyTorch's schema" in text


def test_sizes_that_the_bytes_do_not_have() -> None:
    def longer(told: dict[str, Any]) -> None:
        told["config"]["0.weight"]["tensor_meta"]["sizes"][0]["as_int"] = 10_000_000

    assert "'0.weight'" in refused(changed("mlp", longer, "weights_config.json"))


@pytest.mark.parametrize(
    "change",
    [
        lambda told: nodes(told)[0].pop("inputs"),
        lambda told: nodes(told)[0]["inputs"].append({"name": "x", "arg": {"as_soup": 1}}),
        lambda told: nodes(told)[1]["inputs"][0]["arg"]["as_tensor"].update(name="nobody"),
        lambda told: told["graph_module"].pop("signature"),
        lambda told: told["graph_module"]["graph"].update(nodes=[7]),
        lambda told: told["graph_module"]["graph"]["tensor_values"].clear(),
    ],
)
def test_what_is_not_as_pytorch_writes_it(change: Callable[[dict[str, Any]], Any]) -> None:
    assert "net.pt2" in refused(changed("mlp", change))


def test_a_view_of_what_is_changed_in_place() -> None:
    """relu_ of what a view is of that is used afterwards: it would have to change, too."""

    def in_place(told: dict[str, Any]) -> None:
        linear, relu, last = nodes(told)
        view = json.loads(json.dumps(relu))
        view["target"], view["outputs"] = "torch.ops.aten.alias.default", [_tensor("seen")]
        relu["target"] = "torch.ops.aten.relu_.default"
        last["inputs"][0]["arg"] = _tensor("seen")
        types = told["graph_module"]["graph"]["tensor_values"]
        types["seen"] = types[linear["outputs"][0]["as_tensor"]["name"]]
        nodes(told)[:] = [linear, view, relu, last]

    text = refused(changed("mlp", in_place))
    assert "'seen' is a view of a tensor that is changed in place" in text
    assert "run_decompositions" in text


def _tensor(name: str) -> dict[str, Any]:
    return {"as_tensor": {"name": name}}


def test_what_has_no_lowering_stays_and_is_named() -> None:
    def another(told: dict[str, Any]) -> None:
        nodes(told)[1]["target"] = "torch.ops.mine.glow.default"

    document: Document = from_pt2(changed("mlp", another), "net.pt2")
    assert [op.type for op in document.graph if "." in op.type] == ["mine.glow.default"]
    assert "there is no lowering of mine.glow.default" in document.note
