"""--code: the Python that a graph names and does not hold, from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.document.document import CodeKind
from gradstep.core.io.native import gradstep_file
from tests.core.cli.conftest import Cli
from tests.support import article
from tests.support import gradient_facts as facts

OVERRIDE = Path(__file__).parents[2] / "data" / "oracle" / "graphs" / "pyfunc_override.pb"
ASK = ("--of", "loss", "--wrt", "c", "k")


@pytest.fixture
def forward(tmp_path: Path) -> Path:
    return _written(tmp_path, "article_forward")


@pytest.fixture
def training(tmp_path: Path) -> Path:
    return _written(tmp_path, "article")


def _written(folder: Path, name: str) -> Path:
    path = folder / f"{name}.pb"
    path.write_bytes(facts.graph_bytes(name))
    return path


def test_the_articles_program_runs(cli: Cli, forward: Path, tmp_path: Path) -> None:
    code = article.functions(tmp_path)
    result = cli("run", forward, "--code", code, "--fetch", "loss", *article.FEEDS, "--json")
    assert result.json["runs"][0]["fetches"]["loss"]["data"] == pytest.approx(
        article.LOSS, rel=1e-7
    )


@pytest.mark.parametrize("name", ["article", "article_forward"])
def test_its_gradients_are_the_articles(cli: Cli, tmp_path: Path, name: str) -> None:
    """Those in the graph that trains itself, and those that Gradstep makes by the function."""
    path, code = _written(tmp_path, name), article.functions(tmp_path)
    ask = ASK if name == "article_forward" else ()
    found = cli("grad", path, "--code", code, *ask, *article.FEEDS, "--json").json["gradients"]
    np.testing.assert_allclose(found["c"]["data"], article.BY_C, rtol=1e-6)
    np.testing.assert_allclose(found["k"]["data"], article.BY_K, rtol=1e-6)


@pytest.mark.slow
def test_every_verb_takes_the_file(cli: Cli, training: Path, tmp_path: Path) -> None:
    code = ("--code", article.functions(tmp_path))
    checked = cli("check", training, *code, *article.FEEDS)
    assert checked.status == 1  # the article's gradient is not the sum's
    assert "The gradients of c, k differ from finite differences." in checked.out
    why = cli("why", training, *code, *article.FEEDS)
    assert "d loss / d c: it is finite and not zero" in why.out
    script = "break e; continue; step; print e"
    debugged = cli("debug", training, *code, *article.FEEDS, "--script", script)
    assert debugged.status == 0, debugged.out
    assert cli("profile", training, *code, *article.FEEDS).status == 0
    assert cli("compare", training, *code, *article.FEEDS, "--device", "cpu").status in (0, 2)
    trained = cli("train", training, *code, *article.FEEDS, "--steps", "3", "--json")
    assert trained.status == 0, trained.err


def test_why_needs_no_function_for_gradients_that_the_graph_has(
    cli: Cli, training: Path, tmp_path: Path
) -> None:
    """What all of them passes, too: nothing is derived anew."""
    code = article.functions(tmp_path, article.FUNCTIONS.split("\n\n\n")[0])
    assert "CustomAdd" not in code.read_text()
    result = cli("why", training, "--code", code, *article.FEEDS)
    assert result.status == 0, result.err
    assert "d loss / d k: it is finite and not zero" in result.out
    assert result.out.count("ends:   with a stop at 1 wire: ") == 2


def test_a_decorated_function_serves_as_in_its_program(
    cli: Cli, forward: Path, tmp_path: Path
) -> None:
    source = article.FUNCTIONS.replace(
        "def CustomAdd(", '@tf.RegisterGradient("CustomAdd")\ndef _custom_add_grad('
    )
    assert "_custom_add_grad" in source
    code = article.functions(tmp_path, source)
    result = cli("grad", forward, "--code", code, *ASK, *article.FEEDS, "--json")
    found = result.json["gradients"]["c"]["data"]
    np.testing.assert_allclose(found, article.BY_C, rtol=1e-6)


def test_a_function_for_an_override_of_the_arguments(cli: Cli, tmp_path: Path) -> None:
    """Any gradient that is asked for by name, also by --override."""
    code = article.functions(tmp_path, "def Twice(op, grad):\n    return 2.0 * grad, 2.0 * grad\n")
    path = _written(tmp_path, "gradients_alone")
    ask = ("--of", "loss", "--wrt", "w1", "--json")
    feeds = [f"{ref.short}={value.tolist()}" for ref, value in _feeds("gradients_alone")]
    plain = cli("grad", path, *ask, "--feed", *feeds).json["gradients"]["w1"]["data"]
    twice = cli("grad", path, *ask, "--feed", *feeds, "--override", "loss=Twice", "--code", code)
    np.testing.assert_allclose(
        twice.json["gradients"]["w1"]["data"], np.multiply(2, plain), rtol=1e-6
    )


def _feeds(name: str):
    return facts.feeds(facts.document(name)).items()


def test_check_prints_what_to_write(cli: Cli, forward: Path, tmp_path: Path) -> None:
    """Python that needs only its bodies: as printed, it is found, and fails in its last line."""
    checked = cli("check", forward)
    assert checked.status == 1
    assert "e: it calls the Python function 'pyfunc_0', which is not here" in checked.out
    assert "write 'def pyfunc_0(c, k, d)', by Edit Python… or in a file for --code" in checked.out
    stubs = [part["source"] for part in cli("check", forward, "--json").json["missing_code"]]
    assert [stub.partition(":")[0] for stub in stubs] == [
        "def pyfunc_0(c, k, d)",
        "def CustomAdd(op, grad)",
    ]
    assert all(stub.strip() in checked.out for stub in stubs)
    code = article.functions(tmp_path, "\n\n".join(stubs))
    ran = cli("run", forward, "--code", code, "--fetch", "loss", *article.FEEDS)
    assert ran.status == 1
    assert "'pyfunc_0', line 7: NotImplementedError: pyfunc_0 is not written yet" in ran.err
    derived = cli("grad", forward, "--code", code, *ASK, *article.FEEDS)
    assert "CustomAdd is not written yet" in derived.err


@pytest.mark.slow
def test_no_gradient_is_missed_that_the_graph_has(cli: Cli, training: Path, tmp_path: Path) -> None:
    missing = cli("check", training, "--json").json["missing_code"]
    assert [part["name"] for part in missing] == ["pyfunc_0"]
    only = article.functions(tmp_path, "def pyfunc_0(c, k, d):\n    return c + k\n")
    found = cli("grad", training, "--code", only, *article.FEEDS, "--json").json
    np.testing.assert_allclose(found["gradients"]["c"]["data"], article.BY_C, rtol=1e-6)
    assert "problems" not in found
    anew = cli("grad", training, "--code", only, *article.FEEDS, "--stop", "a")
    assert "'CustomAdd'" in anew.err + anew.out


def test_without_it_the_error_says_what_to_do(cli: Cli, forward: Path) -> None:
    ran = cli("run", forward, "--fetch", "loss", *article.FEEDS)
    assert ran.status == 1
    assert "callback pyfunc_0 is not found" in ran.err
    assert "--code" in ran.err


def test_it_is_kept_in_a_document(cli: Cli, forward: Path, tmp_path: Path) -> None:
    out = tmp_path / "article.gradstep"
    code = ("--code", article.functions(tmp_path))
    assert cli("convert", forward, out, *code).status == 0
    kinds = {name: item.kind for name, item in gradstep_file.load(out).code.items()}
    assert kinds == {"pyfunc_0": CodeKind.PYFUNC, "CustomAdd": CodeKind.GRADIENT}
    refused = cli("run", out, "--fetch", "loss", *article.FEEDS)
    assert (refused.status, "is not trusted" in refused.err) == (1, True)
    for way in (("--trust",), code):
        ran = cli("run", out, "--fetch", "loss", *article.FEEDS, *way, "--json")
        assert ran.json["runs"][0]["fetches"]["loss"]["data"] == pytest.approx(
            article.LOSS, rel=1e-7
        )


def test_naming_one_file_trusts_no_other_code(cli: Cli, forward: Path, tmp_path: Path) -> None:
    out = tmp_path / "article.gradstep"
    cli("convert", forward, out, "--code", article.functions(tmp_path))
    only = article.functions(tmp_path, "def pyfunc_0(c, k, d):\n    return c + k\n")
    ran = cli("run", out, "--code", only, "--fetch", "loss", *article.FEEDS)
    assert ran.status == 0
    derived = cli("grad", out, "--code", only, *ASK, *article.FEEDS)
    assert (derived.status, "(CustomAdd) is not trusted" in derived.err) == (1, True)


@pytest.mark.parametrize(
    ("source", "said", "do"),
    [
        ("def pyfunc_0(c:\n    pass\n", "functions.py, line 1: ", "a file of Python functions"),
        ("\0", "functions.py: ", "a file of Python functions"),
        ("x = 1\n", "has no function, and the graph asks for pyfunc_0(c, k, d)", "gradstep check"),
        ("def pyfunc(c):\n    pass\n", "has pyfunc, and the graph asks", "did you mean pyfunc_0?"),
        ("def customadd(op, g):\n    pass\n", "has customadd", "did you mean CustomAdd?"),
        ("def unrelated():\n    pass\n", "has unrelated, and", "prints what to write"),
    ],
)
def test_a_file_with_nothing_of_use(
    cli: Cli, forward: Path, tmp_path: Path, source: str, said: str, do: str
) -> None:
    result = cli("run", forward, "--code", article.functions(tmp_path, source))
    assert result.status in (1, 2)
    assert said in result.err
    assert do in result.err


def test_a_file_that_is_not_there_and_a_graph_that_asks_nothing(
    cli: Cli, forward: Path, tmp_path: Path
) -> None:
    assert "no such file" in cli("run", forward, "--code", tmp_path / "gone.py").err.lower()
    plain = _written(tmp_path, "adam_ref")
    result = cli("run", plain, "--code", article.functions(tmp_path))
    assert (result.status, "asks for no Python" in result.err) == (2, True)


def test_an_import_of_tensorflow(cli: Cli, forward: Path, tmp_path: Path) -> None:
    code = article.functions(tmp_path, "import tensorflow_gone as tf\n" + article.FUNCTIONS)
    result = cli("run", forward, "--code", code, "--fetch", "loss", *article.FEEDS)
    assert "'pyfunc_0', line 1: ModuleNotFoundError" in result.err
    assert "leave that import out" in result.err


def test_another_graph_of_tensorflow(cli: Cli, tmp_path: Path) -> None:
    """With names as a second program in one process has them."""
    source = article.FUNCTIONS.replace("pyfunc_0", "pyfunc_55")
    source = source.replace("CustomAdd", "GraphFileCustomAdd")
    code, feeds = (
        article.functions(tmp_path, source),
        ("--feed", "c=[0.06, -0.04]", "k=[0.05, 0.13]", "d=[1, 2]"),
    )
    result = cli("run", OVERRIDE, "--code", code, *feeds, "--fetch", "AddGrad", "--json")
    np.testing.assert_allclose(
        result.json["runs"][0]["fetches"]["AddGrad"]["data"], [0.11, 0.09], rtol=1e-6
    )
