"""The gradients panel: native, overridden, numeric; and those that teach nothing."""
