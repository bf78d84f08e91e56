"""`tf.raw_ops`: every op by its type, with its inputs and attributes by their names."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call_many
from gradstep.core.ops.declare.definition import OpDef
from gradstep.core.ops.declare.raw_calls import RENAMED
from gradstep.core.ops.declare.table import all_ops, find


class _RawOps:
    def __getattr__(self, name: str) -> Any:
        definition = None if name.startswith("_") else find(name)
        if definition is None:
            meant = did_you_mean(f"tf.raw_ops.{word}" for word in near(name, dir(self)))
            raise AttributeError(f"tf.raw_ops has no '{name}'" + (f"; {meant}" if meant else ""))
        return _raw(definition)

    def __dir__(self) -> list[str]:
        return sorted(definition.type for definition in all_ops())


def _raw(definition: OpDef) -> Any:
    renamed = RENAMED.get(definition.type, {})
    wanted = [renamed.get(spec.name, spec.name) for spec in definition.inputs]
    attrs = {renamed.get(name, name): name for name in definition.attrs}

    def function(*, name: str | None = None, **named: Any) -> Tensor | tuple[Tensor, ...]:
        if odd := [key for key in named if key not in wanted and key not in attrs]:
            raise TypeError(_refusal(definition.type, f"an unexpected argument '{odd[0]}'", wanted))
        if absent := [key for key in wanted if key not in named]:
            raise TypeError(_refusal(definition.type, f"no '{absent[0]}'", wanted))
        inputs: list[TensorLike] = []
        for spec, key in zip(definition.inputs, wanted, strict=True):
            inputs += named[key] if spec.variadic else [named[key]]
        said = {attrs[key]: value for key, value in named.items() if key not in wanted}
        made = call_many(definition.type, *inputs, name=name, **said)
        return made[0] if len(made) == 1 else made

    function.__name__ = definition.type
    function.__doc__ = f"The op {definition.type}."
    return function


def _refusal(type: str, got: str, wanted: list[str]) -> str:
    return f"{type}() got {got}; it takes {', '.join(wanted)}"


VALUES = {"raw_ops": _RawOps()}
