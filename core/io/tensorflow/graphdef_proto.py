"""TensorFlow's GraphDef as protobuf messages, made without TensorFlow.

The fields, numbers and names are those of tensorflow/core/framework/*.proto (Apache 2.0).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from gradstep.core.graph.dtypes import DType
from gradstep.core.io.message_pool import message_class, message_pool
from gradstep.core.io.message_pool import parse as parse

# message -> "name number type", as message_pool takes them.
_MESSAGES = {
    "GraphDef": (
        "node 1 NodeDef[]", "library 2 FunctionDefLibrary", "version 3 int32",
        "versions 4 VersionDef", "debug_info 5 GraphDebugInfo",
    ),
    "NodeDef": (
        "name 1 string", "op 2 string", "input 3 string[]", "device 4 string",
        "attr 5 AttrValue{}", "experimental_debug_info 6 DebugInfo",
        "experimental_type 7 FullTypeDef",
    ),
    "DebugInfo": ("original_node_names 1 string[]", "original_func_names 2 string[]"),
    "AttrValue": (
        "list 1 ListValue", "s 2 bytes", "i 3 int64", "f 4 float", "b 5 bool", "type 6 DataType",
        "shape 7 TensorShapeProto", "tensor 8 TensorProto", "placeholder 9 string",
        "func 10 NameAttrList",
    ),
    "ListValue": (
        "s 2 bytes[]", "i 3 int64[]", "f 4 float[]", "b 5 bool[]", "type 6 DataType[]",
        "shape 7 TensorShapeProto[]", "tensor 8 TensorProto[]", "func 9 NameAttrList[]",
    ),
    "NameAttrList": ("name 1 string", "attr 2 AttrValue{}"),
    "Dim": ("size 1 int64", "name 2 string"),
    "TensorShapeProto": ("dim 2 Dim[]", "unknown_rank 3 bool"),
    "TensorProto": (
        "dtype 1 DataType", "tensor_shape 2 TensorShapeProto", "version_number 3 int32",
        "tensor_content 4 bytes", "float_val 5 float[]", "double_val 6 double[]",
        "int_val 7 int32[]", "string_val 8 bytes[]", "scomplex_val 9 float[]",
        "int64_val 10 int64[]", "bool_val 11 bool[]", "dcomplex_val 12 double[]",
        "half_val 13 int32[]", "uint32_val 16 uint32[]", "uint64_val 17 uint64[]",
    ),
    "VersionDef": ("producer 1 int32", "min_consumer 2 int32", "bad_consumers 3 int32[]"),
    "FunctionDefLibrary": (
        "function 1 FunctionDef[]", "gradient 2 GradientDef[]",
        "registered_gradients 3 RegisteredGradient[]",
    ),
    "GradientDef": ("function_name 1 string", "gradient_func 2 string"),
    "RegisteredGradient": ("gradient_func 1 string", "registered_op_type 2 string"),
    "FunctionDef": (
        "signature 1 OpDef", "node_def 3 NodeDef[]", "ret 4 string{}", "attr 5 AttrValue{}",
        "control_ret 6 string{}", "arg_attr 7 ArgAttrs{uint32}",
        "resource_arg_unique_id 8 uint32{uint32}",
    ),
    "ArgAttrs": ("attr 1 AttrValue{}",),
    "OpDef": (
        "name 1 string", "input_arg 2 ArgDef[]", "output_arg 3 ArgDef[]", "attr 4 AttrDef[]",
        "summary 5 string", "description 6 string", "deprecation 8 OpDeprecation",
        "is_aggregate 16 bool", "is_stateful 17 bool", "is_commutative 18 bool",
        "allows_uninitialized_input 19 bool", "control_output 20 string[]",
        "is_distributed_communication 21 bool",
    ),
    "OpDeprecation": ("version 1 int32", "explanation 2 string"),
    "ArgDef": (
        "name 1 string", "description 2 string", "type 3 DataType", "type_attr 4 string",
        "number_attr 5 string", "type_list_attr 6 string", "handle_data 7 DtypeAndShape[]",
        "is_ref 16 bool", "experimental_full_type 17 FullTypeDef",
    ),
    "DtypeAndShape": ("dtype 1 DataType", "shape 2 TensorShapeProto"),
    "AttrDef": (
        "name 1 string", "type 2 string", "default_value 3 AttrValue", "description 4 string",
        "has_minimum 5 bool", "minimum 6 int64", "allowed_values 7 AttrValue",
    ),
    "GraphDebugInfo": (),
    "SavedModel": ("saved_model_schema_version 1 int64", "meta_graphs 2 MetaGraphDef[]"),
    "MetaGraphDef": (
        "meta_info_def 1 MetaInfoDef", "graph_def 2 GraphDef", "saver_def 3 SaverDef",
        "collection_def 4 CollectionDef{}", "signature_def 5 SignatureDef{}",
        "asset_file_def 6 AssetFileDef[]", "object_graph_def 7 SavedObjectGraph",
    ),
    "MetaInfoDef": (
        "meta_graph_version 1 string", "stripped_op_list 2 OpList", "tags 4 string[]",
        "tensorflow_version 5 string", "tensorflow_git_version 6 string",
    ),
    "OpList": ("op 1 OpDef[]",),
    "SaverDef": (
        "filename_tensor_name 1 string", "save_tensor_name 2 string", "restore_op_name 3 string",
    ),
    "CollectionDef": (
        "node_list 1 NodeList", "bytes_list 2 BytesList", "int64_list 3 Int64List",
        "float_list 4 FloatList", "any_list 5 AnyList",
    ),
    "AnyList": ("value 1 Any[]",),
    "Any": ("type_url 1 string", "value 2 bytes"),
    "NodeList": ("value 1 string[]",),
    "BytesList": ("value 1 bytes[]",),
    "Int64List": ("value 1 int64[]",),
    "FloatList": ("value 1 float[]",),
    "SignatureDef": (
        "inputs 1 TensorInfo{}", "outputs 2 TensorInfo{}", "method_name 3 string",
    ),
    "TensorInfo": ("name 1 string", "dtype 2 DataType", "tensor_shape 3 TensorShapeProto"),
    "AssetFileDef": ("tensor_info 1 TensorInfo", "filename 2 string"),
    "VariableDef": ("variable_name 1 string", "trainable 7 bool"),
    "QueueRunnerDef": (
        "queue_name 1 string", "enqueue_op_name 2 string[]", "close_op_name 3 string",
    ),
    "SavedObjectGraph": (
        "nodes 1 SavedObject[]", "concrete_functions 2 SavedConcreteFunction{}",
    ),
    "SavedObject": (
        "children 1 ObjectReference[]", "function 6 SavedFunction", "variable 7 SavedVariable",
        "constant 9 SavedConstant", "captured_tensor 12 CapturedTensor",
    ),
    "SavedFunction": ("concrete_functions 1 string[]",),
    "SavedConcreteFunction": ("bound_inputs 2 int32[]", "output_signature 4 StructuredValue"),
    "CapturedTensor": ("name 1 string", "concrete_function 2 string"),
    "StructuredValue": (
        "none_value 1 NoneValue", "tensor_spec_value 33 TensorSpecProto",
        "list_value 51 StructuredValues", "tuple_value 52 StructuredValues",
    ),
    "NoneValue": (),
    "TensorSpecProto": (),
    "StructuredValues": ("values 1 StructuredValue[]",),
    "SavedConstant": ("operation 1 string",),
    "ObjectReference": ("node_id 1 int32", "local_name 2 string"),
    "SavedVariable": ("dtype 1 DataType", "trainable 3 bool", "name 6 string"),
    "BundleHeaderProto": ("num_shards 1 int32", "endianness 2 int32", "version 3 VersionDef"),
    "BundleEntryProto": (
        "dtype 1 DataType", "shape 2 TensorShapeProto", "shard_id 3 int32", "offset 4 int64",
        "size 5 int64", "crc32c 6 fixed32", "slices 7 TensorSliceProto[]",
    ),
    "SavedTensorSlices": ("meta 1 SavedTensorSliceMeta",),
    "SavedTensorSliceMeta": ("tensor 1 SavedSliceMeta[]", "versions 2 VersionDef"),
    "SavedSliceMeta": (
        "name 1 string", "shape 2 TensorShapeProto", "type 3 DataType",
        "slice 4 TensorSliceProto[]",
    ),
    "TensorSliceProto": ("extent 1 Extent[]",),
    "Extent": ("start 1 int64", "length 2 int64?"),
    "FullTypeDef": ("type_id 1 FullTypeId", "args 2 FullTypeDef[]", "s 3 string", "i 4 int64"),
}  # fmt: skip

_NUMBERS = {
    DType.FLOAT32: ("DT_FLOAT", 1), DType.FLOAT64: ("DT_DOUBLE", 2), DType.INT32: ("DT_INT32", 3),
    DType.UINT8: ("DT_UINT8", 4), DType.INT16: ("DT_INT16", 5), DType.INT8: ("DT_INT8", 6),
    DType.STRING: ("DT_STRING", 7), DType.COMPLEX64: ("DT_COMPLEX64", 8),
    DType.INT64: ("DT_INT64", 9), DType.BOOL: ("DT_BOOL", 10), DType.UINT16: ("DT_UINT16", 17),
    DType.COMPLEX128: ("DT_COMPLEX128", 18), DType.FLOAT16: ("DT_HALF", 19),
    DType.RESOURCE: ("DT_RESOURCE", 20), DType.UINT32: ("DT_UINT32", 22),
    DType.UINT64: ("DT_UINT64", 23), DType.VARIANT: ("DT_VARIANT", 21),
    DType.BFLOAT16: ("DT_BFLOAT16", 14),
}  # fmt: skip
_OTHERS = {
    "DT_INVALID": 0, "DT_QINT8": 11, "DT_QUINT8": 12, "DT_QINT32": 13,
    "DT_QINT16": 15, "DT_QUINT16": 16, "DT_FLOAT8_E5M2": 24,
    "DT_FLOAT8_E4M3FN": 25, "DT_INT4": 29, "DT_UINT4": 30,
}  # fmt: skip
_FULL_TYPES = {
    "TFT_UNSET": 0, "TFT_VAR": 1, "TFT_ANY": 2, "TFT_PRODUCT": 3, "TFT_NAMED": 4,
    "TFT_FOR_EACH": 20, "TFT_CALLABLE": 100, "TFT_BOOL": 200, "TFT_UINT8": 201, "TFT_UINT16": 202,
    "TFT_UINT32": 203, "TFT_UINT64": 204, "TFT_INT8": 205, "TFT_INT16": 206, "TFT_INT32": 207,
    "TFT_INT64": 208, "TFT_HALF": 209, "TFT_FLOAT": 210, "TFT_DOUBLE": 211, "TFT_COMPLEX64": 212,
    "TFT_COMPLEX128": 213, "TFT_STRING": 214, "TFT_BFLOAT16": 215, "TFT_TENSOR": 1000,
    "TFT_ARRAY": 1001, "TFT_OPTIONAL": 1002, "TFT_LITERAL": 1003, "TFT_ENCODED": 1004,
    "TFT_SHAPE_TENSOR": 1005, "TFT_DATASET": 10102, "TFT_RAGGED": 10103, "TFT_ITERATOR": 10104,
    "TFT_MUTEX_LOCK": 10202, "TFT_LEGACY_VARIANT": 10203,
}  # fmt: skip
_REF = 100  # DT_FLOAT_REF is DT_FLOAT + 100
TYPE_NUMBERS = {dtype: number for dtype, (_, number) in _NUMBERS.items()}
_DTYPES = {number: dtype for dtype, number in TYPE_NUMBERS.items()}


def dtype_of(number: int) -> DType:
    """The element type of a DataType number; of a ref type, what it refers to. Raises KeyError."""
    return _DTYPES[number % _REF if number > _REF else number]


def type_name(number: int) -> str:
    """TensorFlow's name of a DataType number."""
    names = {**_OTHERS, **dict(_NUMBERS.values())}
    return next((name for name, n in names.items() if n == number), f"DataType {number}")


@cache
def message(name: str) -> Any:
    """The message class `name` ("GraphDef")."""
    return message_class(_pool(), f"tensorflow.{name}")


@cache
def _pool() -> Any:
    names = {**_OTHERS, **dict(_NUMBERS.values())}
    refs = {f"{name}_REF": number + _REF for name, number in names.items() if number}
    enums = {"DataType": names | refs, "FullTypeId": _FULL_TYPES}
    return message_pool("tensorflow", _MESSAGES, enums, {"AttrValue": "value"})
