"""Pages of mails: the outbox and one mail as it was sent."""
