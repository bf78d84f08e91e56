"""Runs that commands make: trained for N steps, and with threads beside them.

`training_steps.py`, `run_threads.py`.
"""
