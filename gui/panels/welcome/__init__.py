"""The start page: examples, recent files; and what stands there while a file is read."""
