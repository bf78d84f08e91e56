"""Linear algebra that cannot be done is refused, in TensorFlow 2.21's words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.declare.table import lookup
from tests.support.each_case import each_of
from tests.support.interpret import evaluate

INF, NAN = np.inf, np.nan


def f4(values: Any) -> np.ndarray:
    return np.array(values, np.float32)


A34 = np.arange(12, dtype=np.float32).reshape(3, 4)
SINGULAR = f4([[[1, 2], [3, 4]], [[1, 1], [1, 1]]])


@pytest.mark.parametrize(
    ("type", "inputs", "words"),
    [
        ("MatrixInverse", (SINGULAR,), "Input is not invertible."),
        ("MatrixSolve", (SINGULAR, f4(np.ones((2, 2, 1)))), "Input matrix is not invertible."),
        (
            "MatrixSolve",
            (f4([[NAN, 2], [3, 4]]), f4([[1], [2]])),
            "Input matrix is not invertible.",
        ),
    ],
)
def test_a_singular_matrix_is_refused(type: str, inputs: Any, words: str) -> None:
    builder = GraphBuilder()
    y = builder.one(type, *(builder.constant(x) for x in inputs))
    with pytest.raises(GradstepError) as caught:
        evaluate(builder.build(), [y.ref])
    assert (caught.value.message, caught.value.kind) == (words, "InvalidArgumentError")
    assert caught.value.hint


class Silent:
    """NumPy, whose inverse of a singular matrix is infinite and no error: as CuPy has it."""

    linalg = SimpleNamespace(inv=lambda x: np.full_like(x, INF), slogdet=np.linalg.slogdet)

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def test_a_device_that_keeps_silent_is_seen_through() -> None:
    kernel = lookup("MatrixInverse").kernel.plain
    assert kernel is not None
    with pytest.raises(GradstepError, match="Input is not invertible"):
        kernel(Silent(), f4([[1, 1], [1, 1]]), adjoint=False)
    assert np.isinf(kernel(Silent(), f4([[1e-40]]), adjoint=False)).all()  # only too large


class Unfinished(Silent):
    """NumPy, whose Cholesky stops at a pivot that is not positive and leaves it there."""

    linalg = SimpleNamespace(cholesky=lambda x: f4([[1, 0], [2, -1]]))


def test_a_cholesky_that_stopped_is_nan() -> None:
    kernel = lookup("Cholesky").kernel.plain
    assert kernel is not None
    found = kernel(Unfinished(), f4([[1, 2], [2, 3]]))
    np.testing.assert_array_equal(found, [[NAN, 0], [NAN, NAN]])


M23, M32, V2, Z = (np.zeros(s, np.float32) for s in ((2, 3), (3, 2), (2,), ()))
B3, B2 = np.zeros((3, 2, 2), np.float32), np.zeros((2, 2, 2), np.float32)
K = np.int32

# Both while drawing, where the shapes are known, and when run, where they were not.
REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str]] = [
    (
        "MatMul",
        (M23, M23),
        {},
        "be equal, but are 3 and 2",
        "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]",
    ),
    ("MatMul", (V2, M23), {}, "must be rank 2 but is rank 1", "has different ndims: [2] vs. [2,3]"),
    (
        "BatchMatMul",
        (B3, B2),
        {},
        "Shapes are [3] and [2].",
        "In[0].dim(0) and In[1].dim(0) must be the same",
    ),
    ("BatchMatMul", (B3, M23), {}, "must be equal rank, but are 1 and 0", "has different ndims"),
    (
        "BatchMatMulV2",
        (B3, B2),
        {},
        "be equal, but are 3 and 2",
        "must have compatible batch dimensions",
    ),
    ("BatchMatMulV2", (V2, B2), {}, "at least rank 2 but is rank 1", "In[0] ndims must be >= 2: 1"),
    ("MatrixInverse", (M23,), {}, "be equal, but are 2 and 3", "Input matrix must be square."),
    (
        "MatrixInverse",
        (V2,),
        {},
        "at least rank 2 but is rank 1",
        "Input tensor 0 must have rank >= 2, got 1",
    ),
    (
        "MatrixSolve",
        (M23, M23),
        {},
        "be equal, but are 2 and 3",
        "First input (lhs) must be a square matrix.",
    ),
    (
        "MatrixSolve",
        (B2[0], V2),
        {},
        "at least rank 2",
        "All input tensors must have the same rank.",
    ),
    (
        "MatrixSolve",
        (B2, B3),
        {},
        "Dimension 0 in both shapes",
        "must have the same outer dimensions.",
    ),
    (
        "MatrixSolve",
        (B2[0], M32),
        {},
        "be equal, but are 2 and 3",
        "Input matrix and rhs are incompatible.",
    ),
    (
        "MatrixTriangularSolve",
        (B2, B3),
        {},
        "are 2 and 3",
        "must have compatible batch dimensions: [2,2,2] vs. [3,2,2]",
    ),
    ("MatrixTriangularSolve", (B2, M32), {}, "are 2 and 3", "In[0] mismatch In[1] shape: 2 vs. 3"),
    ("MatrixTriangularSolve", (M23, M23), {}, "are 2 and 3", "must be square (3 =/= 2)"),
    (
        "CholeskyGrad",
        (B2[0], B3),
        {},
        "equal rank",
        "Inputs (L and grad) must have the same shape.",
    ),
    ("Cross", (V2, V2), {}, "Dimension must be 3 but is 2", "only defined for 3-element vectors."),
    ("Diag", (Z,), {}, "at least rank 1 but is rank 0", "Input must be at least rank 1, got 0"),
    (
        "DiagPart",
        (M23,),
        {},
        "be equal, but are 2 and 3",
        "Invalid shape [2,3]: dimensions 0 and 1 do not match.",
    ),
    (
        "DiagPart",
        (V2,),
        {},
        "even and non-zero rank, input rank is 1",
        "should be even and positive, got shape [2]",
    ),
    (
        "MatrixBandPart",
        (M23, K(3), K(0)),
        {},
        "number of rows (2) got: 3",
        "number of rows (2) got: 3",
    ),
    (
        "MatrixBandPart",
        (M23, K(0), K(4)),
        {},
        "number of columns (3) got: 4",
        "number of columns (3) got: 4",
    ),
    (
        "MatrixBandPart",
        (V2, K(0), K(0)),
        {},
        "at least 2-dim, received shape: [2]",
        "at least 2-dim, received shape: [2]",
    ),
    (
        "MatrixDiagPartV3",
        (A34, K(4), Z),
        {},
        "lower_diag_index is out of bound: 4.",
        "It must be between -3 and 4",
    ),
    (
        "MatrixDiagPartV3",
        (A34, K([1, 0]), Z),
        {},
        "must not be larger",
        "must not be larger than upper_diag_index: 1 > 0",
    ),
    (
        "MatrixDiagV3",
        (M23, K([0, 2]), K(3), K(3), Z),
        {},
        "number of diagonals provided",
        "number of diagonals provided",
    ),
    ("MatrixDiagV3", (V2, K([0, 1]), K(2), K(2), Z), {}, "at least 2-dim", "at least 2-dim"),
    (
        "MatrixDiagV3",
        (V2, K(0), K(5), K(5), Z),
        {},
        "is not consistent",
        "is not consistent with the specified d_lower",
    ),
    ("MatrixDiagV3", (V2, K(0), K(1), K(5), Z), {}, "rows is too small.", "rows is too small."),
    ("MatrixSetDiagV3", (A34, V2, K(0)), {}, "Either first dimensions", "Either first dimensions"),
    (
        "MatrixSetDiagV3",
        (A34, V2, K([0, 1])),
        {},
        "is not consistent with",
        "diagonals provided in `diag` is not",
    ),
    (
        "Einsum",
        (V2,),
        {"equation": "ij->i"},
        "Expected input 0 to have rank 2",
        "Expected input 0 to have rank 2 but got: 1",
    ),
    (
        "Einsum",
        (V2, M32),
        {"equation": "i,ij->j"},
        "dimension 2 at axis 0",
        "at axis 0 of the input shaped [3,2] but got",
    ),
    (
        "Einsum",
        (B2, B3),
        {"equation": "...ij,...jk->...ik"},
        "[2,2,2] vs. [3,2,2]",
        "Invalid broadcasting dimensions",
    ),
    (
        "Einsum",
        (B2,),
        {"equation": "i...->i"},
        "without ellipsis (...) in the output",
        "must be at most rank 0 but is rank 2",
    ),
    ("LinSpace", (Z, Z, K(0)), {}, "Requires num > 0: 0", "Requires num > 0: 0"),
]


@each_of(("type", "inputs", "attrs", "drawing", "running"), REFUSED)
def test_what_does_not_fit_is_refused(
    type: str, inputs: Any, attrs: Any, drawing: str, running: str
) -> None:
    builder = GraphBuilder()
    with pytest.raises(GradstepError) as caught:
        builder.op(type, *(builder.constant(np.asarray(x)) for x in inputs), name="it", **attrs)
    assert drawing in caught.value.message
    assert caught.value.node == "it"
    unknown = [builder.placeholder(f"in{i}", str(x.dtype)) for i, x in enumerate(inputs)]
    found = builder.op(type, *unknown, **attrs)
    feeds = {f"in{i}": np.asarray(x) for i, x in enumerate(inputs)}
    with pytest.raises(GradstepError) as caught:
        evaluate(builder.build(), [found[0].ref], feeds)
    assert running in caught.value.message
