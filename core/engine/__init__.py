"""Programs of bound calls, the memory they run in, and the backends that run them."""
