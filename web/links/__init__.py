"""The doors behind the links in mails: open to whoever holds one, and to nobody's cookie."""
