"""`REDIS_URL` and `CELERY_BROKER_URL` with Sentinel. `tests/faults/test_brokers.py` has real servers."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from common import sentinel
from config.env import redis_url

URL = "sentinel://:pass%2Fword@10.0.0.1:26380,redis.internal/2?master=main"


def test_sentinels_and_master_are_read() -> None:
    address = sentinel.parse(URL)
    assert address.sentinels == (("10.0.0.1", 26380), ("redis.internal", 26379))
    assert address.broker_url() == (
        "sentinel://:pass%2Fword@10.0.0.1:26380/2;sentinel://:pass%2Fword@redis.internal:26379/2"
    )
    pool = address.pool(socket_timeout=0.5)
    assert pool.service_name == "main"
    assert (pool.connection_kwargs["db"], pool.connection_kwargs["password"]) == (2, "pass/word")


@pytest.mark.parametrize(
    "url",
    [
        "sentinel://10.0.0.1:26379/0",
        "sentinel://:secret@10.0.0.1/0?master=main&sentinel=x",
        "sentinel://:secret@10.0.0.1:port/0?master=main",
        "sentinel://:secret@,10.0.0.1/0?master=main",
        "sentinel://:secret@10.0.0.1/first?master=main",
    ],
)
def test_start_is_refused(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("REDIS_URL", url)
    with pytest.raises(
        ImproperlyConfigured, match=r"REDIS_URL must .*sentinel://10.0.0.1:26379,10"
    ) as refused:
        redis_url("REDIS_URL")
    assert "secret" not in str(refused.value)


def test_other_urls_are_left_to_their_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CELERY_BROKER_URL", " amqp://guest@host:5672// ")
    assert redis_url("CELERY_BROKER_URL") == "amqp://guest@host:5672//"
