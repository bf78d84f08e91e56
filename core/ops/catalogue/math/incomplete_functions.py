"""The incomplete gamma functions and the incomplete beta function."""

from __future__ import annotations

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.shape_rules import broadcast
from gradstep.core.ops.declare.table import Sample, op
from gradstep.core.ops.declare.type_rules import only
from gradstep.core.ops.numerics.special import incomplete_gamma
from gradstep.core.ops.numerics.special.series import in_double

_TYPES = "float32 float64"
_SHORT = f"bfloat16 float16 {_TYPES}"


def _density(op: OpView) -> Tensor:
    """x**(a-1) exp(-x) / gamma(a)."""
    a, x = op.inputs
    return call("Exp", (a - 1.0) * call("Log", x) - x - call("Lgamma", a))


def _igamma(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    return call("IgammaGradA", *op.inputs) * g, _density(op) * g


def _igammac(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    to_a, to_x = _igamma(op, g)
    return -to_a, -to_x


def _betainc(op: OpView, g: Tensor) -> tuple[None, None, Tensor]:
    a, b, x = op.inputs
    log_beta = call("Lgamma", a) + call("Lgamma", b) - call("Lgamma", a + b)
    powers = call("Xlog1py", b - 1.0, -x) + call("Xlogy", a - 1.0, x)
    return None, None, call("Exp", powers - log_beta) * g


def _gamma_samples(rng: np.random.Generator) -> list[Sample]:
    shapes, points = rng.uniform(0.5, 4.0, (2, 1)), rng.uniform(0.3, 6.0, (3,))
    return [Sample((shapes, points)), Sample((np.array([30.0, 0.2]), np.array([28.0, 3.0])))]


def _beta_samples(rng: np.random.Generator) -> list[Sample]:
    return [Sample((*rng.uniform(0.5, 4.0, (2, 3)), rng.uniform(0.1, 0.9, 3)))]


_DIGITS = "all digits up to a of 3,000; TensorFlow's up to larger ones"

for _type, _function, _gradient, _doc in (
    ("Igamma", incomplete_gamma.igamma, _igamma, "The share of the gamma distribution of shape a "
     "that lies below x, with broadcasting."),
    ("Igammac", incomplete_gamma.igammac, _igammac, "The share of the gamma distribution of shape "
     "a that lies above x, with broadcasting."),
    ("IgammaGradA", incomplete_gamma.igamma_grad_a, None, "The derivative of Igamma "
     "to a, with broadcasting."),
):  # fmt: skip
    op(
        _type,
        inputs="a x",
        outputs="z",
        type_attrs={"T": "a"},
        formula=f"{_type.lower()}(a, x)",
        infer=only(broadcast, _TYPES if _gradient is None else _SHORT),
        kernel=in_double(_function),
        gradient=_gradient,
        broadcasts=True,
        samples=_gamma_samples,
        python="" if _type == "IgammaGradA" else _type.lower(),
        doc=_doc,
        kinks="NaN for a <= 0 and for negative x",
        differs=_DIGITS,
    )

op(
    "Betainc",
    inputs="a b x",
    outputs="z",
    type_attrs={"T": "a"},
    formula="betainc(a, b, x)",
    infer=only(broadcast, _TYPES),
    kernel=in_double(incomplete_gamma.betainc),
    gradient=_betainc,
    broadcasts=True,
    samples=_beta_samples,
    python="betainc",
    doc="The share of the beta distribution of shapes a and b that lies below x, with "
    "broadcasting.",
    kinks="no gradient for a and b; NaN for x outside of 0 and 1",
)
