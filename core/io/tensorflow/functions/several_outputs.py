"""Outputs of TensorFlow's operations that have several, and that Gradstep does not run.

Functions call outputs by their names; which number one has is said here. From TensorFlow 2.21's
registry of operations (Apache 2.0).
"""

from __future__ import annotations

# What outputs are called, in their order -> the operations.
_BY_OUTPUTS = {
    "a_val_grad b_val_grad": "SparseAddGrad",
    "backprops_wrt_input backprop_wrt_min backprop_wrt_max": (
        "FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannelGradient"
    ),
    "begin size bboxes": (
        "SampleDistortedBoundingBox SampleDistortedBoundingBoxV2 "
        "StatelessSampleDistortedBoundingBox"
    ),
    "cs_prev_grad dicfo wci_grad wcf_grad wco_grad": ("LSTMBlockCellGrad"),
    "d_values d_default_value": "RaggedFillEmptyRowsGrad SparseFillEmptyRowsGrad",
    "d_x d_h_prev d_c_bar d_r_bar_u_bar": ("GRUBlockCellGrad"),
    "decoded_indices decoded_values decoded_shape log_probability": ("CTCGreedyDecoder"),
    "dx dm dv db dg": "BatchNormWithGlobalNormalizationGrad",
    "e v": "BatchSelfAdjointEigV2 Eig SelfAdjointEigV2",
    "grad_handle flow_out": "TensorArrayGradWithShape",
    "i cs f o ci co h": "BlockLSTM BlockLSTMV2 LSTMBlockCell",
    "indices ids weights": "ComputeAccidentalHits",
    "indices values dense_shape": "CSRSparseMatrixToSparseTensor",
    "indices values shape": "SparseAccumulatorTakeGradient StringSplit StringSplitV2",
    "input_backprop input_h_backprop input_c_backprop params_backprop": (
        "CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3"
    ),
    "input_backprop input_min_backprop input_max_backprop": ("QuantizeAndDequantizeV4Grad"),
    "key counter": "StatelessRandomGetKeyCounter",
    "key counter alg": "StatelessRandomGetKeyCounterAlg",
    "key value": "ReaderRead ReaderReadV2",
    "keys values": ("LookupTableExport LookupTableExportV2 ReaderReadUpTo ReaderReadUpToV2"),
    "loss gradient": "CTCLoss CTCLossV2",
    "lu p": "Lu",
    "ngrams ngrams_splits": "StringNGrams",
    "nmsed_boxes nmsed_scores nmsed_classes valid_detections": ("CombinedNonMaxSuppression"),
    "output output_h output_c reserve_space": ("CudnnRNN"),
    "output output_h output_c reserve_space host_reserved": ("CudnnRNNV2 CudnnRNNV3"),
    "output output_min output_max": (
        "QuantizeDownAndShrinkRange QuantizeV2 Requantize RequantizePerChannel"
    ),
    "output row_pooling_sequence col_pooling_sequence": ("FractionalAvgPool FractionalMaxPool"),
    "output sorted_unique_indices": (
        "SparseSegmentMeanGradV2 SparseSegmentSqrtNGradV2 SparseSegmentSumGradV2"
    ),
    "output_handle tensor": "TensorListPopBack",
    "output_indices output_shape": "SparseReshape",
    "output_indices output_values": "SparseReorder SparseSparseMaximum SparseSparseMinimum",
    "output_indices output_values empty_row_indicator reverse_index_map": ("SparseFillEmptyRows"),
    "output_indices output_values output_dense_shape": (
        "DenseCountSparseOutput RaggedCountSparseOutput SparseCountSparseOutput"
    ),
    "output_indices output_values output_shape": (
        "SparseConcat SparseCross SparseCrossHashed SparseCrossV2 SparseReduceMaxSparse "
        "SparseReduceSumSparse SparseSlice"
    ),
    "output_min output_max": "RequantizationRange RequantizationRangePerChannel",
    "output_value_rowids output_values empty_row_indicator reverse_index_map": (
        "RaggedFillEmptyRows"
    ),
    "output_values output_row_splits": ("RaggedCross"),
    "q r": "Qr",
    "r u c h": "GRUBlockCell",
    "result_indices result_values result_shape": (
        "DenseToDenseSetOperation DenseToSparseSetOperation SparseToSparseSetOperation"
    ),
    "row_ptrs col_inds values": "CSRSparseMatrixComponents",
    "row_splits char_values": "UnicodeDecode",
    "row_splits char_values char_to_byte_starts": ("UnicodeDecodeWithOffsets"),
    "rt_nested_splits rt_dense_values": ("RaggedRange"),
    "s u v": "BatchSvd Svd",
    "sampled_candidates true_expected_count sampled_expected_count": (
        "AllCandidateSampler FixedUnigramCandidateSampler LearnedUnigramCandidateSampler "
        "LogUniformCandidateSampler ThreadUnsafeUnigramCandidateSampler "
        "UniformCandidateSampler"
    ),
    "selected_indices selected_scores valid_outputs": ("NonMaxSuppressionV5"),
    "selected_indices valid_outputs": ("NonMaxSuppressionV4"),
    "sparse_indices sparse_values sparse_dense_shape": ("RaggedTensorToSparse"),
    "sparse_indices sparse_values sparse_shape": (
        "DeserializeManySparse DeserializeSparse TakeManySparseFromTensorsMap"
    ),
    "sum_indices sum_values sum_shape": ("SparseAdd"),
    "tensor lengths": "TensorListConcat TensorListConcatV2",
    "topk topk_indices": "TopKUnique TopKWithUnique",
    "value lengths": "TensorArrayConcat TensorArrayConcatV2",
    "values indices": "ApproxTopK TopK",
    "x_grad cs_prev_grad h_prev_grad w_grad wci_grad wcf_grad wco_grad b_grad": (
        "BlockLSTMGrad BlockLSTMGradV2"
    ),
}
SEVERAL_OUTPUTS = {
    op: tuple(outputs.split()) for outputs, ops in _BY_OUTPUTS.items() for op in ops.split()
}
