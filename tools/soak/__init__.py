"""Runs a whole installation under load while its processes are killed, upgraded and restored: `make soak`.

Everything goes through nginx by HTTP, as apps, merchants and shoppers do it. In the end, what was accepted is
compared with the database and with what the apps received.
"""
