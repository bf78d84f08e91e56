"""Which operation initialises an imported graph: TensorFlow's own names for it, and no other's."""

from __future__ import annotations

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.io.tensorflow import graphdef_export, graphdef_import
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.comparable import comparable


class Program:
    """A graph with variables that are made and grouped as TensorFlow's Python does."""

    def __init__(self) -> None:
        self.b = GraphBuilder()

    def variable(self, name: str, value: float) -> str:
        made = self.b.variable(name)
        self.b.op("Assign", made, self.b.constant(value), name=f"{name}/Assign")
        return f"{name}/Assign"

    def table(self) -> str:
        kinds = {"key_dtype": "string", "value_dtype": "int64"}
        (table,) = self.b.op("HashTableV2", name="table", **kinds)
        keys, values = self.b.constant([b"a", b"b"], "string"), self.b.constant([4, 7], "int64")
        self.b.op("LookupTableImportV2", table, keys, values, name="import")
        words = self.b.placeholder("words", "string", [None])
        self.b.op("LookupTableFindV2", table, words, self.b.constant(-1, "int64"), name="found")
        return "import"

    def group(self, name: str, *names: str) -> None:
        self.b.op("NoOp", name=name, control_inputs=names)

    def read(self) -> graphdef_import.Document:
        return graphdef_import.from_pb(
            graphdef_export.write_graph(self.b.build()).SerializeToString()
        )


def test_variables_and_tables_are_initialised_together() -> None:
    """Programs run `global_variables_initializer` and `tables_initializer`; here, one does both,
    and is found again."""
    program = Program()
    program.group("init", program.variable("v", 2.0))
    program.group("init_all_tables", program.table())
    document = program.read()
    assert document.init == "init_all"
    assert document.graph["init_all"].control_inputs == ("init", "init_all_tables")
    assert document.targets == ("found",)
    session = Session(document.graph)
    session.run([], targets=[document.init])
    value, found = session.run(["v", "found"], {"words": ["b", "c"]})
    assert (float(value), found.tolist()) == (2.0, [7, -1])
    again = graphdef_import.from_pb(graphdef_export.to_pb(document))
    assert again.init == "init_all"
    assert comparable(again.graph) == comparable(document.graph)


def test_a_group_of_groups_is_enough() -> None:
    program = Program()
    program.group("init", program.variable("v", 2.0))
    program.group("init_all_tables", program.table())
    program.group("both", "init", "init_all_tables")
    document = program.read()
    assert document.init == "both"
    assert "init_all" not in document.graph


def test_restoring_and_resetting_do_not_initialise() -> None:
    """A Saver's assignments come from a file; a reset covers nothing that `init` does not."""
    program = Program()
    b = program.b
    program.group("init", program.variable("v", 2.0), program.variable("w", 3.0))
    file = b.placeholder("file", shape=())
    for name in "vw":
        b.op("Assign", b.get(name), file, name=f"save/Assign_{name}")
        b.op("Assign", b.get(name), b.constant(0.0), name=f"reset_{name}")
    program.group("save/restore_all", "save/Assign_v", "save/Assign_w")
    program.group("reset", "reset_v", "reset_w")
    assert program.read().init == "init"
