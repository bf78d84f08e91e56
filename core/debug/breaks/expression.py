"""Conditions and watches: a small, safe language over a step's values.

    isnan(value)            norm(grad) > 10 and not isnan(value)
    x["loss:0"] >= 1e3      shape(value) == (2, 3)          max(abs(value[0])) < 1

`value` and `grad` are the value and gradient of the operation in question, x["name:0"] any tensor
and grad["name:0"] any gradient; where several things are differentiated, grad["name:0", "loss"]
that of one; update["name:0"] is what a variable has become less what it began the run with. `run`,
`step` and `iteration` are where the debugger stands; previous(…) is what something was at the end
of the run before, where that is recorded; written(x["w"]) is whether the step that was done last
gave that tensor its value. `dead`, `saturated` and `ratio` are in
`layer_measures`. A condition holds when any element of its result is
true; it does not hold while a value in it has not been computed. Nothing here is ever passed to
eval.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, get_args

import numpy as np

from gradstep.core.debug.breaks.layer_measures import dead, norm, ratio, saturated
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import widened
from gradstep.core.memory_release import memo_of_document

T = TypeVar("T")

_LONGEST = 1000  # characters
PlaceName = Literal["run", "step", "iteration"]
PLACES: Mapping[str, PlaceName] = {name: name for name in get_args(PlaceName)}


class Values(Protocol):
    """What an expression can read; None stands for 'not computed yet' and 'there is none'."""

    def value(self, ref: TensorRef) -> np.ndarray | None: ...
    def gradient(self, ref: TensorRef, of: str = "") -> np.ndarray | None: ...
    def update(self, ref: TensorRef) -> np.ndarray | None: ...
    def place(self, name: PlaceName) -> int | None: ...
    def before(self) -> Values | None: ...
    def written(self, ref: TensorRef) -> bool: ...
    def gradient_written(self, ref: TensorRef, of: str = "") -> bool: ...
    def lacks_gradient(self, ref: TensorRef, of: str = "") -> bool: ...


class Unrecorded:
    """What values of no recorded run say: they are nowhere, come after nothing, and were not given
    by any step."""

    def place(self, name: PlaceName) -> int | None:
        return None

    def before(self) -> Values | None:
        return None

    def written(self, ref: TensorRef) -> bool:
        return False

    def gradient_written(self, ref: TensorRef, of: str = "") -> bool:
        return False

    def lacks_gradient(self, ref: TensorRef, of: str = "") -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Scope:
    """Values as of a step, and the tensor that `value` and `grad` mean (None: nothing)."""

    values: Values
    subject: TensorRef | None = None


class _MissingError(Exception):
    """A value that the expression needs is not there."""


_Term = Callable[[Scope], Any]


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression. recorded: what it names that has a meaning in recorded runs alone;
    bare: which of `value` and `grad` it says without saying of which tensor; runs_back: how many
    runs before the one it is evaluated in it reads."""

    text: str
    term: _Term
    recorded: frozenset[str] = frozenset()
    bare: frozenset[str] = frozenset()
    runs_back: int = 0

    def evaluate(self, scope: Scope, guarded: bool = False) -> Any:
        """A NumPy array or scalar, a bool or a tuple; None while something in it is missing.
        guarded: NumPy is told already not to warn. Raises GradstepError when the values do not fit
        the expression."""
        if guarded:
            return self._computed(self.term, scope)
        with np.errstate(all="ignore"):
            return self._computed(self.term, scope)

    def holds(self, scope: Scope) -> bool:
        """Whether any element of the result is true. Raises GradstepError as `evaluate` does."""
        with np.errstate(all="ignore"):
            return bool(self._computed(lambda here: _truth(self.term(here)), scope))

    def _computed(self, term: _Term, scope: Scope) -> Any:
        try:
            return term(scope)
        except _MissingError:
            return None
        except (TypeError, ValueError, IndexError, ArithmeticError, MemoryError) as error:
            raise _error(self.text, str(error)) from error


@memo_of_document(1024)
def parse(text: str, subject: str = "value") -> Expression:
    """subject: another word for `value`. Raises GradstepError for anything that is not in the
    language."""
    if len(text) > _LONGEST:
        raise _error(text[:40] + "…", f"it is longer than {_LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        for name in (name for name in found if name.id == subject):
            name.id = "value"
        names = {name.id for name in found}
        recorded = names.intersection((*PLACES, *_OF_RECORDED))
        back = _runs_back(tree)
        return Expression(text, _compile(tree.body), frozenset(recorded), _bare(tree), back)
    except _UnsupportedError as error:
        raise _error(text, str(error)) from None
    except SyntaxError as error:
        raise _error(text, error.msg) from None
    except (ValueError, RecursionError, MemoryError):
        raise _error(text, "it cannot be read") from None


def _bare(tree: ast.AST) -> frozenset[str]:
    """Of `value` and `grad` those that no name of a tensor follows."""
    named = {id(found[0]) for found in map(_mention, ast.walk(tree)) if found is not None}
    said = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name) and id(x) not in named}
    about = said & {"value", "grad"}
    # What has no gradient is asked where it is computed itself.
    return frozenset(about | {"value"} if "grad" in about and "isnone" in said else about)


def _mention(node: ast.AST) -> tuple[ast.Name, list[str]] | None:
    """The table, and the one or two names, of what names a tensor, as x["w"] does; None of anything
    else."""
    if not (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)):
        return None
    names = _texts(node.slice)
    return (node.value, names) if names else None


def _runs_back(node: ast.AST) -> int:
    """How many `previous` are within each other."""
    inside = max(map(_runs_back, ast.iter_child_nodes(node)), default=0)
    called = node.func if isinstance(node, ast.Call) else None
    return inside + (isinstance(called, ast.Name) and called.id == "previous")


class _UnsupportedError(Exception):
    """Valid Python that the language does not have."""


def _error(text: str, why: str) -> GradstepError:
    return GradstepError(
        f"cannot evaluate '{text}': {why}",
        kind="ExpressionError",
        hint='for example: isnan(value), norm(grad) > 10, x["loss:0"] > 1',
    )


def _truth(x: Any) -> bool:
    return bool(np.any(x))


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "any": _truth,
    "all": lambda x: bool(np.all(x)),
    "abs": np.abs,
    "norm": norm,
    "min": np.min,
    "max": np.max,
    "mean": np.mean,
    "std": np.std,
    "sum": np.sum,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "shape": np.shape,
    "size": np.size,
    "rank": np.ndim,
    "count": np.count_nonzero,
    "dead": dead,
    "ratio": ratio,
    "saturated": saturated,
}
_ARGUMENTS = {"ratio": 2, "saturated": 3}  # of those that take more than one
_COUNTS = {1: "one argument", 2: "two arguments", 3: "three arguments"}
_TABLES: Mapping[str, Callable[[Values, TensorRef], Any]] = {
    "x": lambda values, ref: values.value(ref),
    "grad": lambda values, ref: values.gradient(ref),
    "update": lambda values, ref: values.update(ref),
}
_CONSTANTS: Mapping[str, float] = {"inf": np.inf, "nan": np.nan, "pi": np.pi}
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: lambda x: not _truth(x),
}


def _compile(node: ast.expr) -> _Term:
    compiler = _COMPILERS.get(type(node))
    if compiler is None:
        raise _UnsupportedError(f"{type(node).__name__} is not allowed here")
    return compiler(node)


def _constant(node: ast.Constant) -> _Term:
    value = node.value
    if isinstance(value, bool):
        return lambda scope: value
    if isinstance(value, int | float):
        number = _float64(value)
        return lambda scope: number
    raise _UnsupportedError(f"{value!r} is not a number")


def _float64(value: float) -> np.float64:
    """So that 9**9**9 is infinite, not endless; and so is what is too large to begin with."""
    try:
        return np.float64(value)
    except OverflowError:
        return np.float64(np.inf)


def _name(node: ast.Name) -> _Term:
    if node.id in _CONSTANTS:
        number = np.float64(_CONSTANTS[node.id])
        return lambda scope: number
    if node.id == "value":
        return lambda scope: _there(scope.subject and scope.values.value(scope.subject))
    if node.id == "grad":
        return lambda scope: _there(scope.subject and scope.values.gradient(scope.subject))
    if (place := PLACES.get(node.id)) is not None:
        return lambda scope: np.float64(_known(scope.values.place(place)))
    raise _UnsupportedError(f"'{node.id}' is not known; for a tensor write x[\"{node.id}:0\"]")


def _there(array: Any) -> Any:
    return widened(_known(array))


def _known(found: T | None) -> T:
    if found is None:
        raise _MissingError
    return found


def _subscript(node: ast.Subscript) -> _Term:
    names = _texts(node.slice)
    if len(names) == 2:
        return _gradient(node.value, *names)
    if names:
        return _tensor(node.value, *names)
    array, index = _compile(node.value), _index(node.slice)
    return lambda scope: array(scope)[index]


def _tensor(table: ast.expr, name: str) -> _Term:
    ref = TensorRef.parse(name)
    read = _TABLES.get(table.id) if isinstance(table, ast.Name) else None
    if read is None:
        raise _UnsupportedError(f'write x["{name}"], grad["{name}"] or update["{name}"]')
    return lambda scope: _there(read(scope.values, ref))


def _texts(index: ast.expr) -> list[str]:
    """The name in the brackets, or the two of them; none where there is anything else."""
    parts, count = (index.elts, 2) if isinstance(index, ast.Tuple) else ([index], 1)
    found = [x.value for x in parts if isinstance(x, ast.Constant) and isinstance(x.value, str)]
    return found if len(found) == len(parts) == count else []


def _gradient(table: ast.expr, name: str, loss: str) -> _Term:
    if not (isinstance(table, ast.Name) and table.id == "grad"):
        raise _UnsupportedError(f'write grad["{name}", "{loss}"]')
    ref = TensorRef.parse(name)
    return lambda scope: _there(scope.values.gradient(ref, loss))


def _index(node: ast.expr) -> Any:
    """An index of integers and slices, all of them literal."""
    if isinstance(node, ast.Tuple):
        return tuple(_index(item) for item in node.elts)
    if isinstance(node, ast.Slice):
        bounds = (node.lower, node.upper, node.step)
        return slice(*(None if bound is None else _index(bound) for bound in bounds))
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _UnsupportedError("an index must be a whole number")


def _call(node: ast.Call) -> _Term:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        raise _UnsupportedError(f"the functions are {', '.join(FUNCTIONS)}")
    name, count = node.func.id, _ARGUMENTS.get(node.func.id, 1)
    if len(node.args) != count or node.keywords:
        raise _UnsupportedError(f"{name} takes {_COUNTS[count]}")
    if (asked := _ASKED.get(name)) is not None:
        return asked(node.args[0])
    arguments = [_compile(argument) for argument in node.args]
    if (scoped := _SCOPED.get(name)) is not None:
        return scoped(*arguments)
    function = _FUNCTIONS[name]
    if count == 1:
        only = arguments[0]
        return lambda scope: function(only(scope))
    return lambda scope: function(*(argument(scope) for argument in arguments))


def _previous(term: _Term) -> _Term:
    return lambda scope: term(Scope(_known(scope.values.before()), scope.subject))


def _written(node: ast.expr) -> _Term:
    """Of a tensor that is named, or the gradient of one: not of what is computed from them."""
    if (mention := _mention(node)) is not None:
        table, (name, *of) = mention
        ref = TensorRef.parse(name)
        if table.id == "x" and not of:
            return lambda scope: scope.values.written(ref)
        if table.id == "grad":
            return lambda scope: scope.values.gradient_written(ref, *of)
    raise _UnsupportedError('write written(x["w"]) or written(grad["w"])')


def _isnone(node: ast.expr) -> _Term:
    """Of the gradient that is meant by bare `grad`, or of one that is named."""
    if isinstance(node, ast.Name) and node.id == "grad":
        return lambda scope: scope.values.lacks_gradient(_known(scope.subject))
    if (mention := _mention(node)) is not None and mention[0].id == "grad":
        name, *of = mention[1]
        ref = TensorRef.parse(name)
        return lambda scope: scope.values.lacks_gradient(ref, *of)
    raise _UnsupportedError('write isnone(grad) or isnone(grad["w"])')


# Functions whose argument is computed in another scope.
_SCOPED: Mapping[str, Callable[[_Term], _Term]] = {"previous": _previous}
# Functions that ask about a tensor, and not about its numbers.
_ASKED: Mapping[str, Callable[[ast.expr], _Term]] = {"written": _written, "isnone": _isnone}
_OF_RECORDED = (*_SCOPED, *_ASKED)
FUNCTIONS = (*_FUNCTIONS, *_OF_RECORDED)


def _binary(node: ast.BinOp) -> _Term:
    apply = _BINARY.get(type(node.op))
    if apply is None:
        raise _UnsupportedError(f"operator {type(node.op).__name__} is not allowed")
    left, right = _compile(node.left), _compile(node.right)
    return lambda scope: apply(_number(left(scope)), _number(right(scope)))


def _number(x: Any) -> Any:
    """Not a tuple, which Python would concatenate or repeat."""
    return np.asarray(x) if isinstance(x, tuple) else x


def _unary(node: ast.UnaryOp) -> _Term:
    apply = _UNARY.get(type(node.op))
    if apply is None:
        raise _UnsupportedError(f"operator {type(node.op).__name__} is not allowed")
    operand = _compile(node.operand)
    return lambda scope: apply(operand(scope))


def _boolean(node: ast.BoolOp) -> _Term:
    terms = [_compile(value) for value in node.values]
    decide = all if isinstance(node.op, ast.And) else any
    return lambda scope: decide(_truth(term(scope)) for term in terms)


def _comparison(node: ast.Compare) -> _Term:
    terms = [_compile(item) for item in (node.left, *node.comparators)]
    tests = [_COMPARE.get(type(op)) for op in node.ops]
    if None in tests:
        raise _UnsupportedError("comparisons are < <= > >= == !=")

    def compare(scope: Scope) -> Any:
        values = [term(scope) for term in terms]
        results = [t(a, b) for t, a, b in zip(tests, values, values[1:], strict=False) if t]
        return results[0] if len(results) == 1 else np.logical_and.reduce(results)

    return compare


def _tuple(node: ast.Tuple | ast.List) -> _Term:
    items = [_compile(item) for item in node.elts]
    if all(isinstance(item, ast.Constant) for item in node.elts):  # as what a shape is held against
        return lambda scope: tuple(item(scope) for item in items)
    return lambda scope: _of_one_shape(tuple(item(scope) for item in items))


def _of_one_shape(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """`parts`. Raises ValueError where they are no array together, as each reader of them needs."""
    try:
        np.asarray(parts)
    except ValueError:
        shapes = ", ".join(str(list(np.shape(part))) for part in parts)
        raise ValueError(f"its parts have no shape in common: {shapes}") from None
    return parts


_COMPILERS: Mapping[type[ast.expr], Callable[[Any], _Term]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _comparison,
    ast.Tuple: _tuple,
    ast.List: _tuple,
}
