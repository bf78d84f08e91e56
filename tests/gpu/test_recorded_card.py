"""The rules of emulated systems, held to what a card gave: tests/data/gpu."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.gpu.emulated_systems import PROFILES
from gradstep.gpu.emulation import EmulatedBackend
from tests.card.cast_rows import TYPES, numbers
from tests.card.recording import from_text
from tests.support.each_case import each_of

RECORDED = json.loads(
    (Path(__file__).parents[1] / "data" / "gpu" / "h200-2026-11-26.json").read_text("utf-8")
)["rows"]
INTEGERS = [kind for kind in TYPES if np.dtype(kind).kind in "iu"]


def cast_of(profile: str, kind: str, to: str) -> np.ndarray:
    """What Cast gives under a profile's rules."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", DType(kind), (len(numbers(kind)),))
        y = builder.one("Cast", x, DstT=DType(to))
    session = Session(builder.build(), EmulatedBackend(PROFILES[profile]))
    with np.errstate(all="ignore"):
        return np.asarray(session.run([y.ref], {"x:0": numbers(kind)})[0])


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("profile", "library"), [("cupy", "cupy"), ("jax", "jax")])
def test_casts_out_of_range_are_as_on_a_card(profile: str, library: str, kind: str) -> None:
    for to in INTEGERS:
        row: dict[str, Any] = RECORDED[f"cast|{library}|{kind}|{to}"]
        wanted = from_text(row["values"][0])
        np.testing.assert_array_equal(cast_of(profile, kind, to), wanted, err_msg=f"{kind} {to}")


TINY = from_text(RECORDED["rule|numpy|subnormal * 1"]["values"][0])
ONE, ZERO = np.float32(1), np.float32(0)
ROWS = np.array(0, np.int32)
OPERATIONS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "+ 0": ("AddV2", (TINY, ZERO)),
    "* 1": ("Mul", (TINY, ONE)),
    "* 2": ("Mul", (TINY, 2 * ONE)),
    "/ 1": ("RealDiv", (TINY, ONE)),
    "> 0": ("Greater", (TINY, ZERO)),
    "== 0": ("Equal", (TINY, ZERO)),
    "neg": ("Neg", (TINY,)),
    "abs": ("Abs", (TINY,)),
    "sign": ("Sign", (TINY,)),
    "maximum": ("Maximum", (TINY, TINY * 0)),
    "sqrt": ("Sqrt", (TINY,)),
    "log": ("Log", (TINY,)),
    "tanh": ("Tanh", (TINY,)),
    "sin": ("Sin", (TINY,)),
    "expm1": ("Expm1", (TINY,)),
    "log1p": ("Log1p", (TINY,)),
    "exp -100": ("Exp", (np.array([-90, -100, -103], np.float32),)),
    "sum": ("Sum", (TINY, ROWS)),
    "min": ("Min", (TINY, ROWS)),
    "cumsum": ("Cumsum", (TINY, ROWS)),
    "matmul": ("MatMul", (np.tile(TINY, (4, 1)), np.eye(4, dtype=np.float32))),
}


@each_of("name", OPERATIONS)
@each_of("library", ["cupy", "jax", "torch"])
def test_subnormals_are_flushed_where_a_card_flushes_them(library: str, name: str) -> None:
    type_, inputs = OPERATIONS[name]
    op = Operation("y", type_, tuple(TensorRef(f"x{i}") for i, _ in enumerate(inputs)))
    with np.errstate(all="ignore"):
        found = run_op(EmulatedBackend(PROFILES[library]), op, inputs)[0]
    wanted = from_text(RECORDED[f"rule|{library}|subnormal {name}"]["values"][0])
    np.testing.assert_array_equal(found == 0, wanted == 0)
    rounded = 1e-3 if PROFILES[library].tf32 and type_ == "MatMul" else 1e-6
    atol = max(3e-45, rounded * float(np.abs(wanted).max(initial=0, where=np.isfinite(wanted))))
    np.testing.assert_allclose(found, wanted, rtol=rounded, atol=atol)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_subnormals_are_cast_as_on_a_card(kind: str) -> None:
    for to in ("float16", "float32", "float64", "bool"):
        wanted = from_text(RECORDED[f"cast|cupy|{kind}|{to}"]["values"][0])
        np.testing.assert_array_equal(cast_of("cupy", kind, to), wanted, err_msg=f"{kind} {to}")
