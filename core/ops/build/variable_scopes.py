"""Variable scopes: where variables get their names, and whether they may be shared.

Source: TensorFlow 1's variable_scope.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gradstep.core.errors import GradstepError

AUTO_REUSE = "auto"
Reuse = bool | Literal["auto"] | None


@dataclass
class VariableScope:
    """name: of the scope in full, "" at the top. reuse: True takes variables that must be there,
    AUTO_REUSE takes or makes them, None makes them. initializer: for variables without their own.
    """

    name: str = ""
    reuse: Reuse = None
    initializer: Any = None

    def inside(self, name: str) -> str:
        """`name` in this scope, in full."""
        return f"{self.name}/{name}" if self.name else name

    def reuse_variables(self) -> None:
        """Share variables from here to where the scope is closed."""
        self.reuse = True


class Variables:
    """What a graph under construction knows of its variables: the scope that is open, how often
    each was opened, and what variables start with."""

    def __init__(self) -> None:
        self.scope = VariableScope()
        self.initial: dict[str, np.ndarray] = {}
        self._opened: Counter[str] = Counter()

    def unique(self, default: str) -> str:
        """`default`, numbered if a scope of that name was opened inside the current one."""
        number, name = 0, default
        while self._opened[self.scope.inside(name)]:
            number += 1
            name = f"{default}_{number}"
        return name

    @contextmanager
    def within(self, scope: VariableScope, again: bool = False) -> Iterator[VariableScope]:
        """Make `scope` the current one. Names inside are counted from the start again when it is
        opened again, so that the same code finds the same variables. again: it is a scope that was
        open before, and counts as if it had not been left."""
        outer = self.scope
        self._opened[scope.name] += 1
        before = self._opened.copy()
        self.scope = scope
        try:
            yield scope
        finally:
            self.scope = outer
            self._opened = before if again else self._without(scope)

    def _without(self, scope: VariableScope) -> Counter[str]:
        inside = f"{scope.name}/"
        return Counter({n: c for n, c in self._opened.items() if not n.startswith(inside)})


def already_there(name: str) -> GradstepError:
    return GradstepError(
        f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
        "reuse=tf.AUTO_REUSE in VarScope?",
        kind="ValueError",
        node=name,
        hint="share it with reuse=True, or choose another name",
    )


def not_there(name: str) -> GradstepError:
    return GradstepError(
        f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean "
        "to set reuse=tf.AUTO_REUSE in VarScope?",
        kind="ValueError",
        hint="what is shared must have been made before, with the same layers inside",
    )


def shape_missing(name: str) -> GradstepError:
    return GradstepError(
        f"Variable {name} did not get an initializer, so its `shape` argument must be specified.",
        kind="ValueError",
        hint="pass shape=…, or a value to start with",
    )


def not_the_same(name: str, what: str, wanted: Any, found: Any) -> GradstepError:
    """what: "shape" or "dtype"."""
    return GradstepError(
        f"Trying to share variable {name}, but specified {what} {wanted} and found {what} {found}.",
        kind="ValueError",
        node=name,
        hint=f"a shared variable has one {what}: change this layer's or the other's",
    )
