"""One step of Adam as calls of NumPy's functions: what its kernel computes, in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.ops.declare.parted_calls import in_parts
from gradstep.core.ops.declare.ufunc import BLOCK, Calls
from gradstep.core.ops.numerics.adjacent_arrays import view_adjacent
from gradstep.core.ops.numerics.scalar_operands import number, one

Arrays = Sequence[Any]
_BLOCK = 2 * BLOCK  # elements; a dozen calls on seven arrays are worth leaving the first cache
_MANY = 1 << 20  # elements; from here on several threads are worth it
_FEW = 1 << 10  # elements; up to here a call costs more than what it does to them


def adam_calls(
    xp: Any,
    var: Any,
    m: Any,
    v: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
    *,
    use_nesterov: bool,
    out: Any,
    room: Any,
) -> Calls:
    """Block by block. Where a result does not take the place of an input, that is where it is
    worked out: so much less has to be in the cache."""
    alpha = yield from _rate(beta1_power, beta2_power, lr, room)
    rest1 = yield from _rest(beta1, room)
    rest2 = yield from _rest(beta2, room)
    size = max(min(var.size, _BLOCK), 1)
    apart = [not np.may_share_memory(a, b) for a, b in zip(out, (var, m, v), strict=True)]
    flat = [x.reshape(-1) for x in (var, m, v, *out, grad)]

    def listed(some: Sequence[int], room: Any) -> Calls:
        root, spare = [room((size,), var.dtype) for _ in range(2)]
        for at in some:
            *parts, g = (x[at : at + size] for x in flat)
            old, new = parts[:3], parts[3:]
            x, y = root[: g.size], spare[: g.size]
            step, *work = (n if own else y for n, own in zip(new, apart, strict=True))
            yield from _moments(old[1:], new[1:], g, (rest1, rest2), work, room)
            if use_nesterov:
                yield np.multiply, new[1], beta1, x
                yield np.multiply, rest1, g, step
                yield np.add, x, step, step
            yield np.multiply, step if use_nesterov else new[1], alpha, step
            yield np.sqrt, new[2], x
            yield np.add, x, epsilon, x
            yield np.divide, step, x, step
            yield np.subtract, old[0], step, new[0]

    several = range(0, var.size, size)
    yield from in_parts(several, listed, room, shared=var.size >= _MANY)


def _rate(beta1_power: Any, beta2_power: Any, lr: Any, room: Any) -> Any:
    """lr * sqrt(1 - beta2_power) / (1 - beta1_power), once the calls given are made."""
    alpha, rests = room((), lr.dtype), room((2,), lr.dtype)
    rest1, rest2 = rests[:1].reshape(()), rests[1:].reshape(())
    powers = view_adjacent((beta1_power, beta2_power))
    if powers is not None:
        yield np.subtract, one(np, lr), powers, rests
    else:
        yield np.subtract, one(np, lr), beta1_power, rest1
        yield np.subtract, one(np, lr), beta2_power, rest2
    yield np.sqrt, rest2, alpha
    yield np.multiply, lr, alpha, alpha
    yield np.divide, alpha, rest1, alpha
    return alpha


def _rest(beta: Any, room: Any) -> Any:
    """1 - beta, once the calls given are made: none where beta never changes."""
    if not beta.flags.writeable:
        return number(one(np, beta) - beta, beta.dtype)
    rest = room((), beta.dtype)
    yield np.subtract, one(np, beta), beta, rest
    return rest


def _moments(old: Arrays, new: Arrays, grad: Any, rests: Arrays, work: Arrays, room: Any) -> Calls:
    """The new moments. work: memory for each on the way there."""
    few = grad.size <= _FEW and not any(rest.flags.writeable for rest in rests)
    both, out = (view_adjacent(pair) if few else None for pair in (old, new))
    if both is not None and out is not None:
        yield from _moments_at_once(both, old, grad, np.repeat(rests, grad.size), out, room)
        return
    (m, v), (new_m, new_v), (x, y), (rest1, rest2) = old, new, work, rests
    yield np.subtract, grad, m, x
    yield np.multiply, x, rest1, x
    yield np.add, m, x, new_m
    yield np.square, grad, y
    yield np.subtract, y, v, y
    yield np.multiply, y, rest2, y
    yield np.add, v, y, new_v


def _moments_at_once(both: Any, old: Arrays, grad: Any, rests: Any, out: Any, room: Any) -> Calls:
    """The same, two for the price of one where they lie side by side, as `both` and `out`."""
    (m, v), work = old, room(both.shape, both.dtype)
    x, y = work[: grad.size], work[grad.size :]
    yield np.subtract, grad, m, x
    yield np.square, grad, y
    yield np.subtract, y, v, y
    yield np.multiply, work, rests, work
    yield np.add, both, work, out
