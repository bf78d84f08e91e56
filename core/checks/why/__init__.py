"""Why a value or a gradient is NaN, infinite or zero, found in recorded runs.

why_answers.py answers the window, explanation.py explains.
"""
