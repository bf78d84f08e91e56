"""gradstep capture, and what the commands make of a trace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.cli.conftest import Cli
from tests.traces.trace_archive import traces

ASSETS = Path(__file__).parents[3] / "assets"


def exporter(framework: str) -> Path:
    return ASSETS / "capture" / f"gradstep_{framework}.py"


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_the_exporter_is_printed_whole(cli: Cli, tmp_path: Path, framework: str) -> None:
    text = exporter(framework).read_text(encoding="utf-8")
    assert cli("capture", framework).out == text
    found = cli("capture", framework, "--json").json
    assert found["name"] == f"gradstep_{framework}.py"
    assert found["source"] == text
    out = tmp_path / "mine.py"
    cli("capture", framework, "--out", out)
    assert out.read_bytes() == exporter(framework).read_bytes()


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_the_exporter_knows_nothing_of_ours(framework: str) -> None:
    """It is Python that any PyTorch or JAX has, and imports nothing but that and NumPy."""
    code = "import ast, sys; tree = ast.parse(open(sys.argv[1], encoding='utf-8').read()); print(*{"
    code += "(n.names[0].name if isinstance(n, ast.Import) else n.module).split('.')[0] "
    code += "for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom))})"
    done = subprocess.run(
        [sys.executable, "-c", code, str(exporter(framework))],
        capture_output=True,
        text=True,
        check=True,
    )
    foreign = {*done.stdout.split()} - {*sys.stdlib_module_names}
    assert foreign == {framework, "numpy"}


@pytest.mark.slow
def test_the_commands_take_a_trace(cli: Cli, tmp_path: Path) -> None:
    path = traces() / "partly.gstrace"
    loss = cli("run", path, "--json").json["runs"][0]["fetches"]
    assert any(name.startswith("loss/") for name in loss)
    gradients = cli("grad", path, "--json").json["gradients"]
    assert gradients["unused/weight"] is None
    assert gradients["used/weight"]["shape"] == [4, 4]
    why = cli("why", path, "--of", "loss/mean/Mean", "--wrt", "unused/weight", "--json").json
    assert why["gradients"]["unused/weight"]["state"] == "none"
    kept = tmp_path / "kept.gradstep"
    cli("convert", path, kept)
    found = cli("compare", kept, "--against", "recorded", "--json").json
    assert found["first_divergence"] is None
    assert found["measured"] is True
    text = cli("compare", traces() / "hook.gstrace", "--against", "recorded").out
    assert "a hook changes it" in text


def test_a_trace_of_jax_is_taken_as_well(cli: Cli) -> None:
    plain, path = (traces("jax") / f"{name}.gstrace" for name in ("mlp", "rules"))
    found = cli("compare", plain, "--against", "recorded", "--json").json
    assert found["first_divergence"] is None
    assert "have rules of their own" in cli("compare", path, "--against", "recorded").out
    problems = cli("check", path, "--json").json["problems"]
    assert ("w", "recorded-gradient") in {(p["node"], p["code"]) for p in problems}


@pytest.mark.slow
def test_a_weight_whose_gradient_is_another_is_warned_of(cli: Cli) -> None:
    problems = cli("check", traces() / "hook.gstrace", "--json").json["problems"]
    assert {(p["node"], p["code"]) for p in problems} == {
        ("l/weight", "recorded-gradient"), ("l/bias", "recorded-gradient"),
    }  # fmt: skip


def test_nothing_recorded_is_said(cli: Cli) -> None:
    example = ASSETS / "examples" / "tutorial.gradstep"
    found = cli("compare", example, "--against", "recorded", "--json")
    assert found.status == 1
    assert "nothing was recorded" in found.json["error"]["message"]
