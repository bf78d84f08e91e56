"""The frozen computation graph and the pure functions that edit and compare it."""
