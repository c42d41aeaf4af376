"""The page of the suppression list: who gets no mail, whoever the address belongs to."""
