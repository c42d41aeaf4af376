"""Pages of accounts: signing in and out, the workspace's API keys."""
