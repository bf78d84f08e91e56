"""Numbers of a run that are followed from run to run: expressions over its values at its end."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.expression import Scope, Unrecorded, Values, parse
from gradstep.core.debug.breaks.expression_names import find_mentions, names_a_tensor
from gradstep.core.debug.breaks.missing_number import NOT_THERE
from gradstep.core.debug.history.fast_runs import Fetch, Fetched, RunStart
from gradstep.core.debug.history.frame import Losses
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.number_kinds import kind_of

Gradients = Mapping[TensorRef, TensorRef]
SUBJECT = "loss"  # as people call what `value` means in a training


@dataclass(frozen=True)
class Holders:
    """Where gradients are held, as of a Frame."""

    gradients: Gradients
    losses: Losses

    def of(self, ref: TensorRef, loss: str = "") -> TensorRef | None:
        """The tensor that holds the gradient of `ref`; None where there is none."""
        return (self.losses.get(loss, {}) if loss else self.gradients).get(ref)


@dataclass(frozen=True)
class FetchedValues(Unrecorded):
    """What an expression reads, of tensors that were fetched."""

    values: Fetched
    holders: Holders

    def value(self, ref: TensorRef) -> np.ndarray | None:
        return self.values.get(ref)

    def gradient(self, ref: TensorRef, of: str = "") -> np.ndarray | None:
        held = self.holders.of(ref, of)
        return None if held is None else self.values.get(held)

    def update(self, ref: TensorRef) -> np.ndarray | None:
        now, then = self.values.get(ref), self.values.get(RunStart(ref))
        return None if now is None or then is None else now - then


@dataclass(frozen=True)
class Curves:
    """computed: the tensors that a run computes. texts: the expressions; until: one that ends it
    all where it holds, "" for none; subject: what `value` and `loss` mean in them. is_variable:
    whether a tensor of `computed` is a variable, or stands for one.

    Raises GradstepError for what cannot be read, and names no tensor that a run computes."""

    computed: Container[TensorRef]
    holders: Holders
    texts: Sequence[str] = ()
    until: str = ""
    subject: TensorRef | None = None
    is_variable: Callable[[TensorRef], bool] = lambda ref: False

    def __post_init__(self) -> None:
        for text in (*self.texts, *filter(None, [self.until])):
            _require_of_any_run(text)
        for table, ref in self._mentions:
            if not self._read(table, ref):
                raise _missing(f"runs compute no gradient of '{ref.short}'", ref)
        for fetch in self.fetches:
            ref = fetch.tensor if isinstance(fetch, RunStart) else fetch
            if ref not in self.computed:
                raise _missing(f"runs do not compute '{ref.short}'", ref)
            if isinstance(fetch, RunStart) and not self.is_variable(ref):
                raise _no_variable(ref)

    @cached_property
    def fetches(self) -> tuple[Fetch, ...]:
        """What they read."""
        found: list[Fetch] = [] if self.subject is None else [self.subject]
        for table, ref in self._mentions:
            found += self._read(table, ref)
        return tuple(dict.fromkeys(found))

    @property
    def _mentions(self) -> list[tuple[str, TensorRef]]:
        return [mention for text in (*self.texts, self.until) for mention in find_mentions(text)]

    def read(self, values: Values, wrong: dict[str, GradstepError] | None = None) -> list[float]:
        """The number that each is; NOT_THERE where it is not computed. One that is several numbers,
        or cannot be computed, is NOT_THERE as well, and noted in `wrong`. Raises GradstepError for
        such where there is no `wrong`."""
        if not wrong:  # else one that is wrong is mostly so in the next run, too
            try:
                arrays = self.arrays(values)
                return [_number(*found) for found in zip(self.texts, arrays, strict=True)]
            except GradstepError:
                if wrong is None:
                    raise
        return self._read_each(values, wrong)

    def _read_each(self, values: Values, wrong: dict[str, GradstepError]) -> list[float]:
        """The same, one by one."""
        numbers = [NOT_THERE] * len(self.texts)
        with np.errstate(all="ignore"):
            for place, (text, term) in enumerate(zip(self.texts, self._terms, strict=True)):
                try:
                    numbers[place] = _number(text, term(values))
                except GradstepError as error:
                    wrong.setdefault(text, error)
        return numbers

    def arrays(self, values: Values) -> list[Any]:
        """What each is, of whatever shape; None where it is not computed. Raises GradstepError."""
        if self._plain is not None:  # nothing is computed that NumPy could warn of, at any step
            return [values.value(ref) for ref in self._plain]
        with np.errstate(all="ignore"):
            return [term(values) for term in self._terms]

    def ends(self, values: Values) -> bool:
        """Whether it is time to stop. Raises GradstepError where that cannot be told."""
        return bool(self.until) and parse(self.until, SUBJECT).holds(Scope(values, self.subject))

    @cached_property
    def _terms(self) -> list[Callable[[Values], Any]]:
        return [*map(self._term, self._tensors, self.texts)]

    @cached_property
    def _plain(self) -> list[TensorRef] | None:
        """The tensors whose values they are; None where something is computed."""
        found = [ref for ref in self._tensors if ref is not None]
        return found if len(found) == len(self.texts) else None

    @cached_property
    def _tensors(self) -> list[TensorRef | None]:
        """Of each text the tensor whose value it is, as most are; None where it is computed."""
        return [_tensor_of(text) for text in self.texts]

    def _term(self, ref: TensorRef | None, text: str) -> Callable[[Values], Any]:
        if ref is not None:
            return lambda values: values.value(ref)
        expression = parse(text, SUBJECT)
        return lambda values: expression.evaluate(Scope(values, self.subject), guarded=True)

    def _read(self, table: str, ref: TensorRef) -> list[Fetch]:
        if table == "update":
            return [ref, RunStart(ref)]
        held = ref if table == "x" else self.holders.of(ref)
        losses = (of.get(ref) for of in self.holders.losses.values()) if table == "grad" else ()
        return [found for found in (held, *losses) if found is not None]


def _require_of_any_run(text: str) -> None:
    """Raise GradstepError for what cannot be read, and for what only recorded runs have."""
    for name in sorted(parse(text, SUBJECT).recorded):
        raise GradstepError(
            f"cannot follow '{text}': '{name}' is of runs that are recorded",
            kind="ExpressionError",
            hint="leave it out: curves show what was before, and steps are counted elsewhere",
        )


def _missing(message: str, ref: TensorRef) -> GradstepError:
    hint = "fetch it, or follow something that is computed"
    return GradstepError(message, kind="KeyError", node=ref.op, hint=hint)


def _no_variable(ref: TensorRef) -> GradstepError:
    hint = f'name a variable, or write x["{ref.short}"] for the value'
    return GradstepError(
        f"'{ref.short}' is no variable, so nothing updates it",
        kind="KeyError",
        node=ref.op,
        hint=hint,
    )


def _tensor_of(text: str) -> TensorRef | None:
    if not names_a_tensor(text):
        return None
    [(table, ref), *_] = find_mentions(text)
    return ref if table == "x" else None


def _number(text: str, value: Any) -> float:
    if value is None:
        return NOT_THERE
    kind = type(value)
    if kind is np.float64 or (kind is np.ndarray and not value.ndim and value.dtype.char in "fd"):
        return float(value)  # as nearly all are
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if kind_of(array.dtype) not in "biufc":
        raise GradstepError(
            f"'{text}' is no number, and a curve has one at each step",
            kind="TypeError",
            hint="follow a number",
        )
    if array.size != 1:
        raise GradstepError(
            f"'{text}' is {array.size} numbers, and a curve has one at each step",
            kind="ValueError",
            hint=f"write mean({text}), norm({text}) or {text}[0]",
        )
    number = array.item()
    return number.real if isinstance(number, complex) else float(number)
