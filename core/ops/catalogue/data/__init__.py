"""Where training data comes from: tables, and the iterators of tf.data, which have to be fed.

`lookup_table_ops.py` and `dataset_iterators.py`.
"""
