"""The credential of `Authorization: Bearer` (RFC 6750, section 2.1)."""


def token_of(header: str) -> str:
    """The token after one or more spaces. Empty if the header is missing or has another form."""
    scheme, _, token = header.partition(" ")
    return token.strip(" ") if scheme.lower() == "bearer" else ""
