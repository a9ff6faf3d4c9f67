"""People, their businesses and roles: registration, sign-in and the tokens of the developer API."""
