"""Questions over all that was recorded: at which step of which run something was so.

`find` in `query_search.py` is the door, `recorded_query.py` has what is asked and what comes of it.
"""
