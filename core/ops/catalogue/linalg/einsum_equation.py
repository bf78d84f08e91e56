"""An einsum equation, and what the shapes of its operands must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gradstep.core.errors import GradstepError
from gradstep.core.ops.declare.shape_rules import brackets

ELLIPSIS = "..."
_AXES = "name each axis of an operand with one letter; ... stands for those that broadcast"

# A letter, or for an axis that `...` stands for its number counted from the last: 1, 2, …
Label = str | int
Labels = tuple[Label, ...]


@dataclass(frozen=True)
class Equation:
    """`ij,jk->ik` taken apart; nothing is known of shapes yet."""

    text: str
    inputs: tuple[str, ...]
    output: str

    def labels(self, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
        """The labels of all axes, of each input and of the output, for inputs of these ranks."""
        hidden = [self._hidden(i, rank) for i, rank in enumerate(ranks)]
        most = max(hidden, default=0)
        if most and ELLIPSIS not in self.output:
            raise GradstepError(
                f"Shape must be at most rank 0 but is rank {most} for einsum equation "
                f"'{self.text}' without ellipsis (...) in the output subscripts where input(s) "
                "have non-empty broadcasting shape",
                hint="write ... on the right, too",
            )
        pairs = zip(self.inputs, hidden, strict=True)
        return [_spelled(subscript, count) for subscript, count in pairs], _spelled(
            self.output, most
        )

    def _hidden(self, index: int, rank: int) -> int:
        """How many axes `...` stands for in input `index`."""
        subscript = self.inputs[index]
        named = len(subscript.replace(ELLIPSIS, ""))
        open_ended = ELLIPSIS in subscript
        if rank < named or (rank > named and not open_ended):
            least = "at least " if open_ended else ""
            raise GradstepError(
                f"Expected input {index} to have rank {least}{named} but got: {rank}", hint=_AXES
            )
        return rank - named


def _spelled(subscript: str, hidden: int) -> Labels:
    before, _, after = subscript.partition(ELLIPSIS)
    numbers = range(hidden, 0, -1) if ELLIPSIS in subscript else ()
    return (*before, *numbers, *after)


def parse_equation(text: str, count: int) -> Equation:
    """The equation for `count` operands. Raises GradstepError."""
    sides = text.split("->")
    if len(sides) != 2:
        raise _refused(f"Expecting exactly one '->' in einsum equation: {text}")
    inputs = tuple(sides[0].split(","))
    if len(inputs) > 2:
        raise _refused(
            f"Expecting 1 or 2 input subscripts in equation '{text}' but got: {len(inputs)}",
            "tf.einsum makes several Einsum ops of such an equation",
        )
    if len(inputs) != count:
        raise _refused(f"Expected {len(inputs)} inputs for equation {text} but got: {count}")
    for subscript in (*inputs, sides[1]):
        _check_periods(subscript, "output" if subscript is sides[1] else "input")
    for label in sides[1].replace(ELLIPSIS, ""):
        if label not in sides[0].replace(ELLIPSIS, ""):
            raise _refused(
                f"Einsum output subscripts for equation '{text}' has label '{label}' which is not "
                "present in the input subscripts"
            )
    return Equation(text, inputs, sides[1])


def _check_periods(subscript: str, side: str) -> None:
    periods = subscript.count(".")
    if periods and (periods != 3 or ELLIPSIS not in subscript):
        raise _refused(
            f"Expected at most one ellipsis (...), but found {periods} periods (.) in the {side} "
            f"subscript: {subscript}"
        )


def _refused(message: str, hint: str = _AXES) -> GradstepError:
    return GradstepError(message, hint=hint)


def sizes_of_labels(
    labels: Sequence[Labels], shapes: Sequence[Sequence[int | None]]
) -> Mapping[Label, int | None]:
    """The size of each label, as far as it is known; those of `...` broadcast."""
    sizes: dict[Label, int | None] = {}
    for own, shape in zip(labels, shapes, strict=True):
        for axis, (label, size) in enumerate(zip(own, shape, strict=True)):
            known = sizes.get(label, size)
            if None not in (known, size) and known != size and not _broadcast(label, known, size):
                wrong = isinstance(label, int)
                raise _not_broadcasting(shapes) if wrong else _wrong_size(axis, shape, known, size)
            sizes[label] = _together(label, known, size)
    return sizes


def _broadcast(label: Label, *sizes: int | None) -> bool:
    return isinstance(label, int) and 1 in sizes


def _together(label: Label, a: int | None, b: int | None) -> int | None:
    """What two sizes of one label say; 1 says nothing where it may broadcast."""
    if _broadcast(label, a, b):
        return b if a == 1 else a
    return b if a is None else a


def _not_broadcasting(shapes: Sequence[Sequence[int | None]]) -> GradstepError:
    texts = [brackets(shape) for shape in shapes]
    return _refused(
        f"Invalid broadcasting dimensions: {' vs. '.join(texts)}",
        "the axes that ... stands for broadcast: sizes must be equal or 1",
    )


def _wrong_size(
    axis: int, shape: Sequence[int | None], known: int | None, found: int | None
) -> GradstepError:
    return _refused(
        f"Expected dimension {known} at axis {axis} of the input shaped {brackets(shape)} "
        f"but got dimension {found}",
        "a letter is the same size wherever it stands",
    )
