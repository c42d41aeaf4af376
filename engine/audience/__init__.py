"""Who we talk to: contacts, their properties, topics and memberships."""
