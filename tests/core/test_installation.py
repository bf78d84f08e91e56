"""What to type for an extra: however Gradstep was installed, something that gets it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gradstep.core import installation
from gradstep.core.cli import doctor

ROOT = Path(__file__).resolve().parents[2]
WHEEL = {"url": "file:///home/ada/Downloads/gradstep-0.1.0-py3-none-any.whl", "archive_info": {}}
FOLDER = {"url": "file:///home/ada/my%20work/gradstep", "dir_info": {}}
EDITABLE = {**FOLDER, "dir_info": {"editable": True}}
GIT = {
    "url": "https://host.example/gradstep.git",
    "vcs_info": {"vcs": "git", "commit_id": "d1ce"},
    "subdirectory": "here",
}


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment that ./dev did not make, without pip."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/opt/a b/bin/python")
    monkeypatch.setattr(installation, "_has_pip", lambda: False)
    return tmp_path


def come_from(monkeypatch: pytest.MonkeyPatch, record: dict[str, Any]) -> None:
    class Distribution:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return json.dumps(record) if record else None

    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Distribution())


def test_in_a_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(ROOT / ".venv"))
    commands = [installation.extra_command(extra) for extra in ("", "kernels", "cuda12", "cuda13")]
    setup = "./dev setup"
    assert commands == [setup, f"{setup} --kernels", f"{setup} --gpu", f"{setup} --gpu"]


@pytest.mark.parametrize(
    ("record", "what"),
    [
        ({}, "'gradstep[kernels]'"),
        (WHEEL, f"'gradstep[kernels] @ {WHEEL['url']}'"),
        (FOLDER, "'gradstep[kernels] @ file:///home/ada/my%20work/gradstep'"),
        (EDITABLE, "--editable '/home/ada/my work/gradstep[kernels]'"),
        (GIT, "'gradstep[kernels] @ git+https://host.example/gradstep.git@d1ce#subdirectory=here'"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="it quotes otherwise")
def test_in_an_environment(
    prefix: Path, monkeypatch: pytest.MonkeyPatch, record: dict[str, Any], what: str
) -> None:
    come_from(monkeypatch, record)
    uv = f"uv pip install --python '/opt/a b/bin/python' {what}"
    assert installation.extra_command("kernels") == uv
    monkeypatch.setattr(installation, "_has_pip", lambda: True)
    assert installation.extra_command("kernels") == f"'/opt/a b/bin/python' -m pip install {what}"
    assert installation.extra_command().endswith(
        what.replace("[kernels]", "") if record else "gradstep"
    )


def test_a_tool_of_uv_keeps_the_extras_that_it_has(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    come_from(monkeypatch, WHEEL)
    receipt = prefix / "uv-receipt.toml"
    has = '{ name = "gradstep", extras = ["cuda12", "kernels"], path = "x.whl" }'
    receipt.write_text(f'[tool]\nrequirements = [{{ name = "numpy" }}, {has}]\n')
    begin = f"uv tool install --force --python 3.{sys.version_info.minor} 'gradstep"
    assert installation.extra_command() == f"{begin}[cuda12,kernels] @ {WHEEL['url']}'"
    assert installation.extra_command("cuda13") == f"{begin}[cuda13,kernels] @ {WHEEL['url']}'"


def test_what_qt_loads_is_what_dev_installs() -> None:
    listed = (ROOT / "dev").read_text(encoding="utf-8").partition("qt_packages=(")[2]
    words = listed.partition("\n)")[0].replace("'", "").split()
    older = [word.rpartition("|")[2] for word in words if word != "xvfb"]
    assert doctor.QT_PACKAGES.split() == older
