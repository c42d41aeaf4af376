"""Conditions over audience and commerce, compiled to SQL."""
