"""`--engine`: where the window's engine runs, and what that machine has."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradstep.core.cli.command_line import main
from tests.support.ssh_stand_in import OtherMachine


class Shown:
    """An application that notes what window it was to show."""

    def __init__(self) -> None:
        self.windows: list[tuple[Path | None, str]] = []

    def window(self, path: Path | None, engine: str = "") -> int:
        self.windows.append((path, engine))
        return 0


def test_the_window_is_told_where_with_a_document_or_without(tmp_path: Path) -> None:
    app, file = Shown(), tmp_path / "a.gradstep"
    file.touch()
    for arguments in (["--engine", "ssh://box"], ["--engine", "here", str(file)],
                      [str(file), "--engine=ssh://box"], [str(file)]):  # fmt: skip
        assert main(arguments, app) == 0  # type: ignore[arg-type]
    assert app.windows == [
        (None, "ssh://box"), (file, "here"), (file, "ssh://box"), (file, "")
    ]  # fmt: skip


def test_a_document_that_is_not_there_is_said_behind_the_option_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    app = Shown()
    assert main(["--engine", "ssh://box", "/nowhere/a.gradstep"], app) == 1  # type: ignore[arg-type]
    assert "there is no file /nowhere/a.gradstep" in capsys.readouterr().err
    assert app.windows == []


@pytest.mark.slow
def test_doctor_says_what_the_other_machine_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = OtherMachine(tmp_path / "elsewhere", monkeypatch)
    assert main(["doctor", "--engine", machine.address], Shown()) == 0  # type: ignore[arg-type]
    assert "ok  Python" in capsys.readouterr().out
    assert machine.said[0][-2:] == ["doctor", "--json"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "what"),
    [
        ("ssh://unreachable", "No route to host"),
        ("ssh://unreachable", "check the name and the network"),
        ("ssh://box/nowhere", "there is no Gradstep on box in /nowhere"),
        ("ssh://-oProxyCommand=x", "is no name of a host"),
        ("gpubox", "names no engine"),
    ],
)
def test_why_another_machine_has_nothing_to_say(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    where: str,
    what: str,
) -> None:
    OtherMachine(tmp_path / "elsewhere", monkeypatch)
    assert main(["doctor", "--engine", where], Shown()) != 0  # type: ignore[arg-type]
    assert what in capsys.readouterr().err
