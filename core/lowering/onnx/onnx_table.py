"""The table of ONNX's operators: what they take goes by position, what they are told by name.

    @lower("Conv")
    def conv(site: Site, x: Tensor, w: Tensor, b: Tensor | None = None, *, group: int = 1): ...

The parameters before the `*` are an operator's inputs in their order, those behind it its
attributes. An input that is left out is None; outputs that nobody asks for, it need not leave out.
An operator is "onnx.NAME.VERSION", with the version of the operator set that the model was written
for.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradstep.core.lowering.lowering_table import (
    B,
    Lowering,
    LoweringTable,
    Site,
    UnloweredError,
)
from gradstep.core.lowering.onnx.onnx_known import PLAIN
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

_LEFT_OUT = {*PLAIN, "Const", "Shape", "Size"}
INPUTS, CAPTURED = "inputs", "captured"  # arguments: what it takes, what its graphs read besides


@dataclass(frozen=True)
class OnnxLowering(Lowering):
    """most: inputs that there may be, None for any number. optional: places of those that may be
    left out."""

    most: int | None = None
    optional: frozenset[int] = frozenset()

    def __call__(self, site: Site, args: Mapping[str, Any]) -> Sequence[Tensor]:
        given = _without_end(args.get(INPUTS, ()))
        if self.most is not None and len(given) > self.most:
            raise UnloweredError(f"it has {len(given)} inputs, of which {self.most} are known")
        for place, value in enumerate(given):
            if value is None and place not in self.optional:
                raise UnloweredError(f"its input number {place + 1} is left out")
        told = {name: value for name, value in args.items() if name != INPUTS}
        for name in told.keys() - self.takes - self.ignores:
            raise UnloweredError(f"its attribute {name} = {told[name]!r:.40}")
        before = site.builder.size
        try:
            made = self.build(site, *given, **{n: v for n, v in told.items() if n in self.takes})
        except (TypeError, ArithmeticError, StopIteration) as error:
            # Numbers of a file's, of a kind or a size that no operator takes.
            raise UnloweredError(f"its inputs or attributes: {error!s:.120}") from None
        results = [made] if isinstance(made, Tensor) else [*made]
        if len(results) < len(site.node.outputs):
            raise UnloweredError(f"its output number {len(results) + 1}")
        given_on = results[: len(site.node.outputs)]
        _leave_out_unread(site.builder, before, given_on)
        return given_on


def _leave_out_unread(builder: GraphBuilder, before: int, results: Sequence[Tensor]) -> None:
    """What was made and is read by nothing after all: a size that follows from the others, an
    output that nobody asks for."""
    if builder.branch is not None:
        return
    read, unread = {tensor.ref.op for tensor in results}, []
    for name in reversed(builder.made_since(before)):
        op = builder.operation(name)
        if op.type in _LEFT_OUT and name not in read:
            unread.append(name)
        else:
            read.update(op.control_inputs, (ref.op for ref in op.inputs if ref is not None))
    if unread:
        builder.detach(unread)


class OnnxTable(LoweringTable):
    """All of ONNX's operators that are lowered."""

    def lower(
        self,
        *names: str,
        ignores: Collection[str] = (),
        differs: str = "",
        draws: bool = False,
        widens: bool | None = None,
    ) -> Callable[[B], B]:
        def declare(build: B) -> B:
            takes, most, optional = _signature(build)
            for name in names:
                if name in self._by_name:
                    raise ValueError(f"{name} is declared twice")
                self._by_name[name] = OnnxLowering(
                    build,
                    takes,
                    frozenset(ignores),
                    differs,
                    draws,
                    bool(widens),
                    most,
                    optional,
                )
            return build

        return declare


def _signature(build: Callable[..., Any]) -> tuple[frozenset[str], int | None, frozenset[int]]:
    """The attributes that it takes; how many inputs, and which of them may be left out."""
    _, *parameters = inspect.signature(build).parameters.values()
    named = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    any_number = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    optional = {i for i, p in enumerate(parameters) if p.default is None and p.name not in named}
    most = None if any_number else len(parameters) - len(named)
    return frozenset(named), most, frozenset(optional)


def _without_end(given: Sequence[Any]) -> list[Any]:
    """Without those that are left out at the end."""
    found = [*given]
    while found and found[-1] is None:
        found.pop()
    return found


ONNX = OnnxTable()
lower = ONNX.lower


def version(site: Site) -> int:
    """Of the operator set."""
    return int(site.variant)


def wanted(site: Site) -> int:
    """How many outputs it is asked for."""
    return len(site.node.outputs)
