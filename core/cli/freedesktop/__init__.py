"""An entry in the menu, icons and a file type, where desktops follow freedesktop.org."""
