"""The two HTTP servers that the product runs on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import trustme
from waitress.server import create_server

from accounts.models import Business
from common.web.middleware.bodies import Application
from tests.faults.processes import Processes
from tests.ports import free_port
from tests.security.proxy import application
from tests.servers import serving


class Site(NamedTuple):
    """The addresses of the platform and, with `{slug}`, of the stores."""

    platform: str
    stores: str

    def store(self, business: Business) -> str:
        return self.stores.replace("{slug}", business.slug) + "/"


@contextmanager
def waitress(app: Application = application) -> Iterator[int]:
    server = create_server(app, host="127.0.0.1", port=0, threads=8, clear_untrusted_proxy_headers=True)

    with serving(server):
        yield server.effective_port


@contextmanager
def gunicorn(directory: Path, host: str = "127.0.0.1") -> Iterator[Site]:
    """With TLS. `host` names this machine."""
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    issued = trustme.CA().issue_cert(host)
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    port = free_port()
    processes = Processes(directory)
    site = Site(f"https://{host}:{port}", f"https://{{slug}}.stores.localhost:{port}")
    processes.use(BASE_URL=site.platform, STORES_URL=site.stores)
    try:
        server = processes.start(
            "gunicorn", "tests.security.proxy", "--threads", "8", "--bind", f"127.0.0.1:{port}",
            "--certfile", str(certificate), "--keyfile", str(key),
        )  # fmt: skip
        server.wait_for_output("Booting worker")
        yield site
    finally:
        processes.end()
