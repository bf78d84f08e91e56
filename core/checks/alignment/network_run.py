"""A network as it runs: all that is comparable in one run of a document, in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.state.print_output import nowhere, printing_to
from gradstep.core.ops.typing.inference import infer_declared
from gradstep.core.program.questions.first_run_values import variable_values
from gradstep.core.program.questions.loaded_document import Loaded, start

Values = Mapping[TensorRef, np.ndarray]
PLACEHOLDERS = frozenset({"Placeholder", "PlaceholderV2", "PlaceholderWithDefault"})


@dataclass(frozen=True, eq=False)
class NetworkRun:
    """feeds: what the run is fed, all of it."""

    loaded: Loaded
    feeds: Values

    @cached_property
    def document(self) -> Document:
        """With placeholders for what is fed."""
        return with_placeholders(self.loaded.document)

    @cached_property
    def graph(self) -> Graph:
        """The forward graph."""
        return self.document.graph

    @cached_property
    def ends(self) -> tuple[TensorRef, ...]:
        """What the network is for: see `ends_of`."""
        return ends_of(self.document)

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The operations behind the ends, in topological order."""
        names = self.graph.ancestors([ref.op for ref in self.ends])
        return tuple(name for name in self.graph.order if name in names)

    @cached_property
    def weights(self) -> Values:
        """The variables that are needed, and constants of more than one number."""
        held = variable_values(self.graph, self._session.store)
        found = {TensorRef(name): held[name] for name in self.needed if name in held}
        for name in self.needed:
            op = self.graph[name]
            if op.type == "Const" and _is_weight(op.attrs["value"].array):
                found[TensorRef(name)] = op.attrs["value"].array
        return {ref: value for ref, value in found.items() if _is_float(value)}

    @cached_property
    def fed_by_inputs(self) -> frozenset[str]:
        """The operations that are needed, and depend on what is fed; in a network that is fed
        nothing, on a variable."""
        found = {ref.op for ref in self.feeds}
        held = set() if found else {n for n in self.needed if self.graph[n].type in VARIABLES}
        for name in self.needed:
            read = {ref.op for ref in self.graph[name].inputs if ref is not None}
            if read & held or read & found:
                found.add(name)
        return frozenset(found.intersection(self.needed))

    @cached_property
    def computed(self) -> Values:
        """Every float that depends on what is fed, in order, and is not all one number."""
        return self.values_with({})

    def values_with(self, forced: Values) -> Values:
        """The same with these values in place of their own. Raises GradstepError."""
        check_cancelled()
        wanted = [ref for ref in self._outputs if ref.op in self.fed_by_inputs]
        if not wanted:
            return {}
        with printing_to(nowhere), np.errstate(all="ignore"):
            found = self._session.values(wanted, {**self._given, **forced})
        made = {ref: v for ref, v in zip(wanted, found, strict=True) if v is not None}
        return {ref: v for ref, v in made.items() if _tells(v)}

    def shape_of(self, ref: TensorRef) -> tuple[int, ...] | None:
        """As far as it is known without a run."""
        kinds = infer_declared(self.graph).types.of.get(ref.op, ())
        kind = kinds[ref.index] if ref.index < len(kinds) else None
        sizes = None if kind is None or kind.shape is None else kind.shape.dims
        known = [size for size in sizes or () if size is not None]
        return tuple(known) if sizes is not None and len(known) == len(sizes) else None

    @cached_property
    def _session(self) -> Session:
        return start(self.loaded, self.graph, NumpyBackend(), self.loaded.initial())

    @cached_property
    def _given(self) -> Values:
        return {ref: value for ref, value in self.feeds.items() if ref.op in self.needed}

    @cached_property
    def _outputs(self) -> list[TensorRef]:
        """Of several outputs those that somebody reads: the others may be anything."""
        types, found = infer_declared(self.graph).types.of, list[TensorRef]()
        read = {*self.ends, *(ref for name in self.needed for ref in self.graph[name].inputs)}
        for name in self.needed:
            if self.graph[name].type in VARIABLES:
                continue
            kinds = enumerate(types.get(name, ()))
            found += [TensorRef(name, i) for i, kind in kinds if kind and kind.dtype.is_floating]
        return [ref for ref in found if ref in read]


def ends_of(document: Document) -> tuple[TensorRef, ...]:
    """What is fetched and differentiated; where that is nothing, what nobody reads."""
    asked = dict.fromkeys([*document.fetches, *document.request.of])
    graph = document.graph
    there = tuple(ref for ref in asked if ref.op in graph)
    return there or tuple(
        op.output() for op in graph if not graph.consumers.get(op.name) and op.inputs
    )


def _is_float(value: np.ndarray) -> bool:
    return value.dtype.kind in "fV" or value.dtype.name == "bfloat16"


def _is_weight(value: np.ndarray) -> bool:
    return _is_float(value) and value.size > 1 and _tells(value)


def _tells(value: np.ndarray) -> bool:
    """All zeros are like all zeros anywhere."""
    return bool(value.size) and (value.size == 1 or bool((value != value.flat[0]).any()))
