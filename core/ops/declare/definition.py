"""What is known about one op type: its record, and what its rules get to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.arithmetic_class import Arithmetic
from gradstep.core.ops.declare.domain_limits import Breaks
from gradstep.core.ops.declare.input_spec import InputSpec
from gradstep.core.ops.declare.ufunc import Kernel
from gradstep.core.ops.state.opaque_state import OpaqueState

Infer = Callable[["InferContext"], "TensorType | tuple[TensorType, ...]"]
GradientRule = Callable[..., Any]
Follow = Callable[[Mapping[str, Any]], Mapping[str, Any]]
First = Callable[[Operation], OpaqueState]
StateClass = type[OpaqueState]
Branch = Literal["", "switch", "merge", "trigger", "loop"]
Samples = Callable[[Any], "list[Sample]"]  # takes a numpy.random.Generator


@dataclass(frozen=True, slots=True)
class Sample:
    """Inputs and attributes on which the table's tests run an op."""

    inputs: tuple[Any, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    differentiable: bool = True  # false at kinks, where finite differences mean nothing


@dataclass(frozen=True, slots=True)
class Defect:
    """What TensorFlow's gradient of an op gets wrong, and Gradstep gives as TensorFlow does.

    input: by which the gradient is wrong; order: 1, or 2 where only the gradient differentiated
    again is; gives: what it is there; why: how that comes, as the end of "TensorFlow does the same,
    for…"; source: where TensorFlow says or does so, and what was recorded.
    """

    input: str
    why: str
    source: str
    order: int = 1
    gives: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class OpDef:
    """Everything Gradstep knows about one op type; `gradstep.core.ops.declare.table.op` says what
    fields mean."""

    type: str
    inputs: tuple[InputSpec, ...]
    outputs: tuple[str, ...]
    attrs: Mapping[str, Any]
    type_attrs: Mapping[str, str]
    choices: Mapping[str, tuple[Any, ...]]
    follow: Mapping[str, Follow]
    formula: str
    infer: Infer
    kernel: Kernel | None
    out_kernel: Kernel | None
    out_calls: Kernel | None
    ufunc: str | None
    gradient: GradientRule | None
    differentiable: bool
    takes_slices: bool
    broadcasts: bool
    elementwise: bool
    keeps_bytes: bool
    slices: bool
    pieces: Kernel | None
    in_place: tuple[int, ...] | None
    arithmetic: Arithmetic
    stateful: bool
    aliases: int | None
    writes: tuple[int, ...]
    counter: bool
    first: First | None
    branch: Branch
    per_run: StateClass | None
    subject: str
    family: str
    python: tuple[str, ...]
    breaks: Breaks
    flat: str
    vanishes: str
    doc: str
    kinks: str
    differs: str
    defects: tuple[Defect, ...]
    samples: Samples | None
    kernel_keywords: tuple[str, ...]
    is_pure: bool = field(init=False)

    def __post_init__(self) -> None:
        """Find out `is_pure`: whether equal inputs give equal results, and nothing happens besides.
        Nobody knows that of a user's function."""
        acts = self.stateful or self.writes or self.counter or self.first or self.per_run
        object.__setattr__(self, "is_pure", not acts and "functions" not in self.kernel_keywords)

    @property
    def lists(self) -> int:
        """How many inputs are lists of tensors; all are as long as each other."""
        return sum(spec.variadic for spec in self.inputs)

    @property
    def takes_gaps(self) -> bool:
        """Whether arrays whose rows lie apart are as good as others to it, in all its forms."""
        return self.slices or (self.elementwise and not self.writes)

    def keywords(
        self,
        op: Operation,
        given: Mapping[str, Any] = MappingProxyType({}),
        names: Iterable[str] | None = None,
    ) -> dict[str, Any]:
        """What a kernel's keyword-only parameters get: those in `given`, and attributes of `op`;
        of others it has a default. names: the parameters, by default the plain kernel's."""
        wanted = self.kernel_keywords if names is None else names
        return {
            name: given[name] if name in given else self.attr(op, name)
            for name in wanted
            if name in given or name in self.attrs
        }

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
        """The attribute's value on `op`, or its declared default."""
        if name in op.attrs:
            value, declared = self._chosen(op, name), self.attrs.get(name)
            is_dtype = declared is DType or isinstance(declared, DType)
            return DType(value) if is_dtype and type(value) is str else value
        default = self.attrs[name]
        if isinstance(default, type):
            raise GradstepError(f"attribute '{name}' is missing", kind="ValueError", node=op.name)
        return default

    def _chosen(self, op: Operation, name: str) -> Any:
        value, choices = op.attrs[name], self.choices.get(name)
        if choices is not None and value not in choices:
            allowed = ", ".join(repr(c) for c in choices)
            raise GradstepError(
                f"attribute '{name}' is {value!r}, which is not one of {allowed}",
                kind="ValueError",
                node=op.name,
            )
        return value


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
