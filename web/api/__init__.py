"""The JSON API under /api/v1: one module an area, one door, one shape of refusals."""
