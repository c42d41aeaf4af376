"""How a message leaves: templates, senders, send rows, transports."""
