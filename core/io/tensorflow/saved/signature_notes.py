"""The signatures of a model: what to feed, what it gives, in words."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.io.tensorflow.functions.inlined_functions import CALLS
from gradstep.core.io.tensorflow.graphdef_proto import type_name
from gradstep.core.io.tensorflow.graphdef_stream import GraphDefParts
from gradstep.core.io.tensorflow.graphdef_tensors import read_shape
from gradstep.core.io.tensorflow.wire_text import node_of

INIT = "__saved_model_init_op"
_DEFAULT = "serving_default"


def entry_points(signatures: Mapping[str, Any], graph: Graph) -> dict[str, Any]:
    """Signatures that can be run: of tensors that there are, the default one first."""
    found = {
        name: one
        for name, one in signatures.items()
        if name != INIT and one.outputs and all(_is_there(info, graph) for info in _infos(one))
    }
    return dict(sorted(found.items(), key=lambda item: (item[0] != _DEFAULT, item[0])))


def distinct(
    points: Mapping[str, Any], graph: GraphDefParts
) -> tuple[dict[str, Any], dict[str, str]]:
    """Signatures without those that call what another one calls; and those, with that one."""
    functions = {each.signature.name: each for each in graph.library.function}
    fed = {node.name for node in graph.node if node.op == "Placeholder"}
    calls = {node.name: _as_called(node, functions, fed) for node in graph.node if node.op in CALLS}
    kept: dict[str, Any] = {}
    same: dict[str, str] = {}
    known: dict[Any, str] = {}
    for name, one in points.items():
        gives = tuple(one.outputs[key].name.partition(":") for key in sorted(one.outputs))
        key = tuple((calls.get(op, op), index) for op, _, index in gives)
        if key in known:
            same[name] = known[key]
        else:
            kept[name] = one
            known[key] = name
    return kept, same


def _as_called(node: Any, functions: Mapping[str, Any], fed: Collection[str]) -> Any:
    """What calls that do the same have in common: what their functions do, and of what; the
    functions have another name each, and so has what is fed."""
    function = functions.get(node.attr["f"].func.name)
    if function is None:
        return node.name
    does = tuple(node.SerializeToString(deterministic=True) for node in function.node_def)
    takes = tuple("" if name in fed else name for name in node.input)
    return does, takes, len(function.signature.output_arg)


def outputs_of(signature: Any) -> tuple[TensorRef, ...]:
    """The tensors that it gives, by the names of its outputs."""
    infos = (signature.outputs[name] for name in sorted(signature.outputs))
    return tuple(dict.fromkeys(TensorRef.parse(info.name) for info in infos))


def said_of_signatures(signatures: Mapping[str, Any]) -> Iterator[str]:
    """A paragraph each."""
    for name, one in signatures.items():
        feeds = "; ".join(_said(key, one.inputs[key]) for key in sorted(one.inputs))
        gives = "; ".join(_said(key, one.outputs[key]) for key in sorted(one.outputs))
        yield f"Signature {name:.80}: feed {feeds or 'nothing'}. It gives {gives}."


def _infos(signature: Any) -> list[Any]:
    return [*signature.inputs.values(), *signature.outputs.values()]


def _is_there(info: Any, graph: Graph) -> bool:
    return node_of(info.name) in graph


def _said(key: str, info: Any) -> str:
    kind = type_name(info.dtype).removeprefix("DT_").lower()
    shape = "" if info.tensor_shape.unknown_rank else read_shape(info.tensor_shape)
    return f"{key:.80} = {info.name:.200} ({kind}{shape})"
