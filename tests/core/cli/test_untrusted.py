"""A document's Python does not run untrusted, whatever is asked of it: each piece leaves a mark."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.document.document import CodeItem, CodeKind, Document, Optimizer
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.io.export_document import to_bytes
from gradstep.core.io.native import gradstep_file
from tests.core.cli.conftest import Cli
from tests.fuzz.case import CANARY, MARK

SOURCE = f"{MARK}\n\ndef odd(*args):\n    import builtins\n    builtins.{CANARY} = True\n"
ROUTES = (
    ("run",),
    ("run", "--fast"),
    ("run", "--fetch", "called"),
    ("grad",),
    ("grad", "--check"),
    ("grad", "--of", "called", "--wrt", "x"),
    ("why",),
    ("why", "--of", "called", "--wrt", "x"),
    ("check",),
    ("check", "--node", "called"),
    ("check", "--second-order"),
    ("expect", "--value", "y"),
    ("expect", "--that", 'grad["x"]'),
    ("expect", "--failure"),
    ("profile", "--runs", "1"),
    ("profile", "--fast", "--runs", "1"),
    ("train", "--steps", "2"),
    ("compare", "--against", "emulate:tf-gpu"),
    ("debug", "--script", "step; continue; print y; gradient x; step_back; duplicate d; continue"),
)
FORMATS = (".gradstep", ".pb", ".pbtxt", ".py", ".dot", ".svg", ".png")


@pytest.fixture(autouse=True)
def unmarked() -> Iterator[None]:
    """No piece of it has run in the end."""
    builtins.__dict__.pop(CANARY, None)
    yield
    assert not builtins.__dict__.pop(CANARY, False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "odd.gradstep"
    gradstep_file.save(path, document())
    return path


def document() -> Document:
    """y = f(x)². What is in it for f, and for the gradients of both, is the document's Python."""
    types = {"Tin": (DType.FLOAT32,), "Tout": (DType.FLOAT32,), "token": "odd"}
    graph = Graph.of(
        [
            Operation("x", "VariableV2", attrs={"dtype": DType.FLOAT32, "shape": Shape(())}),
            Operation("called", "PyFunc", (TensorRef("x"),), attrs=types),
            Operation(
                "y", "Square", (TensorRef("called"),), attrs={"_gradient_op_type": "odd_numpy"}
            ),
        ]
    )
    override = Override("odd_gradient", "called", OverrideKind.OP)
    asked = GradientRequest((TensorRef("y"),), (TensorRef("x"),), overrides=(override,))
    kinds = {
        "odd": CodeKind.PYFUNC,
        "odd_gradient": CodeKind.GRADIENT,
        "odd_numpy": CodeKind.NUMPY_GRADIENT,
    }
    return Document(
        graph=graph,
        request=asked,
        initial={"x": Constant(np.float32(2))},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.1}),),
        code={name: CodeItem(name, kind, SOURCE) for name, kind in kinds.items()},
    )


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_no_command_runs_it(cli: Cli, file: Path, route: tuple[str, ...]) -> None:
    verb, *rest = route
    said = cli(verb, file, *rest)
    assert "trusted" in said.out + said.err or said.status in (0, 1)


@pytest.mark.parametrize("suffix", FORMATS)
def test_nothing_that_it_is_written_as_runs_it(
    cli: Cli, qapp: object, file: Path, tmp_path: Path, suffix: str
) -> None:
    out = tmp_path / f"out{suffix}"
    assert cli("convert", file, out).status == 0
    assert out.stat().st_size > 0


@pytest.mark.parametrize("suffix", [".gradstep", ".pb", ".pbtxt"])
def test_nor_does_reading_it_again(cli: Cli, file: Path, tmp_path: Path, suffix: str) -> None:
    again = tmp_path / f"again{suffix}"
    again.write_bytes(to_bytes(document(), suffix))
    for verb in ("run", "check", "grad"):
        assert cli(verb, again).status in (0, 1, 2)


def test_trusted_it_would_have_left_its_mark(cli: Cli, file: Path) -> None:
    cli("run", file, "--trust")
    assert builtins.__dict__.pop(CANARY, False)
