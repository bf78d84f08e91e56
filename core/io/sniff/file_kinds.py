"""What files there are: how each kind is known, what it is, and what to do to get one that opens.

Kinds are looked for in the table's order, by what is in a file; its name counts only where nothing
else tells. A kind with a reader opens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gradstep.core.document.document import Document
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.sniff import file_signatures as signs
from gradstep.core.io.sniff.file_sample import Sample
from gradstep.core.io.sniff.file_signatures import Sign

Reader = Callable[[bytes, str, Budget], Document]


@dataclass(frozen=True)
class FileKind:
    """name: for programs; what: "it is" this, in words; sign: whether a file is one; read: opens
    one; todo: else, how to get a file that opens, where {path} stands for the file's name, {file}
    and {folder} for it and the folder it is in, as Python writes them."""

    name: str
    what: str
    sign: Sign
    todo: str = ""
    read: Reader | None = None


def kind_of(sample: Sample) -> FileKind:
    """The first kind whose sign the file has; there is always one."""
    return next(kind for kind in KINDS if kind.sign(sample))


def _gradstep(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.native.gradstep_file import from_bytes

    return from_bytes(data, name, budget)


def _graphdef(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.tensorflow.graphdef_import import from_pb

    return from_pb(data, name, budget)


def _graphdef_text(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.tensorflow.graphdef_import import from_pbtxt

    return from_pbtxt(data, name, budget)


# In TensorFlow: how to write a graph that opens. Each was run as it stands (2.21).
_WRITE = "tf.io.write_graph({}, '.', 'graph.pb', as_text=False)"
_FREEZE = (
    "from tensorflow.python.framework.convert_to_constants import "
    "convert_variables_to_constants_v2 as freeze; "
)
_SAVED_1 = (
    "write its graph in TensorFlow: with tf.compat.v1.Session(graph=tf.Graph()) as s: "
    "tf.compat.v1.saved_model.load(s, ['serve'], {folder}); " + _WRITE.format("s.graph_def")
)
_SAVED_2 = (
    "write a function of it in TensorFlow: "
    + _FREEZE
    + "m = tf.saved_model.load({folder}); f = m.signatures['serving_default']; "
    + _WRITE.format("freeze(f).graph")
)
_META = (
    "write its graph in TensorFlow: tf.compat.v1.disable_eager_execution(); "
    "tf.compat.v1.train.import_meta_graph({file}); "
    + _WRITE.format("tf.compat.v1.get_default_graph()")
)
_CHECKPOINT = (
    "it has the values of variables and no graph: open the .meta beside it, or the saved_model.pb "
    "of its folder, to be told how to write its graph"
)
_EVENTS = (
    "if a graph was written to it, take it out in TensorFlow: open('graph.pb', 'wb').write(next("
    "e.graph_def for e in tf.compat.v1.train.summary_iterator({file}) if e.graph_def))"
)
_KERAS = (
    "write it in TensorFlow: " + _FREEZE + "m = tf.keras.models.load_model({file}); "
    "f = tf.function(m).get_concrete_function(tf.TensorSpec(m.inputs[0].shape, m.inputs[0].dtype))"
    "; " + _WRITE.format("freeze(f).graph")
)
_ONNX = "ONNX is not read yet: convert it to TensorFlow (onnx2tf makes a SavedModel of it)"
_TORCH = (
    "PyTorch is not read yet: export the model to ONNX (torch.onnx.export), and that to TensorFlow "
    "(onnx2tf makes a SavedModel of it)"
)
_WEIGHTS = "it has weights and no graph: open the graph of the model, and give it these as values"
_ARRAYS = "feed it to a graph: gradstep run GRAPH --feed NAME=@{path}"
_UNPACK = "unpack it, and open what is in it"
_DRAW = "open a .gradstep document or a TensorFlow GraphDef"

KINDS: tuple[FileKind, ...] = (
    # Folders.
    FileKind("checkpoint_folder", "a folder of TensorFlow checkpoints",
             signs.holds(r"^checkpoint$|\.ckpt.*\.index$"), _CHECKPOINT),
    FileKind("log_folder", "a folder of TensorBoard's event files",
             signs.holds(r"^events\.out\.tfevents"), "open an event file in it, to be told how to "
             "get its graph"),
    FileKind("hugging_face_folder", "the folder of a Hugging Face model",
             signs.holds(r"^config\.json$", r"\.(safetensors|bin|h5|msgpack)$"), _TORCH),
    FileKind("folder", "a folder", signs.is_folder, "open a file in it"),
    # What opens.
    FileKind("gradstep", "a Gradstep document", signs.packs(r"^document\.json$"), read=_gradstep),
    FileKind("graphdef", "a TensorFlow GraphDef", signs.is_graphdef, read=_graphdef),
    FileKind("graphdef_text", "a TensorFlow GraphDef as text",
             signs.proto_text("node", "library", "versions"), read=_graphdef_text),
    # TensorFlow's other files.
    FileKind("empty", "empty: it has no bytes", signs.is_empty, "use another copy of the file"),
    FileKind("saved_model_2", "a SavedModel of TensorFlow 2", signs.is_saved_model_2, _SAVED_2),
    FileKind("saved_model", "a SavedModel of TensorFlow 1", signs.is_saved_model, _SAVED_1),
    FileKind("saved_model_text", "a TensorFlow SavedModel as text",
             signs.proto_text("saved_model_schema_version", "meta_graphs"), _SAVED_1),
    FileKind("meta_graph", "a TensorFlow MetaGraph, the graph beside a checkpoint",
             signs.is_meta_graph, _META),
    FileKind("meta_graph_text", "a TensorFlow MetaGraph as text",
             signs.proto_text("meta_info_def", "graph_def"), _META),
    FileKind("checkpoint_index", "the index of a TensorFlow checkpoint",
             signs.is_checkpoint_index, _CHECKPOINT),
    FileKind("checkpoint_1", "a TensorFlow checkpoint of the first version", signs.is_table,
             _CHECKPOINT),
    FileKind("checkpoint_data", "a part of a TensorFlow checkpoint", signs.is_checkpoint_data,
             _CHECKPOINT),
    FileKind("checkpoint_state", "a list of TensorFlow checkpoints",
             signs.proto_text("model_checkpoint_path"), _CHECKPOINT),
    FileKind("event_file", "an event file of TensorBoard", signs.is_event_file, _EVENTS),
    FileKind("records", "a file of TFRecords, which hold data", signs.is_record_file, _DRAW),
    FileKind("tflite", "a model of TensorFlow Lite", signs.is_tflite,
             "there is no way back from it: open the graph of the model that it was made of"),
    FileKind("tensorflow_js", "a model of TensorFlow.js",
             signs.mentions("{", '"modelTopology"'), "open the model that it was made of"),
    FileKind("keras", "a Keras model", signs.packs(r"^config\.json$", r"\.weights\.h5$"), _KERAS),
    FileKind("keras_json", "the architecture of a Keras model, without weights",
             signs.mentions("{", '"class_name"', '"config"'),
             _KERAS.replace("load_model({file})", "model_from_json(open({file}).read())")),
    FileKind("hdf5", "an HDF5 file, as Keras saves models in", signs.begins(b"\x89HDF\r\n\x1a\n"),
             _KERAS),
    # Other frameworks'.
    FileKind("onnx", "an ONNX model", signs.is_onnx, _ONNX),
    FileKind("onnx_text", "an ONNX model as text",
             signs.says(r"(?s)\s*(<\s*)?ir_version\s*:"), _ONNX),
    FileKind("torch_export", "a program exported from PyTorch (.pt2)",
             signs.packs(r"(^|/)(serialized_exported_program\.json|models/[^/]+\.json)$"), _TORCH),
    FileKind("torch_script", "a TorchScript module of PyTorch",
             signs.packs(r"/data\.pkl$", r"/code/"), _TORCH),
    FileKind("torch", "a PyTorch file: weights, or a whole module (.pt, .pth)",
             signs.packs(r"(^|/)data\.pkl$"), _TORCH),
    FileKind("torch_old", "a PyTorch file of before version 1.6",
             signs.begins(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."), _TORCH),
    FileKind("safetensors", "a safetensors file, which holds weights", signs.is_safetensors,
             _WEIGHTS),
    FileKind("gguf", "a GGUF file, which holds a language model's weights", signs.begins(b"GGUF"),
             _WEIGHTS),
    FileKind("flax", "a MessagePack file, as Flax saves weights in", signs.is_message_pack,
             _WEIGHTS),
    FileKind("stablehlo", "a program of JAX in StableHLO",
             signs.says(r"(?s)(#loc|module @)"), "JAX is not read yet: " + _DRAW),
    FileKind("mlir", "MLIR bytecode, as JAX exports programs in", signs.begins(b"ML\xefR"),
             "JAX is not read yet: " + _DRAW),
    FileKind("hlo", "a program of XLA as text", signs.says("HloModule"),
             "XLA's programs are not read: " + _DRAW),
    # Data.
    FileKind("npy", "a NumPy array", signs.begins(b"\x93NUMPY"), _ARRAYS),
    FileKind("npz", "NumPy arrays (.npz)", signs.packs_only(r"\.npy$"), _ARRAYS + ":NAME"),
    FileKind("pickle", "a Python pickle", signs.is_pickle,
             "it would have to be run to be read, which Gradstep does not do: save arrays from it "
             "with numpy.save, or the graph as a GraphDef"),
    FileKind("picture", "a picture",
             signs.begins(b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF8", b"<svg"),
             "it can be shown, not run: open the document that it was made of"),
    FileKind("pdf", "a PDF document", signs.begins(b"%PDF"), _DRAW),
    FileKind("gradstep", "a Gradstep document", signs.is_named(".gradstep"), read=_gradstep),
    # Wrappings, and what went wrong on the way.
    FileKind("gzip", "compressed (gzip)", signs.begins(b"\x1f\x8b"), "unpack it: gunzip {path}"),
    FileKind("compressed", "compressed",
             signs.begins(b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf"), _UNPACK),
    FileKind("zip", "a zip archive", signs.begins(b"PK\x03\x04", b"PK\x05\x06"), _UNPACK),
    FileKind("tar", "a tar archive", lambda sample: sample.head[257:262] == b"ustar", _UNPACK),
    FileKind("lfs_pointer", "a pointer of Git LFS, in place of the file",
             signs.says(r"version https://git-lfs"), "fetch the file: git lfs pull"),
    FileKind("web_page", "a web page, as a failed download leaves one",
             signs.says(r"(?i)<!doctype html|<html"), "download the file again"),
    # Text.
    FileKind("notebook", "a Jupyter notebook", signs.mentions("{", '"cells"', '"nbformat"'),
             "run it, and write its graph: " + _WRITE.format("GRAPH")),
    FileKind("json", "JSON", signs.says(r"[{\[]"), _DRAW),
    FileKind("graphviz", "a drawing for Graphviz", signs.says(r"(strict\s+)?(di)?graph\b"),
             "open the document that it was made of"),
    FileKind("python", "a Python program",
             lambda s: signs.is_named(".py", ".pyw")(s) and signs.is_text(s),
             "run it, and write its graph: " + _WRITE.format("GRAPH")),
    # By the name alone: its reader says what is wrong.
    FileKind("graphdef_text", "a TensorFlow GraphDef as text", signs.is_named(".pbtxt"),
             read=_graphdef_text),
    FileKind("text", "text, and no graph", signs.is_text, _DRAW),
    FileKind("unknown", "of no kind that Gradstep knows", lambda sample: True, _DRAW),
)  # fmt: skip
