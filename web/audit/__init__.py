"""The audit log as a page."""
