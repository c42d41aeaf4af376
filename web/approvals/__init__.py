"""The pages of requests: who may not asks, who may decides (decision G10)."""
