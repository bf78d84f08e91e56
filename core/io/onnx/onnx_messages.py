"""ONNX's model as protobuf messages, made without ONNX.

The fields, numbers and names are those of onnx/onnx-ml.proto (Apache 2.0), as far as they are read.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from gradstep.core.io.message_pool import message_class, message_pool

# message -> "name number type", as message_pool takes them.
_MESSAGES = {
    "ModelProto": (
        "ir_version 1 int64", "producer_name 2 string", "producer_version 3 string",
        "domain 4 string", "doc_string 6 string", "graph 7 GraphProto",
        "opset_import 8 OperatorSetIdProto[]", "metadata_props 14 StringStringEntryProto[]",
        "functions 25 FunctionProto[]",
    ),
    "OperatorSetIdProto": ("domain 1 string", "version 2 int64"),
    "StringStringEntryProto": ("key 1 string", "value 2 string"),
    "GraphProto": (
        "node 1 NodeProto[]", "name 2 string", "initializer 5 TensorProto[]",
        "doc_string 10 string", "input 11 ValueInfoProto[]", "output 12 ValueInfoProto[]",
        "value_info 13 ValueInfoProto[]", "sparse_initializer 15 SparseTensorProto[]",
    ),
    "NodeProto": (
        "input 1 string[]", "output 2 string[]", "name 3 string", "op_type 4 string",
        "attribute 5 AttributeProto[]", "doc_string 6 string", "domain 7 string",
        "overload 8 string", "metadata_props 9 StringStringEntryProto[]",
    ),
    "AttributeProto": (
        "name 1 string", "f 2 float", "i 3 int64", "s 4 bytes", "t 5 TensorProto",
        "g 6 GraphProto", "floats 7 float[]", "ints 8 int64[]", "strings 9 bytes[]",
        "tensors 10 TensorProto[]", "graphs 11 GraphProto[]", "doc_string 13 string",
        "tp 14 TypeProto", "type_protos 15 TypeProto[]", "type 20 int32", "ref_attr_name 21 string",
        "sparse_tensor 22 SparseTensorProto", "sparse_tensors 23 SparseTensorProto[]",
    ),
    "ValueInfoProto": ("name 1 string", "type 2 TypeProto", "doc_string 3 string"),
    "TensorProto": (
        "dims 1 int64[]", "data_type 2 int32", "segment 3 Segment", "float_data 4 float[]",
        "int32_data 5 int32[]", "string_data 6 bytes[]", "int64_data 7 int64[]", "name 8 string",
        "raw_data 9 bytes", "double_data 10 double[]", "uint64_data 11 uint64[]",
        "doc_string 12 string", "external_data 13 StringStringEntryProto[]",
        "data_location 14 int32",
    ),
    "Segment": ("begin 1 int64", "end 2 int64"),
    "SparseTensorProto": ("values 1 TensorProto", "indices 2 TensorProto", "dims 3 int64[]"),
    "TensorShapeProto": ("dim 1 Dimension[]",),
    "Dimension": ("dim_value 1 int64", "dim_param 2 string"),
    "TypeProto": (
        "tensor_type 1 TensorType", "sequence_type 4 ElementType", "map_type 5 ElementType",
        "opaque_type 7 ElementType", "sparse_tensor_type 8 TensorType",
        "optional_type 9 ElementType",
    ),
    "TensorType": ("elem_type 1 int32", "shape 2 TensorShapeProto"),
    "ElementType": (),
    "FunctionProto": (
        "name 1 string", "input 4 string[]", "output 5 string[]", "attribute 6 string[]",
        "node 7 NodeProto[]", "doc_string 8 string", "opset_import 9 OperatorSetIdProto[]",
        "domain 10 string", "attribute_proto 11 AttributeProto[]",
        "value_info 12 ValueInfoProto[]", "overload 13 string",
    ),
}  # fmt: skip
_UNIONS = {"Dimension": "value", "TypeProto": "value"}


@cache
def message(name: str) -> Any:
    """The message class `name` ("ModelProto")."""
    return message_class(_pool(), f"onnx.{name}")


@cache
def _pool() -> Any:
    return message_pool("onnx", _MESSAGES, unions=_UNIONS)
