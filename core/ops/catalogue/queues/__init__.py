"""Queues: `queue_ops.py` declares them, `enqueue.py` puts in, `dequeue.py` takes out."""
