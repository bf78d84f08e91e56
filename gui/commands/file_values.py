"""Values from files: what a file holds, or one of the arrays in it, put into a node's place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.graph.suggestions import list_more
from gradstep.core.io.file_errors import inside
from gradstep.gui.commands.restore_variables import is_checkpoint
from gradstep.gui.commands.value_commands import enter_value
from gradstep.gui.model.value_place import ValuePlace, place_of
from gradstep.gui.model.workspace import Workspace

# What each of several arrays is, in words, and what takes it.
Choices = Mapping[str, Callable[[], None]]
_SEVERAL = (".npz", ".safetensors")


def load_value(workspace: Workspace, name: str, path: Path, ask: Callable[[Choices], None]) -> None:
    """Put what a file holds into the place of an operation's value; what a checkpoint holds of that
    name. ask: which one it is to be, where several arrays fit."""
    place = place_of(workspace, workspace.shown[name])
    if path.suffix.lower() in _SEVERAL:

        def found(shapes: Mapping[str, tuple[int, ...]]) -> None:
            _choose(workspace, place, path, shapes, ask)

        def refused(error: GradstepError) -> None:
            workspace.complain(inside(f"{place.words} {name}", error))

        workspace.values.read_shapes(path, found, refused)
        return
    part = f":{name}" if is_checkpoint(path) else ""
    enter_value(workspace, place, f"@{path}{part}")


def _choose(
    workspace: Workspace,
    place: ValuePlace,
    path: Path,
    shapes: Mapping[str, tuple[int, ...]],
    ask: Callable[[Choices], None],
) -> None:
    if len(shapes) < 2:
        enter_value(workspace, place, f"@{path}")
        return
    free = place.with_any_rows().kind if place.rows_are_free else place.kind
    fitting = _fitting(shapes, place.kind) or _fitting(shapes, free)
    takes = {
        f"{name}  {Shape(shapes[name])}": partial(enter_value, workspace, place, f"@{path}:{name}")
        for name in sorted(fitting, key=lambda name: name != place.name)
    }
    if len(takes) > 1:
        ask(takes)
    elif takes:
        next(iter(takes.values()))()
    else:
        workspace.complain(_none_fits(place, path, shapes))


def _fitting(shapes: Mapping[str, tuple[int, ...]], kind: TensorType) -> list[str]:
    """A number alone is that for every element."""
    static = kind.shape.is_static
    return [n for n, shape in shapes.items() if kind.shape.accepts(shape) or (static and not shape)]


def _none_fits(
    place: ValuePlace, path: Path, shapes: Mapping[str, tuple[int, ...]]
) -> GradstepError:
    held = list_more(f"{name} {Shape(shape)}" for name, shape in shapes.items())
    wrong = f"no array in {path.name} fits {place.kind.shape}"
    return inside(f"{place.words} {place.name}", GradstepError(wrong, hint=held))
