"""Why a value or a gradient is NaN, infinite or zero, found in recorded runs.

`Explainer` in `why_answers.py` answers the window; `run_explanations.py` explains, by
`nonfinite_value.py`, `zero_value.py` and `zero_gradient.py`. Of a step of training,
`step_comparison.py` says what is different, and `row_gradients.py` which rows make its gradient.
"""
