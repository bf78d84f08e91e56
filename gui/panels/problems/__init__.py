"""The problems panel, and the card of a step that failed.

`problems_panel.py` is the panel, `error_card.py` the card; what they list is of the model.
"""
