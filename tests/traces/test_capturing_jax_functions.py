"""gradstep.capture_jax, where JAX and Gradstep are in one Python; and where JAX is not."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradstep
from gradstep.core.errors import GradstepError


def test_where_jax_is_not_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "gradstep_jax", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(GradstepError, match="jax is not installed in this Python") as caught:
        gradstep.capture_jax(lambda x: x, 1.0)
    assert caught.value.hint == (
        "where it is, save what `gradstep capture jax` prints as gradstep_jax.py"
    )


def loss(params: Any, x: Any, labels: Any) -> Any:
    import jax

    logits = jax.nn.relu(x @ params["w"] + params["b"]) @ params["v"]
    return -(jax.nn.log_softmax(logits) * jax.nn.one_hot(labels, 3)).sum(1).mean(), logits


def arguments() -> tuple[Any, ...]:
    drawn = np.random.default_rng(2)
    shapes = {"w": (4, 5), "b": (5,), "v": (5, 3)}
    params = {name: drawn.normal(size=s).astype(np.float32) for name, s in shapes.items()}
    return params, drawn.normal(size=(6, 4)).astype(np.float32), np.arange(6) % 3


def test_a_function_is_captured_opened_and_differentiated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jax = pytest.importorskip("jax")
    started: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda argv, **more: started.append(argv))
    file, args = tmp_path / "loss.gstrace", arguments()
    found = gradstep.capture_jax(loss, *args, wrt=(0, 1), path=file, open=True)
    wanted, by_x = jax.grad(lambda *a: loss(*a)[0], argnums=(0, 1))(*args)
    gradients = found.grad()
    assert {*gradients} == {"params/w", "params/b", "params/v", "x"}
    for name, gradient in wanted.items():
        np.testing.assert_allclose(gradients[f"params/{name}"], gradient, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gradients["x"], by_x, rtol=1e-5, atol=1e-6)
    assert [argv[-1] for argv in started] == [str(file)]


def test_it_lies_among_temporary_files_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax")
    found = gradstep.capture_jax(lambda x: (x * x).sum(), np.arange(3.0, dtype=np.float32))
    np.testing.assert_array_equal(found.grad()["x"], [0, 2, 4])
