"""The kinds of automations: steps and triggers, one file a kind."""
