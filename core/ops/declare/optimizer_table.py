"""Which optimizers TensorFlow has ops for: their variables, inputs and formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gradstep.core.ops.numerics import optimizer_kernels as rules_of


@dataclass(frozen=True)
class Rule:
    """One optimizer's step. state: the variables that it updates, `var` first; values: the other
    inputs of the dense op in order, the gradient (by whatever name) among them; formula: the new
    `var`; forms: which of TensorFlow's four ops there are; compares: whether it asks which number
    is larger, and so takes no complex ones."""

    name: str
    step: Callable[..., tuple[Any, ...]]
    state: str
    values: str
    formula: str
    doc: str
    attrs: Mapping[str, bool] = field(default_factory=dict)
    forms: tuple[str, ...] = ("", "Sparse", "Resource", "ResourceSparse")
    compares: bool = False


# How the types of their ops begin.
UPDATES = ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply")

_SQUARES = "(accum + grad**2 * update_slots)"
_RATE = "(lr / sqrt(accum + grad**2))"
_NESTEROV = {"use_nesterov": False}
_SLOTS = {"update_slots": True}
_BY_LR = {"multiply_linear_by_lr": False}

RULES = (
    Rule(
        "Momentum",
        rules_of.momentum,
        "var accum",
        "lr grad momentum",
        "var - lr * (grad + momentum * (momentum * accum + grad) if use_nesterov "
        "else momentum * accum + grad)",
        "gradient descent with momentum",
        _NESTEROV,
    ),
    Rule(
        "KerasMomentum",
        rules_of.keras_momentum,
        "var accum",
        "lr grad momentum",
        "var + (momentum * (momentum * accum - lr * grad) - lr * grad if use_nesterov "
        "else momentum * accum - lr * grad)",
        "gradient descent with momentum, the learning rate inside what accumulates",
        _NESTEROV,
        ("Resource", "ResourceSparse"),
    ),
    Rule(
        "Adagrad",
        rules_of.adagrad,
        "var accum",
        "lr grad",
        f"var - lr * grad / sqrt{_SQUARES}",
        "Adagrad",
        _SLOTS,
    ),
    Rule(
        "AdagradV2",
        rules_of.adagrad_v2,
        "var accum",
        "lr epsilon grad",
        f"var - lr * grad / (sqrt{_SQUARES} + epsilon)",
        "Adagrad with an epsilon",
        _SLOTS,
    ),
    Rule(
        "Adadelta",
        rules_of.adadelta,
        "var accum accum_update",
        "lr rho epsilon grad",
        "var - lr * grad * sqrt(accum_update + epsilon) / "
        "sqrt(rho * accum + (1 - rho) * grad**2 + epsilon)",
        "Adadelta",
    ),
    Rule(
        "RMSProp",
        rules_of.rms_prop,
        "var ms mom",
        "lr rho momentum epsilon grad",
        "var - momentum * mom - lr * grad / sqrt(rho * ms + (1 - rho) * grad**2 + epsilon)",
        "RMSProp, with its epsilon inside the root",
    ),
    Rule(
        "CenteredRMSProp",
        rules_of.centered_rms_prop,
        "var mg ms mom",
        "lr rho momentum epsilon grad",
        "var - momentum * mom - lr * grad / sqrt(rho * ms + (1 - rho) * grad**2 "
        "- (rho * mg + (1 - rho) * grad)**2 + epsilon)",
        "RMSProp that divides by the standard deviation",
    ),
    Rule(
        "Ftrl",
        rules_of.ftrl,
        "var accum linear",
        "grad lr l1 l2 lr_power",
        "ftrl(var, accum, linear, grad, lr, l1, l2, 0, lr_power, multiply_linear_by_lr)",
        "the regularised leader (FTRL-proximal)",
        _BY_LR,
        compares=True,
    ),
    Rule(
        "FtrlV2",
        rules_of.ftrl,
        "var accum linear",
        "grad lr l1 l2 l2_shrinkage lr_power",
        "ftrl(var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power, multiply_linear_by_lr)",
        "the regularised leader, with shrinkage",
        _BY_LR,
        compares=True,
    ),
    Rule(
        "ProximalGradientDescent",
        rules_of.proximal_gradient_descent,
        "var",
        "alpha l1 l2 grad",
        "shrunk(var - alpha * grad, alpha * l1) / (1 + alpha * l2)",
        "gradient descent with l1 and l2 regularisation",
    ),
    Rule(
        "ProximalAdagrad",
        rules_of.proximal_adagrad,
        "var accum",
        "lr l1 l2 grad",
        f"shrunk(var - {_RATE} * grad, {_RATE} * l1) / (1 + {_RATE} * l2)",
        "Adagrad with l1 and l2 regularisation",
    ),
    Rule(
        "AdagradDA",
        rules_of.adagrad_da,
        "var gradient_accumulator gradient_squared_accumulator",
        "grad lr l1 l2 global_step",
        "-lr * shrunk(gradient_accumulator + grad, l1 * global_step) / "
        "(l2 * global_step * lr + sqrt(gradient_squared_accumulator + grad**2))",
        "Adagrad with dual averaging",
    ),
    Rule(
        "AdaMax",
        rules_of.ada_max,
        "var m v",
        "beta1_power lr beta1 beta2 epsilon grad",
        "var - lr / (1 - beta1_power) * (beta1 * m + (1 - beta1) * grad) / "
        "(maximum(beta2 * v, abs(grad)) + epsilon)",
        "AdaMax",
        forms=("", "Resource"),
    ),
    Rule(
        "AdamWithAmsgrad",
        rules_of.amsgrad,
        "var m v vhat",
        "beta1_power beta2_power lr beta1 beta2 epsilon grad",
        "var - lr * sqrt(1 - beta2_power) / (1 - beta1_power) * (beta1 * m + (1 - beta1) * grad) "
        "/ (sqrt(maximum(vhat, beta2 * v + (1 - beta2) * grad**2)) + epsilon)",
        "Adam that divides by the largest second moment so far",
        forms=("Resource",),
    ),
)
