"""Mails: what they say (`parts`), how they look (`frames`, `letters`), and the server that sends them (`backend`)."""
