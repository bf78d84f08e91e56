"""How the engine becomes a process, and how that ends with all that it started."""
