"""Where a slope is none, or a function has steps, what comes back is what PyTorch gives: zeros."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.traces.traced_document import tables
from gradstep.core.lowering.foreign_graph import (
    ForeignGraph,
    ForeignInput,
    ForeignNode,
    ForeignRef,
    ForeignTensor,
)
from gradstep.core.lowering.lowered_graph import Lowered, lower
from tests.support.each_case import check_each

NAN, INF = np.nan, np.inf
IGNORED = -100
Case = tuple[str, Mapping[str, Any], Any, Mapping[str, Any]]


def array(value: Any) -> np.ndarray:
    made = np.asarray(value)
    return made.astype(np.float32) if made.dtype.kind == "f" else made


def lowered(op: str, args: Mapping[str, Any], shape: tuple[int, ...], recorded: bool) -> Lowered:
    """Of one operation. args: lists are tensors of their name."""
    tensors = {name: array(x) for name, x in args.items() if isinstance(x, list)}
    inputs = [
        ForeignInput(n, "input", ForeignTensor(x.dtype.name, x.shape, x if recorded else None))
        for n, x in tensors.items()
    ]
    given = {n: ForeignRef(n) if n in tensors else x for n, x in args.items()}
    node = ForeignNode("m", op, given, (ForeignTensor("float32", shape),))
    done = lower(ForeignGraph("torch", "", tuple(inputs), (node,), ()), tables)
    assert not done.unlowered
    return done


def came_back(case: Case, recorded: bool) -> tuple[np.ndarray, dict[str, Any]]:
    """The value, and what comes back to each tensor, where 1 comes back to every element."""
    op, args, value, slopes = case
    done = lowered(op, args, array(value).shape, recorded)
    out = done.tensors[ForeignRef("m")]
    request = GradientRequest(of=(out,), wrt=tuple(map(TensorRef, slopes)))
    derived = differentiate(done.graph, request)
    holders = [derived.gradients[TensorRef(name)] for name in slopes]
    assert None not in holders
    feeds = {f"{name}:0": array(x) for name, x in args.items() if isinstance(x, list)}
    with np.errstate(all="ignore"):
        found = Session(derived.graph).run([out, *holders], feeds)  # type: ignore[list-item]
    return found[0], dict(zip(slopes, found[1:], strict=True))


# As torch 2.13 gave them.
CASES: list[Case] = [
    ("aten.pow.Tensor_Scalar", {"self": [0.0, -1.0, NAN], "exponent": 0}, [1.0, 1.0, 1.0],
     {"self": [0.0, 0.0, 0.0]}),
    ("aten.pow.Tensor_Scalar", {"self": [0.0, -2.0], "exponent": 3}, [0.0, -8.0],
     {"self": [0.0, 12.0]}),
    ("aten.pow.Tensor_Tensor",
     {"self": [0.0, 0.0, 0.0, 0.0, -2.0, -2.0, 2.0],
      "exponent": [0.0, 1.0, 2.0, -1.0, 2.0, 0.0, 0.0]},
     [1.0, 0.0, 0.0, INF, 4.0, 1.0, 1.0],
     {"self": [0.0, 1.0, 0.0, -INF, -4.0, 0.0, 0.0]}),
    ("aten.pow.Tensor_Tensor", {"self": [[0.0], [-2.0]], "exponent": [0, 1, 2]},
     [[1.0, 0.0, 0.0], [1.0, -2.0, 4.0]], {"self": [[1.0], [-3.0]]}),
    ("aten.pow.Tensor_Tensor", {"self": [0.0, 0.0, 2.0], "exponent": [0.0, 2.0, 0.0]},
     [1.0, 0.0, 1.0], {"exponent": [0.0, 0.0, np.log(2)]}),
    ("aten.atan2.default",
     {"self": [0.0, 0.0, -0.0, 1.0, 0.0], "other": [0.0, -0.0, 0.0, 0.0, 2.0]},
     [0.0, np.pi, -0.0, np.pi / 2, 0.0],
     {"self": [0.0, 0.0, 0.0, 0.0, 0.5], "other": [0.0, 0.0, 0.0, -1.0, 0.0]}),
    ("aten.round.default", {"self": [1.5, 2.5, -0.7]}, [2.0, 2.0, -1.0], {"self": [0.0] * 3}),
    ("aten.round.decimals", {"self": [1.234, -2.678], "decimals": 2}, [1.23, -2.68],
     {"self": [0.0] * 2}),
    ("aten.round.decimals", {"self": [1234.0, -26.0], "decimals": -1}, [1230.0, -30.0],
     {"self": [0.0] * 2}),
    ("aten.floor.default", {"self": [1.5, -0.5]}, [1.0, -1.0], {"self": [0.0] * 2}),
    ("aten.ceil.default", {"self": [1.5, -0.5]}, [2.0, -0.0], {"self": [0.0] * 2}),
    ("aten.trunc.default", {"self": [1.5, -1.5]}, [1.0, -1.0], {"self": [0.0] * 2}),
    ("aten.frac.default", {"self": [1.5, -1.5]}, [0.5, -0.5], {"self": [1.0] * 2}),
    *(("aten.div.Tensor_mode",
       {"self": [[7.0], [-7.0]], "other": [2.0, 3.0], "rounding_mode": mode}, value,
       {"self": [[0.0], [0.0]], "other": [0.0, 0.0]})
      for mode, value in (("floor", [[3.0, 2.0], [-4.0, -3.0]]),
                          ("trunc", [[3.0, 2.0], [-3.0, -2.0]]))),
    ("aten.cross_entropy_loss.default",
     {"self": [[1.0, 2.0], [3.0, 4.0]], "target": [IGNORED, IGNORED]}, NAN,
     {"self": [[0.0, 0.0], [0.0, 0.0]]}),
    ("aten.cross_entropy_loss.default",
     {"self": [[1.0, 2.0]], "target": [IGNORED], "label_smoothing": 0.1}, NAN,
     {"self": [[0.0, 0.0]]}),
    ("aten.linalg_vector_norm.default", {"self": [[NAN, 1.0], [0.0, 0.0], [3.0, 4.0]], "dim": -1},
     [NAN, 0.0, 5.0], {"self": [[NAN, NAN], [0.0, 0.0], [0.6, 0.8]]}),
    ("aten.linalg_vector_norm.default", {"self": [[0.0, 0.0], [0.0, 8.0]], "ord": 1.5, "dim": -1},
     [0.0, 8.0], {"self": [[0.0, 0.0], [0.0, 1.0]]}),
    ("aten.logaddexp.default", {"self": [-INF, 50.0, 0.0], "other": [2.0, -INF, 0.0]},
     [2.0, 50.0, np.log(2)], {"self": [0.0, 1.0, 0.5], "other": [1.0, 0.0, 0.5]}),
    ("aten.logaddexp.default", {"self": [INF, 1.0], "other": [1.0, 2.0]}, [INF, 2.3132617],
     {"self": [1.0, 0.26894143], "other": [0.0, 0.7310586]}),
    ("aten.hypot.default", {"self": [1e20, 3.0], "other": [1e20, 4.0]}, [1.4142136e20, 5.0],
     {"self": [0.70710677, 0.6], "other": [0.70710677, 0.8]}),
    ("aten.xlogy.Tensor", {"self": [0.0, 0.0, 2.0], "other": [0.0, 4.0, 4.0]},
     [0.0, 0.0, 2 * np.log(4)], {"self": [0.0, np.log(4), np.log(4)]}),
    ("aten.xlogy.Tensor", {"self": [0.0, 1.0], "other": [0.0, 1.0]}, [0.0, 0.0],
     {"self": [0.0, 0.0], "other": [NAN, 1.0]}),
    ("aten.logsumexp.default", {"self": [[-INF, -INF], [0.0, -INF]], "dim": 1}, [-INF, 0.0],
     {"self": [[NAN, NAN], [1.0, 0.0]]}),
    ("aten.nanmean.default", {"self": [[NAN, 1.0], [NAN, 5.0]], "dim": 1}, [1.0, 5.0],
     {"self": [[0.0, 1.0], [0.0, 1.0]]}),
    ("aten.nll_loss_nd.default", {"self": [[-1.0, -INF], [-3.0, -4.0]], "target": [0, IGNORED]},
     1.0, {"self": [[-1.0, 0.0], [0.0, 0.0]]}),
]  # fmt: skip


@pytest.mark.parametrize("recorded", [True, False])
def test_a_probability_may_be_0_or_1(recorded: bool) -> None:
    """As torch.nn.functional.binary_cross_entropy gave it: logarithms end, and so do slopes."""
    sure = {"self": [0.0, 0.0, 1.0, 1.0, 0.25], "target": [0.0, 1.0, 1.0, 0.0, 1.0], "reduction": 0}
    wanted = [0.0, 100.0, 0.0, 100.0, np.log(4)]
    slopes = {"self": [0.0, -1e12, 0.0, 1e12, -4.0]}
    case = ("aten.binary_cross_entropy.default", sure, wanted, slopes)
    value, found = came_back(case, recorded)
    np.testing.assert_allclose(value, array(wanted), rtol=1e-6)
    np.testing.assert_allclose(found["self"], array(slopes["self"]), rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "q", "between", "value"),
    [
        # 0.7 * 10 is 7 in float32, and a little less in float64.
        ([float(i) for i in range(11)], 0.7, "lower", 7.0),
        ([float(i) for i in range(11)], 0.7, "midpoint", 7.0),
        ([float(i) for i in range(11)], 0.3, "higher", 3.0),
        ([float(i) for i in range(11)], 0.25, "linear", 2.5),
        ([0.0, 1.0, NAN, 2.0], 0.5, "linear", NAN),
        ([[0.0, NAN], [2.0, 4.0]], 0.5, "linear", [NAN, 3.0]),
    ],
)
def test_a_quantile_is_by_float32_ranks_and_hides_no_nan(
    x: list[Any], q: float, between: str, value: Any
) -> None:
    """As ATen's Sorting.cpp has it."""
    args = {"self": x, "q": q, "interpolation": between}
    if isinstance(x[0], list):
        args |= {"dim": 1}
    found, _ = came_back(("aten.quantile.scalar", args, value, {"self": x}), True)
    np.testing.assert_allclose(found, array(value), rtol=1e-6)


@pytest.mark.parametrize("recorded", [True, False])
def test_it_is_as_in_pytorch(recorded: bool) -> None:
    def check(case: Case) -> None:
        value, slopes = came_back(case, recorded)
        np.testing.assert_allclose(value, array(case[2]), rtol=1e-6)
        for name, slope in slopes.items():
            np.testing.assert_allclose(slope, array(case[3][name]), rtol=1e-6, atol=1e-7)

    check_each(CASES, check, lambda case: f"{case[0]} {case[1]}")
