"""Write the cases of ONNX's own node suite into a folder, each as one .npz.

    python tests/onnx/record_cases.py FOLDER

needs onnx, and nothing of Gradstep. A case is its model's bytes (`model`), how far its outputs may
be off (`tolerance`: relative, absolute), and for each of its sets of data what goes in and what has
to come out (`0_in_0`, `0_out_0`). Numbers of few bits become the next type that has them. What is
no tensor leaves `other`.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np

WIDER = {"int4": np.int8, "int2": np.int8, "uint4": np.uint8, "uint2": np.uint8}


def arrays_of(case):
    found = {"tolerance": np.array([case.rtol, case.atol])}
    found["model"] = np.frombuffer(case.model.SerializeToString(deterministic=True), np.uint8)
    for number, (given, wanted) in enumerate(case.data_sets):
        for way, values in (("in", given), ("out", wanted)):
            for place, value in enumerate(values):
                array = plain(value)
                key = "other" if array is None else f"{number}_{way}_{place}"
                found[key] = np.zeros(0) if array is None else array
    return found


def plain(value):
    """As an array that any NumPy reads; None for a sequence, and what else is no tensor."""
    import onnx

    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    if not isinstance(value, np.ndarray | np.generic):
        return None
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return array.astype(str)
    if array.dtype.name in WIDER:
        return array.astype(WIDER[array.dtype.name])
    if array.dtype.name.startswith(("bfloat", "float8", "float4")):
        return array.astype(np.float32)
    return array


def main(folder):
    warnings.filterwarnings("ignore")
    from onnx.backend.test.loader import load_model_tests

    for case in load_model_tests(kind="node"):
        np.savez(folder / f"{case.name}.npz", **arrays_of(case))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
