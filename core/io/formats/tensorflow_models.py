"""TensorFlow's other files, which hold more or less than a graph.

What is said of a graph in one that is not read was run as it stands (2.21).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.core.io.disk.memory_budget import Budget

WRITE_GRAPH = "tf.io.write_graph({}, '.', 'graph.pb', as_text=False)"
_CHECKPOINT = (
    "it has the values of variables and no graph: open the .meta beside it, or the folder of the "
    "SavedModel that it is in, and they are there; or open the graph that was trained, and Graph > "
    "Restore variables takes them (--restore {path})"
)
_KERAS = (
    "write a SavedModel of it, with Keras, and open that folder: "
    "tf.keras.models.load_model({file}).export('saved_model')"
)


def _read_saved_model(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.tensorflow.saved.saved_model import from_saved_model

    return from_saved_model(data, name, budget)


def _read_saved_model_text(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.tensorflow.saved.model_texts import saved_model_bytes

    return _read_saved_model(saved_model_bytes(data, name, budget), name, budget)


def _read_meta_graph(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.tensorflow.saved.meta_graph_file import from_meta_graph

    return from_meta_graph(data, name, budget)


def _read_meta_graph_text(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.tensorflow.saved.model_texts import meta_graph_bytes

    return _read_meta_graph(meta_graph_bytes(data, name, budget), name, budget)


def _read_event_file(data: bytes, name: str, budget: Budget) -> Document:
    from gradstep.core.io.tensorflow.saved.event_graph import from_event_file

    return from_event_file(data, name, budget)


_FOLDERS = ("variables", "assets")

FORMATS = (
    Format("saved_model", "a TensorFlow SavedModel", signs.is_saved_model, suffixes=(".pb",),
           title="TensorFlow SavedModels", read=_read_saved_model,
           main_files=("saved_model.pb",), part_folders=_FOLDERS),
    Format("saved_model_text", "a TensorFlow SavedModel as text",
           signs.proto_text("saved_model_schema_version", "meta_graphs"), suffixes=(".pbtxt",),
           title="TensorFlow SavedModels", read=_read_saved_model_text,
           main_files=("saved_model.pbtxt",), part_folders=_FOLDERS),
    Format("meta_graph", "a TensorFlow MetaGraph",
           signs.is_meta_graph, suffixes=(".meta",), title="TensorFlow MetaGraphs",
           read=_read_meta_graph, has_parts=True),
    Format("meta_graph_text", "a TensorFlow MetaGraph as text",
           signs.proto_text("meta_info_def", "graph_def"), suffixes=(".meta",),
           title="TensorFlow MetaGraphs", read=_read_meta_graph_text, has_parts=True),
    Format("checkpoint_folder", "a folder of TensorFlow checkpoints",
           signs.holds(r"^checkpoint$|\.ckpt.*\.index$"), todo=_CHECKPOINT),
    Format("checkpoint_index", "the index of a TensorFlow checkpoint",
           signs.is_checkpoint_index, todo=_CHECKPOINT),
    Format("checkpoint_1", "a TensorFlow checkpoint of the first version", signs.is_table,
           todo=_CHECKPOINT),
    Format("checkpoint_data", "a part of a TensorFlow checkpoint", signs.is_checkpoint_data,
           todo=_CHECKPOINT),
    Format("checkpoint_state", "a list of TensorFlow checkpoints",
           signs.proto_text("model_checkpoint_path"), todo=_CHECKPOINT),
    Format("log_folder", "a folder of TensorBoard's event files",
           signs.holds(r"^events\.out\.tfevents"),
           todo="open an event file in it: the first one of a program has its graph"),
    Format("event_file", "an event file of TensorBoard", signs.is_event_file,
           read=_read_event_file, title="TensorBoard event files"),
    Format("records", "a file of TFRecords, which hold data", signs.is_record_file),
    Format("tflite", "a model of TensorFlow Lite", signs.is_tflite,
           todo="there is no way back from it: open the graph of the model that it was made of"),
    Format("tensorflow_js", "a model of TensorFlow.js", signs.mentions("{", '"modelTopology"'),
           todo="open the model that it was made of"),
    Format("keras", "a Keras model", signs.packs(r"^config\.json$", r"\.weights\.h5$"),
           todo=_KERAS),
    Format("keras_json", "the architecture of a Keras model, without weights",
           signs.mentions("{", '"class_name"', '"config"'),
           todo=_KERAS.replace("load_model({file})", "model_from_json(open({file}).read())")),
    Format("hdf5", "an HDF5 file, as Keras saves models in", signs.begins(b"\x89HDF\r\n\x1a\n"),
           todo=_KERAS),
)  # fmt: skip
