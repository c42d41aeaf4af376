"""The kinds of the automations room in words: steps, triggers, conditions; one file a kind."""
