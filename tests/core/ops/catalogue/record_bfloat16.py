"""Writes tests/data/tensorflow/bfloat16.json anew, with a Python that has TensorFlow 2.21:
`python -m tests.core.ops.catalogue.record_bfloat16`.

registry: op type -> attribute -> the element types that it allows, of those that allow
floating-point numbers and not bfloat16. results: op type -> for each of the first samples, in
bfloat16, what TensorFlow's CPU kernels give for each output, bit by bit; null where it has no such
kernel, and for outputs of other types.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.core.ops.declare.bfloat16_refusals import REFUSALS
from gradstep.core.ops.declare.table import OpDef, all_ops
from tests.support.op_cases import Case, cases

RECORDED = Path(__file__).parents[3] / "data" / "tensorflow" / "bfloat16.json"
SAMPLES, LARGEST = 4, 64  # of an op, and elements of a result
# They are samples of what other arguments mean, for which TensorFlow wants float32.
MIXED = {"FusedBatchNormV3", "ResizeBilinearGrad"}


def main() -> None:
    os.environ |= {"TF_ENABLE_ONEDNN_OPTS": "0", "TF_CPP_MIN_LOG_LEVEL": "3"}
    registry = {d.type: found for d in all_ops() if (found := _without(d.type))}
    results = {d.type: [*map(_given, sampled(d))] for d in all_ops() if d.samples is not None}
    results = {name: found for name, found in results.items() if any(map(_shows, found))}
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in results.items())
    RECORDED.write_text(f'{{"registry": {json.dumps(registry)},\n"results": {{\n{lines}\n}}}}\n')
    sys.stderr.write(f"{len(results)} op types in {RECORDED}\n")


def sampled(definition: OpDef) -> Iterator[Case]:
    """The first samples that have bfloat16 in them, one after the other."""
    if definition.type in REFUSALS or definition.type in MIXED or definition.state.writes:
        return
    found = (case for case in cases(definition, BFLOAT16) if has_bfloat16(case))
    yield from (case for case, _ in zip(found, range(SAMPLES), strict=False))


def has_bfloat16(case: Case) -> bool:
    """Whether the op of the case takes or makes bfloat16."""
    made = [case.builder.type_of(ref).dtype.numpy for ref in case.outputs]
    return BFLOAT16 in (*made, *(x.dtype for x in case.inputs))


def _without(op_type: str) -> dict[str, str]:
    from tensorflow import dtypes
    from tensorflow.python.framework import op_def_registry

    definition = op_def_registry.get(op_type)
    found = {}
    for attr in () if definition is None else definition.attr:
        allowed = [dtypes.as_dtype(kind).name for kind in attr.allowed_values.list.type]
        if "bfloat16" not in allowed and any("float" in name for name in allowed):
            found[attr.name] = " ".join(allowed)
    return found


def _given(case: Case) -> list[Any] | None:
    """The bits of each output; None where TensorFlow does not compute it."""
    import tensorflow as tf

    from gradstep.core.io.tensorflow.graphdef_export import write_graph

    graph = tf.Graph()
    try:
        with graph.as_default():
            tf.import_graph_def(
                tf.compat.v1.GraphDef.FromString(write_graph(case.graph).SerializeToString()),
                name="",
            )
        with tf.compat.v1.Session(graph=graph) as session:
            feeds = {f"{name}:0": value for name, value in case.feeds.items()}
            made = session.run([str(ref) for ref in case.outputs], feeds)
    except (tf.errors.OpError, ValueError) as error:
        sys.stderr.write(f"{case.definition.type}: {str(error)[:90]!r}\n")
        return None
    return [bits(x) for x in map(np.asarray, made)]


def _shows(outputs: list[Any] | None) -> bool:
    """Whether there is bfloat16 among what a sample gives."""
    return any(each is not None for each in outputs or ())


def bits(array: np.ndarray) -> list[int] | None:
    """bfloat16 as whole numbers, flat; None for other types, and for what is large."""
    if array.dtype != BFLOAT16 or array.size > LARGEST:
        return None
    return [int(x) for x in array.reshape(-1).view(np.uint16).tolist()]


if __name__ == "__main__":
    main()
