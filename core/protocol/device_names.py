"""Names of devices that are more than a name; light, for whoever starts."""

RECORDED_DEVICE = "recorded"  # what was recorded elsewhere, as a device to compare with
