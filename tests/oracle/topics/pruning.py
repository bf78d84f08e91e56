"""What a run executes, and how often."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.build.builder import Tensor, call
from tests.oracle.program import Program
from tests.oracle.reasons import PYTHON
from tests.oracle.table import Case, checks


class Counted:
    """The recorded graph, b<-a, c<-a, d<-(b,c), e<-ph, f<-a ^e, whose functions count calls."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.p = p = Program()
        with p:
            self.made = {"a": self._function("a", lambda: 1.0)}
            a = self.made["a"]
            self._function("b", lambda x: x + 1, a)
            self._function("c", lambda x: x * 2, a)
            self._function("d", lambda x, y: x + y + 1, self.made["b"], self.made["c"])
            self.made["ph"] = p.placeholder("ph")
            self._function("e", lambda x: x, self.made["ph"])
            with p.builder.control_dependencies(["e"]):
                self._function("f", lambda x: x + 1, a)

    def _function(self, name: str, compute: Any, *inputs: Tensor) -> Tensor:
        def counted(*arrays: np.ndarray) -> np.ndarray:
            self.calls[name] += 1
            return np.float32(compute(*arrays))

        shape = (Shape(()),)
        made = self.p.py_func(counted, inputs, name=name, shapes=shape)[0]
        if name != "a":
            self.made[name] = made
        return made

    def run(self, fetches: Any, targets: tuple[str, ...] = (), **feeds: float) -> dict[str, Any]:
        """The value and how often each function was called."""
        self.calls.clear()
        value = self.p.run(fetches, feeds, targets)
        return {"value": value, "calls": dict(self.calls)}


PRUNED: dict[str, tuple[str, dict[str, float]]] = {
    "run(a)": ("a", {}),
    "run(b)": ("b", {}),
    "run(d)": ("d", {}),
    "run([d,d,b])": ("d d b", {}),
    "run(c) with unfed ph elsewhere": ("c", {}),
    "run(d) feed b=100": ("d", {"b": 100}),
    "run(d) feed b,c": ("d", {"b": 100, "c": 10}),
    "run(d) feed d=7": ("d", {"d": 7}),
    "run(f) feed ph": ("f", {"ph": 1}),
    "run(f) feed e=0 and ph=1: e STILL RUNS through the control edge": ("f", {"e": 0, "ph": 1}),
    "run(placeholder) fed: returned as is": ("ph", {"ph": 3.5}),
}


@checks("session_run_pruning")
def pruning(case: Case) -> None:
    counted = Counted()
    made = counted.made
    case.given("edges")
    for entry, (names, feeds) in PRUNED.items():
        fetches = [made[n] for n in names.split()]
        found = counted.run(fetches, **feeds)
        value = found["value"]
        found["value"] = np.array(value) if len(value) > 1 else value[0]
        case.value(found, entry)
    case.error(lambda: counted.run(made["f"]), "run(f) unfed")
    case.error(lambda: counted.run(made["f"], e=0.0), "run(f) feed e=0 (control dep on a FED op)")
    target = counted.run([], ("f",), ph=1.0)
    case.value({**target, "value": None}, "run(f.op) returns None")
    case.value(counted.run([]), "run([])")
    nested = {"x": [made["a"], [made["b"]]], "y": made["d"]}
    case.value(counted.run(nested), "nested_fetch")
    case.value(counted.run(counted.p.builder.get("d:0")), "fetch_by_name")
    by_op = counted.run([], ("d",))
    case.value({**by_op, "value": None}, "fetch_op_by_name")
    case.skip(PYTHON, "run(None)")
    _feedable(case)


def _feedable(case: Case) -> None:
    with Program() as p:
        drawn = call("RandomUniform", np.array([3], np.int32), dtype=DType.FLOAT32)
        entry = "random_op_one_value_per_run"
        first, again = p.run([drawn, call("Identity", drawn)])
        case.value(bool(np.all(first == again)), entry, "same run equal")
        case.value(bool(np.all(first == p.run(drawn))), entry, "separate runs equal")
        cst = p.builder.constant(np.float32(1), name="cst")
        p.run(cst, {cst: 5.0})
        case.value(float(p.run(cst, {cst: 5.0})) == 5.0, "is_feedable", "const")
        a = p.builder.constant(np.float32(2))
        case.value(p.run(a * 3.0, {a: 5.0}), "feed_a_Const")
        v, w = p.variable("v", np.float32(1)), p.variable("w", np.float32(1), resource=True)
        ten = p.run(v.value() * 10.0, {v.handle: 4.0})
        found = {"run(v*10,{v:4})": ten, "v_after": p.run(v.read)}
        case.value(found, "feed_ref_Variable")
        ten = p.run(w.value() * 10.0, {w.read: 4.0})
        case.value(ten, "feed_resource_Variable", "run(w*10,{w:4})")
        case.value(p.run(w.value()), "feed_resource_Variable", "w_after")
    case.skip(
        "Graph.prevent_feeding, which Gradstep does not have: any tensor can be fed",
        "prevent_feeding",
    )
