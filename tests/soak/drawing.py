"""Edits drawn at random: which command a user gives, and on what. Every kind the window offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.concurrency.thread_state import Thread
from gradstep.core.document.document import CodeItem, CodeKind, Document, Optimizer
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.foreign_origin import source_line
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Constant, Edge, Operation, TensorRef
from gradstep.core.graph.scopes import is_inside, parents
from gradstep.core.layers.block_table import all_blocks
from gradstep.core.ops.build.variable import VARIABLES
from gradstep.core.ops.declare.table import all_ops, find
from gradstep.core.train.optimizers import OPTIMIZERS

Arguments = tuple[Any, ...]
Draw = Callable[[Random, Document], Arguments]

_ODD = (np.nan, np.inf, 0.0)
MOST = 300  # operations; a document beyond is not added to any more


class NothingError(Exception):
    """There is nothing in the document that this edit could be about."""


def draw_edit(rng: Random, document: Document) -> tuple[str, Arguments]:
    """A command of gradstep.gui.commands by its name, with its arguments after the workspace.
    Raises NothingError where there is nothing to do it to."""
    names = [*DRAWS]
    name = rng.choices(names, [DRAWS[name][0] for name in names])[0]
    large = sum(1 for _ in within(document.graph)) > MOST
    if large and name in _GROWING:
        name = "remove_nodes"
    return name, DRAWS[name][1](rng, document)


# -- what there is to choose from ----------------------------------------------------------------


def pick(rng: Random, things: Any) -> Any:
    """One of some things. Raises NothingError where there is none."""
    things = [*things]
    if not things:
        raise NothingError
    return rng.choice(things)


def operations(document: Document) -> list[Operation]:
    """All, those in loops included."""
    return [*within(document.graph)]


def _operation(rng: Random, document: Document) -> Operation:
    return pick(rng, operations(document))


def _some(rng: Random, document: Document, most: int = 3) -> tuple[str, ...]:
    ops = operations(document)
    if not ops:
        raise NothingError
    scopes = sorted({scope for op in ops for scope in parents(op.name)})
    if scopes and rng.random() < 0.2:
        scope = rng.choice(scopes)
        return tuple(op.name for op in ops if is_inside(op.name, scope))
    return tuple(op.name for op in rng.sample(ops, min(len(ops), rng.randint(1, most))))


def _tensor(rng: Random, document: Document) -> TensorRef:
    op = _operation(rng, document)
    definition = find(op.type)
    outputs = 1 if definition is None else max(1, len(definition.outputs))
    return TensorRef(op.name, rng.randrange(outputs))


def _edges(document: Document, wired: bool | None = None) -> list[Edge]:
    return [
        Edge(op.name, index)
        for op in operations(document)
        for index, ref in enumerate(op.inputs)
        if wired is None or (ref is not None) == wired
    ]


def _edge(rng: Random, document: Document, wired: bool | None = None) -> Edge:
    return pick(rng, _edges(document, wired))


def _point(rng: Random) -> tuple[float, float]:
    return float(rng.randint(-800, 800)), float(rng.randint(-500, 500))


def _like(rng: Random, array: np.ndarray) -> np.ndarray:
    """Another value in the place of `array`: mostly one that fits."""
    kind = rng.random()
    if array.dtype.kind not in "fiu" or kind < 0.1:
        nothing = b"" if array.dtype.hasobject else 0
        return array.copy() if rng.random() < 0.5 else np.full(array.shape, nothing, array.dtype)
    numbers = np.random.default_rng(rng.getrandbits(32))
    if array.dtype.kind == "f":
        made = numbers.normal(size=array.shape)
        if kind > 0.9:
            made = np.where(
                numbers.random(array.shape) < 0.3, rng.choice([np.nan, np.inf, 0.0]), made
            )
    else:
        made = numbers.integers(0, 4, size=array.shape)
    if 0.8 < kind < 0.9:
        made = made[None]  # which may not fit
    return np.asarray(made, array.dtype)


# -- wires and nodes -----------------------------------------------------------------------------


def _connect(rng: Random, document: Document) -> Arguments:
    op = _operation(rng, document)
    return _tensor(rng, document), Edge(op.name, rng.randrange(len(op.inputs) + 1))


def _disconnect(rng: Random, document: Document) -> Arguments:
    return (_edge(rng, document, wired=True),)


def _rewire(rng: Random, document: Document) -> Arguments:
    return _edge(rng, document, wired=True), _edge(rng, document)


def _cast(rng: Random, document: Document) -> Arguments:
    return _tensor(rng, document), _edge(rng, document)


def _control(rng: Random, document: Document) -> Arguments:
    return _operation(rng, document).name, _operation(rng, document).name


def _no_control(rng: Random, document: Document) -> Arguments:
    op = pick(rng, (op for op in operations(document) if op.control_inputs))
    return op.name, rng.choice(op.control_inputs)


def _type(rng: Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(_USUAL)
    return pick(rng, sorted(definition.type for definition in all_ops()))


def _add(rng: Random, document: Document) -> Arguments:
    if not document.graph.operations or rng.random() < 0.3:
        return _type(rng), _point(rng)
    return _type(rng), _point(rng), "", None, _tensor(rng, document)


def _add_block(rng: Random, document: Document) -> Arguments:
    block = pick(rng, sorted(block.name for block in all_blocks()))
    return block, _point(rng), _tensor(rng, document) if document.graph.operations else None


def _add_source(rng: Random, document: Document) -> Arguments:
    type = rng.choice(("Const", "Placeholder", "VariableV2", "VarHandleOp", _type(rng)))
    return type, _point(rng), _edge(rng, document)


def _insert(rng: Random, document: Document) -> Arguments:
    return _type(rng), _point(rng), _edge(rng, document)


def _rename(rng: Random, document: Document) -> Arguments:
    name = _operation(rng, document).name
    if "/" in name and rng.random() < 0.4:
        scope = pick(rng, parents(name))
        return f"{scope}/", rng.choice((f"{scope}_{rng.randrange(9)}", f"in/{scope}", "scope"))
    new = rng.choice((f"{name}_{rng.randrange(99)}", f"box/{name}", name.upper(), "x y", "w"))
    return name, new


def _move(rng: Random, document: Document) -> Arguments:
    return ({name: _point(rng) for name in _some(rng, document)},)


# -- attributes and values -----------------------------------------------------------------------


def _attribute(rng: Random, document: Document) -> Arguments:
    op = pick(rng, (op for op in operations(document) if op.attrs))
    keys = [key for key in sorted(op.attrs) if key != "loop"]
    key = pick(rng, keys)
    if rng.random() < 0.1:
        return op.name, key, None
    return op.name, key, _other(rng, op.attrs[key], op, key)


def _other(rng: Random, value: Any, op: Operation, key: str) -> Any:
    """Another value of an attribute's kind."""
    definition = find(op.type)
    if definition is not None and key in definition.choices:
        return rng.choice(definition.choices[key])
    if isinstance(value, bool):
        return not value
    if isinstance(value, Constant):
        return Constant(_like(rng, value.array))
    if isinstance(value, DType):
        return rng.choice((DType.FLOAT32, DType.FLOAT64, DType.INT32, DType.BOOL, DType.STRING))
    if isinstance(value, Shape):
        return rng.choice((Shape(None), Shape.of(), Shape.of(2), Shape.of(None, 2), Shape.of(0)))
    if isinstance(value, int):
        return rng.choice((0, 1, 2, -1, value + 1))
    if isinstance(value, float):
        return rng.choice((0.0, 1.0, -value, value / 2, float("inf"), float("nan")))
    if isinstance(value, tuple):
        return rng.choice((value[:-1], (*value, *value[-1:]), tuple(reversed(value))))
    return value


def _feed(rng: Random, document: Document) -> Arguments:
    if document.feeds and rng.random() < 0.9:
        name = pick(rng, document.feeds)
        return name, _like(rng, document.feeds[name].array)
    return str(_tensor(rng, document)), np.float32(rng.random()) * np.ones(2, np.float32)


def _initial(rng: Random, document: Document) -> Arguments:
    name = pick(rng, document.initial)
    return name, _like(rng, document.initial[name].array)


# -- gradients -----------------------------------------------------------------------------------


def _stop(rng: Random, document: Document) -> Arguments:
    stopped = sorted(document.request.stopped_edges, key=str)
    if stopped and rng.random() < 0.4:
        return (rng.choice(stopped),)
    return (_edge(rng, document, wired=True),)


def _override(rng: Random, document: Document) -> Arguments:
    return (_drawn_override(rng, document, _gradient_name(rng, document)),)


def _drawn_override(rng: Random, document: Document, gradient: str) -> Override:
    op, kind = _operation(rng, document), rng.choice([*OverrideKind])
    scopes = [*parents(op.name)]
    if kind is OverrideKind.SCOPE and not scopes:
        kind = OverrideKind.OP
    targets = {OverrideKind.TYPE: op.type, OverrideKind.OP: op.name}
    return Override(gradient, targets.get(kind) or rng.choice(scopes), kind)


def _gradient_name(rng: Random, document: Document) -> str:
    own = [i.name for i in document.code.values() if i.kind is not CodeKind.PYFUNC]
    return rng.choice([*own, "Identity", "Neg", "Tanh", "Relu", "Mul", "AddV2"])


def _override_by_code(rng: Random, document: Document) -> Arguments:
    name = f"custom_{rng.randrange(4)}"
    kind = rng.choice((CodeKind.GRADIENT, CodeKind.NUMPY_GRADIENT))
    return CodeItem(name, kind, rng.choice(_GRADIENTS)), _drawn_override(rng, document, name)


def _clear_override(rng: Random, document: Document) -> Arguments:
    override = pick(rng, document.request.overrides)
    return override.kind, override.target


def _toggle_override(rng: Random, document: Document) -> Arguments:
    return (pick(rng, range(len(document.request.overrides))),)


def _native(rng: Random, document: Document) -> Arguments:
    pick(rng, document.request.overrides)
    return (_operation(rng, document).name,)


def _request(rng: Random, document: Document) -> Arguments:
    of = [str(_tensor(rng, document)) for _ in range(rng.choice((0, 1, 1, 1, 2)))]
    wrt = [rng.choice((n, f"{n}:0")) for n in _some(rng, document)]
    flags = {"unconnected_zero": rng.choice((None, True, False)), "gate": rng.choice((None, True))}
    return of or [], wrt, None, flags["unconnected_zero"], flags["gate"]


def _optimizers(rng: Random, document: Document) -> Arguments:
    chosen = []
    for number in range(rng.choice((0, 1, 1, 1, 2))):
        of = (_tensor(rng, document),) if rng.random() < 0.2 else ()
        variables = [op.name for op in document.graph if op.type in VARIABLES]
        scales = {pick(rng, variables): 0.5} if variables and rng.random() < 0.3 else {}
        type = pick(rng, sorted(OPTIMIZERS))
        name = f"train_{number}" if number else ""
        chosen.append(Optimizer(type, {}, of, (), scales, name, rng.random() < 0.9))
    return (chosen,)


def _code(rng: Random, document: Document) -> Arguments:
    item = document.code[pick(rng, sorted(document.code))]
    sources = _PYFUNCS if item.kind is CodeKind.PYFUNC else _GRADIENTS
    return (CodeItem(item.name, item.kind, rng.choice((item.source, *sources))),)


def _pyfunc(rng: Random, document: Document) -> Arguments:
    op = _operation(rng, document)
    return op.name, [_tensor(rng, document)] if rng.random() < 0.2 else []


# -- the debugger's, and words -------------------------------------------------------------------


def _toggle_breakpoint(rng: Random, document: Document) -> Arguments:
    name = _operation(rng, document).name
    return (f"{pick(rng, parents(name))}/",) if "/" in name and rng.random() < 0.2 else (name,)


def _breakpoints(rng: Random, document: Document) -> Arguments:
    return ([_breakpoint(rng, document) for _ in range(rng.choice((0, 0, 1, 2, 3)))],)


def _breakpoint(rng: Random, document: Document) -> Breakpoint:
    op, kind = _operation(rng, document), rng.choice([*BreakpointKind])
    phases = ("forward", "backward", "update")
    targets = {BreakpointKind.TYPE: op.type, BreakpointKind.PHASE: rng.choice(phases)}
    scopes = [*parents(op.name)] or [op.name]
    targets[BreakpointKind.SCOPE] = rng.choice(scopes)
    targets[BreakpointKind.LINE] = source_line(op) or "net.py:1"
    condition = rng.choice(_CONDITIONS).replace("NAME", str(_tensor(rng, document)))
    hits = rng.choice((1, 1, 2, 3))
    enabled = rng.random() < 0.9
    return Breakpoint(targets.get(kind, op.name), kind, condition, hits, enabled=enabled)


def _threads(rng: Random, document: Document) -> Arguments:
    queueing = [op.name for op in document.graph if "Queue" in op.type]
    if not queueing:
        raise NothingError
    if document.threads and rng.random() < 0.5:
        return (document.threads[: rng.randrange(len(document.threads) + 1)],)
    fresh = Thread(f"thread {rng.randrange(3)}", (rng.choice(queueing),))
    return ((*document.threads, fresh),)


def _note(rng: Random, document: Document) -> Arguments:
    word = rng.choice(("", "a note", "# a *heading*\n\n- one\n- two", "\u00e4\u4e2d\U0001f40d"))
    return document.title, word, document.claim, rng.choice(("", word))


_USUAL = (
    "AddV2", "Mul", "MatMul", "Sub", "Exp", "Log", "Relu", "Tanh", "Sum", "Const", "Identity",
    "Placeholder", "VariableV2", "Reshape", "GatherV2", "Cast", "Concat", "Split", "Square",
    "StopGradient", "Softmax", "ConcatV2", "Print", "Assign", "AssignAdd", "Transpose",
)  # fmt: skip
_GRADIENTS = (
    "def g(op, grad):\n    return grad\n",
    "def g(op, grad):\n    return [grad for x in op.inputs]\n",
    "def g(*args):\n    return args[0] * 2\n",
    "def g(op, grad):\n    return None\n",
    "def g(op, grad)\n",
)
_PYFUNCS = (
    "def f(x):\n    return x + 1\n",
    "def f(*args):\n    return args[0]\n",
    "def f(x):\n    print(x)\n    return x\n",
    "def f(x):\n    raise ValueError('no')\n",
)
_CONDITIONS = (
    "", "", "isnan(value)", "norm(value) > 1", "max(abs(grad)) > 0", 'x["NAME"] > 0',
    'grad["NAME"] != 0', "value[0] >= 0", "size(value) > 2", "shape(value) == (2,)",
)  # fmt: skip
_GROWING = ("add_node", "add_block", "add_source", "insert_node", "duplicate", "paste")

# Command -> how often it is drawn, and how its arguments are.
DRAWS: Mapping[str, tuple[int, Draw]] = {
    "connect": (10, _connect),
    "disconnect": (7, _disconnect),
    "rewire": (5, _rewire),
    "connect_through_cast": (2, _cast),
    "add_control": (3, _control),
    "remove_control": (2, _no_control),
    "add_node": (8, _add),
    "add_block": (2, _add_block),
    "add_source": (4, _add_source),
    "insert_node": (4, _insert),
    "remove_nodes": (6, lambda rng, document: (_some(rng, document),)),
    "duplicate": (4, lambda rng, document: (_some(rng, document, 4),)),
    "paste": (3, lambda rng, document: (_some(rng, document, 4),)),
    "rename": (5, _rename),
    "move_nodes": (2, _move),
    "set_attr": (9, _attribute),
    "set_feed": (6, _feed),
    "set_initial": (6, _initial),
    "toggle_stop": (6, _stop),
    "set_override": (4, _override),
    "override_by_code": (3, _override_by_code),
    "clear_override": (2, _clear_override),
    "toggle_override": (3, _toggle_override),
    "use_native_gradient": (1, _native),
    "set_request": (4, _request),
    "set_optimizers": (4, _optimizers),
    "set_code": (3, _code),
    "to_pyfunc": (3, _pyfunc),
    "toggle_breakpoint": (5, _toggle_breakpoint),
    "set_breakpoints": (7, _breakpoints),
    "set_threads": (2, _threads),
    "set_note": (1, _note),
}
