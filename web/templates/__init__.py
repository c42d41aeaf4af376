"""Pages of mail templates: the list, and the editor with its preview."""
