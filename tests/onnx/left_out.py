"""Which cases of ONNX's node suite are left out, and why: told by what is in them, not by how they
end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.onnx.node_cases import Case

_FEW_BITS = frozenset(range(17, 29))
SEQUENCES = "sequences and optional values"
TEXTS = "texts"
RANDOM = "random numbers, of which each library draws others"
FEW_BITS = "made numbers of 2, 4, 6 or 8 bits"
CORNERS = "corners aligned otherwise than PyTorch and ONNX Runtime do"
# Operators -> why.
OPERATORS = {
    **dict.fromkeys(
        ("StringSplit", "StringNormalizer", "StringConcat", "RegexFullMatch", "TfIdfVectorizer",
         "LabelEncoder"),
        TEXTS,
    ),
    **dict.fromkeys(("Bernoulli", "RandomUniformLike", "RandomNormalLike"), RANDOM),
    "ImageDecoder": "files of images as bytes",
    **dict.fromkeys(
        ("TreeEnsemble", "ArrayFeatureExtractor", "Binarizer"),
        "operators of ai.onnx.ml, which are no networks",
    ),
    **dict.fromkeys(
        ("NonMaxSuppression", "RoiAlign", "DeformConv"), "boxes and places that are computed"
    ),
}  # fmt: skip


def why_left_out(case: Case) -> str:
    """ "" for a case that has to pass."""
    graph = case.model.graph
    nodes = [*_nodes(graph), *(n for f in case.model.functions for n in f.node)]
    if "other" in case.arrays or any(_is_of_sequences(node.op_type) for node in nodes):
        return SEQUENCES
    has_texts = any(o.type.tensor_type.elem_type == 8 for o in (*graph.input, *graph.output))
    if has_texts and not all(node.op_type in ("Equal", "Identity") for node in nodes):
        return TEXTS
    for node in nodes:
        if node.op_type in OPERATORS:
            return OPERATORS[node.op_type]
    if "training_dropout" in case.name and "zero_ratio" not in case.name:
        return RANDOM
    for node in nodes:
        if node.op_type == "Unique" and any(one.name == "axis" for one in node.attribute):
            return "slices that are there once"
        if node.op_type == "Resize" and _has_corners_between(case, node):
            return CORNERS
    old = any(one.version < 9 and not one.domain for one in case.model.opset_import)
    if old and any(node.op_type == "Scan" for node in nodes):
        return "scans of operator set 8"
    return FEW_BITS if _makes_few_bits(graph, nodes) else ""


def _has_corners_between(case: Case, node: Any) -> bool:
    """Whether scales lead to sizes that are no whole numbers, whose corners are aligned: ONNX's own
    evaluator aligns these, and not those of what comes out."""
    modes = [one.s for one in node.attribute if one.name == "coordinate_transformation_mode"]
    given = case.given(0)
    if modes != [b"align_corners"] or len(node.input) != 3:
        return False
    sizes = given[node.input[2]] * given[node.input[0]].shape
    return not np.array_equal(sizes, np.floor(sizes))


def _makes_few_bits(graph: Any, nodes: list[Any]) -> bool:
    """By a cast, or a scale; what is there may be read."""
    told = {one.name: one.type.tensor_type.elem_type for one in (*graph.input, *graph.output)}
    told |= {one.name: one.type.tensor_type.elem_type for one in graph.value_info}
    for node in nodes:
        if node.op_type in ("Cast", "BitCast"):
            if any(one.name == "to" and one.i in _FEW_BITS for one in node.attribute):
                return True
        elif node.op_type in ("CastLike", "QuantizeLinear"):
            if any(told.get(name) in _FEW_BITS for name in (*node.input[1:], *node.output)):
                return True
            if any(one.name == "output_dtype" and one.i in _FEW_BITS for one in node.attribute):
                return True
    return False


def _is_of_sequences(type: str) -> bool:
    return ("Sequence" in type and type != "ReverseSequence") or type.startswith("Optional")


def _nodes(graph: Any) -> Iterator[Any]:
    """Those in branches and loops as well."""
    for node in graph.node:
        yield node
        for one in node.attribute:
            if one.HasField("g"):
                yield from _nodes(one.g)
