"""gradstep grad, why and check: gradients, overrides, stops, and what blocks them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.open_document import read
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"
OVERRIDE = FOLDER / "override_add.gradstep"
GRAPHS = Path(__file__).parents[2] / "data" / "oracle" / "graphs"
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
    checked = cli("grad", TUTORIAL, "--of", "a", "--wrt", "k", "--grad-ys", "data", "--check")
    assert checked.out.strip().endswith("agrees")
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
        (["--wrt", "c:5"], 1, "The operation, 'c', exists but only has 1 outputs."),
        (["--of", "loss:7"], 1, "its outputs are numbered from 'loss:0'"),
        (["--grad-ys", "c"], 1, "leave grad_ys out for ones"),
        (["--wrt", "zzz"], 1, "there are data, labels, c, k, d and 3 more"),
    ],
)
def test_mistakes(cli: Cli, arguments: list[str], status: int, said: str) -> None:
    result = cli("grad", TUTORIAL, *arguments)
    assert result.status == status
    assert said in result.err
    assert len(result.err.splitlines()) == 2


@pytest.mark.parametrize(
    ("name", "of", "said"),
    [
        ("while_loop_forward", [], "write --of NAME; there is y"),
        ("while_loop_forward", ["y"], "write --wrt NAME; there is x"),
        ("dynamic_rnn_GRUCell", [], "write --of NAME; there are rnn/rnn/zeros, outputs, final_h"),
        ("mnist_softmax", ["accuracy"], "write --wrt NAME; there are W, b"),
    ],
)
def test_what_is_not_asked_is_suggested(cli: Cli, name: str, of: list[str], said: str) -> None:
    """Of a GraphDef, which says nothing of losses; no reads, slots, gradients or updates."""
    for verb in ("grad",) if of else ("grad", "why"):  # the value of what is named can be explained
        result = cli(verb, GRAPHS / f"{name}.pb", *(part for n in of for part in ("--of", n)))
        assert result.status == 2
        assert result.err.splitlines()[1].strip() == said


def test_the_gradients_that_a_graph_holds(cli: Cli) -> None:
    """Nobody has to ask again: of what, by what, and the values are the graph's. What bends
    gradients has them derived anew, of the same by the same."""
    graph = (GRAPHS / "two_path_gradient.pb", "--feed", "x=[2,3]")
    held = cli("grad", *graph)
    assert held.out.splitlines()[-1] == "as the graph itself makes them, in gradients/"
    fetched = cli("run", *graph, "--fetch", "do_dx", "--json").json["runs"][0]["fetches"]["do_dx"]
    assert cli("grad", *graph, "--json").json["gradients"] == {"x": fetched}
    assert "agrees" in cli("grad", *graph, "--check").out
    for same in (["--wrt", "x"], ["--of", "o"], ["--of", "o", "--wrt", "x"]):
        assert cli("grad", *graph, *same).out == held.out
    for inner in ("g", "h"):  # which nobody asked for, and the graph has on its way
        assert "as the graph itself" in cli("grad", *graph, "--wrt", inner).out
    for bent in (["--stop", "g"], ["--gate"], ["--grad-ys", "o"]):
        anew = cli("grad", *graph, *bent)
        assert anew.out.startswith("d o / d x")
        assert "as the graph itself" not in anew.out
    assert _values(cli("grad", *graph, "--stop", "g", "--json"))["x"] != fetched["data"]
    assert cli("why", *graph).out.startswith("d o / d x: it is finite and not zero")
    assert cli("check", *graph, "--json").json["gradcheck"][0]["verdict"] == "ok"


def test_another_loss_of_the_document(cli: Cli) -> None:
    """It is said that there is one, and with respect to what it is differentiated."""
    path = FOLDER / "two_networks.gradstep"
    assert "differentiates Net_B/loss, too: --of Net_B/loss" in cli("grad", path).out
    assert _values(cli("grad", path, "--json")).keys() == {"Net_A/w", "Net_A/b"}
    other = _values(cli("grad", path, "--of", "Net_B/loss", "--json"))
    assert other.keys() == {"Net_B/w", "Net_B/b"}
    assert None not in other.values()


def test_gradients_of_a_graph_def(cli: Cli) -> None:
    path = GRAPHS / "two_path_gradient.pb"
    result = cli("grad", path, "--of", "o", "--wrt", "x", "--feed", "x=[1,2]", "--json")
    np.testing.assert_allclose(_values(result)["x"], [4.7182817, 11.389056], rtol=1e-6)


def test_why_says_what_keeps_it_from_looking(cli: Cli) -> None:
    found = cli("why", FOLDER / "gather.gradstep", "--of", "b", "--wrt", "params")
    assert "That fails: indices[2] = 6 is not in [0, 5) (at b); valid indices" in found.out


def test_why_of_the_loss_that_it_leads_to(cli: Cli) -> None:
    """The document differentiates four, each by a variable of its own."""
    said = cli("why", FOLDER / "stop_gradient_paths.gradstep").out
    assert "d one/loss / d one/x: it is finite" in said
    assert "d only/loss / d only/x is None: the gradient ends at only/y" in said
    assert "no wire leads" not in said


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


def test_why_says_what_all_of_it_passes_and_which_stops_end_it(cli: Cli) -> None:
    """Two ways lead from c to a = d * e, and one from k."""
    found = cli("why", TUTORIAL, "--of", "a", "--json").json["gradients"]
    assert (found["c"]["passes"], found["c"]["cut"]) == ([], ["d<1", "e<0"])
    assert (found["k"]["passes"], found["k"]["cut"]) == (["e"], ["e<1"])
    said = cli("why", TUTORIAL).out
    assert "path: loss → a → d → c\n  passes: a\n  ends:   with a stop at 1 wire: loss<0" in said
    assert "path: loss → a → e → k\n  passes: all of it takes this path" in said
    stops = [f"--stop={wire}" for wire in found["c"]["cut"]]
    stopped = cli("why", TUTORIAL, "--of", "a", "--wrt", "c", *stops)
    assert "is None" in stopped.out
    assert "ends:" not in stopped.out


def test_an_override_of_a_type_nearly_called_so_is_refused_with_what_was_meant(cli: Cli) -> None:
    error = cli("grad", TUTORIAL, "--override", "Addv2=Identity", "--json").json["error"]
    assert error["message"] == "this override matches nothing: no op of type Addv2 here"
    assert error["hint"] == "did you mean AddV2 (2 ops)?"
    error = cli("grad", TUTORIAL, "--override", "los=Identity", "--json").json["error"]
    assert error["message"] == "this override matches nothing: no op named los here"
    assert error["hint"] == "did you mean loss?"


def test_a_gradient_nearly_called_so_is_refused_with_what_was_meant(cli: Cli) -> None:
    error = cli("grad", TUTORIAL, "--override", "e=identity", "--json").json["error"]
    assert "'identity', which is not registered" in error["message"]
    assert (error["type"], error["node"]) == ("LookupError", "e")
    assert error["hint"].startswith("did you mean Identity")


@pytest.mark.slow
def test_what_overrides_nothing_is_said_beside_the_gradients(cli: Cli, tmp_path: Path) -> None:
    document, path = read(TUTORIAL), tmp_path / "stray.gradstep"
    overrides = (Override("Identity", "Matmul"), Override("Reluu", "VariableV2"))
    request = replace(document.request, overrides=overrides)
    gradstep_file.save(path, document.with_(request=request))
    for verb in ("grad", "check"):
        found = cli(verb, path, "--json")
        assert found.status == 0
        texts = [problem["text"] for problem in found.json["problems"]]
        assert texts[0] == "this override matches nothing: no op of type Matmul here"
        assert texts[1].startswith("the override of VariableV2 asks for the gradient 'Reluu'")
        assert "did you mean Relu" in found.json["problems"][1]["fix"]
        assert "warning: this override matches nothing" in cli(verb, path).out


def test_check(cli: Cli) -> None:
    good = cli("check", TUTORIAL, "--json")
    assert good.status == 0
    assert good.json["problems"] == []
    assert all(row["agrees"] for row in good.json["gradcheck"])
    assert (good.json["passed"], good.json["conclusion"]) == (
        True,
        "passed: the gradients agree with finite differences; 4 of 4 expectations hold",
    )


@pytest.mark.slow
def test_a_wrong_gradient_fails_the_check_unless_the_document_expects_it(
    cli: Cli, tmp_path: Path
) -> None:
    expected = cli("check", OVERRIDE, "--json")
    bare = tmp_path / "bare.gradstep"
    gradstep_file.save(bare, read(OVERRIDE).with_(expectations=()))
    bad = cli("check", bare, "--json", "--trust")
    asked = cli("check", OVERRIDE, "--feed", "data=[3,4]", "--json")
    for found, passed, severity in ((expected, True, "warning"), (bad, False, "error"),
                                    (asked, False, "error")):  # fmt: skip
        assert (found.status, found.json["passed"]) == (0 if passed else 1, passed)
        (problem,) = found.json["problems"]
        assert (problem["node"], problem["code"]) == ("e", "gradient-check")
        assert problem["severity"] == severity
        assert found.json["supports"] == "native"
        said = "the gradients of c, k differ from finite differences"
        assert found.json["conclusion"].partition(": ")[2].startswith(said)
        assert (f"{said}, as the document expects" in found.json["conclusion"]) == passed
        assert "agree with" not in found.json["text"] + found.json["conclusion"]


def test_check_says_how_it_compared_each_node(cli: Cli) -> None:
    rows = cli("check", TUTORIAL, "--json").json["nodes"]
    assert {row["node"] for row in rows} == {"d", "e", "a", "loss"}
    assert {row["method"] for row in rows} == {"complex step"}
    assert {row["verdict"] for row in rows} == {"ok"}
    wrong = [r for r in cli("check", OVERRIDE, "--json").json["nodes"] if r["verdict"] != "ok"]
    assert {(r["node"], r["type"], r["gradient"]) for r in wrong} == {("e", "PyFunc", "CustomAdd")}
    assert [(r["name"], r["index"]) for r in wrong] == [("c", [1]), ("k", [1]), ("d", [1])]
    for row in wrong:
        assert row["difference"] == pytest.approx(abs(row["analytic"] - row["numeric"]))


def test_check_of_one_node_alone(cli: Cli) -> None:
    found = cli("check", OVERRIDE, "--node", "e", "--json")
    assert found.status == 1
    assert [row["input"] for row in found.json["gradcheck"]] == [0, 1, 2]
    assert {row["verdict"] for row in found.json["gradcheck"]} == {"wrong"}
    assert cli("check", OVERRIDE, "--node", "d").status == 0
    assert "complex step" in cli("check", OVERRIDE, "--node", "d").out
    refused = cli("check", OVERRIDE, "--node", "data", "--json")
    assert refused.json["error"]["node"] == "data"
    assert "did you mean loss" in cli("check", OVERRIDE, "--node", "los").err


def test_check_of_the_second_order(cli: Cli) -> None:
    """TensorFlow's rule for this loss takes its own gradient as not depending on the labels."""
    found = cli("check", TUTORIAL, "--second-order", "--json")
    assert found.status == 0
    assert {row["verdict"] for row in found.json["second_order"]} == {"ok"}
    others = [row for row in found.json["nodes"] if row["verdict"] != "ok"]
    assert [(r["node"], r["name"], r["order"]) for r in others] == [("loss", "labels", 2)]
    assert others[0]["verdict"] == "TensorFlow's"
    assert found.json["problems"] == []
    assert found.json["conclusion"].startswith(
        "passed: the gradients agree with finite differences, but for a defect of TensorFlow's own"
    )
    assert "gives 0 by labels, where -0.67 is right" in found.json["text"]
    assert "recorded from TensorFlow 2.21" in found.json["text"]


def test_a_kink_is_said(cli: Cli, tmp_path: Path) -> None:
    build = GraphBuilder()
    build.one("Relu", build.placeholder("x", shape=[2]), name="y")
    path = tmp_path / "kink.gradstep"
    request = GradientRequest.to("y", "x")
    gradstep_file.save(path, Document(graph=build.build(), request=request))
    found = cli("check", path, "--feed", "x=[0, 1]", "--json")
    assert found.status == 0
    assert [row["verdict"] for row in found.json["gradcheck"]] == ["kink", "ok"]
    assert "a kink at index [0]" in found.json["text"]


def test_check_finds_problems_of_the_graph(cli: Cli, tmp_path: Path) -> None:
    from gradstep.core.graph.edits import disconnect
    from gradstep.core.graph.model import Edge

    document = read(TUTORIAL)
    path = tmp_path / "open.gradstep"
    gradstep_file.save(path, document.with_(graph=disconnect(document.graph, Edge("a", 1))))
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
    gradstep_file.save(path, document.with_(code=code))
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


def test_a_gradient_in_numpy_is_used(cli: Cli, tmp_path: Path) -> None:
    document, path = read(OVERRIDE), tmp_path / "numpy.gradstep"
    name = next(n for n, item in document.code.items() if item.kind is CodeKind.GRADIENT)
    source = "def f(grad, c, k, *rest):\n    return grad, grad, *(None for _ in rest)\n"
    code = {**document.code, name: CodeItem(name, CodeKind.NUMPY_GRADIENT, source)}
    gradstep_file.save(path, document.with_(code=code))
    found = cli("grad", path, "--trust", "--json")
    assert found.status == 0
    # Where the function passes the gradient on, as addition does, it is the native one.
    wanted = cli("grad", TUTORIAL, "--json").json["gradients"]["k"]["data"]
    np.testing.assert_allclose(found.json["gradients"]["k"]["data"], wanted, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "node", "why"),
    [
        ("rnn", "rnn/while/While", "takes a handle of state besides values"),
        ("cond_gradients", "guard/Merge", "is in a branch that is not taken, or next to one"),
    ],
)
@pytest.mark.slow
def test_a_check_says_what_it_cannot_check_alone(cli: Cli, name: str, node: str, why: str) -> None:
    path = FOLDER / f"{name}.gradstep"
    found = cli("check", path, "--json").json
    checked = {one["node"] for one in found["nodes"]}
    left_out = {one["node"]: one["why"] for one in found["unchecked"]}
    assert left_out[node] == why
    assert checked.isdisjoint(left_out)
    assert f"{node} (" in found["text"].partition("Not checked alone, but in the whole: ")[2]
