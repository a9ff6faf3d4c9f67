"""The Celery app of the peers that are Django apps, as Celery's guide for Django has it."""

from celery import Celery

app = Celery("peer")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
