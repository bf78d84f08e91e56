"""`gradstep why --reduce`: the smallest graph that shows it, in any format."""

from __future__ import annotations

from pathlib import Path

from tests.core.cli.conftest import Cli

TRAP = Path(__file__).parents[3] / "assets" / "examples" / "nan_gradient.gradstep"


def test_the_few_operations_are_written_and_show_it(cli: Cli, tmp_path: Path) -> None:
    small = tmp_path / "small.gradstep"
    said = cli("why", TRAP, "--reduce", small)
    assert said.status == 0
    assert said.out.endswith(f"3 operations show it: {small}\n")
    again = cli("why", small, "--json").json["gradients"]["p"]
    whole = cli("why", TRAP, "--json").json["gradients"]["p"]
    assert (whole["state"], whole["node"]) == ("nan", "logp")
    assert (again["state"], again["node"]) == ("nan", "logp")
    names = cli("why", TRAP, "--reduce", small, "--json").json["reduced"]["names"]
    assert names == ["p", "logp", "cotangent"]


def test_a_script_for_tensorflow_is_written_by_its_suffix(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "small.py"
    assert cli("why", TRAP, "--reduce", script).status == 0
    text = script.read_text(encoding="utf-8")
    assert "tf.raw_ops.Log(" in text
    assert "tf1.gradients(" in text
    compile(text, str(script), "exec")


def test_nothing_is_written_where_nothing_is_wrong(cli: Cli, tmp_path: Path) -> None:
    small = tmp_path / "small.gradstep"
    refused = cli("why", TRAP.with_name("tutorial.gradstep"), "--reduce", small)
    assert refused.status != 0
    assert "nothing wrong to be made smaller" in refused.err
    assert not small.exists()


def test_an_unknown_format_is_said(cli: Cli, tmp_path: Path) -> None:
    refused = cli("why", TRAP, "--reduce", tmp_path / "small.xyz")
    assert refused.status != 0
    assert "does not write .xyz files" in refused.err
