"""TensorFlow's names of gradient operations: `SCOPE/X_grad/…` is the VJP of the operation X.

`tf.gradients` makes all that it makes in one scope, "gradients" unless it is given a name, and what
the rule of operation X makes in `X_grad` there. A GraphDef says no more about it than that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

_TURN = re.compile(r"_grad(?:_\d+)?/")
_USUAL = re.compile(r"(?:^|/)gradients(?:_\d+)?$")
_SEED = re.compile(r"(?:grad_ys_\d+|Fill)$")


class GradientPlace(NamedTuple):
    """scope: that an operation lies in; of: the operation whose gradient it belongs to; "" for what
    TensorFlow makes between the gradients of operations."""

    scope: str
    of: str


def find_gradient_scopes(names: Collection[str]) -> list[str]:
    """The scopes of `tf.gradients`, the longest first: those of gradients of an operation that is
    there, if they are called as usual, or have something that gradients start with."""
    found = dict.fromkeys(place.scope for name in names if (place := find_place(name, names)))
    seeded = {name.rpartition("/")[0] for name in names if _SEED.search(name)}
    kept = (scope for scope in found if _USUAL.search(scope) or scope in seeded)
    return sorted(kept, key=len, reverse=True)


def find_place(name: str, names: Collection[str]) -> GradientPlace | None:
    """Where an operation of that name lies if it belongs to the gradient of another one. Of several
    readings the one with the outermost scope, and in it the longest operation: a gradient of a
    gradient is `gradients_1/gradients/X_grad/Mul_grad/…`."""
    ends = [match.start() for match in _TURN.finditer(name)]
    if not ends:
        return None
    for start in (match.end() for match in re.finditer("/", name)):
        for end in reversed(ends):
            if end > start and name[start:end] in names:
                return GradientPlace(name[: start - 1], name[start:end])
    return None


def find_place_in(name: str, scopes: Iterable[str], names: Collection[str]) -> GradientPlace | None:
    """Where an operation of that name lies in one of `scopes`, the longest first; None for one that
    lies in none."""
    scope = next((s for s in scopes if name.startswith(f"{s}/")), None)
    if scope is None:
        return None
    rest = name[len(scope) + 1 :]
    ends = [match.start() for match in _TURN.finditer(rest)]
    return GradientPlace(
        scope, next((rest[:end] for end in reversed(ends) if rest[:end] in names), "")
    )
