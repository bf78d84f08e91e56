"""The window: Qt views that read frozen values and ask through commands."""
