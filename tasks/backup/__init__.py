"""A whole installation in one file, and back: what `stellwerk backup` and `restore` are made of.

Stands at the edge: it starts programs, swaps files and migrates, none of which the engine may do.
"""
