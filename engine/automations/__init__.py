"""Event → run → steps: documents, revisions, fan-out, walker."""
