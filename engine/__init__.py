"""The domain: rooms stacked on `core`. Knows neither Flask nor Huey; web and tasks call it."""
