"""Queues: `queue_creation.py` declares them, `enqueue.py` puts in, `dequeue.py` takes out."""
