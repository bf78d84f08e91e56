"""PyTorch as a device: an array namespace for kernels over its tensors, and the backend of it."""
