from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

SHARED_COOKIES = ("SESSION_COOKIE_DOMAIN", "CSRF_COOKIE_DOMAIN")


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        # They register the checks, and what listens to Celery.
        from config.checks import server, start  # noqa: F401
        from config.observability import counted_tasks, scheduler_seen  # noqa: F401

        if settings.OTLP_ENDPOINT:
            from config.observability import otel  # of an extra

            otel.start()
        if settings.SENTRY_DSN:
            from config.observability import sentry  # of an extra

            sentry.start(settings.SENTRY_DSN)

        for name in SHARED_COOKIES:  # which only a settings module of the operator's own can set
            if getattr(settings, name):
                raise ImproperlyConfigured(
                    f"{name} would send the platform's cookies to other hosts, such as those of stores, where scripts "
                    "of apps run. Leave it unset."
                )
