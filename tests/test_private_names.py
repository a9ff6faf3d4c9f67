"""Names of libraries that no documentation promises. Each is in this list, with the version in which it was looked at.

The test fails at another version of the library: look at what `check` says, run the tests of the module, then write the new version here.
A new private name fails until it has a row. First look for a public way.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

import pytest
from django.conf import settings

from tools.tracked_files import tracked


class Use(NamedTuple):
    """`names` begin with an underscore, or are assigned to what isn't ours; `undocumented` are others that may change, too."""

    module: str
    library: str
    version: str  # or its beginning: 5.2 is every 5.2.x
    names: frozenset[str]
    check: str
    undocumented: tuple[str, ...] = ()


def use(module: str, library: str, names: str, check: str, undocumented: str = "") -> Use:
    return Use(
        module, library, CHECKED[library], frozenset(names.split()), check, tuple(undocumented.split())
    )


CHECKED = {
    "celery": "5.7.0",
    "django": "5.2",
    "django-allauth": "65.21.1",
    "django-csp": "4.0",
    "django-oauth-toolkit": "3.4.1",
    "django-storages": "1.14.6",
    "drf-spectacular": "0.30.0",
    "gunicorn": "27.0.1",
    "prometheus_client": "0.26.0",
    "psycopg": "3.3.9",
}

USES = (
    use("common/observability/counts.py", "prometheus_client", "_init_value _used", "`MmapedDict` still keeps its file, map and sizes in `_f`, `_m`, `_capacity` and `_used`, calls `_init_value` for a new key, and is looked up in `values` for each new metric.", "mmap_dict values.MmapedDict read_all_values_from_file"),
    use("common/db/compiled.py", "django", "_iterable_class _prefetch_related_lookups", "A queryset still says by these what its rows become; `klass_info` and the populators still tell which columns make which instance.", "get_related_populators compiler.klass_info compiler.annotation_col_map compiler.get_converters"),
    use("common/db/postgresql/base.py", "psycopg", "_WaitTimeout __class__", "`Connection.wait` still takes `timeout`, raises this error when it has passed, and is the only place where a session waits; a session may change its class.", ".wait("),
    use("common/db/transactions.py", "django", "_from_testcase", "A test's own transaction is still marked so among `atomic_blocks`."),
    use("common/files/object_storage.py", "django-storages", "_create_session _normalize_name", "The first makes a session with the credentials of the settings, the second gives a name its folder and refuses one that leaves it."),
    use("common/processes/redis_client.py", "django", "_get_connection_pool", "`RedisCacheClient.get_client` still makes its client from the pool of this method, and of nothing else."),
    use("common/rest/schema.py", "drf-spectacular", "_get_examples _get_parameters _get_request_body _get_response_bodies _get_response_for_code _get_response_headers_for_code _get_serializer_field_meta _get_serializer_name _map_serializer _map_serializer_field", "These steps of `AutoSchema` still have these arguments: the document of the API is the same before and after."),
    use("common/web/visits.py", "django", "_resource_closers", "A streamed response still calls these when it is closed."),
    use("common/web/middleware/same_origin.py", "django", "_check_token", "`CsrfViewMiddleware` still judges a form's token here."),
    use("common/web/requests.py", "django", "_load_post_and_files _mark_post_parse_error _read_started", "`HttpRequest` still reads a form only here, and marks one that can't be read."),
    use("config/health.py", "django", "_has_been_logged", "`log_response` still leaves such a response out."),
    use("config/heartbeat.py", "celery", "", "`active_requests` still has the tasks that the worker's threads work on.", "state.active_requests"),
    use("config/web_worker.py", "gunicorn", "", "`ThreadWorker` still gives each request to `enqueue_req`, and waits for a connection by `pending_conns` and `poller`, as `_wait_for` does.", "enqueue_req pending_conns on_pending_socket_readable method_queue finish_request"),
    use("developers/portal/webhooks/inbox.py", "django", "_has_been_logged", "`log_response` still leaves such a response out."),
    use("installations/oauth.py", "django-oauth-toolkit", "_authenticate_basic_auth _authenticate_request_body _load_application", "The validator still finds a client by these three, and by nothing else."),
    use("installations/oauth.py", "django-oauth-toolkit", "_raise_on_invalid_client", "oauthlib's endpoints still refuse an unknown client here."),
    use("installations/views/token.py", "django", "_allowed_methods", "A view still lists its methods here."),
    use("common/web/middleware/frames.py", "django-csp", "_csp_replace", "The middleware still puts this in place of the page's policy, as its decorator does."),
    use("accounts/views/provider.py", "django-allauth", "", "A sign-in is still noted by the first, and the second goes on with what waited for a proof.", "internal.flows.login internal.flows.reauthentication"),
    use("accounts/sign_in/step_up.py", "django-allauth", "", "A form still waits for a proof by this; a record of a sign-in still has `method`, `at` and `reauthenticated`.", "internal.flows.reauthentication"),
    use("accounts/sign_in/provider.py", "django-allauth", "", "The provider still takes `nonce` and the like into the state, and the class that `provider_class` names is still the one that is used.", "unstash_redirect_state"),
    use("merchants/consent/views.py", "django-csp", "_csp_update", "The middleware still adds this to the page's policy, as its decorator does."),
    use("stores/connected/catalogue.py", "django", "_raw_delete", "A queryset still deletes its own rows by this, and no row that points at them."),
    use("stores/admin.py", "django", "_get_validation_exclusions", "A model's form still leaves these fields out of `full_clean`."),
)  # fmt: skip

NO_PRODUCT = {"tests", "tools", "benchmarks", "sdk", "examples", "docs", "deploy"}
# Documented, though they begin with an underscore: of Django's models, managers and storages, and of named tuples.
DOCUMENTED = {
    "_base_manager",
    "_db",
    "_default_manager",
    "_meta",
    "_save",
    "_state",
    "_fields",
    "_make",
    "_replace",
}
PRIVATE = re.compile(r"_(?!_)")


@cache
def sources() -> dict[str, ast.Module]:
    return {
        name: ast.parse((settings.BASE_DIR / name).read_text())
        for name in tracked()
        if name.endswith(".py")
        and "/" in name
        and "/migrations/" not in name
        and name.split("/")[0] not in NO_PRODUCT
    }


@cache
def our_names() -> frozenset[str]:
    """Everything that the product defines or assigns somewhere."""
    return frozenset(
        name
        for tree in sources().values()
        for node in ast.walk(tree)
        for name in (getattr(node, "name", None), _assigned(node))
        if isinstance(name, str)
    )


def _assigned(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_own(node.value):
        return node.attr
    return None


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def private_names(tree: ast.Module, ours: frozenset[str]) -> Iterator[str]:
    """Names of others: not ours, or asked of a parent by `super()`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            is_parents = isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "super"
            if (
                PRIVATE.match(node.attr)
                and node.attr not in DOCUMENTED
                and (is_parents or node.attr not in ours)
            ) or (node.attr == "__class__" and isinstance(node.ctx, ast.Store)):
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] not in ROOMS:
            yield from (alias.name for alias in node.names if PRIVATE.match(alias.name))


ROOMS = {path.parent.name for path in settings.BASE_DIR.glob("*/__init__.py")}


def test_every_private_name_is_listed_and_every_listed_one_used() -> None:
    listed: dict[str, set[str]] = {each.module: set() for each in USES}
    for each in USES:
        listed[each.module] |= each.names
    used = {name: set(private_names(tree, our_names())) for name, tree in sources().items()}
    assert {name: names for name, names in used.items() if names} == {
        name: names for name, names in listed.items() if names
    }
    for each in USES:
        text = (settings.BASE_DIR / each.module).read_text()
        assert [name for name in each.undocumented if name not in text] == [], each.module


@pytest.mark.parametrize("each", USES, ids=lambda each: f"{each.library} in {each.module}")
def test_private_names_were_checked_in_this_version(each: Use) -> None:
    installed = version(each.library)
    assert f"{installed}.".startswith(f"{each.version}."), (
        f"{each.library} {installed} is installed, and {each.version} was checked for {each.module}. Check: {each.check} "
        f"Then write {installed} here."
    )


def test_each_way_to_reach_a_private_name_is_found() -> None:
    tree = ast.parse(
        "from lib import _a, b\nthing._c\nthing.__class__ = b\nclass D(b):\n"
        "    def _e(self):\n        self._f = thing._meta\n        return super()._e() + self._f + self._g + self.__h\n"
    )
    assert set(private_names(tree, frozenset({"_e", "_f"}))) == {"_a", "_c", "__class__", "_e", "_g"}
