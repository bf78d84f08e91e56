"""The exporter for JAX, as it runs where JAX is and Gradstep is not."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

sys.path.insert(0, str(Path(__file__).parents[2] / "assets" / "capture"))
try:
    import gradstep_jax
finally:
    del sys.path[0]


def saved(
    folder: Path, f: Any, *args: Any, **options: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `save` says, and graph.json."""
    path = folder / "f.gstrace"
    said = gradstep_jax.save(path, f, *args, **options)
    with zipfile.ZipFile(path) as file:
        return said, json.loads(file.read("graph.json"))


def array(folder: Path, member: str) -> np.ndarray:
    with zipfile.ZipFile(folder / "f.gstrace") as file, file.open(member) as stream:
        return np.load(stream)


def test_names_kinds_and_gradients_of_arguments(tmp_path: Path) -> None:
    def loss(params: Any, x: Any, scale: float, mode: str) -> Any:
        assert mode == "sum"
        return (x @ params["w"][0] * scale).sum() + params["free"].sum() * 0

    params = {"w": [jnp.ones((3, 2))], "free": jnp.ones(2), "n": jnp.int32(3)}
    _, graph = saved(tmp_path, loss, params, np.ones((4, 3), np.float32), 2.0, "sum")
    kinds = {one["name"]: (one["kind"], one["trained"]) for one in graph["inputs"]}
    assert kinds == {
        "params.free": ("parameter", True), "params.n": ("input", False),
        "params.w.0": ("parameter", True), "x": ("input", False),
    }  # fmt: skip
    weight = next(one for one in graph["inputs"] if one["name"] == "params.w.0")
    np.testing.assert_array_equal(array(tmp_path, weight["gradient"]), np.full((3, 2), 8.0))
    assert graph["framework"] == {"name": "jax", "version": jax.__version__}
    assert graph["outputs"][0]["kind"] == "loss"


def test_a_number_that_is_differentiated_is_an_input(tmp_path: Path) -> None:
    _, graph = saved(tmp_path, lambda x, y: x * x * y, 3.0, 2.0)
    assert [one["name"] for one in graph["inputs"]] == ["x"]
    assert array(tmp_path, graph["inputs"][0]["gradient"]) == 12


def test_what_nothing_leads_to_has_no_gradient(tmp_path: Path) -> None:
    args = jnp.ones(2), jnp.ones(2)
    _, graph = saved(tmp_path, lambda a, b: (jax.lax.stop_gradient(a) * b).sum(), *args, wrt=(0, 1))
    assert ["gradient" in one for one in graph["inputs"]] == [False, True]
    assert [node["op"] for node in graph["nodes"]] == [
        "lax.stop_gradient", "lax.mul", "lax.reduce_sum",
    ]  # fmt: skip


def test_without_a_loss_nothing_is_differentiated(tmp_path: Path) -> None:
    said, graph = saved(tmp_path, lambda x: (x * 2, x.sum()), jnp.ones(2))
    assert [out["kind"] for out in graph["outputs"]] == ["output", "output"]
    assert not any("gradient" in one for one in graph["inputs"])
    assert said == {"nodes": 2, "differ": {}, "remarks": []}


def test_without_values_only_what_was_drawn_is_there(tmp_path: Path) -> None:
    def f(x: Any, key: Any) -> Any:
        return (x * 2 + jax.random.normal(key, (2,))).sum()

    _, graph = saved(tmp_path, f, jnp.ones(2), jax.random.key(0), values=False)
    held = {node["op"]: "value" in node["outputs"][0] for node in graph["nodes"]}
    assert held == {
        "lax.mul": False, "lax.random.normal": True, "lax.add": False, "lax.reduce_sum": False,
    }  # fmt: skip


def test_an_argument_that_there_is_not(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="wrt has 2, and there are 1 arguments, from 0"):
        saved(tmp_path, jnp.sum, jnp.ones(2), wrt=(0, 2))


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    def fails(x: Any) -> Any:
        raise KeyError("weights")

    with pytest.raises(KeyError, match="weights"):
        saved(tmp_path, fails, jnp.ones(2))
    assert not [*tmp_path.iterdir()]


def test_lines_are_the_users(tmp_path: Path) -> None:
    def f(x: Any) -> Any:
        return jax.nn.silu(x).sum()

    _, graph = saved(tmp_path, f, jnp.ones(2), paths=False)
    line = f.__code__.co_firstlineno + 1
    for node in graph["nodes"]:
        [(_, at, function, text)] = node["frames"]  # and not who called the exporter
        assert (at, text) == (line, "return jax.nn.silu(x).sum()")
        assert f.__qualname__.endswith(function)
    assert [node["name"] for node in graph["nodes"]][:2] == ["silu/logistic", "silu/mul"]
    assert {*graph["sources"].values()} == {""}


def test_scopes_lose_what_transformed_them(tmp_path: Path) -> None:
    def layer(x: Any) -> Any:
        with jax.named_scope("layer"):
            return jnp.sin(x) * 2

    _, graph = saved(tmp_path, lambda x: jax.vmap(layer)(jax.vmap(layer)(x) + 1).sum(), jnp.ones(3))
    assert [node["name"] for node in graph["nodes"]] == [
        "layer/sin", "layer/mul", "add", "layer_1/sin", "layer_1/mul", "reduce_sum",
    ]  # fmt: skip


def test_a_rule_that_agrees_is_no_function(tmp_path: Path) -> None:
    """relu is one operation; logaddexp has a rule of JAX's own, which is of what it computes."""
    f = lambda x: jnp.logaddexp(jax.nn.relu(x), x * 2 + 1).sum()  # noqa: E731
    said, graph = saved(tmp_path, f, jnp.array([0.5, -1.0]))
    assert graph["functions"] == {}
    assert said["differ"] == {}
    assert "lax.relu" in {node["op"] for node in graph["nodes"]}


def test_a_rule_that_calls_another_is_told_of_once(tmp_path: Path) -> None:
    """Where two are equal, the rule of logaddexp is another than that of a maximum in it."""
    _, graph = saved(tmp_path, lambda x: jnp.logaddexp(x, x).sum(), jnp.ones(2))
    assert [*graph["functions"]] == ["logaddexp"]
    assert "gradients" in graph["functions"]["logaddexp"]


def test_a_rule_in_a_loop_stays_text(tmp_path: Path) -> None:
    @jax.custom_vjp
    def twice(x: Any) -> Any:
        return x * 1.5

    twice.defvjp(lambda x: (x * 1.5, None), lambda _, g: (2 * g,))

    def f(x: Any) -> Any:
        return jax.lax.scan(lambda c, _: (twice(c), None), x, None, length=3)[0].sum()

    said, graph = saved(tmp_path, f, jnp.ones(2))
    assert graph["functions"]["twice"]["class"] == "twice"
    assert "cotangents" not in graph["functions"]["twice"]
    assert said["remarks"] == [
        "twice has a rule of its own in a branch or a loop, where it stays text"
    ]
    assert "twice has a rule of its own" in said["differ"]["x"]
    scan = next(node for node in graph["nodes"] if node["op"] == "control.scan")
    inner = scan["args"]["body"]["graph"]
    assert not [
        one for one in (*inner["inputs"], *inner["nodes"][0]["outputs"]) if "gradients" in one
    ]


def test_what_iterations_computed_is_cut_off_where_it_is_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But what was drawn is there for all."""
    monkeypatch.setattr(gradstep_jax, "LOOPS", 100)

    def step(x: Any, key: Any) -> Any:
        return x * 2 + jax.random.normal(key, (3,)), None

    def f(x: Any, key: Any) -> Any:
        return jax.lax.scan(step, x, jax.random.split(key, 6))[0].sum()

    said, graph = saved(tmp_path, f, jnp.ones(3), jax.random.key(0))
    assert len(said["remarks"]) == 1
    assert "more than 0 MiB" in said["remarks"][0]
    nodes = next(n for n in graph["nodes"] if n["op"] == "control.scan")["args"]["body"]["graph"][
        "nodes"
    ]
    counts = {n["op"]: len(array(tmp_path, n["outputs"][0]["iterations"])) for n in nodes}
    assert counts["lax.random.normal"] == 6
    assert counts["lax.mul"] < 6


def test_nothing_of_gradstep_is_imported() -> None:
    source = Path(gradstep_jax.__file__).read_text(encoding="utf-8")
    assert "import gradstep" not in source.replace("    import gradstep_jax\n", "")


def test_rows_of_a_loop_end_each_by_itself(tmp_path: Path) -> None:
    """The condition of the loop that vmap makes is of all rows; who is done stays as it is."""
    x = jnp.array([1.5, 3.0, 7.0])

    def f(x: Any) -> Any:
        return jax.vmap(lambda v: jax.lax.while_loop(lambda c: c < 20, lambda c: c * v, v))(x).sum()

    _, graph = saved(tmp_path, f, x)
    [loop] = [node for node in graph["nodes"] if node["op"] == "control.while_loop"]
    condition = loop["args"]["condition"]["graph"]
    assert [node["op"] for node in condition["nodes"]] == ["lax.lt", "lax.reduce_or"]
    assert condition["nodes"][-1]["outputs"] == [
        {**condition["nodes"][-1]["outputs"][0], "dtype": "bool", "shape": []}
    ]
    found = array(tmp_path, loop["outputs"][0]["value"])
    np.testing.assert_allclose(found, [1.5**8, 27, 49], rtol=1e-6)
    gradient = array(tmp_path, graph["inputs"][0]["gradient"])
    np.testing.assert_allclose(gradient, [8 * 1.5**7, 27, 14], rtol=1e-5)


def test_rows_of_a_loop_with_keys_of_their_own(tmp_path: Path) -> None:
    """A choice between keys is no operation, and what is drawn from it is there."""
    keys = jax.random.split(jax.random.key(0), 3)

    def step(c: Any) -> Any:
        return c[0] * 2 + jax.random.uniform(c[1]), jax.random.split(c[1])[0]

    def row(v: Any, key: Any) -> Any:
        return jax.lax.while_loop(lambda c: c[0] < 20, step, (v, key))[0]

    def f(x: Any) -> Any:
        return jax.vmap(row)(x, keys).sum()

    x = jnp.array([1.5, 3.0, 7.0])
    _, graph = saved(tmp_path, f, x)
    [loop] = [node for node in graph["nodes"] if node["op"] == "control.while_loop"]
    np.testing.assert_allclose(
        array(tmp_path, loop["outputs"][0]["value"]), jax.vmap(row)(x, keys), rtol=1e-6
    )
    nodes = loop["args"]["body"]["graph"]["nodes"]
    assert "lax.random.uniform" in {node["op"] for node in nodes}
    assert all(node["outputs"] for node in nodes)


def test_all_that_is_stacked_is_in_a_list(tmp_path: Path) -> None:
    _, graph = saved(tmp_path, lambda x: jnp.stack([x[0], 2.0]).sum(), jnp.ones(3))
    stacked = [node["args"] for node in graph["nodes"] if node["op"] == "lax.stack"]
    assert all([*args] == ["operands", "axis"] for args in stacked)


def test_where_jax_differentiates_nothing_no_gradients_are_told_of(tmp_path: Path) -> None:
    """A product over segments has no gradient in JAX, however it is asked for."""

    def f(x: Any) -> Any:
        return jax.ops.segment_prod(x, jnp.array([0, 0, 1]), 2).sum()

    said, graph = saved(tmp_path, f, jnp.ones(3))
    assert len(said["remarks"]) == 2
    assert not [text for text in said["remarks"] if "the gradients here" in text]
    assert "gradient" not in graph["inputs"][0]
