"""Workspaces, people who sign in, their roles, and API keys."""
