"""Mails: what they say (`parts`), how they look (`letters`), and the count of what became of them (`backend`)."""
