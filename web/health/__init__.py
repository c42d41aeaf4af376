"""What machines ask: is the process alive, is it ready, and its figures. No personal data."""
