"""Lookup tables: from keys, as words are, to values, as their numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import SCALAR, DType, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.attribute_kinds import attribute
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import home
from gradstep.core.ops.declare.op_state import Resource, Stateful, Writes
from gradstep.core.ops.declare.table import InferContext, op
from gradstep.core.ops.declare.type_rules import want_rank
from gradstep.core.ops.state.lookup_table import LookupTable


def _handle(ctx: InferContext) -> TensorType:
    holds = tuple(
        TensorType(DType(ctx.attr(name)), SCALAR) for name in ("key_dtype", "value_dtype")
    )
    return TensorType(DType.RESOURCE, SCALAR, holds=holds, handle="table")


def _table(op: Operation) -> LookupTable:
    keys, values = (attribute(op, name, DType) for name in ("key_dtype", "value_dtype"))
    return LookupTable(keys, values)


def _want_entries(ctx: InferContext, wanted: str, have: str) -> None:
    """Raise unless inputs 1 and 2 are of the table's types."""
    held = [kind.dtype for kind in ctx.types[0].holds]
    kinds = [kind.dtype for kind in ctx.types[1:]]
    if held and kinds != held:
        given, expected = ([k.value for k in x] for x in (kinds, held))
        raise ctx.fail(
            f"Signature mismatch, have: resource, {have.format(*given)} expected: resource, "
            f"{wanted.format(*expected)}",
            hint="give what the table's key_dtype and value_dtype say",
        )


def _found(ctx: InferContext) -> TensorType:
    _want_entries(ctx, "{0}, {1}->{1}", "{0}, {1}->{1}")
    want_rank(ctx, 2, 0)
    return TensorType(ctx.types[2].dtype, ctx.types[1].shape)


def _imported(ctx: InferContext) -> tuple[TensorType, ...]:
    _want_entries(ctx, "{}, {}->", "{}, {}->")
    return ()


def _find(xp: Any, table: LookupTable, keys: Any, default_value: Any) -> Any:
    found = table.find(keys, default_value)
    return home(xp, found).asarray(found)


op(
    "HashTableV2",
    also="HashTable",
    outputs="table_handle",
    attrs={
        "key_dtype": DType,
        "value_dtype": DType,
        "container": "",
        "shared_name": "",
        "use_node_name_sharing": False,
    },
    infer=_handle,
    state=Resource(_table),
    gradient=NOT_DIFFERENTIABLE,
    doc="A table that is initialised once, and then looked things up in.",
)
for _type in ("LookupTableImportV2", "InitializeTableV2"):
    op(
        _type,
        also=_type.removesuffix("V2"),
        inputs="table_handle:table #keys #values",
        outputs="",
        type_attrs=(
            {"Tin": "keys", "Tout": "values"}
            if _type == "LookupTableImportV2"
            else {"Tkey": "keys", "Tval": "values"}
        ),
        infer=_imported,
        kernel=lambda xp, table, keys, values: table.filled(keys, values),
        state=Writes((0,)),
        gradient=NOT_DIFFERENTIABLE,
        doc="Initialise a table with keys, and a value for each.",
    )
op(
    "LookupTableFindV2",
    also="LookupTableFind",
    inputs="table_handle:table #keys #default_value",
    outputs="values",
    type_attrs={"Tin": "keys", "Tout": "default_value"},
    infer=_found,
    kernel=_find,
    state=Stateful(),
    gradient=NOT_DIFFERENTIABLE,
    arithmetic="exact",  # it runs on the host, whatever the device
    doc="The value of each key in a table; of a key that is not there, the default value.",
)
op(
    "LookupTableSizeV2",
    also="LookupTableSize",
    inputs="table_handle:table",
    outputs="size",
    infer=lambda ctx: TensorType(DType.INT64, SCALAR),
    kernel=lambda xp, table: xp.asarray(np.int64(len(table))),
    state=Stateful(),
    gradient=NOT_DIFFERENTIABLE,
    doc="How many keys there are in a table.",
)
