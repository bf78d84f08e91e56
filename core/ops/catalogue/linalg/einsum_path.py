"""How `tf.einsum` writes an equation out in full, and takes one of many tensors in steps of two."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from gradstep.core.ops.catalogue.linalg.einsum_equation import ELLIPSIS

_DOTS = "0"  # what stands for `...` while an equation is taken apart
Dims = tuple[int | None, ...] | None


def explicit(equation: str, count: int) -> str:
    """The equation without spaces and with its right side. Raises ValueError."""
    text = equation.replace(" ", "").replace(ELLIPSIS, _DOTS)
    found = re.fullmatch(r"([a-zA-Z0,]*)(->[a-zA-Z0]*)?", text)
    if not found or (_DOTS in equation):
        raise ValueError(f"Subscripts have incorrect format: {equation}")
    inputs, output = found[1].split(","), found[2]
    if len(inputs) != count:
        raise ValueError(f'Got {count} inputs for equation "{equation}", expecting {len(inputs)}')
    if output is None:  # what occurs once, in alphabetical order; `...` first
        counts = Counter(found[1].replace(",", ""))
        output = "->" + "".join(x for x in sorted(counts) if counts[x] == 1 or x == _DOTS)
    _check_output(output[2:], found[1], equation)
    return f"{found[1]}{output}".replace(_DOTS, ELLIPSIS)


def _check_output(output: str, inputs: str, equation: str) -> None:
    if len(set(output)) != len(output):
        raise ValueError(f"Output subscripts contain a label appearing more than once: {equation}")
    for label in output:
        if label != _DOTS and label not in inputs:
            raise ValueError(
                f"Output subscripts contain the label {label} not present in the input subscripts."
            )


def steps(equation: str, shapes: Sequence[Dims]) -> Iterator[tuple[tuple[int, int], str]]:
    """For an equation of many tensors: which to take out of the list, one after the other, and
    the equation that makes of them a new last one."""
    left, output = equation.replace(ELLIPSIS, _DOTS).split("->")
    subscripts = left.split(",")
    for chosen in _path(subscripts, output, shapes):
        places = max(chosen), min(chosen)
        taken = [subscripts.pop(i) for i in places]
        result = _kept("".join(taken), "".join(subscripts) + output) if subscripts else output
        subscripts.append(result)
        yield places, f"{','.join(taken)}->{result}".replace(_DOTS, ELLIPSIS)


def _kept(labels: str, needed: str) -> str:
    """What of the labels is still needed; `...` stays until the end."""
    return "".join(x for x in dict.fromkeys(labels) if x in needed)


def _path(subscripts: list[str], output: str, shapes: Sequence[Dims]) -> list[tuple[int, int]]:
    """Pairs in the order that needs the least work, as far as sizes are known."""
    sizes: dict[str, int] = {}
    for labels, dims in zip(subscripts, shapes, strict=True):
        if dims is not None and _DOTS not in labels and len(labels) == len(dims):
            pairs = zip(labels, dims, strict=True)
            sizes.update({x: max(sizes.get(x, 1), size or 1) for x, size in pairs})
    letters = {x: chr(ord("A") + i) for i, x in enumerate(dict.fromkeys("".join(subscripts)))}
    empty = np.empty(())
    operands = [np.broadcast_to(empty, [sizes.get(x, 1) for x in labels]) for labels in subscripts]
    words = [_spelled(labels, letters) for labels in subscripts]
    equation = f"{','.join(words)}->{_spelled(output, letters)}"
    path = np.einsum_path(equation, *operands, optimize="greedy")[0][1:]
    return list(_in_pairs(path, len(subscripts)))


def _spelled(labels: str, letters: dict[str, str]) -> str:
    return "".join(letters[x] for x in labels)


def _in_pairs(path: Sequence[tuple[int, ...]], count: int) -> Iterator[tuple[int, int]]:
    """NumPy takes more than two of `count` at once where that is no more work."""
    for chosen in path:
        *rest, last = sorted(chosen)
        while rest:
            yield rest.pop(), last
            count -= 1
            last = count - 1
