"""Take a JAX function to Gradstep: one file of its own, for wherever JAX is installed.

    import gradstep_jax

    gradstep_jax.save("loss.gstrace", loss, params, x, y, wrt=0)

It needs JAX (0.6 or later) and NumPy, and nothing of Gradstep, which prints it with
`gradstep capture jax` and reads what it writes without JAX: a zip of `graph.json` (the forward
jaxpr, equation by equation, each with its scopes and its line of source), `tensors/` (arguments),
`values/` (what JAX computed: each value, and the gradient that came back to it) and `sources/` (the
files that the lines are in). docs/trace-format.md describes it.

Calls are opened (jit, checkpoint, custom rules); scan, while and cond stay, with their graphs
inside. What is made of random keys alone is no computation but what was drawn, which the file has.
"""

from __future__ import annotations

import enum
import hashlib
import inspect
import io
import json
import linecache
import math
import os
import re
import zipfile
import zlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core as jcore

FORMAT, VERSION = "gradstep-trace", 1

# What calls a function that is opened, and which parameter has it.
OPENED = {
    "jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr",
    "core_closed_call": "call_jaxpr", "remat2": "jaxpr", "remat": "jaxpr", "checkpoint": "jaxpr",
    "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr", "custom_lin": "jaxpr",
}  # fmt: skip
CUSTOM = ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr")
CONTROL = ("scan", "while", "cond")
# Functions of JAX with a rule of their own that are one operation.
WHOLE = {"relu": "lax.relu", "slogdet_lu": "lax.slogdet"}
# What an operation's operands are called; one is x, two are x and y, more are operands.
OPERANDS = {
    "clamp": ("min", "x", "max"),
    "conv_general_dilated": ("lhs", "rhs"),
    "dot_general": ("lhs", "rhs"),
    "dynamic_slice": ("operand", "*starts"),
    "dynamic_update_slice": ("operand", "update", "*starts"),
    "gather": ("operand", "indices"),
    "pad": ("operand", "padding_value"),
    "select_n": ("which", "*cases"),
    "triangular_solve": ("a", "b"),
    **dict.fromkeys(("concatenate", "sort", "stack"), ("*operands",)),
}
SCATTERED = ("operand", "indices", "updates")
# What has no meaning for numbers: where a tensor lies, how it is compiled, what JAX may assume.
PLACEMENT = (
    "sharding", "out_sharding", "weak_type", "precision", "accuracy", "indices_are_sorted",
    "unique_indices", "is_stable", "linear", "update_jaxpr", "update_consts",
)  # fmt: skip
# What draws at random, besides what is called random_…; and calls that leave nothing behind.
DRAWS = ("threefry2x32", "rng_bit_generator", "rng_uniform")
SILENT = ("debug_callback", "debug_print")
CALLBACKS = ("pure_callback", "io_callback")
# Where a tensor lies, and what may be put together: nothing is computed.
NOTHING = ("optimization_barrier", "sharding_constraint", "mesh_cast", "pvary", "device_put")
WRAPPED = re.compile(r"\b(?:vmap|jvp|transpose|p?jit|checkpoint|remat|rematted_computation)\(|\)")
JAX = os.path.dirname(jax.__file__) + os.sep
PACKAGES = os.sep + "site-packages" + os.sep
RELATIVE = 1e-3  # by so much of the largest a gradient may differ from that of the function itself
SOURCE = 2 << 20  # bytes of a source file that is taken along
LOOPS = 64 << 20  # bytes of what iterations of loops computed that are kept; drawn numbers all are


def save(path, f, *args, wrt=0, values=True, paths=True):
    """Write to `path` what f(*args) computes; it is run a few times.

    f:      a function as jax.grad takes it: its output, or the first of several, is the loss, if
            that is one real number; else nothing is to be differentiated.
    args:   its arguments: arrays, and pytrees of them. What is no array (numbers of Python, texts,
            functions) is taken as it is, as jax.grad does.
    wrt:    which arguments are trained: numbers of their places, or one.
    values: whether each value and each gradient that JAX computes is written, too.
    paths:  whether the file says where the sources lie, so that an editor can be opened there.

    Returns a dict: "nodes" (how many operations), "differ" (names of what is trained whose gradient
    the graph does not give as the function does, and why; empty is what is to be hoped for),
    "remarks".
    """
    given = _Given(f, args, wrt)
    writer = _Writer(_Capture(given), given, paths)
    writer.record(values)
    writer.write(path)
    remarks = writer.document["remarks"]
    return {
        "nodes": len([n for n in writer.document["nodes"] if not n.get("backward")]),
        "differ": {r["input"]: r["text"] for r in remarks if "input" in r},
        "remarks": [r["text"] for r in remarks if "input" not in r],
    }


class _Given:
    """The function and its arguments, taken apart into arrays with names."""

    def __init__(self, f, args, wrt):
        self.f, self.title = f, _called(f)
        self.wrt = {wrt} if isinstance(wrt, int) else {*wrt}
        if wrong := sorted(i for i in self.wrt if not 0 <= i < len(args)):
            raise ValueError(f"wrt has {wrong[0]}, and there are {len(args)} arguments, from 0")
        named, self.tree = jax.tree_util.tree_flatten_with_path(tuple(args))
        parameters = _parameters(f, len(args))
        self.held, self.names, self.leaves, self.trained = [], [], [], []
        for keys, leaf in named:
            at = keys[0].idx
            if self._is_array(leaf, at in self.wrt and len(keys) == 1):
                self.held.append(None)
                self.names.append(".".join([parameters[at], *map(_key, keys[1:])]))
                self.leaves.append(leaf if hasattr(leaf, "dtype") else jnp.asarray(leaf))
                self.trained.append(at in self.wrt and _is_float(self.leaves[-1]))
            else:
                self.held.append((leaf,))

    @staticmethod
    def _is_array(leaf, trained):
        """As jax.grad has it: a number that is an argument is traced where it is differentiated."""
        return isinstance(leaf, (jax.Array, np.ndarray, np.generic)) or (
            trained and isinstance(leaf, float)
        )

    def call(self, *leaves):
        """The leaves of what the function gives of these."""
        rest = iter(leaves)
        flat = [next(rest) if held is None else held[0] for held in self.held]
        found = self.f(*jax.tree_util.tree_unflatten(self.tree, flat))
        return [x for x in jax.tree_util.tree_leaves(found) if hasattr(x, "dtype") or _number(x)]

    def gradients(self):
        """Of the loss, by each leaf that is trained: the function's own, by jax.grad."""
        places = [i for i, trained in enumerate(self.trained) if trained]

        def loss(trained):
            leaves = [*self.leaves]
            for place, leaf in zip(places, trained):
                leaves[place] = leaf
            return self.call(*leaves)[0]

        found = jax.jit(jax.value_and_grad(loss))([jnp.asarray(self.leaves[i]) for i in places])
        return found[0], dict(zip(places, found[1]))


# -- the jaxpr, read -------------------------------------------------------------------------------


class _Value:
    """A tensor: of an input, or output number `output` of `node`. known: it follows from constants
    and random keys; drawn: from such a key."""

    __slots__ = ("aval", "drawn", "known", "node", "output")

    def __init__(self, aval, node=None, output=0, known=False, drawn=False):
        self.aval, self.node, self.output = aval, node, output
        self.known, self.drawn = known, drawn

    @property
    def is_key(self):
        return _is_key(self.aval)


class _Node:
    """An equation. ins: values and literals; bodies: the functions of a branch or a loop."""

    def __init__(self, kind, primitive, params, ins, scope, frames, function):
        self.kind, self.primitive, self.params, self.ins = kind, primitive, params, ins
        self.scope, self.frames, self.function = scope, frames, function
        self.outs, self.bodies, self.own_name, self.backward = [], {}, "", ""

    @property
    def drawn(self):
        return bool(self.outs) and self.outs[0].drawn


class _Body:
    """A graph: of the whole, or of a branch or a loop. It reads its inputs and nothing else.
    lifted: arrays that it is given besides, behind its other inputs."""

    def __init__(self):
        self.inputs, self.nodes, self.results, self.lifted = [], [], [], []
        self.stretches = None  # the nodes, as they are run


class _Own:
    """A call of a function with a rule of its own. key: its name in the file; "" where it is none
    that has to be told of."""

    def __init__(self, key, name, place, eqn, ins, is_inner):
        self.key, self.name, self.place, self.eqn, self.ins = key, name, place, eqn, ins
        self.outs, self.is_inner, self.differs, self.back = [], is_inner, False, None

    @property
    def is_library(self):
        return PACKAGES in self.place


class _Capture:
    """The function as graphs. owns: calls of functions with rules of their own."""

    def __init__(self, given):
        self.owns, self.calls, self.body, self.inner = [], 0, _Body(), 0
        self.is_whole = False  # whether all that calls functions with rules has been read
        closed = jax.make_jaxpr(given.call)(*given.leaves)
        self.body.inputs = [self._input(v.aval) for v in closed.jaxpr.invars]
        self.body.results = self._open(closed, self.body.inputs, (), (), None, "")
        self.is_whole = True

    @staticmethod
    def _input(aval):
        return _Value(aval, known=_is_key(aval), drawn=_is_key(aval))

    def _constant(self, array):
        """An array that is captured: one more input of the graph that is being read."""
        first = len(self.body.inputs) - len(self.body.lifted)
        for place, known in enumerate(self.body.lifted):
            if known is array:
                return self.body.inputs[first + place]
        aval = _aval(array)
        value = _Value(aval, known=True, drawn=_is_key(aval))
        self.body.lifted.append(array)
        self.body.inputs.append(value)
        return value

    def _open(self, closed, args, scope, frames, function, called):
        """The values that a jaxpr gives of these, its equations behind those that there are."""
        jaxpr, consts = (closed.jaxpr, closed.consts) if hasattr(closed, "jaxpr") else (closed, ())
        env = dict(zip(jaxpr.invars, args))
        env.update((v, self._constant(c)) for v, c in zip(jaxpr.constvars, consts))
        own = called if len(jaxpr.eqns) == 1 else ""
        self.calls += 1
        here = (*scope, (called, self.calls)) if called and not own else scope

        def read(v):
            if not isinstance(v, jcore.Literal):
                return env[v]
            return (
                v
                if np.ndim(v.val) == 0 and np.asarray(v.val).dtype.kind != "c"
                else (self._constant(np.asarray(v.val, v.aval.dtype)))
            )

        for eqn in jaxpr.eqns:
            ins = [read(v) for v in eqn.invars]
            outs = self._equation(eqn, ins, here, frames, function, own)
            env.update(zip(eqn.outvars, outs))
        return [read(v) for v in jaxpr.outvars]

    def _equation(self, eqn, ins, scope, caller, function, own):
        name = eqn.primitive.name
        frames = _frames(eqn.source_info.traceback) or caller
        here = (*scope, *((part, None) for part in _scopes(eqn.source_info.name_stack)))
        if name in SILENT:
            return []
        if name in NOTHING:
            return ins
        if name in CUSTOM:
            return self._custom(eqn, ins, here, frames, function)
        if name in OPENED and OPENED[name] in eqn.params:
            called = _plain(str(eqn.params.get("name", "")))
            return self._open(eqn.params[OPENED[name]], ins, here, frames, function, called)
        if name == "call_hi_primitive":  # what it stands for
            whole = eqn.params["_prim"]
            shapes = [jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in ins]
            closed = jax.make_jaxpr(lambda *args: whole.expand(*args))(*shapes)
            called = _plain(type(whole).__name__.lower())
            return self._open(closed, ins, here, frames, function, called)
        if name == "cond" and isinstance(ins[0], jcore.Literal):
            chosen = eqn.params["branches"][int(ins[0].val)]
            return self._open(chosen, ins[1:], here, frames, function, "")
        if name == "platform_index" or (ins and _is_arithmetic_of_numbers(eqn, ins)):
            found = _called_with(eqn.primitive, eqn.params, map(_held, ins))
            return [_literal(found[0], eqn.outvars[0].aval)]
        node = _Node(name, eqn.primitive, eqn.params, ins, here, frames, function)
        node.own_name = own
        values = [x for x in ins if isinstance(x, _Value)]
        draws = (name.startswith("random_") or name in DRAWS) and not any(
            _is_float(x.aval) and not x.known
            for x in values  # of which there is a gradient
        )
        known = draws or all(x.known for x in values)
        drawn = draws or (known and any(x.drawn for x in values))
        node.outs = [_Value(v.aval, node, i, known, drawn) for i, v in enumerate(eqn.outvars)]
        if name in CONTROL and not drawn:
            _CONTROLS[name](self, node)
        elif name == "custom_linear_solve":
            self._linear_solve(node)
        self.body.nodes.append(node)
        return node.outs

    def _custom(self, eqn, ins, scope, frames, function):
        """A function with a rule of its own: what it computes, in a scope of its name."""
        closed = eqn.params[OPENED[eqn.primitive.name]]
        name, place = _declared(closed, eqn)
        library = PACKAGES in place
        if library and name in WHOLE and len(ins) == 1 and place.startswith(JAX):
            node = _Node(WHOLE[name], eqn.primitive, eqn.params, ins, scope, frames, function)
            known, drawn = ins[0].known, ins[0].drawn
            node.outs = [_Value(v.aval, node, i, known, drawn) for i, v in enumerate(eqn.outvars)]
            self.body.nodes.append(node)
            return node.outs
        if self.is_whole:  # a rule's own backward calls it
            return self._open(closed, ins, scope, frames, function, "")
        count = sum(own.name == name for own in self.owns)
        key = _identifier(f"{name}_{count}" if count else name)
        own = _Own(key, name, place, eqn, ins, bool(self.inner))
        self.owns.append(own)
        self.calls += 1
        here = (*scope, (key, self.calls))
        outs = self._open(closed, ins, here, frames, own, "")
        own.outs = [self._apart(x, ins, here, frames, own) for x in outs]
        return own.outs

    def _apart(self, value, ins, scope, frames, own):
        """What a function gives is another tensor than what it was given."""
        if isinstance(value, _Value) and value not in ins and value.node is not None:
            return value
        node = _Node("copy", lax.copy_p, {}, [value], scope, frames, own)
        of = value if isinstance(value, _Value) else _Value(value.aval, known=True)
        node.outs = [_Value(value.aval, node, 0, of.known, of.drawn)]
        self.body.nodes.append(node)
        return node.outs[0]

    # -- branches and loops -------------------------------------------------------------------

    def inside(self, closed, avals):
        """A function of a branch or a loop, as a graph of its own."""
        outer, self.body = self.body, _Body()
        self.inner += 1
        self.body.inputs = [self._input(aval) for aval in avals]
        given = [*self.body.inputs]
        self.body.results = self._open(closed, given, (), (), None, "")
        made, self.body = self.body, outer
        self.inner -= 1
        return made

    def lifted(self, bodies):
        """What bodies of a node are given besides, each the same: constants of the graph around."""
        arrays = [array for body in bodies for array in body.lifted]
        for number, body in enumerate(bodies):
            own, count = body.inputs, len(body.lifted)
            first, mine = (own[:-count], own[-count:]) if count else (own, [])
            before = sum(len(b.lifted) for b in bodies[:number])
            rest = iter(mine)
            body.inputs = [
                *first,
                *(
                    next(rest) if before <= i < before + count else self._input(_aval(array))
                    for i, array in enumerate(arrays)
                ),
            ]
        return [self._constant(array) for array in arrays]

    def _scan(self, node):
        p = node.params
        consts, count = _scan_counts(p)
        avals = [x.aval for x in node.ins]
        rows = [_row(aval) for aval in avals[consts + count :]]
        inner = self._turned(p["jaxpr"], avals[:consts], [*avals[consts : consts + count], *rows])
        extra = self.lifted([inner])
        node.bodies = {"body": inner}
        given = node.ins
        node.parts = {
            "carried": given[consts : consts + count],
            "items": given[consts + count :],
            "constants": [*given[:consts], *extra],
        }

    def _turned(self, closed, consts, others):
        """A body that takes its constants last."""
        count, body = len(consts), None
        outer, self.body = self.body, _Body()
        self.inner += 1
        self.body.inputs = [self._input(aval) for aval in (*others, *consts)]
        given = [*self.body.inputs]
        at = len(others)
        order = [*given[at : at + count], *given[:at]]
        self.body.results = self._open(closed, order, (), (), None, "")
        body, self.body = self.body, outer
        self.inner -= 1
        return body

    def _while(self, node):
        p = node.params
        a, b = p["cond_nconsts"], p["body_nconsts"]
        avals = [x.aval for x in node.ins]
        consts, carried = [avals[:a], avals[a : a + b]], avals[a + b :]
        if p["cond_jaxpr"].out_avals[0].shape:
            both = [[*consts[0], *consts[1]], []]
            functions = _of_rows(p, [*both[0], *carried])
            bodies = [self._of_both(closed, carried, both, 0) for closed in functions]
        else:
            functions = p["cond_jaxpr"], p["body_jaxpr"]
            bodies = [self._of_both(f, carried, consts, i) for i, f in enumerate(functions)]
        extra = self.lifted(bodies)
        node.bodies = dict(zip(("condition", "body"), bodies))
        node.parts = {"carried": node.ins[a + b :], "constants": [*node.ins[: a + b], *extra]}

    def _of_both(self, closed, carried, consts, mine):
        """A function of a loop takes what is carried, and the constants of both."""
        outer, self.body = self.body, _Body()
        self.inner += 1
        self.body.inputs = [self._input(aval) for aval in (*carried, *consts[0], *consts[1])]
        given = [*self.body.inputs]
        count, first = len(carried), len(carried) + (len(consts[0]) if mine else 0)
        order = [*given[first : first + len(consts[mine])], *given[:count]]
        self.body.results = self._open(closed, order, (), (), None, "")
        made, self.body = self.body, outer
        self.inner -= 1
        return made

    def _cond(self, node):
        """Of more than two branches, the last of them are a cond in a branch."""
        branches = node.params["branches"]
        avals = [x.aval for x in node.ins]
        bodies = [self.inside(closed, avals[1:]) for closed in branches]
        extra = self.lifted(bodies)
        node.branches = bodies
        node.parts = {"operands": [*node.ins[1:], *extra]}

    def _linear_solve(self, node):
        """Where it is a product with a matrix that is undone, which one it is."""
        p, lengths = node.params, node.params["const_lengths"]
        found = _product(p["jaxprs"].matvec)
        if found is None or lengths.matvec != 1 or len(node.outs) != 1:
            return
        node.kind = "linear_solve"
        node.solved = (node.ins[0], node.ins[-1]), found


_CONTROLS = {"scan": _Capture._scan, "while": _Capture._while, "cond": _Capture._cond}


def _scan_counts(params):
    """How many constants a scan has, and how many tensors it carries."""
    if "ft_in" in params:  # since JAX 0.12
        consts, carried, _ = (len(part) for part in params["ft_in"].unpack())
        return consts, carried
    return params["num_consts"], params["num_carry"]


def _of_rows(params, avals):
    """Condition and body of a while of which vmap has made one for many rows: each goes on while
    its own condition holds, all of them while one does, and who is done keeps what it has. That is
    in JAX's compiled loop alone, and not in its functions. avals: of the constants of both, and of
    what is carried."""
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    condition = jcore.jaxpr_as_fun(params["cond_jaxpr"])
    body = jcore.jaxpr_as_fun(params["body_jaxpr"])

    def holds(args):
        return condition(*args[:first], *args[second:])[0]

    def any_holds(*args):
        found = holds(args)
        return [lax.reduce(found, False, lax.bitwise_or, tuple(range(found.ndim)))]

    def step(*args):
        on, before, after = holds(args), args[second:], body(*args[first:])
        axes = tuple(range(on.ndim))
        return [
            lax.select(lax.broadcast_in_dim(on, new.shape, axes), new, old)
            for new, old in zip(after, before)
        ]

    shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
    return jax.make_jaxpr(any_holds)(*shapes), jax.make_jaxpr(step)(*shapes)


def _is_arithmetic_of_numbers(eqn, ins):
    """Whether it makes one number of others, which it always does."""
    if eqn.primitive.name in CONTROL or len(eqn.outvars) != 1:
        return False
    made = eqn.outvars[0].aval
    plain = not _is_key(made) and made.shape == () and np.dtype(made.dtype).kind in "fiub"
    draws = eqn.primitive.name.startswith("random_") or eqn.primitive.name in DRAWS
    return plain and not draws and all(isinstance(x, jcore.Literal) for x in ins)


def _product(closed):
    """Of x -> matrix · x, perhaps turned: over which axes; None for anything else."""
    jaxpr = closed.jaxpr
    kinds = [eqn.primitive.name for eqn in jaxpr.eqns]
    if kinds not in (["dot_general"], ["dot_general", "transpose"]) or len(jaxpr.invars) != 2:
        return None
    eqn = jaxpr.eqns[0]
    (left, right), (batch, other) = eqn.params["dimension_numbers"]
    rank = len(eqn.invars[0].aval.shape)
    count = len(batch)
    plain = [*batch] == [*other] == [*range(count)] and rank == count + 2
    if [*eqn.invars] != [*jaxpr.invars] or len(left) != 1 or not plain:
        return None
    return {"axis": int(right[0]), "transpose": int(left[0]) == count}


# -- running it ------------------------------------------------------------------------------------


class _Run:
    """Computes a graph with JAX. see(value, place, x): told what each tensor was, in iteration
    `place` of the loops around. zeros: by value and place what is added to a tensor, by which its
    gradient can be had. What lies between branches and loops is compiled, and computed in one go.
    """

    def __init__(self, see=None, zeros=None):
        self.see = see or (lambda value, place, x: None)
        self.zeros = zeros or {}

    def run(self, body, args, place=()):
        env = {id(value): x for value, x in zip(body.inputs, args)}
        for part in _stretches(body):
            if isinstance(part, _Stretch):
                values, found = part.outs, part.compute(env, self.zeros, place)
            else:
                values, found = part.outs, getattr(self, f"_{part.kind}")(part, env, place)
                found = [self._nudged(value, place, x) for value, x in zip(values, found)]
            for value, x in zip(values, found):
                env[id(value)] = x
                self.see(value, place, x)
        return [self._read(env, x) for x in body.results]

    def _nudged(self, value, place, x):
        zero = self.zeros.get((id(value), place))
        return x if zero is None else x + zero

    @staticmethod
    def _read(env, x):
        return _held(x) if isinstance(x, jcore.Literal) else env[id(x)]

    def _parts(self, node, env):
        return {key: [self._read(env, x) for x in part] for key, part in node.parts.items()}

    def _entered(self, body, args, place):
        """What a loop's body begins with, seen as what it is there."""
        found = [self._nudged(value, place, x) for value, x in zip(body.inputs, args)]
        for value, x in zip(body.inputs, found):
            self.see(value, place, x)
        return found

    def _scan(self, node, env, place):
        parts, body = self._parts(node, env), node.bodies["body"]
        carried, count, rows = parts["carried"], len(parts["carried"]), []
        length = node.params["length"]
        order = [*range(length)][:: -1 if node.params["reverse"] else 1]
        for number, at in enumerate(order):
            own = (*place, number)
            given = self._entered(body, [*carried, *(x[at] for x in parts["items"])], own)
            out = self.run(body, [*given, *parts["constants"]], own)
            carried = out[:count]
            rows.append(out[count:])
        if node.params["reverse"]:
            rows.reverse()
        if not rows:
            return [*carried, *(_empty(value.aval) for value in node.outs[count:])]
        return [*carried, *(jnp.stack(one) for one in zip(*rows))]

    def _while(self, node, env, place):
        parts, number = self._parts(node, env), 0
        condition, body = node.bodies["condition"], node.bodies["body"]
        carried = parts["carried"]
        while bool(self.run(condition, [*carried, *parts["constants"]], (*place, number))[0]):
            own = (*place, number)
            given = self._entered(body, carried, own)
            carried = self.run(body, [*given, *parts["constants"]], own)
            number += 1
        return carried

    def _cond(self, node, env, place):
        which = int(self._read(env, node.ins[0]))
        taken = node.branches[min(max(which, 0), len(node.branches) - 1)]
        return self.run(taken, self._parts(node, env)["operands"], place)


class _Stretch:
    """Nodes one behind the other without a branch or a loop, as one compiled function."""

    def __init__(self, nodes):
        self.nodes, self.outs = nodes, [value for node in nodes for value in node.outs]
        own = {id(value) for value in self.outs}
        read = [x for node in nodes for x in node.ins if isinstance(x, _Value)]
        self.ins = [*{id(x): None for x in read if id(x) not in own}]
        self.compiled = jax.jit(self._compute)

    def compute(self, env, zeros, place):
        nudges = [zeros.get((id(value), place)) for value in self.outs]
        return self.compiled([env[key] for key in self.ins], nudges)

    def _compute(self, ins, nudges):
        env, rest, found = dict(zip(self.ins, ins)), iter(nudges), []
        for node in self.nodes:
            args = [_held(x) if isinstance(x, jcore.Literal) else env[id(x)] for x in node.ins]
            for value, x in zip(node.outs, _computed(node, args)):
                zero = next(rest)
                env[id(value)] = x if zero is None else x + zero
                found.append(env[id(value)])
        return found


def _stretches(body):
    """A graph's nodes: those of branches and loops by themselves, what is between them together."""
    if body.stretches is None:
        body.stretches, between = [], []
        for node in body.nodes:
            if node.bodies or hasattr(node, "branches"):
                body.stretches += [_Stretch(between)] if between else []
                body.stretches.append(node)
                between = []
            else:
                between.append(node)
        body.stretches += [_Stretch(between)] if between else []
    return body.stretches


def _computed(node, args):
    """What a primitive gives; of a Cholesky factor what is above it is left to chance by JAX, and
    of its matrix the gradient as well: here it is 0, and symmetric."""
    if node.kind == "cholesky":
        return [jnp.tril(lax.linalg.cholesky(args[0], symmetrize_input=True))]
    if node.kind in CALLBACKS:  # which JAX refuses to differentiate: nothing comes back
        args = map(lax.stop_gradient, args)
    return _called_with(node.primitive, node.params, map(_as_array, args))


def _held(literal):
    return np.asarray(literal.val, literal.aval.dtype)[()]


class _Seen:
    """What each tensor was: rows[id of its value] are the places and the values there. Of
    iterations that there is no more room for, only what is drawn; cut: whether there was any."""

    def __init__(self):
        self.rows, self.room, self.cut, self.values = {}, LOOPS, False, {}

    def __call__(self, value, place, x):
        if place and not (value.drawn or value.is_key):
            self.room -= getattr(x, "nbytes", 8)
            self.cut = self.cut or self.room < 0
            if self.cut:
                return
        if not value.is_key:
            self.values[id(value)] = value
            self.rows.setdefault(id(value), []).append((place, x))


def _with_gradients(capture, args, trained, seen):
    """d loss of the graph, as plain operations, by what is trained (places among the arguments),
    and by each tensor that was seen."""
    zeros = {
        (key, place): jnp.zeros_like(x)
        for key, rows in seen.rows.items()
        if not seen.values[key].drawn
        for place, x in rows
        if _is_float(x)
    }
    given = {place: jnp.asarray(args[place]) for place in trained}
    keys = [*zeros]

    def loss(trained, nudges):
        known = _Run(zeros=dict(zip(keys, nudges)))
        return known.run(capture.body, [trained.get(i, x) for i, x in enumerate(args)])[0]

    by, back = jax.grad(loss, argnums=(0, 1))(given, [*zeros.values()])
    return by, dict(zip(keys, back))


# -- custom rules ----------------------------------------------------------------------------------


def _differing(own, args):
    """Whether a function's rule gives, of these, another gradient than what it computes."""
    closed = own.eqn.params[OPENED[own.eqn.primitive.name]]
    plain = jcore.jaxpr_as_fun(closed)
    floats = [i for i, x in enumerate(args) if _is_float(x)]
    drawn = np.random.RandomState(5)

    def back(function):
        def of(*chosen):
            given = [*args]
            for i, x in zip(floats, chosen):
                given[i] = x
            return [x for x in function(*given) if _is_float(x)]

        out, pull = jax.vjp(of, *(jnp.asarray(args[i]) for i in floats))
        return pull([jnp.asarray(g, x.dtype) for g, x in zip(cotangents(out), out)])

    made = []

    def cotangents(outs):
        if not made:
            made.extend(10 * drawn.standard_normal(x.shape) for x in outs)
        return made

    try:
        real, traced = back(_rule(own.eqn)), back(plain)
    except Exception:
        return True
    return any(_differ(a, b, 0, 1e-4) for a, b in zip(real, traced))


def _rule(eqn):
    """What calls a function together with its rule."""

    return lambda *args: _called_with(eqn.primitive, eqn.params, args)


def _called_with(primitive, params, args):
    """What a primitive gives of these, with whatever rule it has."""
    found = primitive.get_bind_params(params)  # in older JAX, the functions of a rule besides
    functions, params = found if isinstance(found, tuple) else ((), found)
    out = primitive.bind(*functions, *args, **params)
    return [*out] if primitive.multiple_results else [out]


def _backward(own):
    """The jaxpr of what a function's rule gives back, of its inputs and of what comes back to its
    outputs; and for which inputs it gives something. None where it cannot be traced."""
    ins = [x.aval for x in own.ins]
    floats = [i for i, aval in enumerate(ins) if _is_float(aval)]
    rule = _rule(own.eqn)

    def back(args, cotangents):
        def of(*chosen):
            given = [*args]
            for i, x in zip(floats, chosen):
                given[i] = x
            return rule(*given)

        outs, pull = jax.vjp(of, *(args[i] for i in floats))
        return pull([
            g if _is_float(x) else np.zeros(x.shape, jax.dtypes.float0)
            for g, x in zip(cotangents, outs)
        ])  # fmt: skip

    shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in ins]
    given = [jax.ShapeDtypeStruct(x.aval.shape, x.aval.dtype) for x in own.outs]
    try:
        return jax.make_jaxpr(back)(shapes, given), floats
    except Exception:
        return None


# -- writing ---------------------------------------------------------------------------------------


class _Writer:
    """What is to be in the file: `document`, which becomes graph.json, and tensors by member."""

    def __init__(self, capture, given, paths):
        self.capture, self.given, self.paths = capture, given, paths
        self.tensors, self.sources, self.taken, self.kept = {}, {}, set(), []
        self.refs, self.entries = {}, {}  # id of a value -> what is written of it
        self.scopes = _Scopes()
        self.document = {
            "format": FORMAT,
            "version": VERSION,
            "framework": {"name": "jax", "version": jax.__version__},
            "title": given.title,
            "inputs": [],
            "nodes": [],
            "outputs": [],
            "functions": {},
            "sources": {},
            "remarks": [],
        }

    def record(self, values):
        """Fill the document: run the graph for what each node gives, and the function for what
        each gradient is."""
        body, given = self.capture.body, self.given
        args, seen = [*given.leaves, *body.lifted], _Seen()
        results = _Run(seen).run(body, args)
        for own in self.capture.owns:
            known = [self._known(x, seen, args) for x in own.ins]
            own.differs = any(x is None for x in known) or _differing(own, known)
            if own.is_library and not own.differs:
                own.key = ""
        self._inputs(args)
        self.document["nodes"] = self._nodes(body)
        self._outputs(results)
        self._functions()
        of = next(iter(results), None)
        has_loss = any(out["kind"] == "loss" for out in self.document["outputs"])
        by, back = {}, {}
        trained = [i for i, one in enumerate(given.trained) if one]
        if has_loss and trained:
            try:
                by, back = _with_gradients(self.capture, args, trained, seen)
            except Exception as error:
                self._remark(f"the graph's own gradients are not here: {_first_line(error)}")
        self._values(seen, back if values else {}, values)
        if has_loss and trained:
            self._hold(by, of)
        self._forget_before_functions()

    def _known(self, x, seen, args):
        """What an operand was, the last time that it was computed."""
        if isinstance(x, jcore.Literal):
            return np.asarray(x.val, x.aval.dtype)
        for value, arg in zip(self.capture.body.inputs, args):
            if value is x:
                return arg
        rows = seen.rows.get(id(x))
        return rows[-1][1] if rows else None

    # -- what is computed ---------------------------------------------------------------------

    def _values(self, seen, back, wanted):
        reached = self._reached()
        for key, rows in seen.rows.items():
            entry, value = self.entries.get(key), seen.values[key]
            if entry is None or not (wanted or value.drawn):
                continue
            gradients = [back.get((key, place)) for place, _ in rows] if key in reached else []
            if rows[0][0]:
                self._iterations(entry, rows, gradients)
            else:
                self._keep(entry, "value", rows[-1][1])
                if gradients and gradients[-1] is not None:
                    self._keep(entry, "gradient", gradients[-1])
        if wanted and seen.cut:
            text = "the values of the first iterations of loops are in the file; of all there are "
            self._remark(f"{text}more than {LOOPS >> 20} MiB")

    def _iterations(self, entry, rows, gradients):
        places, values = zip(*rows)
        self._keep(entry, "values", np.stack([_array(x) for x in values]))
        self._keep(entry, "iterations", np.array(places, np.int64))
        if any(g is not None and np.any(_array(g)) for g in gradients):
            self._keep(entry, "gradients", np.stack([_array(g) for g in gradients]))

    def _reached(self):
        """Ids of the values that the gradient comes back to."""
        return _leading(self.capture.body, self.capture.body.results[:1], stops=("stop_gradient",))

    def _hold(self, by, of):
        """Keep the gradient of each trained leaf, and say where the graph's is another."""
        try:
            value, real = self.given.gradients()
        except Exception as error:
            real = None
            here = "; the gradients here are those of what was computed, step by step" if by else ""
            self._remark(f"jax.grad does not differentiate it ({_first_line(error)}){here}")
        if real is not None and _differ(value, of, 0, 1e-4):
            text = f"run again, it gives {float(value):.6g} and not {float(of):.6g}"
            self._remark(f"{text}: its gradients could not be held against the graph's")
            real = None
        scale = max((float(jnp.abs(g).max()) for g in by.values() if g.size), default=0.0)
        reached = self._reached()
        for place in real or by:
            entry = self.document["inputs"][self.places[place]]
            traced = by.get(place)
            own = traced if real is None else real[place]
            if traced is not None and (text := _differ(own, traced, scale)):
                where = f"{entry['name']}: {text}; {self._blame()}"
                self.document["remarks"].append({"input": entry["name"], "text": where})
            if id(self.capture.body.inputs[place]) in reached:
                self._keep(entry, "gradient", own)

    def _blame(self):
        names = sorted({own.name for own in self.capture.owns if own.differs})
        if names:
            own = "has a rule of its own" if len(names) == 1 else "have rules of their own"
            return f"{', '.join(names)} {own}"
        return "something that is no operation of the graph changes it"

    def _forget_before_functions(self):
        """The graph's gradients before a function with another rule are not the function's: none
        are told there but those of what is trained."""
        bad = {own.key for own in self.capture.owns if own.key and own.differs}
        needed, outs = set(), set()
        for own in self.capture.owns:
            if own.key in bad and not own.is_inner:
                outs |= {self.refs[id(x)]["ref"] for x in own.outs if id(x) in self.refs}
        for node in reversed(self.document["nodes"]):
            if node.get("backward"):
                continue
            inside = not bad.isdisjoint(_functions_in(node))
            if node["name"] in needed or inside:
                needed |= _refs_in(node["args"])
            if node["name"] in needed or (inside and node["name"] not in outs):
                for output in _told(node):
                    output.pop("gradient", None)
                    output.pop("gradients", None)

    # -- the graph ----------------------------------------------------------------------------

    def _inputs(self, args):
        names = [*self.given.names, *(f"constant_{i}" for i in range(len(args)))]
        self.places = {}
        for place, (value, array) in enumerate(zip(self.capture.body.inputs, args)):
            if value.is_key:
                continue
            trained = place < len(self.given.trained) and self.given.trained[place]
            kind = "input" if place < len(self.given.leaves) else "constant"
            name = self._unique(_path(names[place]))
            entry = {"name": name, "kind": "parameter" if trained else kind, **_type(value.aval)}
            entry["trained"] = bool(trained)
            self._keep(entry, "tensor", array, "tensors")
            self.places[place] = len(self.document["inputs"])
            self.refs[id(value)] = {"ref": name}
            self.document["inputs"].append(entry)

    def _nodes(self, body, caller=()):
        """What is written of a graph's nodes, those alone that something needs."""
        needed = _needed(body)
        found = []
        for node in body.nodes:
            if node.drawn:
                values = [x for x in node.outs if id(x) in needed and not x.is_key]
                found += [self._drawn(value, caller) for value in values]
            elif any(id(value) in needed for value in node.outs):
                self._node(node, found, caller)
        return found

    def _drawn(self, value, caller):
        """What was drawn, as if it had come from one operation: it is called what was asked for."""
        node = value.node
        named = [part for part in node.scope if part[1]]
        function = named[-1][0] if named else node.own_name or node.kind
        at = [i for i, part in enumerate(node.scope) if part[1]][-1:] or [len(node.scope)]
        scope = self.scopes.named(node.scope[: at[0]])
        function = _plain(function.removeprefix("random_").removesuffix("_real"))
        return self._entry(node, [*scope, function], f"lax.random.{function}", {}, [value], caller)

    def _entry(self, node, path, op, args, outs, caller):
        name = self._unique("/".join(path))
        entry = {
            "name": name,
            "op": op,
            "args": args,
            "outputs": [_type(value.aval) for value in outs],
            "frames": [self._frame(*f) for f in node.frames] or [*caller],
        }
        if node.function is not None and node.function.key:
            entry["function"] = node.function.key
        if node.backward:
            entry["backward"] = node.backward
        for number, value in enumerate(outs):
            self.refs[id(value)] = {"ref": name, "output": number} if number else {"ref": name}
            self.entries[id(value)] = entry["outputs"][number]
        return entry

    def _node(self, node, found, caller):
        if node.outs and all(value.is_key for value in node.outs):
            return  # a choice between keys: what is drawn from it is there
        scope = self.scopes.named(node.scope)
        own = node.own_name or node.kind.rpartition(".")[2]
        frames = [self._frame(*f) for f in node.frames] or [*caller]
        if hasattr(node, "branches"):
            found += self._branches(node, [*scope, "cond"], frames, caller)
            return
        outs = [value for value in node.outs if not value.is_key]
        if node.bodies:
            args = self._loop(node, frames)
            op = {"scan": "control.scan", "while": "control.while_loop"}[node.kind]
        else:
            args, op = self._arguments(node), _op(node.kind)
        found.append(self._entry(node, [*scope, own], op, args, outs, caller))

    def _loop(self, node, frames):
        parts = {key: self._refs(part) for key, part in node.parts.items()}
        graphs = {
            key: {"graph": self._graph(body, frames, node.kind == "scan" or key == "body")}
            for key, body in node.bodies.items()
        }
        more = {}
        if node.kind == "scan":
            more = {"length": int(node.params["length"]), "reverse": bool(node.params["reverse"])}
        return {**graphs, **parts, **more}

    def _branches(self, node, path, frames, caller):
        """A cond of each two; the index that chooses is compared first."""
        operands = self._refs(node.parts["operands"])
        outs = [value for value in node.outs if not value.is_key]
        graphs = [self._graph(body, frames, False) for body in node.branches]
        index = self._ref(node.ins[0])
        made = self._compared(index, 0, path, frames)
        args = {
            "predicate": {"ref": made["name"]},
            "true": {"graph": self._chosen(graphs[1:], 1, index, node, path, frames)},
            "false": {"graph": graphs[0]},
            "operands": operands,
        }
        if len(graphs) > 2:  # who chooses further has to know which
            args["operands"] = [index, *operands]
            graphs[0]["inputs"].insert(0, self._index(path))
        return [made, self._entry(node, path, "control.cond", args, outs, caller)]

    def _chosen(self, graphs, first, index, node, path, frames):
        """The graph of several branches, of which the first is number `first`: it takes the index
        before all else."""
        if len(graphs) == 1 and first == 1:
            return graphs[0]
        own = self._index(path)
        if len(graphs) == 1:
            graphs[0]["inputs"].insert(0, own)
            return graphs[0]
        graphs[0]["inputs"].insert(0, self._index(path))
        given = [{**one, "name": self._unique(one["name"])} for one in graphs[0]["inputs"][1:]]
        for one in given:
            for key in ("values", "gradients", "iterations", "value", "gradient"):
                one.pop(key, None)
        made = self._compared({"ref": own["name"]}, first, path, frames)
        outs = [_type(value.aval) for value in node.outs if not value.is_key]
        inner = {
            "name": self._unique("cond"),
            "op": "control.cond",
            "args": {
                "predicate": {"ref": made["name"]},
                "true": {"graph": self._chosen(graphs[1:], first + 1, index, node, path, frames)},
                "false": {"graph": graphs[0]},
                "operands": [{"ref": one["name"]} for one in (own, *given)],
            },
            "outputs": outs,
            "frames": frames,
        }
        results = [{"ref": inner["name"], "output": i} for i in range(len(outs))]
        return {"inputs": [own, *given], "nodes": [made, inner], "outputs": results}

    def _index(self, path):
        return {"name": self._unique("index"), "dtype": "int32", "shape": []}

    def _compared(self, index, number, path, frames):
        """Whether the index is above a number."""
        return {
            "name": self._unique("/".join([*path[:-1], "gt"]) if "ref" in index else "gt"),
            "op": "lax.gt",
            "args": {"x": index, "y": number},
            "outputs": [{"dtype": "bool", "shape": []}],
            "frames": frames,
        }

    def _graph(self, body, frames, entered):
        """A graph within: what it takes, its nodes, what it gives. entered: of a loop, where what
        it begins with is another in each iteration."""
        outer, self.scopes = self.scopes, _Scopes()
        inputs = []
        for value in body.inputs:
            if value.is_key:
                continue
            name = self._unique("x")
            self.refs[id(value)] = {"ref": name}
            inputs.append({"name": name, **_type(value.aval)})
            if entered:
                self.entries[id(value)] = inputs[-1]
        nodes = self._nodes(body, frames)
        self.scopes = outer
        return {"inputs": inputs, "nodes": nodes, "outputs": self._refs(body.results)}

    def _refs(self, values):
        return [self._ref(x) for x in values if not _is_key(x.aval)]

    def _ref(self, x):
        return self.refs[id(x)] if isinstance(x, _Value) else _argument(np.asarray(x.val).item())

    def _arguments(self, node):
        """By the names of lax's own functions."""
        if node.kind == "linear_solve":
            (matrix, b), more = node.solved
            return {"matrix": self._ref(matrix), "x": self._ref(b), **more}
        args = self._operands(node.kind, self._refs(node.ins))
        for key, value in node.params.items() if "." not in node.kind else ():
            if key in PLACEMENT or callable(value) or hasattr(value, "jaxpr"):
                continue
            if hasattr(value, "_fields"):  # dimension numbers
                args |= {k: _argument(v) for k, v in value._asdict().items()}
            else:
                args[key] = _argument(value)
        return args

    @staticmethod
    def _operands(kind, refs):
        names = OPERANDS.get(kind) or (SCATTERED if kind.startswith("scatter") else None)
        if names is None:
            names = ("x", "y")[: len(refs)] if len(refs) < 3 else ("*operands",)
        args, rest = {}, iter(refs)
        for name in names:
            args[name.lstrip("*")] = [*rest] if name[0] == "*" else next(rest)
        return args

    def _outputs(self, results):
        """The first is the loss, if it is one real number."""
        for number, (value, x) in enumerate(zip(self.capture.body.results, results)):
            if not isinstance(value, _Value) or id(value) not in self.refs:
                continue
            is_loss = number == 0 and np.shape(x) == () and _is_float(x) and not _is_complex(x)
            kind = "loss" if is_loss else "output"
            self.document["outputs"].append({"kind": kind, "value": self.refs[id(value)]})

    # -- custom rules -------------------------------------------------------------------------

    def _functions(self):
        for own in self.capture.owns:
            if not own.key:
                continue
            entry = {"class": own.name, "source": _source(own.place)}
            self.document["functions"][own.key] = entry
            if own.is_inner:
                where = "in a branch or a loop, where it stays text"
                self._remark(f"{own.key} has a rule of its own {where}")
                continue
            if (found := _backward(own)) is not None:
                try:
                    entry.update(self._rule(own, *found))
                except Exception:
                    continue  # it stays text

    def _rule(self, own, closed, floats):
        """The nodes of what a rule gives back, behind all others."""
        capture = self.capture
        outer, capture.body, scopes, self.scopes = capture.body, _Body(), self.scopes, _Scopes()
        try:
            return self._rule_in(capture.body, own, closed, floats)
        finally:
            capture.body, self.scopes = outer, scopes

    def _rule_in(self, body, own, closed, floats):
        given = [_Value(x.aval) for x in own.outs]
        back = [
            self._entry(_cotangent(own), [own.key, "backward", "cotangent"], "lax.cotangent", {},
                        [value], ())
            for value in given
        ]  # fmt: skip
        results = self.capture._open(closed, [*own.ins, *given], (), (), None, "")
        body.results = results
        for node in body.nodes:
            node.backward, node.scope = own.key, ((own.key, None), ("backward", None), *node.scope)
        nodes = [*back, *self._nodes(body)]
        for entry in nodes:
            entry["backward"] = own.key
        if body.lifted:
            raise ValueError("its rule has constants of its own")
        by = dict(zip(floats, results))
        self.document["nodes"] += nodes
        places = [i for i, x in enumerate(own.ins) if isinstance(x, _Value) and not x.is_key]
        return {
            "inputs": [self._ref(own.ins[i]) for i in places],
            "outputs": [self._ref(x) for x in own.outs],
            "cotangents": [{"ref": entry["name"]} for entry in back],
            "gradients": [self._end(by[i], own) if i in by else None for i in places],
        }

    def _end(self, value, own):
        if isinstance(value, _Value):
            return self._ref(value)
        raise ValueError("its rule gives a number")

    # -- names, lines -------------------------------------------------------------------------

    def _remark(self, text):
        self.document["remarks"].append({"text": text})

    def _unique(self, name):
        own, count = name, 0
        while own.lower() in self.taken:
            count += 1
            own = f"{name}_{count}"
        self.taken.add(own.lower())
        return own

    def _frame(self, file, line, function):
        return [self._near(file), line, function, linecache.getline(file, line).strip()]

    def _near(self, file):
        """A file's name without where it lies: as it is seen from here, or in its package."""
        own = os.path.relpath(file)
        _, packaged, rest = file.rpartition(PACKAGES)
        near = rest if packaged else file if own.startswith("..") else own
        near = "/".join(near.split(os.sep)[-4:])
        if os.path.isfile(file) and os.path.getsize(file) <= SOURCE and not file.startswith(JAX):
            self.sources.setdefault(near, file)
        return near

    # -- the file -----------------------------------------------------------------------------

    def _keep(self, entry, what, tensor, folder="values"):
        entry[what] = f"{folder}/{len(self.tensors)}.npy"
        self.tensors[entry[what]] = tensor
        self.kept.append((entry, what))

    def write(self, path):
        """The whole file, put in its place at the end."""
        partly = f"{os.fspath(path)}.part"
        for near, real in self.sources.items():
            self.document["sources"][near] = os.path.abspath(real) if self.paths else ""
        with zipfile.ZipFile(partly, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as file:
            self._write_tensors(file)
            file.writestr("graph.json", json.dumps(self.document, indent=0))
            for near, real in self.sources.items():
                file.write(real, f"sources/{near}")
        os.replace(partly, path)

    def _write_tensors(self, file):
        """One after the other, as they are large. What several tensors hold is in one."""
        names, holders = {}, {}
        used = {entry[key] for entry, key in self.kept if key in entry}
        for name in filter(used.__contains__, self.tensors):
            stream = io.BytesIO()
            np.save(stream, _array(self.tensors[name]), allow_pickle=False)
            data = stream.getvalue()
            holders[name] = names.setdefault(hashlib.sha256(data).digest(), name)
            if holders[name] == name:
                file.writestr(name, data, _packing(data), 1 if len(data) > 65536 else 6)
        for entry, key in self.kept:
            if key in entry:
                entry[key] = holders[entry[key]]


class _Scopes:
    """Scopes by what they are called. Who leaves one and comes back to another of its name (a layer
    that is called twice) is in another."""

    def __init__(self):
        self.before, self.counts = [], {}

    def named(self, scope):
        found, is_same = [], True
        for depth, (name, call) in enumerate(scope):
            last = self.before[depth] if is_same and depth < len(self.before) else None
            if last is not None and last[:2] == (name, call):
                found.append(last)
                continue
            is_same = False
            around = "/".join(one[2] for one in found)
            count = self.counts.get((around, name.lower()), 0)
            self.counts[around, name.lower()] = count + 1
            found.append((name, call, f"{name}_{count}" if count else name))
        self.before = found
        return [one[2] for one in found]


def _cotangent(own):
    node = _Node("cotangent", None, {}, [], (), (), None)
    node.backward = own.key
    return node


def _needed(body):
    """Ids of the values that lead to what a graph gives. What was drawn leads back no further."""
    return _leading(body, body.results)


def _leading(body, results, stops=()):
    needed = {id(x) for x in results if isinstance(x, _Value)}
    for node in reversed(body.nodes):
        if node.kind in stops:
            needed -= {id(value) for value in node.outs}
        if node.drawn or not any(id(value) in needed for value in node.outs):
            continue
        given = node.solved[0] if node.kind == "linear_solve" else node.ins
        needed |= {id(x) for x in given if isinstance(x, _Value)}
        for part in getattr(node, "parts", {}).values():
            needed |= {id(x) for x in part if isinstance(x, _Value)}
        for inner in (*node.bodies.values(), *getattr(node, "branches", ())):
            needed |= _leading(inner, inner.results, stops) | {id(x) for x in inner.inputs}
    return needed


def _told(node):
    """What is written of a node's tensors, and of those in its branches and loops."""
    yield from node["outputs"]
    for graph in _graphs(node):
        yield from graph["inputs"]
        for inner in graph["nodes"]:
            yield from _told(inner)


def _graphs(node):
    return [v["graph"] for v in node["args"].values() if isinstance(v, dict) and "graph" in v]


def _functions_in(node):
    found = {node["function"]} if "function" in node else set()
    return found.union(*(_functions_in(n) for graph in _graphs(node) for n in graph["nodes"]))


def _refs_in(value):
    if isinstance(value, dict):
        own = {value["ref"]} if "ref" in value else set()
        return own.union(*map(_refs_in, value.values()))
    return set().union(*map(_refs_in, value)) if isinstance(value, list) else set()


def _op(kind):
    return kind if "." in kind else f"lax.{kind}"


def _type(aval):
    return {"dtype": str(aval.dtype), "shape": [int(size) for size in aval.shape]}


def _argument(value):
    """A parameter as JSON; None for what is none."""
    if isinstance(value, enum.Enum):
        return value.name.lower()
    if isinstance(value, (list, tuple)):
        return [_argument(one) for one in value]
    if isinstance(value, (np.dtype, type)) and not isinstance(value, enum.EnumMeta):
        return {"dtype": str(np.dtype(value))}
    if isinstance(value, (np.generic, np.ndarray)) and np.ndim(value) == 0:
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    return str(value)


def _frames(traceback):
    """Where in the sources it was asked for, the outermost place first; nothing of JAX."""
    if traceback is None:
        return ()
    found = []
    for frame in traceback.frames:
        file = frame.file_name
        if file == __file__:
            break  # who called the exporter
        if file.startswith((JAX, "<")) or not file:
            continue
        if os.sep + "jaxlib" + os.sep in file or "/importlib/" in file:
            continue
        found.append((file, int(getattr(frame, "line_num", 0) or 0), frame.function_name))
    return tuple(reversed(found[: 1 + _outermost(found)]))


def _outermost(frames):
    """The last frame that is of no library."""
    own = [i for i, (file, _, _) in enumerate(frames) if PACKAGES not in file]
    return own[-1] if own else len(frames)


def _scopes(stack):
    """The scopes of an equation, without what transformed it."""
    text = WRAPPED.sub("", str(stack))
    parts = [part for part in text.split("/") if part and "->" not in part]
    return [plain for part in parts if (plain := _plain(part))]


def _plain(name):
    """As a scope may be called."""
    return re.sub(r"[^A-Za-z0-9_.\-]+", "_", name).strip("_-")


def _path(name):
    return "/".join(filter(None, (_plain(part) for part in name.split("/")))) or "x"


def _identifier(name):
    found = re.sub(r"\W", "_", name, flags=re.ASCII).strip("_")
    return found if found[:1].isalpha() else f"rule_{found}"


def _called(f):
    inner = getattr(f, "func", f)
    return _plain(getattr(inner, "__name__", type(inner).__name__)) or "function"


def _parameters(f, count):
    """What its arguments are called; by their places where that is not to be found out."""
    try:
        known = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        known = ()
    names = [p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [*names[:count], *(f"arg{i}" for i in range(len(names), count))]


def _key(key):
    for name in ("key", "name", "idx"):
        if hasattr(key, name):
            return _plain(str(getattr(key, name))) or "x"
    return _plain(str(key)) or "x"


def _declared(closed, eqn):
    """A function's name, and "file:line" of where it is; "" where that is not told."""
    info = getattr(getattr(closed, "jaxpr", closed).debug_info, "func_src_info", "") or ""
    name, _, place = info.partition(" at ")
    name = str(eqn.params.get("name", "")) or name.rpartition(".")[2]
    return _plain(name) or eqn.primitive.name.removesuffix("_call"), place


def _source(place):
    """The text of the function that begins there, and of what gives it its rule."""
    file, _, line = place.rpartition(":")
    lines = linecache.getlines(file) if file else []
    if not line.isdigit() or int(line) > len(lines):
        return ""
    try:
        return "".join(inspect.getblock(lines[int(line) - 1 :]))
    except Exception:
        return ""


def _first_line(error):
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return f"{lines[0]:.200}"


def _aval(array):
    return jax.typeof(array) if hasattr(jax, "typeof") else jax.core.get_aval(array)


def _row(aval):
    return jax.core.ShapedArray(aval.shape[1:], aval.dtype)


def _empty(aval):
    return jnp.zeros(aval.shape, aval.dtype)


def _literal(x, aval):
    return jcore.Literal(np.asarray(x)[()], aval)


def _as_array(x):
    return x if hasattr(x, "dtype") else jnp.asarray(x)


def _is_key(aval):
    return jax.dtypes.issubdtype(aval.dtype, jax.dtypes.prng_key)


def _is_float(x):
    dtype = getattr(x, "dtype", None)
    return dtype is not None and bool(jnp.issubdtype(dtype, jnp.inexact))


def _is_complex(x):
    return bool(jnp.issubdtype(x.dtype, jnp.complexfloating))


def _number(x):
    return isinstance(x, (bool, int, float, complex))


def _differ(real, traced, scale, relative=RELATIVE):
    """In words, how a gradient is another than the graph's; "" where it is not."""
    if _is_float(real):  # of few digits, a few of the last
        relative = max(relative, 8 * float(jnp.finfo(real.dtype).eps))
    a, b = (np.asarray(x, np.complex128) for x in (_array(real), _array(traced)))
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return "JAX's gradient is finite elsewhere than the graph's"
    a, b = np.nan_to_num(a), np.nan_to_num(b)
    largest = max(np.abs(a).max(initial=0), np.abs(b).max(initial=0), scale * 1e-3, 1e-30)
    off = float(np.abs(a - b).max(initial=0))
    return (
        "" if off <= relative * largest else f"JAX's gradient differs from the graph's by {off:.3g}"
    )


def _array(value):
    """As NumPy keeps it; what it has no type for as float32."""
    found = np.asarray(value)
    return found.astype(np.float32) if found.dtype.kind == "V" or found.dtype.name in (
        "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz",
        "float8_e5m2fnuz",
    ) else found  # fmt: skip


def _packing(data):
    """Trained weights hardly get smaller, and to find that out takes most of the time."""
    parts = [data[at : at + 16384] for at in (0, len(data) // 2, max(len(data) - 16384, 0))]
    if len(data) > 65536 and len(zlib.compress(b"".join(parts), 1)) > 0.8 * 3 * 16384:
        return zipfile.ZIP_STORED
    return zipfile.ZIP_DEFLATED
