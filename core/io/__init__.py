"""Files: the document, its store, and one module per foreign format."""
