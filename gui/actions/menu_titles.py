"""The titles of the menus, in their order: they stand in the bar before there are actions."""

MENUS = ("File", "Edit", "View", "Graph", "Run", "Devices", "Help")
