"""Outgoing HTTP to servers that we don't trust.

`addresses` decides which IP addresses we connect to, and `url_policy` which URLs we accept from people. `transport` sends
requests: `lookups` finds the addresses of names, `transfers` does one request with libcurl, and `multi` runs many at
once. `exchanges` has their outcome.
"""
