"""What is known about one op type: its record, and what its rules get to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.graph.opaque_attributes import Unread
from gradstep.core.memory_release import memo_of_document
from gradstep.core.ops.declare.arithmetic_class import Arithmetic
from gradstep.core.ops.declare.declared_gradient import Gradient
from gradstep.core.ops.declare.input_spec import InputSpec
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.op_state import State
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.result_memory import Memory

Infer = Callable[["InferContext"], "TensorType | tuple[TensorType, ...]"]
Follow = Callable[[Mapping[str, Any]], Mapping[str, Any]]
Branch = Literal["", "switch", "merge", "trigger", "loop"]
Samples = Callable[[Any], "list[Sample]"]  # takes a numpy.random.Generator


@dataclass(frozen=True, slots=True)
class Sample:
    """Inputs and attributes on which the table's tests run an op."""

    inputs: tuple[Any, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    differentiable: bool = True  # false at kinks, where finite differences mean nothing


@dataclass(frozen=True, slots=True, eq=False)
class OpDef:
    """Everything Gradstep knows about one op type; `gradstep.core.ops.declare.table.op` says what
    fields mean."""

    type: str
    inputs: tuple[InputSpec, ...]
    outputs: tuple[str, ...]
    aliases: bool
    attrs: Mapping[str, Any]
    type_attrs: Mapping[str, str]
    choices: Mapping[str, tuple[Any, ...]]
    follow: Mapping[str, Follow]
    formula: str
    infer: Infer
    kernel: Kernels
    gradient: Gradient
    broadcasts: bool
    arithmetic: Arithmetic
    memory: Memory
    state: State
    branch: Branch
    causes: Causes
    subject: str
    family: str
    python: tuple[str, ...]
    doc: str
    kinks: str
    differs: str
    samples: Samples | None
    is_pure: bool = field(init=False)
    makes_versions: bool = field(init=False)
    in_place: tuple[int, ...] | None = field(init=False)

    def __post_init__(self) -> None:
        """Find out what follows from several fields.

        is_pure:        whether equal inputs give equal results, and nothing happens besides. Nobody
                        knows that of a user's function.
        makes_versions: whether a run of it leaves new versions of variables, those included that
                        hold its counter or the run's state.
        in_place:       indexes of inputs that `kernel.out` may write over; None for all.
        """
        state = self.state
        acts = state.stateful or state.per_run or "functions" in self.kernel.keywords
        object.__setattr__(self, "is_pure", not acts)
        makes = bool(state.writes or state.counter or state.per_run)
        object.__setattr__(self, "makes_versions", makes)
        object.__setattr__(self, "in_place", self._in_place())

    def _in_place(self) -> tuple[int, ...] | None:
        if self.memory.over is None:
            return None if self.kernel.ufunc or self.kernel.out is None else ()
        order = [spec.name for spec in self.inputs]
        return tuple(order.index(name) for name in self.memory.over.split())

    @property
    def lists(self) -> int:
        """How many inputs are lists of tensors; all are as long as each other."""
        return sum(spec.variadic for spec in self.inputs)

    @property
    def takes_gaps(self) -> bool:
        """Whether arrays whose rows lie apart are as good as others to it, in all its forms."""
        return self.memory.slices or (self.memory.elementwise and not self.state.writes)

    def keywords(
        self,
        op: Operation,
        given: Mapping[str, Any] = MappingProxyType({}),
        names: Iterable[str] | None = None,
    ) -> dict[str, Any]:
        """What a kernel's keyword-only parameters get: those in `given`, and attributes of `op`;
        of others it has a default. names: the parameters, by default the plain kernel's."""
        wanted = self.kernel.keywords if names is None else names
        return {
            name: given[name] if name in given else self.attr(op, name)
            for name in wanted
            if name in given or name in self.attrs
        }

    @memo_of_document(4096)
    def arity(self, count: int) -> tuple[str, ...]:
        """Names of `count` actual inputs. Raises GradstepError when the op cannot take them."""
        fixed = [s for s in self.inputs if not s.variadic]
        lists = self.lists
        extra = count - len(fixed)
        if extra < 0 or (extra % lists if lists else extra):
            wanted = (str(len(fixed)), f"at least {len(fixed)}", "an even number of")[lists]
            raise GradstepError(
                f"{self.type} takes {wanted} inputs ({', '.join(s.name for s in self.inputs)}), "
                f"not {count}",
                kind="ValueError",
            )
        names: list[str] = []
        for spec in self.inputs:
            many = [f"{spec.name}[{i}]" for i in range(extra // max(lists, 1))]
            names.extend(many if spec.variadic else [spec.name])
        return tuple(names)

    def attr(self, op: Operation, name: str) -> Any:
        """The attribute's value on `op`, or its declared default. Raises GradstepError where the
        file holds one that Gradstep has no value for, or what can be none."""
        if name in op.attrs:
            value, declared = self._chosen(op, name), self.attrs.get(name)
            is_dtype = declared is DType or isinstance(declared, DType)
            return _element_type(op, name, value) if is_dtype and type(value) is str else value
        default = self.attrs[name]
        if isinstance(default, type):
            raise GradstepError(f"attribute '{name}' is missing", kind="ValueError", node=op.name)
        return default

    def _chosen(self, op: Operation, name: str) -> Any:
        value, choices = op.attrs[name], self.choices.get(name)
        if isinstance(value, Unread):
            raise value.error(op.name, name)
        if choices is not None and value not in choices:
            allowed = ", ".join(repr(c) for c in choices)
            raise GradstepError(
                f"attribute '{name}' is {value!r}, which is not one of {allowed}",
                kind="ValueError",
                node=op.name,
            )
        return value


def _element_type(op: Operation, name: str, value: str) -> DType:
    try:
        return DType(value)
    except ValueError:
        raise GradstepError(
            f"attribute '{name}' must be an element type, not {value!r:.60}",
            kind="ValueError",
            node=op.name,
            hint="correct the attribute",
        ) from None


class InferContext:
    """What a shape rule may look at: the operation, its input types, constant input values.
    asked: whether it looked at one of the latter."""

    def __init__(
        self,
        definition: OpDef,
        operation: Operation,
        types: Sequence[TensorType],
        constant: Callable[[int], Any] = lambda index: None,
    ) -> None:
        self.definition = definition
        self.op = operation
        self.types = tuple(types)
        self._constant = constant
        self.asked = False

    def attr(self, name: str) -> Any:
        return self.definition.attr(self.op, name)

    def constant(self, index: int) -> Any:
        """Input `index` as a NumPy array when it is known before running, else None."""
        self.asked = True
        return self._constant(index)

    def fail(self, message: str, hint: str = "") -> GradstepError:
        """A shape or type error at this operation, to be raised."""
        return GradstepError(message, kind="ValueError", node=self.op.name, hint=hint)
