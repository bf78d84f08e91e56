"""The engine process: its messages, its worker and the client that speaks to it."""
