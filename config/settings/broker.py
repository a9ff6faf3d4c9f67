"""Celery and its broker."""

from typing import Any

from common.processes import sentinel
from config.env.servers import broker_url
from config.schedule import SCHEDULE
from config.settings.database import REDIS_URL

# Celery messages may be lost: the database has everything that is due (docs/decisions/0004).
CELERY_BROKER_URL = broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
if CELERY_BROKER_URL.startswith("memory:"):
    # The in-process broker looks once a second by default.
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {"polling_interval": 0.5}
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 1, "socket_connect_timeout": 1, "max_retries": 0}
if sentinel.is_sentinel(CELERY_BROKER_URL):
    CELERY_BROKER_TRANSPORT_OPTIONS["master_name"] = sentinel.parse(CELERY_BROKER_URL).master
    CELERY_BROKER_URL = sentinel.parse(CELERY_BROKER_URL).broker_url()
    # Before its setting of that name Celery reads the variable, which has a form of our own.
    CELERY_BROKER_READ_URL = CELERY_BROKER_WRITE_URL = CELERY_BROKER_URL
if CELERY_BROKER_URL.startswith(("amqp:", "amqps:")):
    # A quorum queue is on several nodes of RabbitMQ and survives one of them. It is another queue than the classic one of
    # earlier versions, since a queue can't change its kind.
    CELERY_TASK_DEFAULT_QUEUE = "work"
    CELERY_TASK_DEFAULT_QUEUE_TYPE = "quorum"
CELERY_TASK_PUBLISH_RETRY = False
CELERY_DB_REUSE_MAX = (
    1000  # otherwise every task opens a new session; `config.celery` checks those that are kept
)
CELERY_BEAT_SCHEDULE = SCHEDULE
