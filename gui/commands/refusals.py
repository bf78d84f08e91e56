"""Commands that tell the user why they cannot be done."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from gradstep.core.errors import GradstepError
from gradstep.gui.model.workspace import Workspace

P = ParamSpec("P")
R = TypeVar("R")


def says_why(
    command: Callable[Concatenate[Workspace, P], R],
) -> Callable[Concatenate[Workspace, P], R | None]:
    """A command whose GradstepError becomes a message to the user."""

    @wraps(command)
    def said(workspace: Workspace, /, *args: P.args, **kwargs: P.kwargs) -> R | None:
        try:
            return command(workspace, *args, **kwargs)
        except GradstepError as error:
            workspace.complain(error)
            return None

    return said
