from django.apps import AppConfig


class ActivityConfig(AppConfig):
    name = "activity"

    def ready(self) -> None:
        from activity import receivers  # noqa: F401  connects them
