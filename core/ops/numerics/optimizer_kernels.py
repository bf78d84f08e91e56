"""One step of each optimizer on arrays: the state and a gradient in, the new state out.

Source: TensorFlow's training_ops.cc, whose order of operations these are. What is multiplied and
added elementwise serves whole variables and single rows of them alike.
"""

from __future__ import annotations

from typing import Any

Arrays = tuple[Any, ...]


def momentum(
    xp: Any, var: Any, accum: Any, *, lr: Any, grad: Any, momentum: Any, use_nesterov: bool
) -> Arrays:
    accum = accum * momentum + grad
    if use_nesterov:
        return var - (grad * lr + accum * momentum * lr), accum
    return var - accum * lr, accum


def keras_momentum(
    xp: Any, var: Any, accum: Any, *, lr: Any, grad: Any, momentum: Any, use_nesterov: bool
) -> Arrays:
    """The learning rate is inside what accumulates."""
    accum = accum * momentum - grad * lr
    return var + (accum * momentum - grad * lr if use_nesterov else accum), accum


def adagrad(xp: Any, var: Any, accum: Any, *, lr: Any, grad: Any, update_slots: bool) -> Arrays:
    accum = accum + xp.square(grad) if update_slots else accum
    return var - grad * lr / xp.sqrt(accum), accum


def adagrad_v2(
    xp: Any, var: Any, accum: Any, *, lr: Any, epsilon: Any, grad: Any, update_slots: bool
) -> Arrays:
    accum = accum + xp.square(grad) if update_slots else accum
    return var - grad * lr / (xp.sqrt(accum) + epsilon), accum


def adadelta(
    xp: Any,
    var: Any,
    accum: Any,
    accum_update: Any,
    *,
    lr: Any,
    rho: Any,
    epsilon: Any,
    grad: Any,
) -> Arrays:
    accum = accum * rho + xp.square(grad) * (1 - rho)
    update = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + xp.square(update) * (1 - rho)


def rms_prop(
    xp: Any,
    var: Any,
    ms: Any,
    mom: Any,
    *,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    grad: Any,
) -> Arrays:
    ms = ms + (xp.square(grad) - ms) * (1 - rho)
    mom = mom * momentum + (grad * lr) / xp.sqrt(ms + epsilon)
    return var - mom, ms, mom


def centered_rms_prop(
    xp: Any,
    var: Any,
    mg: Any,
    ms: Any,
    mom: Any,
    *,
    lr: Any,
    rho: Any,
    momentum: Any,
    epsilon: Any,
    grad: Any,
) -> Arrays:
    ms = ms + (xp.square(grad) - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + (grad * lr) / xp.sqrt((ms - xp.square(mg)) + epsilon)
    return var - mom, mg, ms, mom


def ftrl(
    xp: Any,
    var: Any,
    accum: Any,
    linear: Any,
    *,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    lr_power: Any,
    multiply_linear_by_lr: bool,
    l2_shrinkage: Any = None,
) -> Arrays:
    """Follow the regularised leader; without l2_shrinkage it is the first version."""
    total = accum + xp.square(grad)
    shrunk = grad if l2_shrinkage is None else grad + 2 * l2_shrinkage * var
    roots = xp.power(total, -lr_power) - xp.power(accum, -lr_power)
    if multiply_linear_by_lr:
        linear = linear + (shrunk * lr - roots * var)
        l1, quadratic = l1 * lr, xp.power(total, -lr_power) + 2 * l2 * lr
    else:
        linear = linear + (shrunk - roots / lr * var)
        quadratic = xp.power(total, -lr_power) / lr + 2 * l2
    step = (xp.clip(linear, -l1, l1) - linear) / quadratic
    return xp.where(xp.abs(linear) > l1, step, xp.zeros_like(step)), total, linear


def proximal_gradient_descent(
    xp: Any, var: Any, *, alpha: Any, l1: Any, l2: Any, grad: Any
) -> Arrays:
    return (_shrunk(xp, var - grad * alpha, alpha * l1) / (1 + l2 * alpha),)


def proximal_adagrad(
    xp: Any, var: Any, accum: Any, *, lr: Any, l1: Any, l2: Any, grad: Any
) -> Arrays:
    accum = accum + xp.square(grad)
    rate = lr / xp.sqrt(accum)
    return _shrunk(xp, var - grad * rate, rate * l1) / (1 + l2 * rate), accum


def adagrad_da(
    xp: Any,
    var: Any,
    gradient_accumulator: Any,
    gradient_squared_accumulator: Any,
    *,
    grad: Any,
    lr: Any,
    l1: Any,
    l2: Any,
    global_step: Any,
) -> Arrays:
    """Dual averaging: the variable follows from the sums alone."""
    steps = xp.asarray(global_step, dtype=var.dtype)
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + xp.square(grad)
    new = -lr * _shrunk(xp, total, l1 * steps) / (l2 * steps * lr + xp.sqrt(squares))
    return new, total, squares


def ada_max(
    xp: Any,
    var: Any,
    m: Any,
    v: Any,
    *,
    beta1_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
) -> Arrays:
    m = m + (grad - m) * (1 - beta1)
    v = xp.maximum(beta2 * v, xp.abs(grad))
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


def amsgrad(
    xp: Any,
    var: Any,
    m: Any,
    v: Any,
    vhat: Any,
    *,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
) -> Arrays:
    """Adam that divides by the largest second moment so far."""
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (xp.square(grad) - v) * (1 - beta2)
    vhat = xp.maximum(vhat, v)
    return var - (m * alpha) / (xp.sqrt(vhat) + epsilon), m, v, vhat


def _shrunk(xp: Any, x: Any, by: Any) -> Any:
    """`x` moved towards 0 by `by`, and not beyond. NaN stays NaN where its sign is 0 (PyTorch)."""
    size = xp.abs(x) - by
    return xp.sign(x) * xp.maximum(size, xp.zeros_like(size))
