"""The Django project: settings, URLs, Celery, health checks, metrics and the demo. No other package imports it."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
