"""The page of what needs a person: failed runs by what failed where."""
