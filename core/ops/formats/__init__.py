"""Bytes that operations write: protobuf messages of summaries, PNG, and tensors as text."""
