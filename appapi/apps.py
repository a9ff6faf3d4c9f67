from django.apps import AppConfig


class AppApiConfig(AppConfig):
    name = "appapi"

    def ready(self) -> None:
        from appapi import receivers  # noqa: F401  connects them
