"""Take a PyTorch model to Gradstep: one file of its own, for wherever PyTorch is installed.

    import gradstep_torch

    gradstep_torch.save("net.gstrace", model, (x,), loss=F.cross_entropy, targets=(y,))

It needs PyTorch (2.6 or later) and NumPy, and nothing of Gradstep, which prints it with
`gradstep capture torch` and reads what it writes without PyTorch: a zip of `graph.json` (what the
model computes, operation by operation, each with its module and its line of source), `tensors/`
(weights and inputs), `values/` (what PyTorch computed: each value, and the gradient that came back
to it) and `sources/` (the files that the lines are in). docs/trace-format.md describes it.

The model, its weights' gradients, its buffers and the random state are left as they were.
"""

from __future__ import annotations

import ast
import atexit
import collections
import contextlib
import hashlib
import hmac
import inspect
import io
import json
import math
import operator
import os
import re
import secrets
import socket
import stat
import struct
import sys
import tempfile
import threading
import time
import traceback
import unicodedata
import zipfile
import zlib

import numpy as np
import torch
from torch.fx import Interpreter, Node
from torch.nn.utils.rnn import PackedSequence
from torch.utils._pytree import tree_flatten_with_path
from torch.utils.checkpoint import CheckpointFunction

FORMAT, VERSION = "gradstep-trace", 1

# Taken apart into smaller operations: recurrent layers into their steps, an einsum into products.
# All else stays as it was written: linear, conv2d, layer_norm, gelu, attention.
TAKEN_APART = ("lstm", "gru", "rnn_", "einsum", "lift_fresh", "rrelu")
ATTENTION = "scaled_dot_product_attention"
# What a trace has no use for: where a tensor lies, and checks of what tracing assumed.
PLACEMENT = ("device", "pin_memory", "layout", "memory_format", "non_blocking")
CHECKS = ("_assert", "sym_constrain", "_functional_assert")
# Branches and loops, whose functions are graphs of their own.
CONTROL = {
    "cond": ("predicate", "true", "false", "operands"),
    "while_loop": ("condition", "body", "carried", "constants"),
    "scan": ("body", "carried", "items", "constants"),
}
# What is drawn at random, or made of nothing: there is no computing it again from what is before.
DRAWN = ("rand", "bernoulli", "dropout", "multinomial", "normal", "exponential", "uniform")
TORCH = os.path.dirname(torch.__file__) + os.sep
FRAME = re.compile(r'File "(.+?)", line (\d+), in (\S+)\n(?:\s+(.*))?')
RELATIVE = 1e-3  # by so much of the largest a gradient may differ from that of the model itself
SOURCE = 2 << 20  # bytes of a source file that is taken along
LOOPS = 64 << 20  # bytes of what iterations of loops computed that are kept; drawn numbers all are


def save(
    path,
    model,
    args,
    loss=None,
    targets=(),
    values=True,
    dynamic_shapes=None,
    paths=True,
):
    """Write to `path` what `model` computes of `args`, and what loss(output, *targets) is.

    model:   a Module, as it stands: in training mode or not, with its weights and buffers.
    args:    its arguments: a tuple; a dict for arguments by name; or one tensor.
    loss:    a function of the output and the targets, or a Module; None where the output itself
             is the loss, if it is one number, or nothing is to be differentiated.
    targets: further arguments of `loss`: a tuple, or one tensor.
    values:  whether each value and each gradient that PyTorch computes is written, too.
    dynamic_shapes: "batch" for any number of rows (the first size of each argument and target);
             or what torch.export takes for {"args": …, "targets": …}.
    paths:   whether the file says where the sources lie, so that an editor can be opened there.

    Returns a dict: "nodes" (how many operations), "differ" (names of weights whose gradient the
    graph does not give as the model does, and why; empty is what is to be hoped for), "remarks".
    """
    document = _write(path, model, args, loss, targets, (), values, dynamic_shapes, paths)
    names = {e["name"]: e.get("written", e["name"]) for e in document["inputs"]}
    return {
        "nodes": len(document["nodes"]),
        "differ": {names[r["input"]]: r["text"] for r in document["remarks"] if "input" in r},
        "remarks": [r["text"] for r in document["remarks"] if "input" not in r],
    }


def _write(
    path,
    model,
    args,
    loss,
    targets,
    remarks,
    values=True,
    dynamic_shapes=None,
    paths=True,
    left=None,
    was=None,
):
    """The same, with remarks of the caller's own; what is in graph.json. left: by weight, the
    gradient that a loop's `backward` left on it. was: what the model and its loss are, where
    the caller holds that, and leaves it so. Raises ValueError where the weights are not whole in
    this process."""
    model = _unwrapped(model)
    if shared := _shared(model):
        raise ValueError(f"{shared}: save a model that is whole")
    given = _Given(model, args, targets)
    step = _Step(model, loss)
    held = contextlib.nullcontext(was) if was else _left_as_it_was(step)
    with held as was, torch.enable_grad(), _plain_checkpoints():
        capture = _Capture(step, given, _shapes(dynamic_shapes, given), was)
        writer = _Writer(capture, paths)
        writer.document["remarks"][:0] = [{"text": text} for text in remarks]
        writer.record(values, given)
        was.put_back()  # what is written may be a view of a weight
        if left is not None:
            writer.hold_left(left)
        writer.write(path)
    return writer.document


class _Step(torch.nn.Module):
    """The model and its loss, as one module."""

    def __init__(self, model, loss):
        super().__init__()
        self.model, self.loss = model, loss
        self.own = _Own()

    def forward(self, args, targets):
        out = self.model(**args) if isinstance(args, dict) else self.model(*args)
        all_ = (out,) if self.loss is None else (self.loss(out, *targets), out)
        more = [t for own in self.own.backwards for t in own["tensors"]]
        return (*all_, more) if more else all_


class _Own:
    """Backward functions of the user's own that were traced: see _Marked. No list, which
    torch.export would put back."""

    def __init__(self):
        self.backwards = []


class _Given:
    """The arguments and the targets, and what each of their tensors is called."""

    def __init__(self, model, args, targets):
        one = isinstance(args, torch.Tensor)
        self.args = (args,) if one else args if isinstance(args, dict) else tuple(args)
        self.targets = (targets,) if isinstance(targets, torch.Tensor) else tuple(targets)
        flat, _ = tree_flatten_with_path((self.args, self.targets))
        parameters = list(inspect.signature(model.forward).parameters)
        self.names = [self._name(keys, parameters) for keys, _ in flat]
        self.leaves = [leaf for _, leaf in flat]

    def _name(self, keys, parameters):
        which, first, *rest = (getattr(k, "idx", getattr(k, "key", None)) for k in keys)
        if which == 1:
            own = "target" if len(self.targets) == 1 else f"target_{first}"
        elif isinstance(first, str):
            own = first
        else:
            own = parameters[first] if first < len(parameters) else f"input_{first}"
        return "_".join([own, *(re.sub(r"\W+", "_", str(key)) for key in rest)])


def _shapes(wanted, given):
    if wanted != "batch":
        return wanted
    tensors = [leaf for leaf in given.leaves if isinstance(leaf, torch.Tensor) and leaf.dim()]
    rows, batch = tensors[0].shape[0], torch.export.Dim("batch")

    def of(leaf):
        fits = isinstance(leaf, torch.Tensor) and leaf.dim() and leaf.shape[0] == rows
        return {0: batch} if fits else None

    return {
        "args": torch.utils._pytree.tree_map(of, given.args),
        "targets": torch.utils._pytree.tree_map(of, given.targets),
    }


def _unwrapped(model):
    """The user's own module, without what puts it into several processes, or compiles it."""
    for kind, inner in (("DistributedDataParallel", "module"), ("OptimizedModule", "_orig_mod")):
        if type(model).__name__ == kind and isinstance(
            getattr(model, inner, None), torch.nn.Module
        ):
            return _unwrapped(getattr(model, inner))
    return model


def _shared(model):
    """In words, that each process has a part of the weights (FSDP, tensor parallelism); "" where
    this one has all."""
    parts = any(hasattr(w, "to_local") for w in model.parameters())
    flat = any(type(m).__name__ == "FullyShardedDataParallel" for m in model.modules())
    return "its weights are shared among processes (FSDP, DTensor)" if parts or flat else ""


def _process():
    """The number of this process, and how many train together."""
    group = torch.distributed
    if not (group.is_available() and group.is_initialized()):
        return 0, 1
    return group.get_rank(), group.get_world_size()


class _AsItWas:
    """What a model's weights, which a `forward` may write to as well, its buffers and random state
    are at some moment. pairs: each tensor, and a copy of it: one, for all who put them back."""

    def __init__(self, pairs, random):
        self._kept = {id(pair[0]): pair for pair in pairs}
        self.random = random

    def copy_of(self, tensor):
        """The value that it had; None for a tensor of which none is kept."""
        return self._kept.get(id(tensor), (tensor, None))[1]

    def with_(self, buffers, random):
        """The same weights, and these buffers, each with its value."""
        return _AsItWas((*self._kept.values(), *buffers), random)

    def put_back(self):
        _put_back(self._kept.values())
        _set_random_state(self.random)


@contextlib.contextmanager
def _left_as_it_was(model):
    """At the end the model is what it was, which is an _AsItWas."""
    lazy = torch.nn.parameter.is_lazy
    held = [tensor for tensor in (*model.parameters(), *model.buffers()) if not lazy(tensor)]
    was = _AsItWas(((tensor, tensor.detach().clone()) for tensor in held), _random_state())
    try:
        yield was
    finally:
        was.put_back()


def _put_back(kept):
    with torch.no_grad():
        for tensor, value in kept:
            if not _same_bits(tensor, value):  # who goes backward later would see a write
                tensor.copy_(value)


def _same_bits(one, other):
    if one.device.type == "meta":
        return True
    if one.layout != torch.strided or one.is_conj() or one.is_neg() or one.is_quantized:
        return False
    flat = [tensor.detach().contiguous().reshape(-1) for tensor in (one, other)]
    return torch.equal(*(tensor.view(torch.uint8) for tensor in flat))


def _random_state():
    """Of the processor, and of each card that is in use."""
    cards = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    return torch.random.get_rng_state(), cards


def _set_random_state(state):
    processor, cards = state
    torch.random.set_rng_state(processor)
    for index, card in enumerate(cards):
        torch.cuda.set_rng_state(card, index)


@contextlib.contextmanager
def _plain_checkpoints():
    """While it lasts, checkpoint(…, use_reentrant=True) is the function that it is called with: its
    own derivative cannot be traced, and autograd.grad refuses it. Where no tensor that it is given
    has a gradient, nothing in it has one, as with PyTorch."""

    def apply(run, preserve, *args):
        wanted = any(isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args)
        with contextlib.nullcontext() if wanted else torch.no_grad():
            return run(*args)

    before = vars(CheckpointFunction).get("apply")
    CheckpointFunction.apply = apply
    try:
        yield
    finally:
        if before is None:
            del CheckpointFunction.apply
        else:
            CheckpointFunction.apply = before


def _casting():
    """What torch.autocast does here, by kind of device: nothing, or the type that it casts to."""
    on = torch.is_autocast_enabled
    return {kind: torch.get_autocast_dtype(kind) if on(kind) else None for kind in ("cpu", "cuda")}


@contextlib.contextmanager
def _cast(as_it_was):
    """The same as it was somewhere else."""
    with contextlib.ExitStack() as stack:
        for kind, dtype in as_it_was.items():
            if dtype != _casting()[kind]:
                enabled = dtype is not None
                stack.enter_context(torch.autocast(kind, dtype=dtype, enabled=enabled))
        yield


# -- watching a loop ------------------------------------------------------------------------------


class watch:  # noqa: N801  # as `open` is: what it is called in a with statement
    """Keep the very step of a training loop at which a condition first holds.

        with gradstep_torch.watch(model, loss=loss_fn, when="isnan(loss)", save="bad.gstrace"):
            for x, y in batches:
                loss = loss_fn(model(x), y)
                loss.backward()
                optimizer.step()

    model: the Module that the loop trains.
    loss:  the loop's own loss, a function or a Module: its call is noted where it happens. None
           where the model's output is the loss.
    when:  a condition on the step: `loss`, `step` (1, 2, …), numbers, comparisons, and, or, not;
           isnan(x), isinf(x), isfinite(x), norm(x), largest(x) of `loss`, of all gradients `grad`,
           of all weights `weight`, or of one: grad["fc.weight"]. "" for never.
    save:  the file. step: a step that is kept as well; every: all steps whose number it divides;
           these have their number in the file's name.
    stop:  whether the loop ends at the step at which the condition holds.
    follow: whether Gradstep's window may follow the loop while it runs: loss and norms by layer,
           over a Unix socket that only you can open; "localhost" for a port of this machine, with a
           password in a file that only you can read: so on Windows, which has no such sockets.
           Nothing is computed for that while nobody follows.

    Where several processes train together (DistributedDataParallel, FSDP) each asks by itself, and
    nothing here makes them wait for each other: the gradients are those that `backward` left, of
    weights that are shared the part that is here. All but the first put their number into the
    file's name. Of weights that are shared no trace can be written, which is said.

    It is asked after `backward`, before the optimizer moves: the weights are still those of the
    step. Buffers, a loss's too, and the random state are kept from before its forward pass, and so
    is what torch.autocast does there. The trace is of the last call of the model before `backward`,
    with its arguments and targets, all values and gradients; it remarks if the loss, computed
    again, is another. `saved` has the files' names.
    """

    def __init__(
        self,
        model,
        loss=None,
        when="isnan(loss)",
        save="watched.gstrace",
        step=None,
        every=None,
        stop=False,
        follow=True,
        **options,
    ):
        self.model, self.own, self.when = model, _unwrapped(model), when
        self.path = os.fspath(save)
        self.holds = _condition(when) if when else None
        self.at, self.every, self.stop, self.options = step, every, stop, options
        self.plain_loss, self.step, self.saved = loss, 0, []
        self.both = _Step(self.own, loss)
        self.call, self.targets, self.seen = None, (), None
        self.busy, self.follow, self.live = False, follow, None

    def __enter__(self):
        if shared := _shared(self.own):
            sys.stderr.write(
                f"gradstep: {shared}: conditions are asked of the part in this process, and the "
                "loop can be followed; no step of it can be kept as a trace\n"
            )
        self.live = _Live.begin(self) if self.follow else None
        before, after = self.model.register_forward_pre_hook, self.model.register_forward_hook
        self.undo = [before(self._before, with_kwargs=True).remove]
        if self.plain_loss is None:
            self.undo.append(after(self._output).remove)
        elif isinstance(self.plain_loss, torch.nn.Module):
            hook = self.plain_loss.register_forward_hook(
                lambda _, given, out: self._loss(given, out)
            )
            self.undo.append(hook.remove)
        else:
            self._replace(self.plain_loss, self.loss, inspect.currentframe().f_back.f_globals)
        plain = torch.Tensor.backward

        def backward(tensor, *args, **kwargs):
            plain(tensor, *args, **kwargs)
            self._look(tensor)

        torch.Tensor.backward = backward
        self.undo.append(lambda: setattr(torch.Tensor, "backward", plain))
        return self

    def __exit__(self, kind, error, trace):
        while self.undo:
            self.undo.pop()()
        if self.live is not None:
            self.live.end(error)
        return isinstance(error, _StoppedError) and error.watch is self

    def loss(self, *args, **kwargs):
        """The loss, noted: for a loop that calls it by a name that is not found."""
        out = self.plain_loss(*args, **kwargs)
        self._loss(args, out)
        return out

    def _replace(self, function, noted, caller):
        """Let `function` be `noted` wherever its own module and the loop's name it."""
        home = getattr(sys.modules.get(function.__module__), "__dict__", {})
        for names in (home, getattr(torch.nn.functional, "__dict__", {}), caller):
            for name, value in [*names.items()]:
                if value is function:
                    names[name] = noted
                    self.undo.append(lambda names=names, name=name: names.update({name: function}))

    # -- what happens in the loop -------------------------------------------------------------

    def _before(self, model, args, kwargs):
        if self.busy or not torch.is_grad_enabled():
            return
        self.step, self.seen = self.step + 1, None
        self.random, self.casting = _random_state(), _casting()
        self.buffers = [(buffer, buffer.detach().clone()) for buffer in self.both.buffers()]
        self.call = args, kwargs

    def _output(self, _, args, out):
        if not self.busy:
            self.seen = _first_tensor(out)

    def _loss(self, given, out):
        if not self.busy:
            self.seen, self.targets = out, tuple(given[1:])

    def _look(self, tensor):
        if self.busy or self.call is None:
            return
        loss = self.seen if self.seen is not None else tensor
        if self.live is not None:
            self.live.tell(loss)
        why = []
        if self.holds is not None and self.holds(_Names(self, loss)):
            why.append((self.when, self.path))
            self.holds = None
        if self.step == self.at or (self.every and self.step % self.every == 0):
            stem, suffix = os.path.splitext(self.path)
            why.append(("", f"{stem}-{self.step}{suffix}"))
        for condition, path in why:
            self._save(path, condition, loss)
        if self.stop and any(condition for condition, _ in why):
            raise _StoppedError(self)
        self.call = None

    def _save(self, path, condition, loss):
        said = f"Step {self.step} of the loop" + (f", the first at which {condition}." if condition
                                                 else ".")  # fmt: skip
        self.busy = True
        try:
            path = self._write(path, said, loss)
        except Exception as error:  # the loop goes on as if nobody had looked
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            sys.stderr.write(f"gradstep: {said} It could not be kept: {why:.300}\n")
            return
        finally:
            self.busy = False
        self.saved.append(path)
        if self.live is not None:
            self.live.tell_saved(path, condition)
        sys.stderr.write(f"gradstep: {said} It is in {path}\n")

    def _write(self, path, said, loss):
        """The trace of the step; where it is."""
        if shared := _shared(self.own):
            raise ValueError(shared)
        with _left_as_it_was(self.both) as now, _cast(self.casting):
            was = now.with_(self.buffers, self.random)
            was.put_back()
            args, targets = self._given(), self.targets if self.plain_loss else ()
            again = self._again(args, targets)
            another, of_many = _another(loss, again), _one_of_many()
            remarks = [said, *another, *self._no_loss(again), *of_many]
            left = {name: weight.grad for name, weight in self.own.named_parameters()}
            left = None if another or of_many else left
            was.put_back()
            path = _own_path(path)
            more = {**self.options, "left": left, "was": was}
            _write(path, self.own, args, self.plain_loss, targets, remarks, **more)
        return path

    def _no_loss(self, out):
        """A remark, where the model's output is no loss and none was named."""
        if self.plain_loss is not None or out.numel() == 1:
            return []
        return ["The model's output is no loss: watch(model, loss=…) has gradients in the trace."]

    def _given(self):
        """The arguments of the call: a tuple, or by name where some were given so."""
        args, kwargs = self.call
        if not kwargs:
            return args
        return dict(inspect.signature(self.own.forward).bind(*args, **kwargs).arguments)

    def _again(self, args, targets):
        with torch.no_grad():
            return _first_tensor(self.both(args, targets)[0])


def _one_of_many():
    """A remark, where other processes had other parts of the batch."""
    number, count = _process()
    if count == 1:
        return []
    return [
        f"This is process {number} of {count}: the gradients here are of its part of the batch. "
        "Those that the loop's optimizer gets are the mean of all processes."
    ]


def _own_path(path):
    """No two processes write one file."""
    number, count = _process()
    stem, suffix = os.path.splitext(path)
    return path if number == 0 or count == 1 else f"{stem}-rank{number}{suffix}"


class _StoppedError(Exception):
    def __init__(self, watch):
        super().__init__("the loop was stopped where the condition holds")
        self.watch = watch


def _another(loss, again):
    """A remark, where what was computed again is not what the loop had."""
    mine, now = (float(x.detach().double().sum()) for x in (loss, again))
    if mine == now or (mine != mine and now != now) or abs(mine - now) <= 1e-4 * abs(mine):
        return []
    return [
        f"The loop's loss was {mine:.6g}; computed again of the same arguments it is {now:.6g}, so "
        "something else than the model, its arguments and its random numbers decides it."
    ]


class _Names(dict):
    """What a condition speaks of, found where it is asked for."""

    def __init__(self, watched, loss):
        super().__init__(_FUNCTIONS)
        self.watched, self.tensor = watched, loss

    def __missing__(self, name):
        if name == "step":
            return self.watched.step
        if name == "loss":
            return float(self.tensor.detach().sum())
        weights = dict(self.watched.own.named_parameters())
        if name == "grad":
            return {key: w.grad for key, w in weights.items() if w.grad is not None}
        return {key: w.detach() for key, w in weights.items()}  # weight


def _all(x):
    """Tensors; of those that are shared among processes what is here: to ask for the whole would be
    to wait for the others, who may not have come to the same question."""
    found = [*x.values()] if isinstance(x, dict) else [x]
    tensors = [t if isinstance(t, torch.Tensor) else torch.tensor(float(t)) for t in found]
    return [t.detach().to_local() if hasattr(t, "to_local") else t for t in tensors]


def _norm(x):
    found = torch._foreach_norm(_all(x))
    return float(torch.stack([one.float().cpu() for one in found]).norm()) if found else 0.0


def _over(test, every=False):
    def ask(x):
        return (all if every else any)(bool(test(t).all() if every else test(t).any())
                                       for t in _all(x))  # fmt: skip

    return ask


_FUNCTIONS = {
    "norm": _norm,
    "largest": lambda x: max((float(t.abs().max()) for t in _all(x) if t.numel()), default=0.0),
    "isnan": _over(torch.isnan),
    "isinf": _over(torch.isinf),
    "isfinite": _over(torch.isfinite, every=True),
    "abs": abs,
}
_IN_CONDITIONS = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add,
    ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.Compare, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq,
    ast.NotEq, ast.Call, ast.Name, ast.Load, ast.Constant, ast.Subscript,
)  # fmt: skip


def _condition(text):
    """What says of a step whether the condition holds. Raises ValueError for one that cannot be
    read."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"when={text!r} is no condition: {error.msg}") from None
    for node in ast.walk(tree):
        if not isinstance(node, _IN_CONDITIONS):
            raise ValueError(f"when={text!r}: {type(node).__name__} is not for conditions")
        if isinstance(node, ast.Name) and node.id not in (*_FUNCTIONS, *_SPOKEN_OF):
            known = ", ".join([*_SPOKEN_OF, *_FUNCTIONS])
            raise ValueError(f"when={text!r}: there is no {node.id!r}; there are {known}")
    code = compile(tree, "when", "eval")
    return lambda names: bool(eval(code, {"__builtins__": {}}, names))


_SPOKEN_OF = ("loss", "step", "grad", "weight")


# -- following it live ----------------------------------------------------------------------------

LINES = 1  # the version of what is said on the socket; docs/pytorch.md describes it
PAST = 4096  # steps whose loss is kept for who comes later
LAG = 1 << 20  # bytes that a follower may be behind; then it is dropped
FOLLOWERS = 8  # at most
KNOCK = 2.0  # seconds in which who comes to a port has to say the password
HOME = ("gradstep", "watch")  # folders, in one that is the user's own
MOST_LAYERS = 24
FREE, SHARE = 0.2, 0.03  # seconds, and of the time, that norms may take while somebody follows
_QUIET = getattr(socket, "MSG_NOSIGNAL", 0)  # who went away must not end the loop by a signal


class _Live:
    """Tells who follows the loop, in lines of JSON. A thread only lets followers in; all else is
    done in the loop's own, where nothing ever waits, and nothing is computed for nobody."""

    @classmethod
    def begin(cls, watched):
        """Listen; None where that cannot be, which is said and hinders nothing."""
        try:
            return cls(watched)
        except OSError as error:
            sys.stderr.write(f"gradstep: this training cannot be followed: {error}\n")
            return None

    def __init__(self, watched):
        self.watched, self.followers = watched, []
        self.arrivals, self.past = collections.deque(), collections.deque(maxlen=PAST)
        self.since = self.spent = 0.0
        self.layers = {}
        self.owner, self.ended = os.getpid(), False
        by_port = watched.follow == "localhost" or not hasattr(os, "geteuid")
        self.door, self.path = (_listen_at_port if by_port else _listen)(self.owner)
        atexit.register(self._remove)
        threading.Thread(target=self._let_in, name="gradstep follow", daemon=True).start()

    # -- the thread -----------------------------------------------------------------------------

    def _let_in(self):
        while not self.ended:
            try:
                wire, _ = self.door.accept()
            except OSError:
                break
            if self.ended or len(self.followers) + len(self.arrivals) >= FOLLOWERS:
                wire.close()
            elif self.door.lets_in(wire):
                follower = _Follower(wire)
                follower.put(self.door.answer)
                follower.send(self._greeting())
                self.arrivals.append(follower)
            else:
                wire.close()
        self.door.close()

    def _greeting(self):
        rank = os.environ.get("RANK") if os.environ.get("WORLD_SIZE", "1") != "1" else None
        title = type(self.watched.own).__name__
        return {
            "gradstep": "watch",
            "version": LINES,
            "title": title if rank is None else f"{title}, rank {rank}",
            "script": _script(),
            "pid": self.owner,
            "torch": str(torch.__version__),
            "step": self.watched.step,
        }

    # -- the loop's own -------------------------------------------------------------------------

    def tell(self, loss):
        """A step is over. Whatever goes wrong here, the loop goes on."""
        try:
            loss = loss.detach()
            loss = loss.clone() if loss.dim() == 0 else loss.sum()
            if self.arrivals:
                self._welcome()
            self.past.append((self.watched.step, loss))
            if self.followers:
                self._tell(loss)
        except Exception as error:
            self._give_up(error)

    def _welcome(self):
        """Those who came meanwhile are told what was: each step's loss."""
        if not self.followers:
            self.since, self.spent = time.monotonic(), 0.0
        losses = [(step, float(loss)) for step, loss in self.past]
        self.past = collections.deque(losses, PAST)
        while self.arrivals:
            follower = self.arrivals.popleft()
            self.followers.append(follower)
            for step, loss in losses:
                follower.send({"step": step, "loss": loss})

    def _tell(self, loss):
        self.followers = [follower for follower in self.followers if follower.is_there()]
        if not self.followers:
            return
        line = {"step": self.watched.step, "loss": float(loss)}
        start = time.monotonic()
        if self.spent <= FREE + SHARE * (start - self.since):
            line["gradient"], line["weight"] = self._norms()
            self.spent += time.monotonic() - start
        self._send(line)

    def tell_saved(self, path, why):
        line = {"saved": os.path.abspath(path), "step": self.watched.step, "why": why}
        try:
            if self.arrivals:
                self._welcome()
            self._send(line)
        except Exception as error:
            self._give_up(error)

    def _send(self, line):
        data = _line(line)
        self.followers = [follower for follower in self.followers if follower.put(data)]

    def _norms(self):
        """The norms of gradients and of weights, by layer."""
        weights = {n: w.detach() for n, w in self.watched.own.named_parameters()}
        if weights.keys() != self.layers.keys():
            self.layers = _layers([*weights])
        grads = {n: w.grad for n, w in self.watched.own.named_parameters() if w.grad is not None}
        return [self._by_layer(tensors) for tensors in (grads, weights)]

    def _by_layer(self, tensors):
        found = {}
        for name, norm in zip(tensors, _norm_of_each(tensors.values())):
            found.setdefault(self.layers[name], []).append(norm)
        return {layer: float(f"{math.hypot(*norms):.7g}") for layer, norms in found.items()}

    def end(self, error):
        """The loop is over, or ended by an error: say so, and let nobody in any more."""
        if os.getpid() != self.owner or self.ended:
            return
        name = "" if error is None or isinstance(error, _StoppedError) else type(error).__name__
        try:
            if self.arrivals:
                self._welcome()
            self._send({"ended": self.watched.step, "error": name})
        except Exception:
            pass  # nobody is left to hear of it
        self._close()

    def _give_up(self, error):
        sys.stderr.write(f"gradstep: this training is followed no longer: {error!r}\n")
        self._close()
        self.watched.live = None

    def _close(self):
        self.ended = True
        self._remove()
        atexit.unregister(self._remove)
        for follower in [*self.followers, *self.arrivals]:
            follower.close()
        self.followers = []
        with contextlib.suppress(OSError):
            self.door.shutdown(socket.SHUT_RDWR)  # accept returns
        self.door.close()

    def _remove(self):
        """A process that was forked off leaves what is its parent's."""
        if os.getpid() == self.owner:
            with contextlib.suppress(OSError):
                os.unlink(self.path)


class _Follower:
    """One who follows: never waited for, and dropped when it is too far behind."""

    def __init__(self, wire):
        wire.setblocking(False)
        self.wire, self.rest = wire, bytearray()

    def send(self, line):
        return self.put(_line(line))

    def put(self, data):
        """Whether it is still followed."""
        self.rest += data
        try:
            while self.rest:
                del self.rest[: self.wire.send(self.rest[:65536], _QUIET)]
        except BlockingIOError:
            if len(self.rest) > LAG:
                return self._hang_up()
        except OSError:
            return self._hang_up()
        return True

    def is_there(self):
        """A follower has nothing to say: what it sends is its end."""
        try:
            gone = len(self.wire.recv(64)) < 64
        except BlockingIOError:
            return True
        except OSError:
            gone = True
        return self._hang_up() if gone else True

    def close(self):
        """What it has not got yet it may have for a moment."""
        with contextlib.suppress(OSError):
            self.wire.settimeout(0.2)
            if self.rest:
                self.wire.sendall(self.rest, _QUIET)
        self._hang_up()

    def _hang_up(self):
        """Also where processes that were forked off hold the socket as well."""
        with contextlib.suppress(OSError):
            self.wire.shutdown(socket.SHUT_RDWR)
        self.wire.close()
        return False


def _line(line):
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


class _Door:
    """Where followers come in. Of a socket in a private folder the system tells who they are."""

    answer = b""

    def __init__(self, listening):
        self.listening = listening
        self.accept, self.close, self.shutdown = (
            getattr(listening, name) for name in ("accept", "close", "shutdown")
        )

    def lets_in(self, wire):
        return _is_ones_own(wire)


class _Port(_Door):
    """Where anybody may knock: who has read the file with the password says it first, and is
    answered with another, so that it knows that we have written it."""

    def __init__(self, listening):
        super().__init__(listening)
        self.password, self.word = secrets.token_hex(32), secrets.token_hex(32)
        self.answer = self.word.encode() + b"\n"

    def lets_in(self, wire):
        wanted, said = self.password.encode() + b"\n", b""
        end = time.monotonic() + KNOCK
        try:
            while len(said) < len(wanted):
                wire.settimeout(max(end - time.monotonic(), 1e-3))
                if not (more := wire.recv(len(wanted) - len(said))):
                    break
                said += more
        except OSError:
            return False
        return hmac.compare_digest(said, wanted)

    @property
    def told(self):
        port = self.listening.getsockname()[1]
        return {"port": port, "password": self.password, "answer": self.word}


def _listen(pid):
    """A socket in the first folder that is ours alone, and where it lies; it has its name only
    when somebody answers there. Raises OSError."""
    problem = OSError("there is no folder for its socket")
    for folder in _folders():
        door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            path = _free_name(folder, pid, "sock")
            door.bind(f"{path}.new")
            os.chmod(f"{path}.new", 0o600)
            door.listen(FOLLOWERS)
            os.rename(f"{path}.new", path)
            return _Door(door), path
        except OSError as error:
            door.close()
            problem = error
    raise problem


def _listen_at_port(pid):
    """A port of this machine, and the file that says how to be let in there. Raises OSError."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # Else others may listen there as well, on Windows.
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        listening.bind(("127.0.0.1", 0))
        listening.listen(FOLLOWERS)
        path, door = _free_name(next(_folders()), pid, "door"), _Port(listening)
        made = os.open(f"{path}.new", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(made, "w") as file:
            json.dump(door.told, file)
        os.replace(f"{path}.new", path)
    except OSError:
        listening.close()
        raise
    return door, path


def _folders():
    """On Windows within the user's profile, which is closed to others."""
    if not hasattr(os, "geteuid"):
        yield os.path.join(os.environ.get("LOCALAPPDATA") or tempfile.gettempdir(), *HOME)
        return
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.path.isdir(runtime):
        yield os.path.join(runtime, *HOME)
    yield os.path.join(tempfile.gettempdir(), f"gradstep-watch-{os.geteuid()}")


def _make_private(folder):
    """Make the folder; raise OSError where it is somebody else's, or open to others."""
    os.makedirs(os.path.dirname(folder), 0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    if not hasattr(os, "geteuid"):
        return
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise OSError(f"{folder} is not a folder of your own that is closed to others")


def _free_name(folder, pid, kind):
    """Where nobody listens, in a private folder; with ".new" behind it nothing is there. Raises
    OSError."""
    _make_private(folder)
    path = next(p for p in _names(folder, pid, kind) if not _answers(p))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{path}.new")
    return path


def _names(folder, pid, kind):
    """Of the first training of a process, the second within it, …"""
    yield os.path.join(folder, f"{pid}.{kind}")
    for number in range(2, 100):
        yield os.path.join(folder, f"{pid}-{number}.{kind}")


def _answers(path):
    """Whether somebody listens there; what a process left that is dead does not."""
    try:
        if path.endswith(".door"):
            with open(path) as file:
                port = int(json.load(file)["port"])
            socket.create_connection(("127.0.0.1", port), KNOCK).close()
            return True
    except (OSError, ValueError, KeyError, TypeError):
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wire:
        wire.setblocking(False)
        try:
            wire.connect(path)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True


def _is_ones_own(wire):
    """Whether the user at the other end is this one, where the system tells."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    _, user, _ = struct.unpack("3i", wire.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return user == os.geteuid()


def _script():
    """What runs: a file, "notebook", or ""."""
    if "ipykernel" in sys.modules:
        return "notebook"
    first = sys.argv[0] if getattr(sys, "argv", None) else ""
    return os.path.abspath(first) if os.path.isfile(first) else ""


def _layers(names):
    """Parameter -> its layer: modules at the deepest level at which they are few enough; where the
    model's own are too many, runs of them."""
    paths = {name: _without_wrappers(name.split(".")) for name in names}
    longest, found = max(map(len, paths.values()), default=1), None
    for depth in range(1, max(longest, 2)):
        level = {name: ".".join(path[:-1][:depth]) or path[-1] for name, path in paths.items()}
        if found is not None and len({*level.values()}) > MOST_LAYERS:
            break
        found = level
    return _in_runs(found)


def _without_wrappers(parts):
    """A parameter's name without what DistributedDataParallel and torch.compile put before it."""
    while len(parts) > 1 and parts[0] in ("module", "_orig_mod"):
        parts = parts[1:]
    return parts


def _in_runs(level):
    each = [*dict.fromkeys(level.values())]
    size = max(-(-len(each) // MOST_LAYERS), 1)
    runs = [each[at : at + size] for at in range(0, len(each), size)]
    titles = {one: run[0] if len(run) == 1 else f"{run[0]} … {run[-1]}"
              for run in runs for one in run}  # fmt: skip
    return {name: titles[one][:100] for name, one in level.items()}


def _norm_of_each(tensors):
    """The norm of each; of what is shared among processes that of the share here, since to ask for
    the whole would be to wait for the others."""
    local = [_plain(tensor) for tensor in tensors]
    found = [0.0] * len(local)
    for device in {tensor.device for tensor in local}:
        places = [i for i, tensor in enumerate(local) if tensor.device == device]
        with torch.no_grad():
            norms = torch._foreach_norm([local[i] for i in places])
            numbers = torch.stack([norm.float() for norm in norms]).tolist()
        for i, number in zip(places, numbers):
            found[i] = number
    return found


def _plain(tensor):
    tensor = tensor.detach()
    tensor = tensor.to_local() if hasattr(tensor, "to_local") else tensor
    tensor = tensor.coalesce().values() if tensor.is_sparse else tensor
    wide = tensor.is_complex() or (tensor.is_floating_point() and tensor.element_size() >= 4)
    return tensor if wide else tensor.float()


# -- tracing --------------------------------------------------------------------------------------


class _Capture:
    """The graph of a step, and what is to be said of how it came about.

    program:   a torch.export.ExportedProgram of ATen operations that change nothing in place.
    functions: what torch.autograd.Functions there were: key -> class and source.
    decisions: the places where the data decided how Python goes on.
    data:      those that ask for a tensor's `.data`.
    was:       what the model and its loss are.
    """

    def __init__(self, step, given, shapes, was):
        self.step, self.decisions, self.was = step, [], was
        try:
            whole = self._export(given, shapes, contextlib.nullcontext())
            again = _has_inner_graphs(whole.graph_module)
        except Exception as error:
            whole, again = error, True
        record = self._decisions(given) if again else None  # which fails where the model does
        try:
            self.program = self._program(given, shapes, whole, record)
        except (MemoryError, torch.OutOfMemoryError):
            raise
        except Exception as error:
            raise _not_traced(error) from error

    def _program(self, given, shapes, whole, record):
        if record is not None and record.answers:
            with _unrolled():
                whole = self._export(given, shapes, _Decisions(record.answers))
            self.decisions = record.places
        elif isinstance(whole, Exception):
            raise whole
        for module in [whole.graph_module, *_inner_graphs(whole.graph_module)]:
            _inline_grad_modes(module)
        table = torch.export.default_decompositions()
        drops = _drops_in_attention(whole.graph_module)
        apart = {op: how for op, how in table.items() if _is_taken_apart(op, drops)}
        with _plain_attention([*self.step.parameters(), *given.leaves]):
            return whole.run_decompositions(apart)

    def _export(self, given, shapes, decisions):
        self.step.own.backwards = []
        data = _Detaching()
        with _Marked(self.step) as marked, _node_meta(), _user_frames(), data, decisions:
            whole = torch.export.export(
                self.step, (given.args, given.targets), strict=False, dynamic_shapes=shapes
            )
        self.functions, self.data = marked.found, [*data.places]
        self.backwards, self.step.own.backwards = self.step.own.backwards, []
        return whole

    def _decisions(self, given):
        """What the model itself is told when it runs, where Python asks what a tensor holds. Told
        so again while it is traced, it goes the way that was taken then."""
        record = _Decisions()
        with record, _unrolled():
            self.step(given.args, given.targets)
        self.was.put_back()
        return record


class NotTracedError(RuntimeError):
    """The model computes what torch.export cannot trace: where, what it is, what to write instead,
    and what PyTorch says."""


# By what PyTorch says.
UNTRACED = (
    (
        r"PackedSequence",
        "a packed sequence cannot be traced: give the layer the padded batch, and take what is at "
        "the end of each sequence (out[range(n), lengths - 1]) or multiply by a mask",
    ),
    (
        r"_ctc_loss",
        "ctc_loss cannot be traced: capture the model with another loss, or make a "
        "torch.library.custom_op of this one, which stays one operation",
    ),
    (
        r"not a known type",
        "what the model gives is of a class that cannot be traced: give tensors, tuples, lists or "
        "dicts, or tell of a dataclass by torch.export.register_dataclass",
    ),
    (
        r"Constraints violated|dynamic_shapes",
        "not every size that is to be any can be: leave dynamic_shapes out, or give what PyTorch "
        "proposes",
    ),
    (
        r"(?i)data-dependent|DataDependent|DynamicOutputShape|unbacked",
        "a size or a way that the numbers in a tensor decide cannot be traced: multiply by a mask, "
        "or use torch.where, in place of indexing with it; give a loss its ignore_index, one_hot "
        "its num_classes, and loops numbers of Python's",
    ),
    (
        r"numpy",
        "what NumPy computes cannot be traced: compute it with torch, or before the model",
    ),
    (
        r"[Ff]ake ?tensor",
        "a tensor made of another outside of PyTorch's operations, or a gradient that the model "
        "itself asks for, cannot be traced: use .detach(), .clone() or torch.stack of a tensor in "
        "place of torch.tensor(…) and the like, and write out a gradient's formula",
    ),
    (
        "",
        "this cannot be traced, though it can be computed: write it in other operations, or make "
        "a torch.library.custom_op of it, which stays one operation",
    ),
)


def _not_traced(error):
    """Whatever went wrong in tracing a model that can be computed, in words for its user."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    packed = any(
        isinstance(value, PackedSequence) for one in frames for value in one.f_locals.values()
    )
    said = f"{type(error).__name__}: {error}"
    signs = f"PackedSequence {said}" if packed else said
    words = next(words for sign, words in UNTRACED if re.search(sign, signs))
    place = _place([(one.f_code.co_filename, one.f_lineno) for one in frames]) or _place(
        [(file, int(line)) for file, line, *_ in FRAME.findall(str(error))]
    )
    return NotTracedError(f"{place or 'In the model'}: {words}.\nPyTorch says: {said}")


def _place(frames):
    """The innermost line of the user's of those from the exporter on: "net.py:12"."""
    own = [i for i, (file, _) in enumerate(frames) if _is_own(file)]
    for file, line in reversed(frames[own[0] if own else 0 :]):
        if not (_is_own(file) or file.startswith(("<", TORCH))):
            return f"{os.path.basename(file)}:{line}"
    return ""


def _node_meta():
    """While it lasts, what `annotate` says of operations stays with them."""
    keep = getattr(torch.fx.traceback, "preserve_node_meta", None)
    return contextlib.nullcontext() if keep is None else keep()


def _is_taken_apart(op, drops):
    names = (*TAKEN_APART, ATTENTION) if drops else TAKEN_APART
    return any(op.name().startswith(("aten::" + name, "aten::_" + name)) for name in names)


def _drops_in_attention(module):
    """Whether attention draws a mask inside of itself: taken apart, the mask is there."""
    nodes = [n for n in module.graph.nodes if ATTENTION in str(n.target)]
    return any(n.kwargs.get("dropout_p", n.args[4] if len(n.args) > 4 else 0) for n in nodes)


def _has_inner_graphs(module):
    """Whether there are others than branches, loops and `with torch.no_grad()`."""
    allowed = (*CONTROL, "wrap_with_set_grad_enabled")
    return any(
        isinstance(node.target, torch._ops.HigherOrderOperator)
        and node.target.name() not in allowed
        for part in [module, *_inner_graphs(module)]
        for node in part.graph.nodes
    )


def _control(target):
    """ "cond", "while_loop" or "scan", where it is one of these; else ""."""
    is_one = isinstance(target, torch._ops.HigherOrderOperator) and target.name() in CONTROL
    return target.name() if is_one else ""


def _inner_graphs(module):
    """Those of all branches and loops, and of those in them."""
    found = []
    for node in module.graph.nodes:
        if _control(node.target):
            getters = [a for a in node.args if isinstance(a, Node) and a.op == "get_attr"]
            found += [getattr(module, getter.target) for getter in getters]
    return found + [inner for one in found for inner in _inner_graphs(one)]


def _inline_grad_modes(module):
    """Put the operations of `with torch.no_grad()` where the block stands, and a detach behind each
    of its results: decomposing forgets the block."""
    for node in list(module.graph.nodes):
        if "wrap_with_set_grad_enabled" not in str(node.target):
            continue
        enabled, inner, *given = node.args
        inner = getattr(module, inner.target)
        _inline_grad_modes(inner)
        with module.graph.inserting_before(node):
            found = _copied(inner, module, given)
            if not enabled:
                found = [_detached(module, one) for one in found]
        for getter in list(node.users):
            getter.replace_all_uses_with(found[getter.args[1]])
            module.graph.erase_node(getter)
        module.graph.erase_node(node)
    module.recompile()


def _copied(inner, module, given):
    """The nodes of `inner` in `module`, where they are inserted; what they give."""
    known, inputs = {}, iter(given)
    for node in inner.graph.nodes:
        if node.op == "placeholder":
            known[node] = next(inputs)
        elif node.op == "output":
            return [known.get(one, one) if isinstance(one, Node) else one for one in node.args[0]]
        elif node.op == "get_attr" and any(u.op == "call_function" for u in node.users):
            known[node] = module.graph.get_attr(_moved(getattr(inner, node.target), module))
        else:
            known[node] = module.graph.node_copy(node, known.__getitem__)
    return []


def _moved(part, module):
    """A free name for a part of another module, which it has from here on."""
    name = next(n for i in range(1 << 20) if not hasattr(module, n := f"inlined_{i}"))
    setattr(module, name, part)
    return name


def _detached(module, result):
    if not isinstance(result, Node):
        return result
    stop = module.graph.call_function(torch.ops.aten.detach.default, (result,))
    stop.meta = dict(result.meta)
    return stop


@contextlib.contextmanager
def _user_frames():
    """While it lasts, operations keep all lines of the user's that led to them: those of a function
    that `forward` calls, and of a loss, as well."""
    tracer, graph = torch.fx.proxy.TracerBase, torch.fx.Graph
    plain, make = getattr(tracer, "_filter_traceback_frames", None), graph.create_node

    def own(self, summary):
        kept = _below_forward(summary)
        return plain(self, summary) if kept is None else type(summary).from_list(kept)

    def create(self, op, target, *args, **kwargs):
        node = make(self, op, target, *args, **kwargs)
        if _control(target) and not node.stack_trace:
            kept = _below_forward(traceback.extract_stack()) or []
            node.stack_trace = "".join(traceback.format_list(kept)) or None
        return node

    if plain is not None:
        tracer._filter_traceback_frames = own
    graph.create_node = create
    try:
        yield
    finally:
        graph.create_node = make
        if plain is not None:
            tracer._filter_traceback_frames = plain


def _below_forward(summary):
    """The lines of the user's below the step that is traced; None where there is none."""
    frames = list(summary)
    entered = [i for i, f in enumerate(frames) if _is_own(f.filename) and f.name == "forward"]
    if not entered:
        return None
    return [
        f
        for f in frames[entered[-1] + 1 :]
        if not (_is_internal(f.filename) or _is_own(f.filename))
    ]


class _Marked:
    """While it lasts, what a torch.autograd.Function of the user's computes bears the name and the
    source of its class, and its backward is traced, of ones, beside the model. PyTorch's own are
    left alone: it looks for what they leave in its graph."""

    def __init__(self, step):
        self.step = step

    def __enter__(self):
        # A classmethod of Python's or, from PyTorch 2.15 on, one of C's: __get__ binds both.
        self.plain, self.found = torch.autograd.Function.__dict__["apply"], {}
        found = self.found

        def plain(cls, *args, **kwargs):
            return self.plain.__get__(None, cls)(*args, **kwargs)

        def apply(cls, *args, **kwargs):
            if f"{cls.__module__}.".startswith("torch."):
                return plain(cls, *args, **kwargs)  # a hook of a module's, a branch, a loop, …
            own = key = _plain_letters(cls.__name__)
            count = 0
            while key in found:
                count += 1
                key = f"{own}_{count}"
            found[key] = {"class": cls.__qualname__, "source": _source(cls)}
            annotate = getattr(torch.fx.traceback, "annotate", None)
            mark = contextlib.nullcontext() if annotate is None else annotate({"function": key})
            with mark:
                context = _Context(args)
                try:
                    out = context.run(cls, args)
                except Exception:
                    return plain(cls, *args, **kwargs)
            if annotate is not None and not kwargs:
                with annotate({"backward": key}):
                    self._trace_backward(cls, key, context, args, out)
            return out

        torch.autograd.Function.apply = classmethod(apply)
        return self

    def _trace_backward(self, cls, key, context, args, out):
        outs = [*out] if isinstance(out, (tuple, list)) else [out]
        try:
            given = [torch.ones_like(o) for o in outs]
            back = cls.backward(context, *given)
        except Exception:
            return  # it stays text
        back = [*back] if isinstance(back, (tuple, list)) else [back]
        pairs = [(a, g) for a, g in zip(args, back) if isinstance(a, torch.Tensor)]
        grads = [g for _, g in pairs if g is not None]
        self.step.own.backwards.append(
            {
                "key": key,
                "counts": (len(pairs), len(outs)),
                "there": [g is not None for _, g in pairs],
                "tensors": [*(a for a, _ in pairs), *outs, *given, *grads],
            }
        )

    def __exit__(self, *_):
        torch.autograd.Function.apply = self.plain


class _Context:
    """What a Function's forward leaves for its backward."""

    def __init__(self, args):
        self.saved_tensors = ()
        self.needs_input_grad = tuple(
            isinstance(a, torch.Tensor) and a.is_floating_point() for a in args
        )

    def run(self, cls, args):
        if cls.setup_context is torch.autograd.Function.setup_context:
            return cls.forward(self, *args)
        out = cls.forward(*args)
        cls.setup_context(self, args, out)
        return out

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def mark_non_differentiable(self, *tensors):
        pass

    def set_materialize_grads(self, value):
        pass


class _Detaching(torch.overrides.TorchFunctionMode):
    """While it lasts, `.data` is `.detach()`, which can be traced, and means the same where nothing
    is written to it; `places` are the lines that ask for it."""

    def __init__(self):
        super().__init__()
        self.places = {}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func == torch.Tensor.data.__get__:  # another object each time
            self.places.setdefault(_caller())
            return args[0].detach()
        return func(*args, **(kwargs or {}))


class _Decisions(torch.overrides.TorchFunctionMode):
    """Writes down what Python was told of tensors' contents, or tells it again."""

    ASKING = frozenset(
        {
            torch.Tensor.__bool__,
            torch.Tensor.item,
            torch.Tensor.tolist,
            torch.Tensor.__int__,
            torch.Tensor.__float__,
            torch.Tensor.__index__,
            torch.Tensor.is_nonzero,
        }
    )

    def __init__(self, answers=None):
        super().__init__()
        self.told = None if answers is None else iter(answers)
        self.answers, self.places = [], []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func not in self.ASKING:
            return func(*args, **(kwargs or {}))
        if self.told is not None:
            return next(self.told)
        self.answers.append(func(*args, **(kwargs or {})))
        self.places.append((_caller(), self.answers[-1]))
        return self.answers[-1]


def _is_own(file):
    return os.path.basename(file) == os.path.basename(__file__)


def _is_internal(file):
    """Whether it is of PyTorch's machinery: not of its layers, which users know."""
    layers = os.path.join(TORCH, "nn", "modules")
    inner = not file.startswith(layers) or os.path.basename(file) == "module.py"
    return file.startswith("<") or (file.startswith(TORCH) and inner)


def _caller():
    """The line of the user's that is being run: "net.py:12"."""
    for frame in inspect.stack()[2:]:
        if not (_is_own(frame.filename) or frame.filename.startswith(TORCH)):
            return f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return "?"


@contextlib.contextmanager
def _unrolled():
    """While it lasts, PyTorch's own branches and loops are Python's."""

    def cond(pred, true_fn, false_fn, operands=()):
        return true_fn(*operands) if bool(pred) else false_fn(*operands)

    def while_loop(cond_fn, body_fn, carried_inputs):
        while bool(cond_fn(*carried_inputs)):
            out = body_fn(*carried_inputs)
            carried_inputs = out if isinstance(out, (tuple, list)) else (out,)
        return tuple(carried_inputs)

    places = [(torch, "cond", cond)]
    if hasattr(torch, "while_loop"):
        places.append((torch, "while_loop", while_loop))
    with contextlib.suppress(ImportError):
        from torch._higher_order_ops import while_loop as module

        if callable(module):
            import torch._higher_order_ops as home

            places.append((home, "while_loop", while_loop))
    before = [(place, name, getattr(place, name)) for place, name, _ in places]
    for place, name, own in places:
        setattr(place, name, own)
    try:
        yield
    finally:
        for place, name, plain in before:
            setattr(place, name, plain)


# -- running ---------------------------------------------------------------------------------------


class _Recorder(Interpreter):
    """Runs a graph with PyTorch, and keeps what each node gave: seen[node's name, output]. Names of
    nodes in a branch or a loop have `prefix` before them; what is computed in a loop, in iteration
    `place` of the loops around, is in `loops`.
    """

    def __init__(self, module, prefix="", seen=None, loops=None, place=()):
        super().__init__(module)
        self.seen = {} if seen is None else seen
        self.loops = _Iterations() if loops is None else loops
        self.prefix, self.place, self.at = prefix, place, None

    def results(self, *args):
        out = self.run(*args, enable_io_processing=False)
        return tuple(out) if isinstance(out, (tuple, list)) else (out,)

    def _inner(self, module, which, place=()):
        prefix = f"{self.prefix}{self.at.name}/{which}/"
        return _Recorder(module, prefix, self.seen, self.loops, (*self.place, *place))

    def _iteration(self, module, which, number, given, constants):
        """What a function of a loop gives in an iteration. given: what is other in each."""
        inner = self._inner(module, which, (number,))
        begun = inner.entering(given, constants) if which == "body" else given
        return inner.results(*begun, *constants)

    def entering(self, given, constants):
        """What the body of a loop begins with: tensors with gradients of their own, in the first
        iteration as well, which may begin with what has none."""
        names = [node.name for node in self.module.graph.nodes if node.op == "placeholder"]
        wanted = torch.is_grad_enabled() and any(
            isinstance(x, torch.Tensor) and x.requires_grad for x in (*given, *constants)
        )
        found = [_entered(x, wanted) for x in given]
        for name, value in zip(names, found):
            self._saw(self.prefix + name, 0, value)
        return found

    def _saw(self, name, output, value, drawn=False):
        if not isinstance(value, (torch.Tensor, bool, int, float)):
            return
        if self.place:
            self.loops.add((name, output), self.place, value, drawn)
        else:
            self.seen[name, output] = value

    def cond(self, predicate, one, other, operands):
        which, taken = ("true", one) if bool(predicate) else ("false", other)
        return self._inner(taken, which).results(*operands)

    def while_loop(self, condition, body, carried, constants=()):
        number = 0
        self.loops.begin(self.prefix + self.at.name)
        while bool(self._iteration(condition, "condition", number, carried, constants)[0]):
            carried = self._iteration(body, "body", number, carried, constants)
            number += 1
            self.loops.begin(self.prefix + self.at.name)
        return tuple(carried)

    def scan(self, body, carried, items, constants=()):
        count, rows = len(carried), []
        for number, row in enumerate(zip(*items)):
            self.loops.begin(self.prefix + self.at.name)
            out = self._iteration(body, "body", number, (*carried, *row), constants)
            carried = out[:count]
            rows.append(out[count:])
        return (*carried, *map(torch.stack, zip(*rows)))

    def call_function(self, target, args, kwargs):
        if kind := _control(target):
            found = getattr(self, kind)(*args, **kwargs)  # what is read inside as well
            alias = torch.ops.aten.alias.default
            return tuple(alias(x) if isinstance(x, torch.Tensor) else x for x in found)
        if target is torch.ops.aten.view.default:  # which was a reshape, perhaps
            return torch.ops.aten.reshape.default(*args, **kwargs)
        if target is torch.ops.aten.copy.default:  # which has no derivative of its own
            return args[1].expand(args[0].shape).to(args[0].dtype)
        if "rrelu_with_noise_functional" in str(target):  # whose derivative reads what was given
            noise = args[1].clone()
            return torch.ops.aten.rrelu_with_noise.default(args[0], noise, *args[2:]), noise
        made = super().call_function(target, args, kwargs)
        if "empty" in str(target) and isinstance(made, torch.Tensor):
            made = made.zero_()  # what happens to lie there is nobody's value
        return made

    def run_node(self, node):
        self.at = node
        out = super().run_node(node)
        if node.op != "call_function" or node.target is operator.getitem:
            return out
        many = isinstance(out, (tuple, list))
        given = {
            id(x) for x in torch.utils._pytree.tree_leaves(self.fetch_args_kwargs_from_env(node))
        }
        kept = [_apart(x, given) for x in (out if many else [out])]
        for i, one in enumerate(kept):
            self._saw(self.prefix + node.name, i, one, _is_drawn(str(node.target)))
        return type(out)(kept) if many else kept[0]


class _Iterations:
    """What was computed in the iterations of loops: rows[node's name, output] are the places (the
    number of the iteration in each loop around, the outermost first) and the values there. Of
    iterations that there is no more room for, only what is drawn at random; `cut` has the loops."""

    def __init__(self):
        self.rows, self.cut, self.room = {}, {}, LOOPS

    def begin(self, loop):
        """Another iteration of a loop."""
        if self.room <= 0:
            self.cut.setdefault(loop)

    def add(self, key, place, value, drawn):
        if self.cut and not drawn:
            return
        size = value.element_size() * value.numel() if isinstance(value, torch.Tensor) else 8
        self.room -= size
        self.rows.setdefault(key, []).append((place, value))


def _entered(value, wanted):
    """Another tensor of the same value, with a gradient of its own where any is wanted."""
    if not isinstance(value, torch.Tensor):
        return value
    found = torch.ops.aten.alias.default(value)
    numbers = found.is_floating_point() or found.is_complex()
    return found.requires_grad_() if wanted and numbers and not found.requires_grad else found


def _apart(result, given):
    """A result that is an argument itself, as another tensor: it has a gradient of its own."""
    if isinstance(result, torch.Tensor) and id(result) in given:
        return torch.ops.aten.alias.default(result)
    return result


def _gradients(of, wrt):
    """d sum(of) / d each of wrt: None where there is none."""
    asked = [t for t in wrt if isinstance(t, torch.Tensor) and t.requires_grad]
    if not (asked and isinstance(of, torch.Tensor) and of.requires_grad):
        return [None] * len(wrt)
    found = dict(zip(map(id, asked), torch.autograd.grad(of.sum(), asked, allow_unused=True)))
    return [_dense(found.get(id(t))) for t in wrt]


def _models_own(out, of, weights):
    """The model's own gradients, or why those cannot be held against the graph's. out: what it
    gives now; of: what the graph gives."""
    if _differ(out.detach().sum(), of.detach().sum(), 0, 1e-5):
        now, then = (float(x.detach().sum()) for x in (out, of))
        why = "it draws numbers that tracing draws in another order, or remembers something"
        return None, f"run again, the model gives {now:.6g} and not {then:.6g}: {why}"
    try:
        return _gradients(out, weights), ""
    except RuntimeError as error:  # as checkpoints of other libraries do
        return None, f"the model refuses autograd.grad ({str(error).splitlines()[0]:.200})"


def _plain_attention(leaves):
    """On a card, attention as it is defined: what is fused there hides what dropout drew, and takes
    few shapes back."""
    on_card = any(isinstance(leaf, torch.Tensor) and leaf.is_cuda for leaf in leaves)
    if not on_card or not hasattr(torch.nn, "attention"):
        return contextlib.nullcontext()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel(SDPBackend.MATH)


# -- writing ---------------------------------------------------------------------------------------


class _Writer:
    """What is to be in the file: `document`, which becomes graph.json, and tensors by member."""

    def __init__(self, capture, paths):
        self.capture, self.program, self.paths = capture, capture.program, paths
        self.tensors, self.sources, self.refs, self.taken = {}, {}, {}, set()
        self.ways = _ways(capture.step.model)
        self.leaves = {}  # placeholder's name -> its tensor, or what else was given
        self.module, self.prefix = self.program.graph_module, ""  # that is being written
        self.around = []  # frames of the branch or the loop that it is in
        self.entries = {}  # node, its name as written -> what is written of it
        self.entering = {}  # input of a function of a loop -> the same
        self.kept = []  # what is written of a tensor, and the key of a member there
        self.document = {
            "format": FORMAT,
            "version": VERSION,
            "framework": {"name": "torch", "version": str(torch.__version__)},
            "title": type(capture.step.model).__name__,
            "inputs": [],
            "nodes": [],
            "outputs": [],
            "symbols": self._symbols(),
            "functions": capture.functions,
            "sources": {},
            "remarks": [
                {"text": _decided(*d)}
                for d in dict.fromkeys((place, str(answer)) for place, answer in capture.decisions)
            ],
        }

    def _symbols(self):
        bounds = self.program.range_constraints.items()
        return {str(s): [_bound(b.lower), _bound(b.upper)] for s, b in bounds if str(s)[0] == "s"}

    # -- running it ---------------------------------------------------------------------------

    def record(self, values, given):
        """Fill the document: run the graph for what each node gives, and the model for what each
        weight's gradient is."""
        state = _random_state()
        self._inputs(given)
        run = _Recorder(self.program.graph_module)
        with _plain_attention(self.leaves.values()):
            outputs = run.run(*self.leaves.values(), enable_io_processing=False)
        for node in self.program.graph.nodes:
            if node.op == "call_function":
                self._node(node, run.seen, self.document["nodes"])
        of = self._outputs(outputs)
        _prune(self.document["nodes"], [result["value"] for result in self.document["outputs"]])
        seen = [*run.seen.items()]
        inside = [value for rows in run.loops.rows.values() for _, value in rows]
        wrt = [*(x for _, x in seen), *self.leaves.values(), *inside]
        gradients = _gradients(of, wrt)
        self._values(seen, gradients, values)
        self._iterations(run.loops, gradients[len(wrt) - len(inside) :], values)
        self._forget_before_functions()
        _set_random_state(state)
        self._weights(given, gradients[len(seen) : len(wrt) - len(inside)], of)

    def _forget_before_functions(self):
        """The graph's gradients before a function with a backward of its own are not the model's:
        none are told there but those of the weights."""
        outputs = [
            ref["ref"] for own in self.capture.functions.values() for ref in own.get("outputs", ())
        ]
        needed = set()
        for node in reversed(self.document["nodes"]):
            if node["name"] in needed or "function" in node:
                needed |= _refs_in(node["args"])
            inside = "function" in node and node["name"] not in outputs
            if inside or node["name"] in needed:
                for output in _told(node):
                    output.pop("gradient", None)
                    output.pop("gradients", None)

    def _values(self, seen, gradients, wanted):
        for ((fx_name, i), value), gradient in zip(seen, gradients):
            entry = self.entries.get(self.refs[fx_name]["ref"]) if fx_name in self.refs else None
            if entry is None or not (wanted or _is_drawn(entry["op"])):
                continue
            self._keep(entry["outputs"][i], "value", value)
            if gradient is not None and wanted:
                self._keep(entry["outputs"][i], "gradient", gradient)

    def _iterations(self, loops, gradients, wanted):
        """What was computed in loops: of each tensor the rows, one for each time it was."""
        rest = iter(gradients)
        for (fx_name, i), rows in loops.rows.items():
            back = [next(rest) for _ in rows]
            one = self._inside(fx_name, i, wanted)
            if one is None or len({_shape(value) for _, value in rows}) > 1:
                continue
            places, values = zip(*rows)
            self._keep(one, "values", _stacked(values))
            self._keep(one, "iterations", torch.tensor(places))
            if wanted and any(g is not None for g in back):
                pairs = zip(back, values)
                none = [torch.zeros_like(v) if g is None else g for g, v in pairs]
                self._keep(one, "gradients", _stacked(none))
        if wanted and loops.cut:
            names = ", ".join(self.refs[key]["ref"] for key in loops.cut if key in self.refs)
            text = f"{names}: the values of its first iterations are in the file; of all there are "
            self.document["remarks"].append({"text": f"{text}more than {LOOPS >> 20} MiB"})

    def _inside(self, fx_name, output, wanted):
        """What is written of a tensor in a loop; None for nothing that is to be told of it."""
        if fx_name in self.entering:
            return self.entering[fx_name] if wanted else None
        entry = self.entries.get(self.refs[fx_name]["ref"]) if fx_name in self.refs else None
        if entry is None or not (wanted or _is_drawn(entry["op"])):
            return None
        return entry["outputs"][output]

    def _weights(self, given, traced, of):
        """The gradients of weights and inputs: those of the model as its user runs it, with its
        hooks and its own backward functions; and a remark where the graph has another."""
        if of is None:
            return
        mine = {self.refs[key]["ref"]: g for key, g in zip(self.leaves, traced) if g is not None}
        weights = dict(self.capture.step.model.named_parameters())
        with _plain_attention(self.leaves.values()):  # so that it draws as the graph does
            out = _first_tensor(self.capture.step(given.args, given.targets)[0])
        results = [one for one in self.document["outputs"] if one["kind"] != "update"]
        if out.requires_grad:
            results[0]["kind"] = "loss"
        elif results[0]["kind"] == "output":
            return
        real, why = _models_own(out, of, [*weights.values()])
        if why:
            real = [mine.get(self.aliases.get(name, name)) for name in weights]
            text = f"{why}; its gradients could not be held against the graph's"
            self.document["remarks"].append({"text": text})
        self._hold(weights, real, mine)
        for entry in self.document["inputs"]:
            if entry["kind"] != "parameter" and entry["name"] in mine:
                self._keep(entry, "gradient", mine[entry["name"]])

    def _hold(self, weights, real, mine):
        """Keep each weight's gradient, and say where the graph's is another."""
        entries = {e["name"]: e for e in self.document["inputs"]}
        scale = max((float(g.abs().max()) for g in real if g is not None and g.numel()), default=0)
        for name, gradient in zip(weights, real):
            entry = entries.get(self.aliases.get(name, name))
            if entry is None:
                continue
            differs = _differ(gradient, mine.get(entry["name"]), scale)
            if differs:
                text = f"{name}: {differs}; {self._blame(entry['name'])}"
                self.document["remarks"].append({"input": entry["name"], "text": text})
            if gradient is not None:
                self._keep(entry, "gradient", gradient)

    def hold_left(self, left):
        """Say where what a loop's `backward` left on a weight is another gradient than the model's
        of the loss."""
        if not any(one["kind"] == "loss" for one in self.document["outputs"]):
            return
        entries = {e["name"]: e for e in self.document["inputs"]}
        found = {}
        for name, gradient in left.items():
            entry = entries.get(self.aliases.get(name, name))
            if entry is not None and entry["trained"]:
                found[name] = self.tensors.get(entry.get("gradient")), _dense(gradient)
        names = _apart_in(found)
        if not names:
            return
        times = _times(found)
        grown = {n: (None if own is None else times * own, one) for n, (own, one) in found.items()}
        if not _apart_in(grown):
            text = f"{times:.6g} times the gradient here: the loop goes backward from a multiple "
            text += "of its loss (a factor, a GradScaler), or adds up that of one batch"
        else:
            text = "another gradient than that here, which is of the loss in this step alone: the "
            text += "loop adds something to its loss, or adds up the gradients of several steps"
        self.document["remarks"].append({"text": f"{_some(names)}: backward left {text}"})

    def _blame(self, name):
        if name in [out.get("target") for out in self.document["outputs"]]:
            return (
                "the model writes to it as it runs (max_norm, or under no_grad): PyTorch's "
                "gradient is that of what was written, and in the graph it ends there"
            )
        classes = sorted({entry["class"] for entry in self.capture.functions.values()})
        if classes:
            return f"{', '.join(classes)} has a backward of its own"
        if any(entry["op"] == "control.while_loop" for entry in self.entries.values()):
            return "the graph's is of what while_loop computed, step by step; or a hook changes it"
        if self.capture.data:
            return f"a hook changes it, or what is written by way of .data: {self.capture.data[0]}"
        return "a hook changes it, or something else that is no operation of the graph"

    # -- the graph ----------------------------------------------------------------------------

    def _inputs(self, given):
        signature = self.program.graph_signature
        specs = {spec.arg.name: spec for spec in signature.input_specs}
        held = {**self.program.state_dict, **self.program.constants}
        names, leaves = iter(given.names), iter(given.leaves)
        self.aliases, by_place = {}, {}
        for node in self.program.graph.nodes:
            if node.op != "placeholder":
                continue
            spec = specs[node.name]
            kind = spec.kind.name.lower()
            kind = "input" if kind == "user_input" else "constant" if "const" in kind else kind
            tensor = next(leaves) if kind == "input" else held[spec.target]
            name = next(names) if kind == "input" else _own_name(spec.target)
            if not isinstance(tensor, torch.Tensor):
                self.refs[node.name] = self._value(tensor)
                self.leaves[node.name] = tensor
                continue
            place = (
                (tensor.data_ptr(), tuple(tensor.shape), tensor.stride())
                if tensor.numel()
                else name
            )
            if kind == "parameter" and place in by_place:
                first = by_place[place]
                self.aliases[name] = self.refs[first]["ref"]
                self.refs[node.name], self.leaves[node.name] = self.refs[first], self.leaves[first]
                self._entry(self.refs[first]["ref"]).setdefault("aliases", []).append(name)
                continue
            by_place[place] = node.name
            own = self._unique(_plain_letters(name) if kind == "input" else self._way(name, "."))
            if own != name:
                self.aliases[name] = own  # names differ by more than their case here
            self._input(node, own, kind, tensor)
            if own != name:
                self._entry(own)["written"] = name

    def _way(self, path, joint):
        """A module's or a weight's name in the letters that a trace has, in parts that `joint` is
        between."""
        parts = path.split(".")
        ways = ((".".join(parts[: i + 1]), part) for i, part in enumerate(parts))
        own = joint.join(self.ways.get(way) or _plain_letters(part) for way, part in ways)
        return re.sub(r"^-", "_", own)

    def _entry(self, name):
        return next(e for e in self.document["inputs"] if e["name"] == name)

    def _input(self, node, name, kind, tensor):
        self.refs[node.name] = {"ref": name}
        # The graph changes no parameter in place, and the copy that there is stays as it is.
        copy = self.capture.was.copy_of(tensor) if kind == "parameter" else None
        leaf = tensor.detach() if copy is not None else tensor.detach().clone()
        leaf.requires_grad_(tensor.requires_grad)
        self.leaves[node.name] = leaf
        entry = {"name": name, "kind": kind, **_type(node.meta["val"], leaf)}
        entry["trained"] = bool(kind == "parameter" and tensor.requires_grad)
        kept = leaf if copy is None else copy
        kept = tensor.detach().clone() if kind == "buffer" else kept  # as runs may change it
        self._keep(entry, "tensor", kept, "tensors")
        self.document["inputs"].append(entry)

    def _node(self, node, seen, nodes):
        """Write one into `nodes`, which are the graph's or those of a branch or a loop."""
        key = self.prefix + node.name
        if node.target is operator.getitem and isinstance(node.args[1], int):
            of = self.refs[self.prefix + node.args[0].name]
            self.refs[key] = {"ref": of["ref"], "output": node.args[1]}
            return
        op = _op_name(node.target)
        if any(part in op for part in CHECKS):
            return
        name = self._unique("/".join([*self._scope(node), op.split(".")[1]]))
        self.refs[key] = {"ref": name}
        value = node.meta.get("val")
        many = value if isinstance(value, (tuple, list)) else [value]
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        entry = {
            "name": name,
            "op": op,
            "args": self._arguments(node, seen),
            "outputs": [_type(v, seen.get((key, i))) for i, v in enumerate(many)],
            "module": stack[-1][1] if len(stack) > 1 else "",
            "frames": self._frames(node),
        }
        custom = node.meta.get("custom") or {}
        marks = {key: custom[key] for key in ("function", "backward") if key in custom}
        self.entries[name] = {**entry, **marks}
        nodes.append(self.entries[name])

    def _arguments(self, node, seen):
        """By the names of the operation's schema, those with their default value included."""
        if kind := _control(node.target):
            pairs = zip(CONTROL[kind], node.args)
            return {key: self._control_argument(node, key, value, seen) for key, value in pairs}
        schema = getattr(node.target, "_schema", None)
        if schema is None:
            names = [f"arg{i}" for i in range(len(node.args))]
            return dict(zip(names, map(self._value, node.args)))
        known = [a for a in schema.arguments if a.name not in PLACEMENT]
        found = {a.name: self._value(a.default_value) for a in known if a.has_default_value()}
        found |= {a.name: self._value(v) for a, v in zip(schema.arguments, node.args)}
        found |= {key: self._value(v) for key, v in node.kwargs.items()}
        return {key: v for key, v in found.items() if key not in PLACEMENT}

    def _control_argument(self, node, key, value, seen):
        """A function of a branch or a loop is the graph of it."""
        if isinstance(value, Node) and value.op == "get_attr":
            return {"graph": self._inner(getattr(self.module, value.target), node, key, seen)}
        return self._value(value)

    def _inner(self, module, of, key, seen):
        """A graph within: what it takes, its nodes, what it gives; it reads nothing else."""
        outer = self.prefix, self.module, self.around
        self.around = self._frames(of)
        self.prefix, self.module = f"{self.prefix}{of.name}/{key}/", module
        inputs, nodes, results = [], [], []
        for node in module.graph.nodes:
            if node.op == "placeholder":
                name = self._unique(node.name)
                self.refs[self.prefix + node.name] = {"ref": name}
                inputs.append({"name": name, **_type(node.meta.get("val"), None)})
                self.entering[self.prefix + node.name] = inputs[-1]
            elif node.op == "call_function":
                self._node(node, seen, nodes)
            elif node.op == "output":
                out = node.args[0]
                results = [
                    self._value(v) for v in (out if isinstance(out, (tuple, list)) else [out])
                ]
        self.prefix, self.module, self.around = outer
        _prune(nodes, results)
        return {"inputs": inputs, "nodes": nodes, "outputs": results}

    def _outputs(self, outputs):
        """Say what comes out; the tensor that is differentiated, or None."""
        of, listed, is_first = None, self.document["outputs"], True
        specs = [*self.program.graph_signature.output_specs]
        count = sum(len(own["tensors"]) for own in self.capture.backwards)
        self._backwards([self.refs.get(getattr(s.arg, "name", None)) for s in specs[-count:]])
        with_loss = self.capture.step.loss is not None
        for spec, tensor in zip(specs[: len(specs) - count], outputs):
            ref = self.refs.get(getattr(spec.arg, "name", None))
            if not isinstance(ref, dict) or "ref" not in ref:
                continue
            if "MUTATION" in spec.kind.name:
                name = _own_name(spec.target)
                kind = {"kind": "update", "target": self.aliases.get(name, name)}
                if "USER" in spec.kind.name:
                    continue
            elif (
                is_first
                and isinstance(tensor, torch.Tensor)
                and (with_loss or (tensor.numel() == 1 and tensor.is_floating_point()))
            ):
                is_loss = with_loss or tensor.requires_grad  # else the model is asked
                kind, of, is_first = {"kind": "loss" if is_loss else "output"}, tensor, False
            else:
                kind, is_first = {"kind": "output"}, False
            listed.append({**kind, "value": ref})
        return of

    def _backwards(self, refs):
        """Say of each Function what its backward is made of; see docs/trace-format.md."""
        rest = iter(refs)
        for own in self.capture.backwards:
            inputs, outputs = own["counts"]
            take = lambda n: [next(rest) for _ in range(n)]  # noqa: E731
            self.capture.functions[own["key"]].update(
                inputs=take(inputs),
                outputs=take(outputs),
                cotangents=take(outputs),
                gradients=[next(rest) if there else None for there in own["there"]],
            )

    def _scope(self, node):
        """The way to the module that computes it, and a function's name: ["layer1/0/conv1"]."""
        if self.prefix:
            return []  # in the scope of the branch or the loop
        stack = list((node.meta.get("nn_module_stack") or {}).values())
        first, _, way = (stack[-1][0] if stack else "model").partition(".")
        if way not in self.ways:
            way = re.sub(r"@\d+", "", way)
        parts = ["loss"] if first != "model" else [self._way(way, "/")] if way else []
        own = (node.meta.get("custom") or {}).get("function")
        return [*parts, *([own] if own else [])]

    def _frames(self, node):
        """Where in the sources it was asked for, the outermost place first."""
        found = []
        for file, line, function, code in FRAME.findall(node.meta.get("stack_trace") or ""):
            if not (_is_own(file) or _is_internal(file)):
                found.append([self._near(file), int(line), function, code.strip()])
        return found or self.around

    def _near(self, file):
        """A file's name without where it lies: as it is seen from here, or in its package."""
        own = os.path.relpath(file)
        _, packaged, rest = file.rpartition(os.sep + "site-packages" + os.sep)
        near = rest if packaged else file if own.startswith("..") else own
        near = "/".join(near.split(os.sep)[-4:])
        if os.path.isfile(file) and os.path.getsize(file) <= SOURCE and not file.startswith(TORCH):
            self.sources.setdefault(near, file)
        return near

    def _value(self, value):
        if isinstance(value, Node):
            return self.refs.get(self.prefix + value.name)
        if isinstance(value, (list, tuple)):
            return [self._value(v) for v in value]
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": str(value)}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value)[6:]}
        if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
            return {"symbol": str(value)}
        return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)

    def _unique(self, name):
        own, count = name, 0
        while own.lower() in self.taken:
            count += 1
            own = f"{name}_{count}"
        self.taken.add(own.lower())
        return own

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


def _packing(data):
    """Trained weights hardly get smaller, and to find that out takes most of the time."""
    parts = [data[at : at + 16384] for at in (0, len(data) // 2, max(len(data) - 16384, 0))]
    if len(data) > 65536 and len(zlib.compress(b"".join(parts), 1)) > 0.8 * 3 * 16384:
        return zipfile.ZIP_STORED
    return zipfile.ZIP_DEFLATED


def _op_name(target):
    """ "aten.linear.default"; "python.mul" for arithmetic on sizes."""
    if isinstance(target, torch._ops.OpOverload):
        return f"{target.namespace}.{target._schema.name.split('::')[1]}.{target._overloadname}"
    if _control(target):
        return f"control.{target.name()}"
    if getattr(target, "__module__", "") in ("_operator", "math"):
        return f"python.{target.__name__}"
    return f"python.{getattr(target, '__name__', str(target))}"


def _prune(nodes, results):
    """Drop arithmetic on sizes that nothing reads but checks, which are not taken along."""
    read = _refs_in(results)
    for node in reversed([*nodes]):
        if node["op"].startswith(("python.", "aten.sym_")) and node["name"] not in read:
            nodes.remove(node)
        else:
            read |= _refs_in(node["args"])


def _told(node):
    """What is written of a node's tensors, and of those in its branches and loops."""
    yield from node["outputs"]
    for value in node["args"].values():
        if isinstance(value, dict) and "graph" in value:
            yield from value["graph"]["inputs"]
            for inner in value["graph"]["nodes"]:
                yield from _told(inner)


def _refs_in(value):
    if isinstance(value, dict):
        own = {value["ref"]} if isinstance(value.get("ref"), str) else set()
        return own.union(*map(_refs_in, value.values()))
    return set().union(*map(_refs_in, value)) if isinstance(value, list) else set()


def _is_drawn(op):
    return any(word in op for word in DRAWN)


def _shape(value):
    return (tuple(value.shape), value.dtype) if isinstance(value, torch.Tensor) else type(value)


def _stacked(values):
    return torch.stack([torch.as_tensor(value).detach() for value in values])


def _first_tensor(out):
    """What is differentiated: what a loss gives, or the first tensor of an output."""
    return next(
        (x for x in torch.utils._pytree.tree_leaves(out) if isinstance(x, torch.Tensor)), None
    )


def _differ(real, traced, scale, relative=RELATIVE):
    """In words, how two gradients differ; "" where they do not."""
    if real is None or traced is None:
        if real is traced or (traced is None and not real.any()):
            return ""
        return (
            "PyTorch has a gradient, the graph none"
            if traced is None
            else ("PyTorch has no gradient, the graph one")
        )
    real, traced = real.detach().double(), traced.detach().double()
    if real.shape != traced.shape or not real.numel():
        return "" if real.shape == traced.shape else "the gradients differ in shape"
    allowed = relative * max(float(real.abs().nan_to_num().max()), 1e-2 * scale)
    apart = float((real - traced).abs().nan_to_num().max())
    if apart <= allowed and bool((real.isnan() == traced.isnan()).all()):
        return ""
    return f"PyTorch's gradient is another than the graph's, by {apart:.2g}"


def _dense(gradient):
    return gradient.to_dense() if gradient is not None and gradient.is_sparse else gradient


def _apart_in(pairs):
    """The names of those pairs of gradients that differ."""
    sizes = [float(g.abs().max()) for g, _ in pairs.values() if g is not None and g.numel()]
    scale = max(sizes, default=0)
    return [name for name, pair in pairs.items() if _differ(*pair, scale)]


def _times(pairs):
    """By what the first gradients of all pairs are multiplied in the second, if by one number."""
    known = [
        (own.detach().double(), one.detach().double())
        for own, one in pairs.values()
        if own is not None and one is not None
    ]
    squared = sum(float(own.square().sum()) for own, _ in known)
    return sum(float((own * one).sum()) for own, one in known) / squared if squared else 1.0


def _some(names, most=6):
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _decided(place, answer):
    return (
        f"{place}: Python asked for a tensor's value ({answer:.40}); this is the way it took then"
    )


def _type(symbolic, real):
    """The element type and the sizes. A size that the data decides is what it was."""
    if not isinstance(symbolic, torch.Tensor):
        kind = {bool: "bool", float: "float64"}.get(type(real), "int64")
        return {"dtype": kind, "shape": []}
    sizes = [_size(d, real, i) for i, d in enumerate(symbolic.shape)]
    return {"dtype": str(symbolic.dtype)[6:], "shape": sizes}


def _size(size, real, axis):
    if isinstance(size, int):
        return size
    free = re.search(r"\bs\d", str(size)) is not None  # or made of one that is, as 4*s0
    return int(real.shape[axis]) if isinstance(real, torch.Tensor) and not free else str(size)


def _array(value):
    tensor = torch.as_tensor(value).detach().cpu().resolve_conj().resolve_neg()
    if tensor.dtype.is_floating_point and tensor.dtype not in (
        torch.float16,
        torch.float32,
        torch.float64,
    ):
        tensor = tensor.float()  # bfloat16 and shorter: NumPy has no such type
    return tensor.contiguous().numpy()


def _ways(model):
    """Of each module, weight and buffer, by its name: the last part of that in the letters that a
    trace has. What is of these already stays; of others that would be called the same in one module
    the later have a number."""
    own = torch.nn.Module  # a model's own methods may take other arguments
    kinds = (own.named_modules, own.named_parameters, own.named_buffers)
    ways = {way for kind in kinds for way, _ in kind(model, remove_duplicate=False) if way}
    found, taken = {}, set()
    for way in sorted(ways, key=lambda way: (way != _plain_letters(way), way)):
        around, _, part = way.rpartition(".")
        own, count = _plain_letters(part), 0
        while own != part and (around, own.lower()) in taken:
            count += 1
            own = f"{_plain_letters(part)}_{count}"
        taken.add((around, own.lower()))
        found[way] = own
    return found


def _plain_letters(text):
    """In the letters that a trace has: "a_b" for "a b"."""
    apart = unicodedata.normalize("NFKD", text)  # a letter and what is above it
    bare = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return "/".join(re.sub(r"[^A-Za-z0-9_.\-]+", "_", part) or "_" for part in bare.split("/"))


def _own_name(target):
    """ "conv1.weight", as the model's user calls it."""
    return re.sub(r"^(model)\.", "", target) if target else ""


def _bound(value):
    return int(value) if str(value).lstrip("-").isdigit() else None


def _source(cls):
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        return ""
