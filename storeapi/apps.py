from django.apps import AppConfig


class StoreApiConfig(AppConfig):
    """The door of shops that exist: `/store-api`."""

    name = "storeapi"
