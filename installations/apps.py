from django.apps import AppConfig


class InstallationsConfig(AppConfig):
    name = "installations"

    def ready(self) -> None:
        from installations import receivers  # noqa: F401 - connects them
