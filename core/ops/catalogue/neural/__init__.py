"""What neural networks are made of: `convolution.py`, `pooling.py`, `batch_norm.py`."""
