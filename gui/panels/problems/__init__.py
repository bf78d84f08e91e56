"""The problems panel, and the card of a step that failed.

`problems_panel.py` is the panel, `problem_rows.py` what it lists, `error_card.py` the card.
"""
