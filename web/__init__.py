"""The console: pages, forms and fragments for people, and the JSON API for programs (web.api)."""
