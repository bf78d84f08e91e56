"""Persistent collections: an edit makes another of one, which shares what it does not touch.

Mappings: `overlaid_mapping` where few entries are others, `spliced_mapping` where some come and go
in their order, `arranged_mapping` where the order stands beside, `inverse_mapping` from value to
key, `shifted_places` from name to place. Sequences: `joined_sequence` in parts, `edited_sequence`
for changes by place; `sequence_places` finds in which places two differ. `edited_columns` says what
an edit made other, for all that follow from it.
"""
