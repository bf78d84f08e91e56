"""TensorFlow's other files, which hold more or less than a graph: named, and not read.

What is said of a graph in one of them was run as it stands (2.21).
"""

from __future__ import annotations

from gradstep.core.io.format_record import Format
from gradstep.core.io.sniff import file_signatures as signs

WRITE_GRAPH = "tf.io.write_graph({}, '.', 'graph.pb', as_text=False)"
_FREEZE = (
    "from tensorflow.python.framework.convert_to_constants import "
    "convert_variables_to_constants_v2 as freeze; "
)
_SAVED_1 = (
    "write its graph in TensorFlow: with tf.compat.v1.Session(graph=tf.Graph()) as s: "
    "tf.compat.v1.saved_model.load(s, ['serve'], {folder}); " + WRITE_GRAPH.format("s.graph_def")
)
_SAVED_2 = (
    "write a function of it in TensorFlow: "
    + _FREEZE
    + "m = tf.saved_model.load({folder}); f = m.signatures['serving_default']; "
    + WRITE_GRAPH.format("freeze(f).graph")
)
_META = (
    "write its graph in TensorFlow: tf.compat.v1.disable_eager_execution(); "
    "tf.compat.v1.train.import_meta_graph({file}); "
    + WRITE_GRAPH.format("tf.compat.v1.get_default_graph()")
)
_CHECKPOINT = (
    "it has the values of variables and no graph: open the graph that was trained, and Graph > "
    "Restore variables takes them (--restore {path}); open the .meta beside it, or the "
    "saved_model.pb of its folder, to be told how to write its graph"
)
_EVENTS = (
    "if a graph was written to it, take it out in TensorFlow: open('graph.pb', 'wb').write(next("
    "e.graph_def for e in tf.compat.v1.train.summary_iterator({file}) if e.graph_def))"
)
_KERAS = (
    "write it in TensorFlow: " + _FREEZE + "m = tf.keras.models.load_model({file}); "
    "f = tf.function(m).get_concrete_function(tf.TensorSpec(m.inputs[0].shape, m.inputs[0].dtype))"
    "; " + WRITE_GRAPH.format("freeze(f).graph")
)

FORMATS = (
    Format("saved_model_2", "a SavedModel of TensorFlow 2", signs.is_saved_model_2,
           main_files=("saved_model.pb",), todo=_SAVED_2),
    Format("saved_model", "a SavedModel of TensorFlow 1", signs.is_saved_model,
           main_files=("saved_model.pb",), todo=_SAVED_1),
    Format("saved_model_text", "a TensorFlow SavedModel as text",
           signs.proto_text("saved_model_schema_version", "meta_graphs"),
           main_files=("saved_model.pbtxt",), todo=_SAVED_1),
    Format("meta_graph", "a TensorFlow MetaGraph, the graph beside a checkpoint",
           signs.is_meta_graph, todo=_META),
    Format("meta_graph_text", "a TensorFlow MetaGraph as text",
           signs.proto_text("meta_info_def", "graph_def"), todo=_META),
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
           todo="open an event file in it, to be told how to get its graph"),
    Format("event_file", "an event file of TensorBoard", signs.is_event_file, todo=_EVENTS),
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
