"""Names and scopes: numbered, refused, looked up."""

from __future__ import annotations

import numpy as np

from core.engine.session import Session
from core.graph.edits import check_name
from core.ops.builder import GraphBuilder, call
from tests.oracle.program import Program
from tests.oracle.table import Case, checks

VARIABLES = "variable scopes of TensorFlow's Python; in a Gradstep document a variable has one name"


LOOKUP = "looking up by name in Python; in Gradstep a fetch by name says the same"


@checks("names_and_scopes")
def names(case: Case) -> None:
    builder = GraphBuilder()
    one = np.float32(1)
    made = [builder.constant(one, name=name) for name in ("k", "k", "K", "k_1", "k")]
    case.graph([t.ref.op for t in made], "unique_names")
    other = GraphBuilder()
    one, two = (other.constant(np.float32(v)) for v in (1, 2))
    total = other.one("AddV2", one, two, name="add")
    square = other.constant(np.zeros((1, 1), np.float32), name="m")
    product = other.one("MatMul", square, square)
    case.graph([t.name for t in (one, two, total, product)], "default_names")
    _scopes(case)
    _lookups(case)
    done = {"unique_names", "default_names"} | _SCOPES | _LOOKUPS
    for entry in case.recorded:
        if (
            entry not in done
            and entry not in ("case", "topic", "tf_version")
            and "note" not in entry
        ):
            why = LOOKUP if "by_name" in entry or "element" in entry else VARIABLES
            case.skip(why, entry)


_SCOPES = {"name_scope_again", "invalid_name", "invalid_name2", "op_inputs_of_add_const"}


_LOOKUPS = {"get_tensor_by_name", "get_tensor_by_name_missing", "get_tensor_by_name_bad_index"}


def _scopes(case: Case) -> None:
    with Program() as p:
        with p.builder.scope("ns"):
            call("AddV2", 1.0, 2.0, name="add")
        with p.builder.scope("ns"):
            again = call("AddV2", 1.0, 2.0, name="add")
        case.graph(again.name, "name_scope_again")
        case.skip("names that Python gives to constants", "op_inputs_of_add_const")
        for entry, name in (("invalid_name", "a b"), ("invalid_name2", "_a")):
            says = f"'{name}' is not a valid operation name"
            case.error(lambda name=name: check_name(name), entry, says=says)


def _lookups(case: Case) -> None:
    with Program() as p:
        call("AddV2", np.int32(1), np.int32(2), name="addd")
        graph = p.builder.build()
        found = p.builder.get("addd:0").name == "addd:0"
        case.value(found, "get_tensor_by_name")
        for entry, name in (
            ("get_tensor_by_name_missing", "nope:0"),
            ("get_tensor_by_name_bad_index", "addd:1"),
        ):
            case.error(
                lambda name=name: Session(graph).run([name]),
                entry,
                kind="ValueError",
                why="said of a fetch",
            )
