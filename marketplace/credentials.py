"""Generates client secrets for django-oauth-toolkit (`CLIENT_SECRET_GENERATOR_CLASS`)."""

from oauth2_provider.generators import BaseHashGenerator

from common.secrets import new_client_secret


class ClientSecretGenerator(BaseHashGenerator):
    def hash(self) -> str:
        return new_client_secret()
