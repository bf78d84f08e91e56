"""gradstep grad, why and check: gradients, overrides, stops, and what blocks them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.io import store
from core.io.document import CodeItem, CodeKind
from core.io.open import read
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"
OVERRIDE = FOLDER / "override_add.gradstep"
ASK = ("--of", "loss", "--wrt", "c", "--wrt", "k")


def _values(result: Any, key: str = "gradients") -> dict[str, Any]:
    return {n: None if t is None else t["data"] for n, t in result.json[key].items()}


def test_the_tutorials_gradients(cli: Cli) -> None:
    result = cli("grad", TUTORIAL, *ASK, "--json")
    found = _values(result)
    np.testing.assert_allclose(found["c"], [0.567514, -0.994362], rtol=1e-5)
    np.testing.assert_allclose(found["k"], [0.514158, -0.950707], rtol=1e-5)


def test_the_check_supports_them(cli: Cli) -> None:
    result = cli("grad", TUTORIAL, *ASK, "--check", "--json")
    assert result.json["agrees"] == {"c": True, "k": True}
    np.testing.assert_allclose(_values(result, "numeric")["c"], [0.567514, -0.994362], rtol=1e-4)


def test_the_articles_override_is_not_the_gradient(cli: Cli) -> None:
    result = cli("grad", OVERRIDE, *ASK, "--check", "--json")
    found = _values(result)
    np.testing.assert_allclose(found["c"], [0.711478, -2.078167], rtol=1e-5)
    np.testing.assert_allclose(found["k"], [0.545007, -1.863385], rtol=1e-5)
    assert result.json["agrees"] == {"c": False, "k": False}
    assert "DIFFERS" in cli("grad", OVERRIDE, "--check").out


def test_the_document_says_what_is_asked(cli: Cli) -> None:
    assert set(cli("grad", TUTORIAL, "--json").json["gradients"]) == {"c", "k"}


@pytest.mark.parametrize("stop", ["e", "a<1"])
def test_stops(cli: Cli, stop: str) -> None:
    found = _values(cli("grad", TUTORIAL, *ASK, "--stop", stop, "--json"))
    assert found["k"] is None
    np.testing.assert_allclose(found["c"], [0.053355, -0.043655], rtol=1e-3)


def test_what_the_gradient_starts_with(cli: Cli) -> None:
    """d a / d c with the gradient `data` arriving at a: c reaches a through d and through e."""
    plain = _values(cli("grad", TUTORIAL, "--of", "a", "--wrt", "k", "--json"))
    started = cli("grad", TUTORIAL, "--of", "a", "--wrt", "k", "--grad-ys", "data", "--json")
    np.testing.assert_allclose(_values(started)["k"], np.multiply(plain["k"], [1, 2]), rtol=1e-6)
    same = cli("grad", TUTORIAL, "--of", "a", "--wrt", "k", "--grad-ys", "-", "--gate", "--json")
    assert _values(same) == plain
    wrong = cli("grad", TUTORIAL, "--of", "a", "--wrt", "k", "--grad-ys", "data", "data", "--json")
    assert wrong.json["error"]["message"] == "Length mismatch. Passed 2 grad_ys for 1 ys"


def test_zeros_where_there_is_no_gradient(cli: Cli) -> None:
    ask = ("grad", TUTORIAL, "--of", "d", "--wrt", "k", "--json")
    assert _values(cli(*ask)) == {"k": None}
    assert _values(cli(*ask, "--unconnected", "zero")) == {"k": [0.0, 0.0]}


def test_rows_are_given_beside_the_whole_gradient(cli: Cli) -> None:
    ask = ("grad", FOLDER / "gather.gradstep", "--of", "b", "--wrt", "params")
    ask = (*ask, "--feed", "indices=[0, 1, 1]")
    found = cli(*ask, "--json").json
    assert found["gradients"]["params"]["data"] == [1, 2, 0, 0, 0]
    rows = found["indexed_slices"]["params"]
    assert (rows["values"]["data"], rows["indices"]["data"]) == ([1, 1, 1], [0, 1, 1])
    assert "IndexedSlices, rows [0, 1, 1] of 5" in cli(*ask).out


def test_overrides_by_type_scope_and_op(cli: Cli) -> None:
    plain = _values(cli("grad", FOLDER / "floor_identity.gradstep", "--json"))
    assert plain["x"] is not None
    by_type = _values(cli("grad", TUTORIAL, *ASK, "--override", "Mul=AddV2", "--json"))
    by_op = _values(cli("grad", TUTORIAL, *ASK, "--override", "a=AddV2", "--json"))
    assert by_type == by_op
    np.testing.assert_allclose(by_op["k"], [0.485054, -0.485054], rtol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--override", "Mull=AddV2"], 1, "did you mean Mul"),
        (["--override", "nowhere/=AddV2"], 1, "matches no"),
        (["--override", "Mul"], 2, "TARGET=GRADIENT"),
        (["--override", "Mul=NoSuchGradient"], 1, "NoSuchGradient"),
        (["--stop", "a<9"], 1, "2 inputs"),
        (["--stop", "zz"], 1, "zz"),
        (["--wrt", "cc"], 1, "cc"),
    ],
)
def test_mistakes(cli: Cli, arguments: list[str], status: int, said: str) -> None:
    result = cli("grad", TUTORIAL, *arguments)
    assert result.status == status
    assert said in result.err


def test_nothing_asked_is_bad_usage(cli: Cli) -> None:
    path = Path(__file__).parents[2] / "data" / "oracle" / "graphs" / "two_path_gradient.pb"
    assert cli("grad", path).status == 2
    result = cli("grad", path, "--of", "o", "--wrt", "x", "--feed", "x=[1,2]", "--json")
    np.testing.assert_allclose(_values(result)["x"], [4.7182817, 11.389056], rtol=1e-6)


def test_why_a_stopped_wire(cli: Cli) -> None:
    result = cli("why", FOLDER / "stop_gradient.gradstep", "--of", "loss", "--wrt", "w1", "--json")
    found = result.json["gradients"]["w1"]
    assert (found["state"], found["cause"], found["node"]) == ("none", "stopped", "y")
    assert found["path"][0] == "loss"
    assert "y" in cli("why", FOLDER / "stop_gradient.gradstep", "--wrt", "w1").out


def test_why_nan(cli: Cli) -> None:
    result = cli("why", FOLDER / "nan_gradient.gradstep", "--json")
    found = result.json["gradients"]["p"]
    assert found["state"] == "nan"
    assert found["index"] == [0]


def test_why_nothing_is_wrong(cli: Cli) -> None:
    found = cli("why", TUTORIAL, "--wrt", "k", "--json").json["gradients"]["k"]
    assert found["state"] == "ok"


def test_check(cli: Cli) -> None:
    good = cli("check", TUTORIAL, "--json")
    assert good.status == 0
    assert good.json["problems"] == []
    assert all(row["agrees"] for row in good.json["gradcheck"])
    bad = cli("check", OVERRIDE, "--json")
    assert bad.status == 1
    (problem,) = bad.json["problems"]
    assert (problem["node"], problem["code"]) == ("e", "gradient-check")
    assert bad.json["supports"] == "native"


def test_check_finds_problems_of_the_graph(cli: Cli, tmp_path: Path) -> None:
    from core.graph.edits import disconnect
    from core.graph.model import Edge

    document = read(TUTORIAL)
    path = tmp_path / "open.gradstep"
    store.save(path, document.with_(graph=disconnect(document.graph, Edge("a", 1))))
    result = cli("check", path, "--json")
    assert result.status == 1
    assert "a" in {problem["node"] for problem in result.json["problems"]}
    assert "error: a:" in cli("check", path).out


def test_python_that_is_not_trusted_does_not_run(cli: Cli, tmp_path: Path) -> None:
    path, proof = tmp_path / "mine.gradstep", tmp_path / "ran"
    source = (
        f"from pathlib import Path\nPath({str(proof)!r}).touch()\n"
        "def forward(c, k, d):\n    return c + k\n"
    )
    document = read(OVERRIDE)
    code = {**document.code, "custom_add": CodeItem("custom_add", CodeKind.PYFUNC, source)}
    store.save(path, document.with_(code=code))
    for verb in ("grad", "run", "compare", "debug"):
        extra = {"compare": ("--against", "cpu:native"), "debug": ("--script", "continue")}
        result = cli(verb, path, *extra.get(verb, ()), "--json")
        assert result.status == 1
        error = result.json["error"]
        assert "(CustomAdd, custom_add) is not trusted" in error["message"]
        if verb != "compare":
            assert error["type"] == "UntrustedCodeError"
            assert f"gradstep convert {path} -" in error["hint"]
    assert "def forward(c, k, d):" in cli("convert", path, "-").out
    assert not proof.exists()
    assert cli("grad", path, "--trust").status == 0
    assert proof.exists()
