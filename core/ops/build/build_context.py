"""Where operations are made: in which scope, after what, for whom, in which branch or loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, filterfalse
from typing import TYPE_CHECKING, Protocol

from gradstep.core.graph.model import Phase
from gradstep.core.ops.build.tensor import Tensor, default_builder
from gradstep.core.ops.build.used_names import Names
from gradstep.core.ops.build.variable_scopes import Variables

if TYPE_CHECKING:
    from gradstep.core.ops.build.builder import GraphBuilder


class Context(Protocol):
    """A branch of a cond or a loop's body, while its function makes operations. goes_round: whether
    it is in a loop."""

    goes_round: bool

    def admitted(self, reader: str, tensors: Sequence[Tensor]) -> list[Tensor]:
        """The tensors as operation `reader`, which is made in here, may read them."""

    def waits(self, inputs: Sequence[Tensor], controls: tuple[str, ...]) -> tuple[str, ...]:
        """The control inputs of an operation made in here."""

    def brought(self, tensor: Tensor, name: str) -> Tensor:
        """`tensor` as it is seen in here; an operation that is needed for that is called `name`."""

    def take(self, name: str) -> None:
        """From here on operation `name` belongs to this, and to what is around it."""


class Surroundings:
    """origin, phase: given to every operation made here (see Operation).
    branch: of a cond, or a loop's body, while its function makes operations here.
    """

    def __init__(self) -> None:
        self._names = Names()
        self._scope = ""
        self._controls: tuple[str, ...] = ()
        self.origin = ""
        self.phase = Phase.FORWARD
        self.branch: Context | None = None
        self.variables = Variables()

    @property
    def scope_name(self) -> str:
        """The scope that operations are made in now, in full."""
        return self._scope

    def unique(self, name: str) -> str:
        """`name` in the current scope, numbered if taken; TensorFlow's rule, ignoring case. A
        name that ends in "/" is a scope's, which one operation may have, and stays as it is."""
        if name.endswith("/"):
            return name[:-1]
        return self._names.unique(f"{self._scope}/{name}" if self._scope else name)

    @contextmanager
    def scope(self, name: str, exact: bool = False) -> Iterator[str]:
        """Make operations under a fresh scope `name` (numbered if taken, unless `exact`). One that
        ends in "/" is that very scope again, in full; "/" alone is the top."""
        outer = self._scope
        full = name[:-1] if name.endswith("/") else f"{outer}/{name}" if outer else name
        if not exact and not name.endswith("/"):
            full = self.unique(name)
            self._names.open_new(full)
        self._scope = full
        try:
            yield full
        finally:
            self._scope = outer

    @contextmanager
    def control_dependencies(self, names: Sequence[str] | None) -> Iterator[None]:
        """Operations made inside wait for these; None: for nothing, whatever is around."""
        outer = self._controls
        self._controls = () if names is None else (*outer, *names)
        try:
            yield
        finally:
            self._controls = outer

    @contextmanager
    def belonging_to(self, origin: str, phase: Phase) -> Iterator[None]:
        """Operations made inside belong to forward operation `origin` and to `phase`."""
        outer = self.origin, self.phase
        self.origin, self.phase = origin, phase
        try:
            yield
        finally:
            self.origin, self.phase = outer

    @contextmanager
    def as_default(self: GraphBuilder) -> Iterator[GraphBuilder]:  # type: ignore[misc]
        """Inside, `call` without any tensor makes its operation here: `tf.constant`, `tf.zeros`."""
        token = default_builder.set(self)
        try:
            yield self
        finally:
            default_builder.reset(token)

    def _waits(self, own: Sequence[str], inputs: Sequence[Tensor]) -> tuple[str, ...]:
        controls = _merge(self._controls, own, inputs)
        return controls if self.branch is None else self.branch.waits(inputs, controls)


def _merge(outer: Sequence[str], own: Sequence[str], inputs: Sequence[Tensor]) -> tuple[str, ...]:
    """Control inputs without duplicates and without those that are data inputs anyway."""
    if not outer and not own:
        return ()
    data = {t.ref.op for t in inputs}
    return tuple(dict.fromkeys(filterfalse(data.__contains__, chain(outer, own))))
