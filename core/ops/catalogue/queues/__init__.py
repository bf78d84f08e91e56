"""Queues, and what is put into them and taken out."""
