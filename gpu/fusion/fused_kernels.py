"""Kernels of CuPy's that compute a whole function each, made when it is first called on such types.

Nothing in them is contracted to a fused multiplication: each number is what CuPy's own functions
give, one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gradstep.gpu.fusion.element import Element
from gradstep.gpu.fusion.kernel_text import KernelText

_NO_WORD = re.compile(r"\W")  # of which no kernel may be called: a lambda is
# As NVIDIA's compiler and AMD's have it.
_NO_FUSED_MULTIPLICATION = ("--fmad=false", "-ffp-contract=off")


class FusedKernels:
    """module: CuPy, or what stands for it."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._made: dict[Any, Callable[..., Any]] = {}

    def __call__(
        self, function: Callable[..., Any], *arrays: Any, out: Any = None, **more: Any
    ) -> Any:
        """`function` of these, by one launch; complex numbers take one for each operation. out: an
        array, or a tuple of them, to write into."""
        given: dict[Any, Any] = dict(enumerate(arrays))
        given.update(more)
        key = (function, *((name, _kind(x)) for name, x in given.items()))
        kernel = self._made.get(key)
        if kernel is None:
            kernel = self._made[key] = self._make(function, given)
        return kernel(given, out)

    def _make(self, function: Callable[..., Any], given: Mapping[Any, Any]) -> Callable[..., Any]:
        arrays = {name: x for name, x in given.items() if _is_array(x)}
        if any(x.dtype.kind == "c" for x in arrays.values()):
            return partial(_one_by_one, function, self._module)
        text, results, is_tuple = written(function, given)
        takes = ", ".join(f"{x.dtype.name} p{n}" for n, x in enumerate(arrays.values()))
        gives = ", ".join(f"{dtype.name} r{n}" for n, dtype in enumerate(results))
        kernel = self._module.ElementwiseKernel(
            takes,
            gives,
            "\n".join(text.lines),
            _NO_WORD.sub("", f"gradstep_{function.__name__}"),
            options=(_NO_FUSED_MULTIPLICATION[_is_hip(self._module)],),
            preamble="\n".join(text.tables),
        )
        names = [*arrays]

        def run(given: Mapping[Any, Any], out: Any) -> Any:
            made = kernel(*(given[name] for name in names), *_places(out))
            return (made,) if is_tuple and len(results) == 1 else made

        return run


def written(
    function: Callable[..., Any], given: Mapping[Any, Any]
) -> tuple[KernelText, list[np.dtype], bool]:
    """The text of the kernel for `function` of what is given, by place or name; the element types
    of its results; and whether these come as a tuple."""
    text, count = KernelText(), 0
    known = dict(given)
    for name, x in given.items():
        if _is_array(x):
            known[name] = Element(text, x.dtype, f"p{count}")
            count += 1
    made = _called(function, text, known)
    results = made if isinstance(made, tuple) else (made,)
    kinds = [x.dtype if isinstance(x, Element) else np.result_type(x) for x in results]
    text.give([*zip(results, kinds, strict=True)])
    return text, kinds, isinstance(made, tuple)


def _is_hip(module: Any) -> bool:
    return bool(getattr(getattr(module.cuda, "runtime", None), "is_hip", False))


def _one_by_one(
    function: Callable[..., Any], module: Any, given: Mapping[Any, Any], out: Any
) -> Any:
    made = _called(function, module, given)
    if out is None:
        return made
    for place, value in zip(
        _places(out), made if isinstance(made, tuple) else (made,), strict=True
    ):
        place[...] = value
    return out


def _places(out: Any) -> tuple[Any, ...]:
    return () if out is None else out if isinstance(out, tuple) else (out,)


def _called(function: Callable[..., Any], xp: Any, given: Mapping[Any, Any]) -> Any:
    in_order = [x for name, x in given.items() if isinstance(name, int)]
    by_name = {name: x for name, x in given.items() if isinstance(name, str)}
    return function(xp, *in_order, **by_name)


def _kind(x: Any) -> Any:
    """What a kernel for it hangs on: the type of an array or of NumPy's number, else the value."""
    return x.dtype if _is_array(x) else (type(x), x)


def _is_array(x: Any) -> bool:
    """Whether it is one, or a number that has a type: what a kernel is given at each launch."""
    return hasattr(x, "dtype")
