from django.apps import AppConfig


class MerchantsConfig(AppConfig):
    name = "merchants"

    def ready(self) -> None:
        from merchants import frame  # noqa: F401  its receivers
