"""The shared floor of every room; a closed list of modules (architecture 2)."""
