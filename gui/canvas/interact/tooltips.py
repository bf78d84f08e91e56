"""What the pointer is told of a port, a node or a wire: name, type, value, and why it is dead."""

from __future__ import annotations

from gradstep.core.graph.model import TensorRef
from gradstep.gui.canvas.scene.hit_test import Hit, Port
from gradstep.gui.canvas.scene.input_names import input_name
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.model import variable_change
from gradstep.gui.model.live_output import live_name, live_output
from gradstep.gui.model.value_cache import TensorValue

ROOM = 60  # characters of a value


def text(stage: SceneModel, hit: Hit) -> str:
    """Lines of plain text; empty for nothing."""
    if hit.port is not None:
        return _port(stage, hit.port)
    if hit.box is not None:
        return _box(stage, hit.box)
    return "" if hit.link is None else _link(stage, hit.link)


def _port(stage: SceneModel, port: Port) -> str:
    if port.is_output:
        ref = stage.tensor(port)
        many = len(stage.arrays.visible.hubs.at_port(port.box, port.index))
        readers = [f"{many:,} wires lead from here"] if many else []
        return "\n".join([f"output {ref}", *_tensor(stage, ref), *readers])
    edge = stage.wire(port)
    op = stage.workspace.shown[edge.op]
    name = f"input '{input_name(stage.workspace.shown, edge)}' of {edge.op}"
    source = op.inputs[edge.index] if edge.index < len(op.inputs) else None
    if source is None:
        return f"{name}\nnot connected: drag a wire here"
    return "\n".join([f"{name}, from {source.short}", *_tensor(stage, source)])


def _box(stage: SceneModel, number: int) -> str:
    box = stage.arrays.visible.boxes[number]
    if box.is_scope:
        lines = [f"{box.name}: {box.type}", *_share(stage, number)]
        opens = "double-click to open the first" if box.stack else "double-click to open"
        return "\n".join([*lines, opens])
    lines = [f"{box.id}  {box.type}", *_share(stage, number)]
    if number in stage.facts.problems:
        lines.append(f"problem: {stage.facts.problems[number]}")
    if number in stage.facts.unfinished:
        lines.append(f"waits for {stage.facts.unfinished[number]}")
    if number in stage.facts.badges:
        lines.append(f"gradient overridden by {stage.facts.badges[number]}")
    if box.outputs:
        op = stage.workspace.shown[box.id]
        name = live_name(stage.workspace, op)
        lines += [f"output {name}"] if name else []
        lines += _tensor(stage, live_output(stage.workspace, op))
    return "\n".join(lines)


def _share(stage: SceneModel, number: int) -> list[str]:
    """What part of a run's cost is a box's, where the canvas is coloured by it."""
    shares = stage.facts.shares
    text = shares.said(number) if shares is not None else ""
    return [text] if text else []


def _link(stage: SceneModel, number: int) -> str:
    link = stage.arrays.visible.links[number]
    boxes, graph = stage.arrays.visible.boxes, stage.workspace.shown
    if link.is_control:
        return f"{boxes[link.target].name} runs after {boxes[link.source].name}"
    if len(link.wires) > 1:
        source, target = boxes[link.source].name, boxes[link.target].name
        return f"{len(link.wires)} wires from {source} to {target}"
    ref = graph.source(link.wires[0])
    if ref is None:
        return ""
    name = input_name(stage.workspace.shown, link.wires[0])
    lines = [f"{ref.short} → {link.wires[0].op} · {name}", *_tensor(stage, ref)]
    crossing = stage.facts.crossings.get(number)
    if crossing is not None:
        lines.append(f"crosses devices: {crossing.words(stage.workspace.device)}")
    return "\n".join([*lines, *_backward(stage, number)])


def _backward(stage: SceneModel, number: int) -> list[str]:
    """What came back over a wire, or why nothing does."""
    if stage.facts.stopped_links[number]:
        return ["gradient stopped here (S lets it through)"]
    if stage.facts.dead_links[number]:
        why = stage.facts.why_dead(number)
        return [f"no gradient: {why}" if why else "no gradient comes back over this wire"]
    wire = stage.arrays.visible.links[number].wires[0]
    carried = stage.facts.carried.get(wire)
    found = None if carried is None else stage.workspace.value(carried)
    return [f"∂ {_value(found)}"] if carried is not None else []


def _tensor(stage: SceneModel, ref: TensorRef) -> list[str]:
    """Type, value and gradient of a tensor, a line each, as far as they are known."""
    workspace = stage.workspace
    kind = workspace.inference.types.get(ref)
    lines = [] if kind is None else [str(kind)]
    found = workspace.value(str(ref))
    lines.append(f"v {_value(found)}")
    if found is not None and (changed := variable_change.of(found)) is not None:
        before, delta = (
            variable_change.inline(t, found, ROOM) for t in (changed.before, changed.delta)
        )
        lines.append(f"was {before}, Δ {delta}" if before and delta else changed.size)
    if workspace.program is not None and str(ref) in workspace.program.gradients:
        lines.append(f"∂ {_value(workspace.gradient(str(ref)))}")
    return lines


def _value(found: TensorValue | None) -> str:
    if found is None or found.state == "waiting":
        return "not computed yet"
    if found.state == "none":
        return "none"
    return found.absence or variable_change.brief(found, ROOM)
