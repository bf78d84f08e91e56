"""Recording the models anew: by any interpreter that has PyTorch; what it could not do is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.bench.environments import NotAvailableError
from tests.traces import live_recordings, run
from tests.traces.trace_archive import ARCHIVE, traces


def interpreter(folder: Path) -> Path:
    """One that stands for PyTorch: of the models that it is asked for it records mlp, from ours."""
    python = folder / "python"
    recorded = traces() / "mlp.gstrace"
    python.write_text(
        f"#!/bin/sh\nprintf '%s ' \"$@\" >{folder}/asked\n"
        f'case " $* " in *" mlp "*) cp {recorded} "$4" ;; esac\nexit 1\n'
    )
    python.chmod(0o755)
    return python


def test_models_are_recorded_and_judged_in_one_go(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = ARCHIVE.stat().st_mtime_ns
    options = ["--live", "--python", str(interpreter(tmp_path)), "--json"]
    assert run.main([*options, "mlp"]) == 0
    (model,) = json.loads(capfd.readouterr().out)["models"]
    assert (model["name"], model["ok"]) == ("mlp", True)
    assert model["gradients"] == 8
    _, script, into, _, *names = (tmp_path / "asked").read_text().split()
    assert script == str(live_recordings.RECORD)
    assert (into, names) == ("--into", ["mlp"])
    assert ARCHIVE.stat().st_mtime_ns == before


def test_functions_of_jax_are_judged_and_recorded_likewise(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run.main(["--jax", "--json", "newton"]) == 0
    assert [model["ok"] for model in json.loads(capfd.readouterr().out)["models"]] == [True]
    options = ["--jax", "--live", "--python", str(interpreter(tmp_path)), "newton"]
    assert run.main(options) == 1  # which knows none of it
    assert capfd.readouterr().out == "not recorded: newton\n"
    assert Path((tmp_path / "asked").read_text().split()[1]).name == "record_jax.py"


def test_a_model_that_was_not_recorded_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options = ["--live", "--python", str(interpreter(tmp_path)), "mlp", "gru"]
    assert run.main(options) == 1
    assert capfd.readouterr().out.splitlines()[1:] == ["not recorded: gru"]
    assert run.main([*options, "--json"]) == 1
    assert json.loads(capfd.readouterr().out)["missing"] == ["gru"]


def test_one_that_differs_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def record(folder: Path, names: list[str], python: Path | None, framework: str) -> None:
        shutil.copy(traces() / "mlp.gstrace", folder)

    monkeypatch.setattr(run, "record", record)
    monkeypatch.setattr(run, "judge", _apart)
    assert run.main(["--live", "mlp"]) == 1
    assert "DIFFERS" in capfd.readouterr().out


def _apart(path: Path) -> run.Verdict:
    return run.Verdict(path.stem, 4, 8, 0.5, 0, ("∂l/weight by 5.0e-01",))


def test_where_there_is_no_pytorch_nothing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def none(*_: object, **__: object) -> Path:
        raise NotAvailableError("no network")

    monkeypatch.setattr(live_recordings, "python_of", none)
    assert run.main(["--live", "--json"]) == 0
    said = json.loads(capfd.readouterr().out)["skipped"]
    assert said == "PyTorch is not here, and cannot be had: no network"
    assert run.main(["--live", "--python", str(tmp_path / "gone"), "mlp"]) == 0
    assert "gone: No such file or directory" in capfd.readouterr().out


def test_an_unknown_model_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run.main(["resnet19"]) == 2
    assert "no model 'resnet19'; the models are autocast" in capfd.readouterr().err
