"""Outgoing HTTP to servers that we don't trust.

`addresses` decides which IP addresses we connect to, `url_policy` which URLs we accept from people, and `transport`
sends requests over the connections that `vetted_connections` opens.
"""
