"""Pages of automations: the list, one automation with its track plan, switching it on and off."""
