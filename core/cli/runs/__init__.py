"""Runs that commands make: trained for N steps, with threads beside them, interrupted in order.

`training_steps.py`, `run_threads.py`, `interrupt.py`.
"""
