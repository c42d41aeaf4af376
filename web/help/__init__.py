"""The user guide: one page beside each page of the console, and which belongs to which."""
