"""An optimizer of a document as lines of a TensorFlow script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.requests import loss_of, trained_variables
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.io.script.script_settings import applying_lines, bending_lines, rate_lines
from gradstep.core.train.optimizers import OPTIMIZERS
from gradstep.core.train.training_settings import read_settings

_FLAGS = ("use_nesterov", "centered")  # hyper-parameters that TensorFlow takes as True or False


@dataclass(frozen=True)
class TrainingStep:
    """lines: what makes the operation; name: the Python variable that holds it; enabled: whether a
    run is to execute it."""

    lines: tuple[str, ...]
    name: str
    enabled: bool


def training_steps(document: Document) -> list[TrainingStep]:
    """One for each optimizer. Raises GradstepError for a variable that the script does not make,
    having no value to start with."""
    return [_step(document, number, each) for number, each in enumerate(document.optimizers)]


def _step(document: Document, number: int, optimizer: Optimizer) -> TrainingStep:
    name = "train" if number == 0 else f"train_{number}"
    wanted = optimizer.name or "train"
    if optimizer.schedule or optimizer.clip or optimizer.decay:
        return _bent_step(document, name, wanted, optimizer)
    made = f"{name} = tf1.train.{optimizer.type}Optimizer({', '.join(_arguments(optimizer))})"
    of = [f"tensor({ref.short!r})" for ref in loss_of(document, optimizer)]
    wrt = [_variable(document, ref) for ref in trained_variables(document, optimizer)]
    stops = sorted(ref.short for ref in document.request.stops)
    if len(of) == 1 and not stops and not optimizer.scales:
        call = f"{made}.minimize({of[0]}, var_list=[{', '.join(wrt)}], name={wanted!r})"
        return TrainingStep((call,), name, optimizer.enabled)
    found = f"{name}_gradients"
    lines = (
        f"{name}_variables = [{', '.join(wrt)}]",
        f"{found} = tf1.gradients([{', '.join(of)}], {name}_variables{_stopping(stops)})",
        *(_scaling(name, optimizer) if optimizer.scales else ()),
        f"{made}.apply_gradients(zip({found}, {name}_variables), name={wanted!r})",
    )
    return TrainingStep(lines, name, optimizer.enabled)


def _bent_step(document: Document, name: str, wanted: str, optimizer: Optimizer) -> TrainingStep:
    """With a schedule, clipping or weight decay, each as a line or two of TensorFlow."""
    settings = read_settings(optimizer.schedule, optimizer.clip, optimizer.decay)
    of = [f"tensor({ref.short!r})" for ref in loss_of(document, optimizer)]
    wrt = [_variable(document, ref) for ref in trained_variables(document, optimizer)]
    stops = sorted(ref.short for ref in document.request.stops)
    made = f"{name}_optimizer = tf1.train.{optimizer.type}Optimizer"
    found, variables = f"{name}_gradients", f"{name}_variables"
    lines = [
        f"{variables} = [{', '.join(wrt)}]",
        *rate_lines(name, wanted, settings.schedule, optimizer.hyper.get("learning_rate", 0.001)),
        f"{found} = tf1.gradients([{', '.join(of)}], {variables}{_stopping(stops)})",
        *(_scaling(name, optimizer) if optimizer.scales else ()),
        *bending_lines(name, settings),
        f"{made}({', '.join(_arguments(optimizer, _rate_of(name, optimizer)))})",
        *applying_lines(name, wanted, settings),
    ]
    return TrainingStep(tuple(lines), name, optimizer.enabled)


def _rate_of(name: str, optimizer: Optimizer) -> str:
    """All have one, if not said, by default."""
    return f"{name}_rate" if "learning_rate" in OPTIMIZERS[optimizer.type] else ""


def _scaling(name: str, optimizer: Optimizer) -> tuple[str, ...]:
    found = f"{name}_gradients"
    return (
        f"{name}_scales = {dict(optimizer.scales)!r}",
        f"{found} = [g if g is None else "
        f"tf.math.scalar_mul({name}_scales.get(v.op.name, 1.0), g) "
        f"for g, v in zip({found}, {name}_variables)]",
    )


def _stopping(stops: Iterable[str]) -> str:
    listed = ", ".join(f"tensor({name!r})" for name in stops)
    return f", stop_gradients=[{listed}]" if listed else ""


def _arguments(optimizer: Optimizer, rate: str = "") -> Iterator[str]:
    """rate: what stands for the learning rate; "" for its number."""
    if rate:
        yield f"learning_rate={rate}"
    for name, value in optimizer.hyper.items():
        if rate and name == "learning_rate":
            continue
        yield f"{name}={bool(value) if name in _FLAGS else value!r}"


def _variable(document: Document, ref: TensorRef) -> str:
    if ref.op not in document.initial:
        raise GradstepError(
            f"'{ref.op}' has no initial value, so a script cannot train it",
            kind="ValueError",
            node=ref.op,
            hint="give it one",
        )
    return f"variable({ref.op!r})"
