"""Which value each step reads and makes: tensors and variable versions, operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING

from gradstep.core.engine.plan.fed_types import Outputs, RunTypes
from gradstep.core.engine.plan.steps import COUNTER, OPAQUE, PlanValue, Step, Variable, storage_name
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.graph.loop import Loop, loop_of
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.memory_release import memo_of_document
from gradstep.core.ops.declare.attribute_kinds import attribute, fits
from gradstep.core.ops.declare.op_state import State
from gradstep.core.ops.declare.table import OpDef, find
from gradstep.core.ops.state.opaque_state import OpaqueState
from gradstep.core.persistent.edited_sequence import Growing
from gradstep.core.persistent.joined_sequence import in_parts

if TYPE_CHECKING:
    from gradstep.core.engine.plan.loop_body import Iteration

Whereabouts = tuple[int | str | None, ...]  # of an operation's outputs: values, or variables
# f(loop, types of its inputs, what they are: values or variables, variables) -> its iteration
CompileBody = Callable[
    [Loop, Sequence[TensorType], Sequence[int | str], Mapping[str, Variable]], "Iteration"
]

_TYPES = 1_000  # of variables, which are kept at most


class Resolver:
    """Takes the needed operations in order; collects steps, values and variable versions.

    compile_body: what compiles the body of a loop, as compile_plan does a graph.
    """

    def __init__(self, types: RunTypes, compile_body: CompileBody) -> None:
        self.types = types
        self._compile_body = compile_body
        self.steps: list[Step] = []
        self.values: list[PlanValue] | Growing[PlanValue] = []
        self.taken: Sequence[PlanValue] = ()  # those of a plan before, with which they begin
        self.where: MutableMapping[str, Whereabouts] = {}
        self.variables: MutableMapping[str, Variable] = {}
        self.versions: MutableMapping[str, list[int]] = {}
        self.failures: dict[str, GradstepError] = {}
        self.branches = False  # whether some step may be dead
        self._fed: dict[str, Whereabouts] = {}
        for ref, kind in types.fed.items():
            there = [*self._fed.get(ref.op, ())]
            there += [None] * (ref.index + 1 - len(there))
            there[ref.index] = self._value(PlanValue(kind, *ref))
            self._fed[ref.op] = tuple(there)
        self.where.update(self._fed)

    @property
    def all_steps(self) -> Sequence[Step]:
        """The steps of all operations, once all are taken."""
        return in_parts(tuple(self.steps))

    @property
    def all_values(self) -> Sequence[PlanValue]:
        """The values of all steps, once all are taken."""
        return self.values.found if isinstance(self.values, Growing) else tuple(self.values)

    def add(self, op: Operation) -> None:
        """Append the step that executes `op`."""
        self.steps.append(self._step(op, find(op.type)))

    def _step(self, op: Operation, definition: OpDef | None) -> Step:
        self.branches |= definition is not None and definition.branch == "switch"
        try:
            return self._resolve(op, definition, self._types(op))
        except GradstepError as error:
            if self.types.fed:  # what was drawn fits; what is fed does not
                error.as_kind("ValueError", "InvalidArgumentError")
            self.failures[op.name] = self._cause(op) or error.at(op.name)
            return Step(op, definition, (), (), False)

    def _cause(self, op: Operation) -> GradstepError | None:
        """Why an operation before `op` fails, which leaves `op` without types, too. It is said
        where that one does not run, in the other branch of a cond."""
        inputs = (ref for ref in op.inputs if ref is not None and ref not in self.types.fed)
        return next((self.failures[r.op] for r in inputs if r.op in self.failures), None)

    def _types(self, op: Operation) -> Outputs:
        return self.types.of(op)

    def _resolve(self, op: Operation, definition: OpDef | None, outputs: Outputs) -> Step:
        assert definition is not None  # inference refuses unknown op types
        loop = loop_of(op)
        if loop is not None:
            return self._loop(op, definition, loop, outputs)
        if definition.kernel.plain is None:
            self._without_kernel(op, definition, outputs)
            return Step(op, definition, (), (), False)
        sources = [self._source(ref) for ref in op.inputs]
        reads = tuple([self.versions[s][-1] if isinstance(s, str) else s for s in sources])
        alias = sources[0] if definition.aliases else None
        if definition.makes_versions or isinstance(alias, str):
            return self._with_variables(op, definition, outputs, sources, reads, alias)
        return Step(op, definition, reads, self._outputs(op, outputs), True, True)

    def _with_variables(
        self,
        op: Operation,
        definition: OpDef,
        outputs: Outputs,
        sources: list[int | str],
        reads: tuple[int, ...],
        alias: int | str | None,
    ) -> Step:
        """The step of what writes variables, or stands for one."""
        state = definition.state
        written = [self._written(op, sources, i) for i in state.writes]
        if isinstance(alias, str):
            self._stand(op, (alias,) * len(outputs))
            if not written:
                return Step(op, definition, reads, (), False)
        counted = [self._counter(op, state)] if state.counter else []
        if state.per_run is not None:
            counted.append(self._per_run(state.per_run))
        reads += tuple(self.versions[name][-1] for name in counted)
        made = () if isinstance(alias, str) else self._outputs(op, outputs)
        writes = (*made, *(self._new_version(n) for n in (*written, *counted)))
        return Step(op, definition, reads, writes, True)

    def _loop(self, op: Operation, definition: OpDef, loop: Loop, outputs: Outputs) -> Step:
        """The step of an operation that runs a graph again and again."""
        sources = [self._source(ref) for ref in op.inputs]
        kinds = [self.types.type(ref) for ref in op.inputs if ref is not None]
        iteration = self._compile_body(loop, kinds, sources, self.variables)
        for name, variable in iteration.variables.items():
            if name not in self.variables:
                self._store(name, variable)
        inputs = [self.versions[s][-1] if isinstance(s, str) else s for s in sources]
        reads = (*inputs, *(self.versions[name][-1] for name in iteration.shared))
        made = self._outputs(op, outputs)
        writes = (*made, *(self._new_version(name) for name in iteration.written))
        return Step(op, definition, reads, writes, True, iteration=iteration)

    def _without_kernel(self, op: Operation, definition: OpDef, outputs: Outputs) -> None:
        if not outputs:
            return
        if outputs[0].ref or outputs[0].dtype is DType.RESOURCE:
            self._stand(op, (self._declare(op, definition, outputs[0]),))
        elif op.type == "Placeholder":
            self._outputs(op, outputs)  # its readers can be laid out; the step fails first
            raise _unfed(op, outputs[0])
        else:
            raise GradstepError(f"{op.type} cannot be executed", kind="UnimplementedError")

    def _declare(self, op: Operation, definition: OpDef, handle: TensorType) -> str:
        """A variable's declaration: the storage that its output 0 stands for."""
        name = storage_name(op)
        if name not in self.variables:
            self._store(name, _variable(op, definition, handle))
        return name

    def _counter(self, op: Operation, state: State) -> str:
        """The storage of what `op` counts; no operation can have its name."""
        name = f"{op.name}:counter"
        first = state.first_count(op)
        kind = TensorType(COUNTER.dtype, Shape(first.shape))
        self._store(name, Variable(op.name, kind, resource=False, counter=True, first=first))
        return name

    def _per_run(self, kind: type[OpaqueState]) -> str:
        """The storage of what all operations of a run share that name `kind`."""
        name = f":{kind.__name__}"
        if name not in self.variables:
            self._store(name, Variable("", OPAQUE, resource=False, first=kind(), anew=True))
        return name

    def _store(self, name: str, variable: Variable) -> None:
        self.variables[name] = variable
        self.versions[name] = [self._value(PlanValue(variable.type, name))]

    def _written(self, op: Operation, sources: list[int | str], index: int) -> str:
        source = sources[index]
        if isinstance(source, str):
            return source
        raise GradstepError(
            f"Input {index} of {op.type} '{op.name}' must be a variable",
            kind="InvalidArgumentError",
            hint="wire it to a variable that is not fed",
        )

    def _source(self, ref: TensorRef | None) -> int | str:
        assert ref is not None  # inference refuses what is not connected
        there = self.where.get(ref.op, ())
        source = there[ref.index] if ref.index < len(there) else None
        if source is None:
            raise GradstepError(f"'{ref}' has no value", kind="FailedPreconditionError")
        return source

    def _new_version(self, variable: str) -> int:
        index = self._value(PlanValue(self.variables[variable].type, variable))
        self.versions[variable].append(index)
        return index

    def _outputs(self, op: Operation, outputs: Outputs) -> tuple[int, ...]:
        """A value for each output."""
        name = op.name
        made = tuple([self._value(PlanValue(x, name, i)) for i, x in enumerate(outputs)])
        self._stand(op, made)
        return made

    def _stand(self, op: Operation, found: Whereabouts) -> None:
        """Say where `op`'s outputs are; a fed tensor keeps what was fed."""
        fed = self._fed.get(op.name)
        if fed is not None:
            fed += (None,) * (len(found) - len(fed))
            made = (*found, *(None,) * (len(fed) - len(found)))
            found = tuple(x if f is None else f for f, x in zip(fed, made, strict=True))
        self.where[op.name] = found

    def _value(self, value: PlanValue) -> int:
        self.values.append(value)
        return len(self.values) - 1


def _variable(op: Operation, definition: OpDef, handle: TensorType) -> Variable:
    """What `op` declares, whose output 0 is `handle`."""
    if definition.state.first is not None:
        return Variable(op.name, OPAQUE, True, first=definition.state.first(op))
    dtype, shape = op.attrs.get("dtype"), op.attrs.get("shape")
    kind = _sound_type(dtype, shape) if type(dtype) is DType and type(shape) is Shape else None
    if kind is None:
        dtype = attribute(op, "dtype", DType, handle.dtype)
        kind = TensorType(dtype, attribute(op, "shape", Shape, UNKNOWN))
    return Variable(op.name, kind, not handle.ref)


@memo_of_document(_TYPES)
def _sound_type(dtype: DType, shape: Shape) -> TensorType | None:
    """One and the same for all variables that are declared alike; None for what cannot be."""
    return TensorType(dtype, shape) if fits("shape", shape, Shape) else None


def _unfed(op: Operation, kind: TensorType) -> GradstepError:
    """TensorFlow's words; it says nothing of a scalar's or an unknown shape."""
    shape = f" and shape {str(kind.shape).replace(' ', '')}" if kind.shape.dims else ""
    dtype = kind.dtype.cpp_name
    return GradstepError(
        f"You must feed a value for placeholder tensor '{op.name}' with dtype {dtype}{shape}",
        kind="InvalidArgumentError",
        hint=f"feed {op.name}, or fetch only what does not need it",
    )
