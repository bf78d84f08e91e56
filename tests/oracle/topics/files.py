"""GraphDefs that TensorFlow wrote: they open, run as recorded, and survive writing and reading."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.document.document import Document
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph
from gradstep.core.io.export_document import to_bytes
from gradstep.core.io.open_document import read
from gradstep.core.io.tensorflow.graphdef_export import to_graphdef
from gradstep.core.io.tensorflow.graphdef_import import from_pb, from_pbtxt
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.oracle.compare import as_array, is_tensor
from tests.oracle.table import DOCUMENTATION, Case, checks
from tests.support import oracle
from tests.support.comparable import comparable
from tests.support.rounding import Rounding
from tests.support.summary_messages import decode

NO_FILE = "this file is not among the recorded graphs"
HEADER = "the GraphDef's header, not the graph"


def described(case: Case, *path: str | int) -> Graph | None:
    """Check what an entry says about a file; the graph, where it can run."""
    info = case.at(*path)
    pb = oracle.CASES.parent / info["pb"]
    if not pb.exists():
        case.skip(NO_FILE, *path)
        return None
    file = _looked_at(info["pb"], info["pbtxt"])
    case.value(hashlib.sha256(pb.read_bytes()).hexdigest(), *path, "sha256_pb")
    case.graph(sum(file.types.values()), *path, "nodes")
    case.graph(dict(sorted(file.types.items())), *path, "ops")
    case.derived(file.is_text, True, *path, "pbtxt", how="the same graph as the binary file's")
    for key in ("producer", "library_functions"):
        case.skip(HEADER, *path, key)
    case.derived(file.lost, "", *path, "pb", how="written and read back: the same graph")
    return file.graph


@dataclass(frozen=True)
class _File:
    """A recorded graph; types: how many nodes it has of each; is_text: whether that is what its
    text says, too; lost: what writing and reading changes."""

    graph: Graph
    types: Counter[str]
    is_text: bool
    lost: str


@cache
def _looked_at(pb: str, pbtxt: str) -> _File:
    document, text = (read(oracle.CASES.parent / name) for name in (pb, pbtxt))
    written = to_graphdef(document).node  # a loop is one operation here, and many nodes there
    types = Counter(node.op for node in written)
    is_text = comparable(text.graph) == comparable(document.graph)
    return _File(document.graph, types, is_text, _survives(document))


def _survives(document: Document) -> str:
    """ "" if the graph is the same after writing and reading, both ways; else what changed."""
    for suffix, back in ((".pb", from_pb), (".pbtxt", from_pbtxt)):
        again = comparable(back(to_bytes(document, suffix), f"graph{suffix}").graph)
        for before, after in zip(comparable(document.graph), again, strict=True):
            if before != after:
                return f"{suffix}: {after}, not {before}"
    return ""


def fed(feeds: dict[str, Any]) -> dict[str, Any]:
    return {key: as_array(value) if is_tensor(value) else value for key, value in feeds.items()}


@checks("graph_files")
def each_file(case: Case) -> None:
    for entry in case.recorded:
        if entry in ("case", "topic", "tf_version"):
            continue
        graph = described(case, entry)
        if graph is None:
            continue
        session = Session(graph, functions={"pyfunc_0": lambda *xs: xs[0] + xs[1]})
        if init := case.at(entry).get("init"):
            session.run([], targets=[case.given(entry, "init")])
        elif "init" in case.at(entry):
            case.given(entry, "init")
        if "run_script" in case.at(entry):
            _script(case, entry, session)
        elif "tags" in case.at(entry):
            _summary(case, entry, session)
        else:
            _fetched(case, session, entry)
        del init


def _script(case: Case, entry: str, session: Session) -> None:
    for number, step in enumerate(case.at(entry, "run_script")):
        path = entry, "run_script", number
        feeds = fed(case.given(*path, "feeds"))
        targets = case.given(*path, "targets")
        values = session.run(list(step["fetches"]), feeds, targets)
        if step["fetches"]:
            case.value(dict(zip(step["fetches"], values, strict=True)), *path, "fetches")
        else:
            case.given(*path, "fetches")


def _summary(case: Case, entry: str, session: Session) -> None:
    """`merged:0` is a serialized Summary, as the entry's note says: the mean and the histogram of
    `w`, which the graph sets to 1, -2, 3."""
    merged, mean, w = session.run(["merged:0", "summaries/Mean:0", "w:0"])
    scalar, histogram = decode(merged.item())
    case.value([scalar.tag, histogram.tag], entry, "tags")
    found = [scalar.simple_value, *_moments(histogram.histo), sum(histogram.histo.bucket)]
    same = found == [mean, w.min(), w.max(), w.size, w.sum(), np.square(w).sum(), w.size]
    case.derived(same, True, entry, "note", how="what is summarized is what the run fetches")


def _moments(histo: Any) -> list[float]:
    return [histo.min, histo.max, histo.num, histo.sum, histo.sum_squares]


def _fetched(case: Case, session: Session, *path: str | int) -> None:
    feeds = fed(case.given(*path, "feeds"))
    fetches = list(case.at(*path, "fetches"))
    case.value(
        lambda: dict(zip(fetches, session.run(fetches, feeds), strict=True)), *path, "fetches"
    )


@checks("grad_aggregation_and_args")
def two_paths(case: Case) -> None:
    if (graph := described(case, "graph_file")) is not None:
        _fetched(case, Session(graph), "graph_file")


@checks("gradient_override_map_semantics")
def overridden(case: Case) -> None:
    if (graph := described(case, "saved_graph")) is not None:
        _fetched(case, Session(graph), "saved_graph")


@checks("several_networks_one_graph")
def one_file(case: Case) -> None:
    described(case, "graph_file")


@checks("where_cond_gradients")
def branches(case: Case) -> None:
    if (graph := described(case, "graph_file")) is not None:
        for number in range(len(case.at("graph_file", "runs"))):
            _fetched(case, Session(graph), "graph_file", "runs", number)


@checks("batch_norm_update_ops")
def batch_norm(case: Case) -> None:
    described(case, "2d", "control_dependencies", "graph_file")


@checks("optimizer_var_list_and_per_variable_lr")
def adam(case: Case) -> None:
    described(case, "graph_file")


@checks("while_loop_gradients")
def loops(case: Case) -> None:
    for entry in ("graph_file_forward", "graph_file"):
        if (graph := described(case, entry)) is not None:
            for number in range(len(case.at(entry, "runs"))):
                _fetched(case, Session(graph), entry, "runs", number)


@checks("rnn_dynamic")
def cells(case: Case) -> None:
    x = case.given("inputs", "x")
    for cell in ("GRUCell", "LSTMCell"):
        path = cell, "graph_file"
        if (graph := described(case, *path)) is None:
            continue
        session = Session(graph)
        session.run([], targets=[case.given(*path, "init")])
        fed = dict.fromkeys(case.given(*path, "feeds"), x)
        fetches = list(case.at(*path, "fetches"))
        found = dict(zip(fetches, session.run(fetches, fed), strict=True))
        case.value(found, *path, "fetches", rounding=Rounding(terms=4, steps=8))
        case.given(*path, "same_as_above")


STEPS = "steps (batches of 4 rows, lr .5)"


@checks("mnist_softmax_regression")
def softmax_regression(case: Case) -> None:
    """TensorFlow's graph with gradients and updates, run for six steps."""
    graph = described(case, "graph_file")
    assert graph is not None
    x = case.given("inputs", "x_uint8").astype(np.float32) / np.float32(255)
    digits = case.given("inputs", "labels")
    feeds = {"x": x, "y_": np.eye(10, dtype=np.float32)[digits]}
    for key in ("scale",):
        case.given("inputs", key)
    for key in ("feeds", "fetch"):
        case.given("graph_file", key)
    session = Session(graph)
    session.run([], targets=[case.given("graph_file", "init")])
    train = case.given("graph_file", "train_op")
    fetches = ["cross_entropy", "accuracy", "W", "b"]
    loss, accuracy, *_ = session.run(fetches, feeds)
    case.value(loss, "loss0 (=ln 10)")
    case.value(accuracy, "accuracy0")
    builder = GraphBuilder(graph)
    _, db = gradients(builder.get("cross_entropy"), [builder.get("W"), builder.get("b")])
    assert isinstance(db, Tensor)
    own = Session(builder.build())
    own.run([], targets=["init"])
    case.gradient(own.run([db.ref], feeds)[0], "db0", rounding=Rounding(terms=PIXELS))
    for number, step in enumerate(case.at(STEPS)):
        rows = slice(*step["batch rows"])
        case.given(STEPS, number, "batch rows")
        session.run([], {k: v[rows] for k, v in feeds.items()}, [train])
        loss, accuracy, weights, bias = session.run(fetches, feeds)
        found = {"loss_all": loss, "accuracy_all": accuracy, "b": bias}
        found["W_abs_sum"] = np.abs(weights).sum(dtype=np.float64)
        learnt = Rounding(terms=PIXELS, steps=number + 1, dtype=np.float32)
        for key, value in found.items():
            case.value(value, STEPS, number, key, rounding=learnt)
        whole = learnt.of(size=found["W_abs_sum"])
        case.value(weights.sum(dtype=np.float64), STEPS, number, "W_sum", rounding=whole)
    case.value(weights[300:320], "W_final rows 300..320", rounding=learnt)
    case.skip("a statistic of the recording itself", "max_diff_numpy_W")
    case.skip(DOCUMENTATION, "graph")
    zeros = {"x": np.zeros((1, 784), np.float32)}
    case.derived(
        int(session.run(["ArgMax"], {**zeros, "b/read": np.zeros(10, np.float32)})[0][0]),
        0,
        "argmax_ties",
        how="equal logits give class 0",
    )


PIXELS = 784  # that each class sums
