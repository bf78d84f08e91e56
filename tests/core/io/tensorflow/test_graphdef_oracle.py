"""GraphDefs that TensorFlow wrote give the values that TensorFlow recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import DType
from gradstep.core.io.native.tensor_json import from_json
from gradstep.core.io.open_document import read
from tests.support.rounding import Rounding, assert_rounded_alike

DATA = Path(__file__).parents[3] / "data" / "oracle"
RECORDED = json.loads((DATA / "cases" / "graph_files.json").read_text())
NAMES = [name for name, case in RECORDED.items() if "run_script" in case]


NETWORK = Rounding(terms=4, steps=3)  # the largest of these graphs


@pytest.mark.parametrize("suffix", ["pb", "pbtxt"])
@pytest.mark.parametrize("name", NAMES)
def test_recorded_runs(name: str, suffix: str) -> None:
    session = Session(read(DATA / "graphs" / f"{name}.{suffix}").graph)
    case = RECORDED[name]
    if case.get("init"):
        session.run([], targets=[case["init"]])
    for step in case["run_script"]:
        feeds = {ref: _array(value) for ref, value in step["feeds"].items()}
        values = session.run(list(step["fetches"]), feeds, step["targets"])
        for (ref, recorded), value in zip(step["fetches"].items(), values, strict=True):
            assert_rounded_alike(value, _array(recorded), NETWORK, ref)


@pytest.mark.parametrize("suffix", ["pb", "pbtxt"])
@pytest.mark.parametrize(
    ("case", "key"),
    [
        ("grad_aggregation_and_args", "graph_file"),  # two_path_gradient
        ("gradient_override_map_semantics", "saved_graph"),  # gradient_override
    ],
)
def test_recorded_gradients(case: str, key: str, suffix: str) -> None:
    recorded = json.loads((DATA / "cases" / f"{case}.json").read_text())[key]
    session = Session(read(DATA / recorded[suffix]).graph)
    feeds = {ref: _array(value) for ref, value in recorded["feeds"].items()}
    values = session.run(list(recorded["fetches"]), feeds)
    for (ref, expected), value in zip(recorded["fetches"].items(), values, strict=True):
        assert_rounded_alike(value, _array(expected), NETWORK, ref)


def _array(recorded: dict[str, Any]) -> np.ndarray:
    return from_json(DType(recorded["dtype"]), recorded["shape"], recorded["data"])
