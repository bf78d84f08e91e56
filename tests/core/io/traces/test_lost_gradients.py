"""What comes back through an operation that has no lowering is missing, and said at the weights."""

from __future__ import annotations

from pathlib import Path

from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.io.traces.traced_document import from_trace
from gradstep.core.program.derive import derive
from tests.core.io.traces.written_traces import WrittenTrace


def partly(back: float | None = 3.0, times: int = 1) -> WrittenTrace:
    """loss = a x + soup(b x) + …, of which soup is 3 b x to its framework, and nothing here.
    back: what came back to soup, from which b has its gradient; None: nothing did."""
    trace = WrittenTrace()
    trace.given("x", [2.0])
    trace.given("net.a", [5.0], [2.0], trained=True)
    trace.given("net.b", [7.0], None if back is None else [2.0 * back * times], trained=True)
    trace.node("ax", "aten.mul.Tensor", {"self": "@x", "other": "@net.a"}, [10.0], [1.0])
    trace.node("bx", "aten.mul.Tensor", {"self": "@x", "other": "@net.b"}, [14.0])
    loss, value = "ax", 10.0
    for number in range(times):
        soup = f"soup_{number}"
        one = None if back is None else [1.0]
        trace.node(soup, "aten.soup.default", {"self": "@bx"}, [42.0], one)
        value += 42
        args = {"self": f"@{loss}", "other": f"@{soup}", "alpha": 1}
        loss = f"sum_{number}"
        trace.node(loss, "aten.add.Tensor", args, [value], [1.0])
    return trace


def test_the_weight_behind_it_is_warned_of() -> None:
    document = from_trace(partly().packed("sum_0"))
    (problem,) = [p for p in derive(document).problems if p.code == "recorded-gradient"]
    assert (problem.node, problem.severity) == ("net/b", "warning")
    assert "through soup_0 (aten.soup.default) in PyTorch" in problem.text


def test_where_nothing_came_back_nothing_is_missing() -> None:
    document = from_trace(partly(back=None).packed("sum_0"))
    assert document.recorded is not None
    assert not document.recorded.remarks


def test_what_the_exporter_says_stays() -> None:
    remark = {"input": "net.b", "text": "a hook changes it"}
    document = from_trace(partly().packed("sum_0", remarks=[remark]))
    assert document.recorded is not None
    assert document.recorded.remarks["net/b"].startswith("a hook changes it; its gradient lacks")


def test_it_is_kept(tmp_path: Path) -> None:
    document = from_trace(partly().packed("sum_0"))
    gradstep_file.save(tmp_path / "kept.gradstep", document)
    problems = derive(read(tmp_path / "kept.gradstep")).problems
    assert [p.node for p in problems if p.code == "recorded-gradient"] == ["net/b"]


def test_a_type_of_operation_is_said_once() -> None:
    document = from_trace(partly(times=18).packed("sum_17"))
    assert document.note.count("aten.soup.default") == 1
    assert "soup_0 and 17 more stay as PyTorch computed them" in document.note
    assert document.recorded is not None
    assert "through soup_0 and 17 more (aten.soup.default)" in document.recorded.remarks["net/b"]


def test_a_stop_is_the_end_of_the_way() -> None:
    """What is stopped before the operation has no part in it."""
    trace = WrittenTrace()
    trace.given("a", [5.0], [4.0], trained=True)
    trace.node("still", "aten.detach.default", {"self": "@a"}, [5.0])
    trace.node("soup", "aten.soup.default", {"self": "@still"}, [4.0], [5.0])
    trace.node("loss", "aten.mul.Tensor", {"self": "@soup", "other": "@a"}, [20.0], [1.0])
    document = from_trace(trace.packed("loss"))
    assert document.recorded is not None
    assert not document.recorded.remarks
