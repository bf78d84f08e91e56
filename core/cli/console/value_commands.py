"""The console's commands that look at values and gradients as of now."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.cli.console.console_command import ConsoleCommand, Reply
from gradstep.core.cli.console.console_picture import picture_of
from gradstep.core.cli.output.command_output import tensor_object, tensor_text
from gradstep.core.cli.output.jacobian_text import jacobian_object, jacobian_text
from gradstep.core.data.array_files import Reading
from gradstep.core.data.value_text import typed_value
from gradstep.core.debug.history.program_tensors import find_gradients, find_tensor
from gradstep.core.debug.watches import watch
from gradstep.core.document.watch_edits import names_tensor
from gradstep.core.engine.run.variable_map import variables
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import TensorRef, unknown_name
from gradstep.core.host.jacobian_answers import find_jacobian

if TYPE_CHECKING:
    from gradstep.core.cli.console.console import Console

_OF = " of "
_WRITTEN = re.compile(r"[^\w./:<>-]")  # what is in expressions, and in no name


def print_value(console: Console, rest: str) -> Reply:
    """`print NAME`: the value as of now; `print grad NAME`: its gradient; `print EXPRESSION`: what
    it is."""
    asked, _, name = rest.partition(" ")
    if asked in ("grad", "gradient") and name:
        return gradient(console, name.strip())
    if rest and not names_tensor(console.session.program.graph, rest):
        return _expression(console, rest)
    ref = _tensor(console, rest, "print")
    return _reply(console, rest, ref)


def _expression(console: Console, text: str) -> Reply:
    """What is no tensor's name. Raises the error of a tensor's name where it could be one."""
    if not _WRITTEN.search(text):
        find_tensor(console.session.program, text)
    [found] = watch(console.session, [text], 0)
    if found.error is not None:
        raise found.error
    if isinstance(found.value, tuple):
        return Reply(f"{text}  {found.value}", {"name": text, "value": [*found.value]})
    array = None if found.value is None else np.asarray(found.value)
    return _value(text, array, "not computed yet")


def gradient(console: Console, rest: str) -> Reply:
    """`gradient NAME [of LOSS]`: the gradient with respect to a tensor as of now; where several
    things are differentiated, that of each."""
    name, _, loss = rest.partition(_OF)
    ref = _tensor(console, name.strip(), "gradient")
    held = find_gradients(console.session.program, ref, loss.strip())
    if not held:
        return _value(f"∂{ref.short}", None, "None: no gradient flows there")
    if len(console.session.program.losses) == 1:
        return _reply(console, f"∂{ref.short}", *held.values())
    replies = {of: _reply(console, f"d {of} / d {ref.short}", g) for of, g in held.items()}
    first = next(iter(replies.values()))
    gradients = {of: reply.data["value"] for of, reply in replies.items()}
    data = {**first.data, "name": f"∂{ref.short}", "gradients": gradients}
    return Reply("\n".join(reply.text for reply in replies.values()), data)


def _tensor(console: Console, name: str, command: str) -> TensorRef:
    if not name:
        raise GradstepError(
            f"{command} needs the name of a tensor", kind="ValueError", hint=f"{command} NAME"
        )
    return find_tensor(console.session.program, name)


def _reply(console: Console, name: str, ref: TensorRef) -> Reply:
    """What is known of a tensor, under this name."""
    frame = console.session.view()
    state = frame.state(ref)
    if state is not None:  # of a queue
        return Reply(f"{name}  {state}", {"name": name, "value": tensor_object(state.said())})
    if (dead := frame.dead(ref)) is not None:
        data = {"name": name, "value": None, "dead": dead.reason}
        return Reply(f"{name}  {dead.text}", data)
    array = frame.value(ref)
    gone = array is None and frame.is_dropped(ref)
    return _value(name, array, "not kept any more" if gone else "not computed yet")


def _value(name: str, array: np.ndarray | None, otherwise: str) -> Reply:
    text = otherwise if array is None else tensor_text(array)
    data = {"name": name, "value": tensor_object(array)}
    return Reply(f"{name}  {text}", data, picture=picture_of(array))


def assign(console: Console, rest: str) -> Reply:
    """`set NAME VALUE`: a variable has another value from here on; VALUE as after --feed."""
    name, _, text = rest.partition(" ")
    if not text.strip():
        raise GradstepError(
            "set needs a variable and a value", kind="ValueError", hint="set w [1, 2]"
        )
    there = variables(console.session.program.graph)
    if name not in there:
        raise unknown_name(name, there)
    attrs = there[name].attrs
    kind = TensorType(attrs["dtype"], attrs["shape"])
    value = typed_value(text.strip(), kind, name, Reading())
    return console.acts.assign(name, value, lambda: print_value(console, name))


def jacobian(console: Console, name: str) -> Reply:
    """`jacobian NODE`: each element of its outputs by each of its inputs, by its rule and beside
    it by finite differences."""
    if not name:
        raise GradstepError(
            "jacobian needs the name of an operation", kind="ValueError", hint="jacobian NODE"
        )
    found, buffers = find_jacobian(console.session, name)
    return Reply(jacobian_text(found, buffers), jacobian_object(found, buffers))


VALUE_COMMANDS = (
    ConsoleCommand("print", print_value, "NAME or EXPRESSION: its value as of now", ("p",)),
    ConsoleCommand(
        "gradient",
        gradient,
        "NAME [of LOSS]: the gradient with respect to it as of now",
        ("g", "grad"),
    ),
    ConsoleCommand(
        "jacobian",
        jacobian,
        "NODE: each of its outputs by each of its inputs, and whether it is so",
    ),
    ConsoleCommand("set", assign, "VARIABLE VALUE: what it has from here on, such as [1, 2]"),
)
