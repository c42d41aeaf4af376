"""Pages of runs: the list with its filters, and the log of one person's way."""
