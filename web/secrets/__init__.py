"""The page of secrets that outbound calls need."""
