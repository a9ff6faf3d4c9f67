"""The demo, and Vendure connected to it: `examples/vendure_shop`, by the driver that is there for the check."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import psycopg
import requests
from psycopg import sql

from tests.connected.databases import rows_of
from tests.demo.process import Demo
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
SHOP = ROOT / "examples" / "vendure_shop"
MODULES = ROOT / "build" / "vendure" / "node_modules"
SERVER = os.environ.get("DATABASE_URL") or "postgres://postgres@127.0.0.1:5432/postgres"
PASSWORD = "demo-password"


class ConnectedVendure:
    """Both sides, and the sample app's own records. `driver` is the shop's."""

    def __init__(self, folder: Path, driver: ModuleType) -> None:
        self.driver, port = driver, free_port()
        self.demo = Demo(folder / "var", "--shop", f"http://localhost:{port}")
        self.database = f"vendure_{port}"
        self.url = f"http://localhost:{port}"
        os.environ |= {
            "SHOP_URL": self.url,
            "SHOP_PASSWORD": PASSWORD,
            "SHOP_DATABASE_URL": self._database_url(self.database),
            "SHOP_LOG": str(folder / "vendure.log"),
            "NODE_PATH": str(MODULES),
            "VENDURE_DISABLE_TELEMETRY": "true",
            "PLATFORM_BUDGET_MS": "5000",
        }
        self.key = self.secret = ""

    def start(self) -> None:
        self._on_server("CREATE DATABASE {}")
        subprocess.run(["node", "shop.js", "prepare"], cwd=SHOP, check=True)
        self.demo.start()
        command = [
            sys.executable, "manage.py", "connect_shop", "Harbor Goods", "--test", "--json",
            "--commands", f"{self.url}/platform/commands", "--sign-in", f"{self.url}/platform/apps",
        ]  # fmt: skip
        made = subprocess.run(
            command, cwd=ROOT, env=self.demo.environment(), check=True, stdout=subprocess.PIPE
        )
        connection = json.loads(made.stdout)
        self.key, self.secret = connection["key"], connection["secret"]
        self.driver.connect(self.demo.url, self.key, self.secret)

    def stop(self) -> None:
        self.driver.stop_all()
        self.demo.end()
        self._on_server("DROP DATABASE IF EXISTS {} WITH (FORCE)")

    def in_shop(self, statement: str, *values: Any) -> list[Any]:
        """Rows of Vendure's database."""
        with psycopg.connect(self._database_url(self.database), autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def at_app(self, statement: str, *values: Any) -> list[Any]:
        """Rows of the sample app's database."""
        return rows_of(self.demo.var_dir / "sample-app" / "state.sqlite3", statement, values)

    def at_platform(self, statement: str, *values: Any) -> list[Any]:
        return rows_of(self.demo.var_dir / "extension-platform.sqlite3", statement, values)

    def app(self, method: str, path: str, **body: Any) -> requests.Response:
        """A call of the app API by the sample app."""
        [(token,)] = self.at_app(
            "SELECT access_token FROM stores WHERE business_name = 'Harbor Goods' AND ended_at IS NULL"
        )
        headers = {"Authorization": f"Bearer {token}"}
        return requests.request(
            method, f"{self.demo.url}/app-api{path}", json=body or None, headers=headers, timeout=15
        )

    def _database_url(self, name: str) -> str:
        return urlsplit(SERVER)._replace(path=f"/{name}").geturl()

    def _on_server(self, statement: str) -> None:
        with psycopg.connect(self._database_url("postgres"), autocommit=True) as server:
            server.execute(sql.SQL(statement).format(sql.Identifier(self.database)))  # type: ignore[arg-type]
