"""Summaries: what is merged under which tags, what is refused, what runs."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.io.event_files import EventFile
from gradstep.core.io.native.tensor_json import number_to_json
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from gradstep.core.ops.formats.protobuf import length_fields
from tests.oracle.program import Program
from tests.oracle.reasons import PYTHON
from tests.oracle.table import Case, checks
from tests.support.summary_messages import decode

EVENT_FILE = "TensorFlow's writer adds a MetaGraphDef, which only its own Python reads"
# The case does not name its numbers: their recorded sums and buckets do.
NUMBERS = np.array([1, -2, 3, 0.5], np.float32)


@checks("summaries")
def summaries(case: Case) -> None:
    _merged(case)
    with Program() as p:
        tags = [_scalar(p.builder, "dup", p.builder.constant(1.0)) for _ in range(2)]
        case.graph([decode(p.run(t).item())[0].tag for t in tags], "duplicate names")
    _refused(case)
    _run(case)
    case.error(lambda: Session(GraphBuilder().build()).run([]), "run(None)")
    case.value(_file_version(), "file_version")
    case.skip_each(EVENT_FILE, "event_file")
    case.skip_each(PYTHON, "illegal chars", "merge_all with none")


def _scalar(builder: GraphBuilder, name: str, value: Tensor) -> Tensor:
    return _tagged(builder, "ScalarSummary", name, value)


def _tagged(builder: GraphBuilder, op_type: str, name: str, value: Tensor) -> Tensor:
    """`tf.summary.scalar` and `histogram`: the tag is the operation's name."""
    own = builder.unique(name)
    tag = builder.constant(np.array(own, object), name=f"{own}/tag/")
    return builder.one(op_type, tag, value, name=f"{own}/")


def _merged(case: Case) -> None:
    with Program() as p:
        w, axis = p.variable("w", NUMBERS), np.array([0], np.int32)
        with p.builder.scope("summaries"):
            mean = p.builder.one("Mean", w.read, axis)
            with p.builder.scope("stddev"):
                stddev = call("Sqrt", call("Mean", call("Square", w.read - mean), axis))
            numbers = {"mean": mean, "stddev": stddev}
            numbers |= {k.lower(): p.builder.one(k, w.read, axis) for k in ("Max", "Min")}
            made = [_scalar(p.builder, name, x) for name, x in numbers.items()]
            made.append(_tagged(p.builder, "HistogramSummary", "histogram", w.read))
        merged = p.builder.one("MergeSummary", *made)
        case.graph(f"<dtype: '{merged.dtype}'>", "merged_type")
        case.graph(merged.op.type, "merged_op")
        case.graph([t.op.type for t in made], "summary_op_inputs")
        case.value([_told(v) for v in decode(p.run(merged).item())], "merged")


def _file_version() -> str:
    """What the first event of a file says, between a record's length and checksums."""
    with TemporaryDirectory() as folder:
        with EventFile(folder) as file:
            pass
        event = file.path.read_bytes()[12:-4]
    (version,) = length_fields(event, 3)
    return version.decode()


def _told(value: Any) -> dict[str, Any]:
    """A value of a Summary as the case tells it."""
    if value.WhichOneof("value") == "simple_value":
        return {"tag": value.tag, "simple_value": np.float32(value.simple_value)}
    histo = value.histo
    edges = zip(histo.bucket_limit, histo.bucket, strict=True)
    told = {key: getattr(histo, key) for key in ("min", "max", "num", "sum", "sum_squares")}
    told["nonzero_buckets (right edge, count)"] = [[e, n] for e, n in edges if n]
    return {"tag": value.tag, "histo": told}


def _refused(case: Case) -> None:
    def run(op_type: str, name: str, value: Any) -> Any:
        with Program() as p:
            values = p.placeholder("values")  # of unknown shape: it is refused while running
            return p.run(_tagged(p.builder, op_type, name, values), {values: value})

    nan = np.array([1, np.nan], np.float32)
    case.error(lambda: run("ScalarSummary", "vec", np.ones((2, 2), np.float32)), "non scalar")
    case.error(lambda: run("HistogramSummary", "h", nan), "histogram with NaN")
    (value,) = decode(run("ScalarSummary", "s", nan[1]).item())
    case.value(number_to_json(value.simple_value), "scalar NaN ok")


def _run(case: Case) -> None:
    """A summary runs when it is fetched, and then with all that it needs."""
    calls: list[Any] = []
    with Program() as p:
        counted = p.py_func(lambda x: (calls.append(x), x)[1], [p.builder.constant(1.0)])[0]
        merged = p.builder.one("MergeSummary", _scalar(p.builder, "counted", counted))
        p.run(p.builder.constant(2.0))
        case.value(len(calls), "summary op not run unless fetched")
        p.run(merged)
        case.value(len(calls), "runs when merged op is fetched")
        fed = _scalar(p.builder, "fed", p.placeholder("ph", shape=()))
        both = p.builder.one("MergeSummary", merged, fed)
        case.error(lambda: p.run(both), "merge_all pulls in unfed placeholders")
