"""The workspace's own settings."""
