"""Gradstep: a desktop debugger for backpropagation, in scripts and notebooks.

    import gradstep as gs

    net = gs.open("net.pb")      # .gradstep, .pb, .gstrace; in a notebook, its picture
    net.run("loss", {"x": data})
    net.grad("loss", ["w", "b"])
    net.why("loss", "w")
    debugger = net.debug()

The names in `__all__` are the public ones; docs/python.md is about them. Everything below is
private and may change. Importing this package loads nothing that a question does not need: neither
NumPy nor Qt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from gradstep.core.errors import GradstepError
    from gradstep.core.notebook.branch_place import Branch
    from gradstep.core.notebook.debugger import Debugger, Stop
    from gradstep.core.notebook.explained import Explanation
    from gradstep.core.notebook.moment_difference import Comparison
    from gradstep.core.notebook.open_document_session import Session
    from gradstep.core.notebook.tried_fix import Trial

    __version__: str

__all__ = [
    "Branch",
    "Comparison",
    "Debugger",
    "Explanation",
    "GradstepError",
    "Session",
    "Stop",
    "Trial",
    "__version__",
    "capture_jax",
    "capture_torch",
    "debug",
    "open",
    "watch",
]

_HOMES = {
    "Branch": "gradstep.core.notebook.branch_place",
    "Comparison": "gradstep.core.notebook.moment_difference",
    "Debugger": "gradstep.core.notebook.debugger",
    "Explanation": "gradstep.core.notebook.explained",
    "GradstepError": "gradstep.core.errors",
    "Session": "gradstep.core.notebook.open_document_session",
    "Stop": "gradstep.core.notebook.debugger",
    "Trial": "gradstep.core.notebook.tried_fix",
}


def open(
    path: str | os.PathLike[str],
    *,
    trusted: bool = False,
    code: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    place: Mapping[str, str] | None = None,
    memory: int | None = None,
) -> Session:
    """Open a document: Gradstep's own, or a TensorFlow GraphDef, binary or text.

    trusted: whether the document's own Python may run, with your rights; otherwise it runs only if
             you have said so of this very program before (`gradstep trust`).
    code:    a file of Python with the functions and gradients that a graph only names; naming it
             is trusting it.
    device:  where it runs: "cpu", "gpu", "torch:cpu", each with ":native", or "emulate:PROFILE".
    place:   operations and scopes that another device computes, over what the document says:
             {"layer1": "torch:cpu"}; "" takes a placement away.
    memory:  bytes that reading the file may take; 1 GiB by default.
    Raises GradstepError for a file that cannot be read or understood, and a device that is missing.
    """
    from gradstep.core.notebook.error_notes import add_notes
    from gradstep.core.notebook.opening import open_session
    from gradstep.main import Gradstep

    with add_notes():
        return open_session(path, trusted, code, memory, Gradstep().devices(), device, place or {})


def capture_torch(
    model: Any,
    args: Any,
    loss: Any = None,
    targets: Any = (),
    *,
    path: str | os.PathLike[str] | None = None,
    open: bool = False,
    values: bool = True,
    dynamic_shapes: Any = None,
    device: str = "cpu",
    memory: int | None = None,
) -> Session:
    """Open what a PyTorch model computes of `args`, and loss(output, *targets) of it.

    model, args, loss, targets, values, dynamic_shapes: as `save` of the exporter takes them, which
             docs/pytorch.md describes; the model is left as it was.
    path:    where the trace is written (.gstrace); by default among temporary files.
    open:    whether the window opens on it, too.
    device, memory: as in `open`.
    Raises GradstepError where PyTorch is not installed here, and what PyTorch raises itself.
    """
    from gradstep.core.notebook.captured_file import open_window, opened
    from gradstep.core.notebook.error_notes import add_notes
    from gradstep.core.notebook.torch_capture import capture
    from gradstep.main import Gradstep

    with add_notes():
        options = {"values": values, "dynamic_shapes": dynamic_shapes}
        written = capture(model, args, loss, targets, path, options)
        if open:
            open_window(written)
        return opened(written, memory, Gradstep().devices(), device)


def capture_jax(
    f: Callable[..., Any],
    *args: Any,
    wrt: int | Sequence[int] = 0,
    path: str | os.PathLike[str] | None = None,
    open: bool = False,
    values: bool = True,
    device: str = "cpu",
    memory: int | None = None,
) -> Session:
    """Open what a JAX function computes of `args`, and its gradients.

    f, args, wrt, values: as `save` of the exporter takes them, which docs/jax.md describes: `f` as
             jax.grad takes it, and which arguments are trained.
    path:    where the trace is written (.gstrace); by default among temporary files.
    open:    whether the window opens on it, too.
    device, memory: as in `open`.
    Raises GradstepError where JAX is not installed here, and what JAX raises itself.
    """
    from gradstep.core.notebook.captured_file import open_window, opened
    from gradstep.core.notebook.error_notes import add_notes
    from gradstep.core.notebook.jax_capture import capture
    from gradstep.main import Gradstep

    with add_notes():
        written = capture(f, args, wrt, path, values)
        if open:
            open_window(written)
        return opened(written, memory, Gradstep().devices(), device)


def watch(
    model: Any,
    loss: Any = None,
    when: str = "isnan(loss)",
    save: str | os.PathLike[str] = "watched.gstrace",
    *,
    step: int | None = None,
    every: int | None = None,
    stop: bool = False,
    follow: bool | Literal["localhost"] = True,
) -> Any:
    """Around a PyTorch training loop: keep, as a trace, the step at which a condition first holds.

        with gs.watch(model, loss=loss_fn, when="isnan(loss) or norm(grad) > 1e3"):
            …

    It is the exporter's `watch`, which docs/pytorch.md describes. Raises GradstepError where
    PyTorch is not installed here, ValueError for a condition that cannot be read.
    """
    from gradstep.core.capture.exporter_files import load_exporter

    return load_exporter("torch").watch(model, loss, when, save, step, every, stop, follow)


def debug(
    path: str | os.PathLike[str],
    *,
    trusted: bool = False,
    code: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    place: Mapping[str, str] | None = None,
    memory: int | None = None,
) -> Debugger:
    """`open(path).debug()`: a debugger before the first step of what the document runs. The
    arguments are those of `open`."""
    session = open(path, trusted=trusted, code=code, device=device, place=place, memory=memory)
    return session.debug()


def __getattr__(name: str) -> object:
    """The rest of the public names, each loaded when it is first asked for."""
    if name == "__version__":
        from gradstep.core.version import version

        return version()
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'gradstep' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
