"""What protects from each fault and each attack, as changes of the source that take it out.

`make test-faults-unprotected` and `make test-attacks-unprotected` run each of these tests once without each protection
that it names, and demand that it fails: a test that passes either way would prove nothing. `take_out`
is for processes that a test starts, `taken_out` for the test's own process.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

from tests.changed_source import functions_of

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Change:
    """Replaces `old`, which must be in the module's source, by `new`."""

    module: str
    old: str
    new: str


PROTECTIONS: Final = {
    "id of a command": Change(
        "extensions.shops.commands", "uuid5(installation.pk, key) if key else uuid4()", "uuid4()"
    ),
    "first sending of a command": Change(
        "extensions.shops.ledger", 'order_by("sent_at")\n    return', 'order_by("-sent_at")\n    return'
    ),
    "payments that are pending aren't asked for again": Change(
        "stores.connected.payments", "if payment is None or payment.status in", "if True or payment.status in"
    ),
    "tellings until they are heard": Change(
        "extensions.shops.telling",
        'told_times=F("told_times") + 1)',
        'told_times=F("told_times") + 1, tell_at=None)',
    ),
    "sessions that notice silence": Change(
        "config.settings.servers",
        '"tcp_user_timeout": 8_000,\n    "keepalives_idle": 4,',
        '"keepalives_idle": 600,',
    ),
    "answers waited for with an end": Change(
        "common.db.postgresql.base",
        '{"timeout": DatabaseWrapper.answers_within} | options',
        "options",
    ),
    "thread of the probes": Change(
        "config.web_worker",
        'self._for_probes if _is_probe(beginning or b"") else self.tpool',
        "self.tpool",
    ),
    "caller of a kept answer": Change(
        "common.rest.idempotency", "        view.still_may(begun.needs)\n", "        pass\n"
    ),
    "foreign things before kept answers": Change(
        "common.rest.idempotency", "if key is None or view.has_foreign_path():", "if key is None:"
    ),
    "epoch of the feed": Change("webhooks.feed", "if epoch < settings.FEED_EPOCH or", "if"),
    "disk without space as an outage": Change(
        "common.files.disks", "    while error is not None:\n", "    while False:\n"
    ),
    "whole files only": Change(
        "common.files.disks", "                self.delete(name)\n", "                pass\n"
    ),
    "exports put off": Change("appapi.services.exports", "if disks.is_full(error) and", "if False and"),
    "schedule that may wait": Change(
        "config.heartbeat",
        '            if not is_full(error):\n                raise\n            log.warning("When each',
        '            raise\n            log.warning("When each',
    ),
    "scheduler that connects again": Change(
        "config.heartbeat", "            self.connection.collect()  #", "            raise  #"
    ),
    "heartbeat while nothing can be recorded": Change(
        "webhooks.engine.dispatcher",
        "        self._slot.beat(holding=",
        "        self._record()\n        self._slot.beat(holding=",
    ),
    "leases held": Change(
        "webhooks.engine.dispatcher", "beat(holding=self._failing and self._busy())", "beat()"
    ),
    "files in one bucket": Change(
        "config.env.servers",
        'url = of_extra("MEDIA_STORAGE_URL", extra="s3", package="django-storages")',
        'url = ""',
    ),
    "master that the sentinels name": Change(
        "common.processes.sentinel",
        "        return SentinelConnectionPool(self.master, sentinels, db=self.database, **options)\n",
        "        from redis import ConnectionPool\n\n"
        "        host, port = sentinels.discover_master(self.master)\n"
        "        return ConnectionPool(host=host, port=port, db=self.database, **options)  # type: ignore\n",
    ),
    "leases that end with the heartbeat": Change(
        "webhooks.engine.claims",
        '~Q(leased_by__in=slots.alive().values("id"))',
        "Q(pk=None)",
    ),
    "headers of the transport": Change(
        "developers.api.views.listeners",
        '{**usual_headers(), **headers, "Accept": "*/*"}',
        "dict(headers)",
    ),
    "sandbox stores only for listeners": Change(
        "webhooks.engine.preparation",
        "    return listeners.find({each.pk: listeners.own(each) for each in installations if each.is_own})\n",
        "    by_app = {slot.app_id: slot.pk for slot in listeners.slots.alive().filter(person__isnull=False)}\n"
        "    return {each.pk: by_app[each.app_id] for each in installations if each.app_id in by_app}\n",
    ),
    "second look at what was claimed before a pause": Change(
        "webhooks.engine.dispatcher",
        "if monotonic() - self._slot.beaten_at > ALIVE_FOR.total_seconds():",
        "if False:",
    ),
    "start by beat": Change(
        "config.schedule",
        '"webhooks.tasks.dispatch": 1.0,',
        '"webhooks.tasks.dispatch": 3600.0,',
    ),
    "outbox": Change(
        "webhooks.services.publishing",
        "        _insert_with_deliveries(event, listeners, paused, now)\n",
        "        insert(event)\n"
        "        from common.http import transport\n"
        "        found = [row[0] for row in listeners.webhooks().rows(of=listeners.of)]\n"
        "        for webhook in Webhook.objects.filter(id__in=found):\n"
        "            transport.submit(webhook.url, headers={}, body=event.data.encode())\n",
    ),
    "sessions checked around each task": Change(
        "config.celery", "        close_old_connections()\n", "        pass\n"
    ),
    "alarm by the rule of a claim": Change(
        "webhooks.insight.backlog",
        "claim_selection.first_due(now)",
        'Delivery.objects.filter(lease_until=None).aggregate(first=Min("due_at"))["first"]',
    ),
    "rate limit that fails open": Change(
        "common.web.limits",
        "except redis.RedisError as error:\n        NOT_LIMITED",
        "except ZeroDivisionError as error:\n        NOT_LIMITED",
    ),
    "results kept over an outage": Change(
        "webhooks.engine.dispatcher",
        "except Error as error:",
        "except ZeroDivisionError as error:",
    ),
    "locks of a claim": Change(
        "webhooks.engine.claims",
        "    _, rows = rows_of_each(_ONE_AT_A_TIME, claim)\n",
        '    slow = "(SELECT pg_sleep(0.02)) IS NOT NULL AND"  # so that claims do meet\n'
        '    statement = _CLAIM._prepare.replace("FOR UPDATE SKIP LOCKED", "")\n'
        '    _CLAIM._prepare = statement.replace("FROM mine\\nWHERE d", f"FROM mine\\nWHERE {slow} d")\n'
        "    [rows] = rows_of_each(claim)\n",
    ),
    "shares of an endpoint": Change(
        "webhooks.engine.claim_selection",
        "WHEN crowded.server IS NOT NULL THEN 0",
        "WHEN TRUE THEN 1000",
    ),
    "fence": Change(
        "webhooks.engine.recording",
        "delivery.fence = due.fence AND ",
        "",
    ),
    "total deadline": Change(
        "common.http.transport", "self.began + self.timeout,", "self.began + self.timeout + 5,"
    ),
    "budget of a look-up": Change(
        "common.http.addresses", "asyncio.timeout(min(timeout, BUDGET))", "asyncio.timeout(timeout)"
    ),
    "success by the status alone": Change(
        "common.http.transfers",
        "status_class(status) if answered else",
        "status_class(status) if answered and code == pycurl.E_OK else",
    ),
    "end of reading at 16 KiB": Change(
        "common.http.transfers",
        "len(self._body) > self._max_body else",
        "len(self._body) > self._max_body + 2**21 else",
    ),
    "answers left packed": Change(
        "common.http.transfers",
        "setopt(pycurl.HTTP_CONTENT_DECODING, False)",
        'setopt(pycurl.ACCEPT_ENCODING, "")',
    ),
    "redirects not followed": Change(
        "common.http.transfers", "setopt(pycurl.FOLLOWLOCATION, False)", "setopt(pycurl.FOLLOWLOCATION, True)"
    ),
    "vetted addresses": Change(
        "common.http.addresses",
        "return is_global_unicast(ip) or (allow_local and is_loopback(ip))",
        "return True",
    ),
    "vetting of the very socket": Change(
        "common.http.transfers",
        "if not is_allowed(address):",
        "if False:",
    ),
    "resent on a dead connection": Change(
        "common.http.transfers",
        "        if self._connected_at is not None and not self._was_opened:\n",
        "        if self._connected_at is not None:\n            self._deadline = 0.0\n",
    ),
    "judgment at each attempt": Change(
        "webhooks.engine.preparation", "if not may_receive(webhook, event.type):", "if False:"
    ),
    "erasure after the end": Change(
        "webhooks.queries", "if event_type == catalogue.DATA_ERASURE:", "if False:"
    ),
    "alarm of an overdue erasure": Change("webhooks.services.erasure", "    _alarm(now)\n", ""),
    "guard against our own outage": Change(
        "webhooks.engine.outage",
        "if missed >= HOSTS and missed >= SHARE * count:\n                return True",
        "if False:\n                return True",
    ),
    "NUL in a query": Change("common.web.middleware.zones", "    refuse_nul(request.GET)\n", ""),
    "budget of a flow's hooks": Change(
        "extensions.hooks.asking", "min(hook.timeout, request.flow.left)", "hook.timeout"
    ),
    "breaker of a hook": Change(
        "extensions.hooks.breaker", "failures__gte=THRESHOLD - 1", "failures__gte=10**9"
    ),
    "check of an answer": Change(
        "extensions.hooks.answers", "for problem in problems_of(point, answer):", "for problem in ():"
    ),
    "horizon of the feed": Change(
        # What a transaction sees as over by now, those that began before and still run included.
        "webhooks.feed",
        'template = "pg_snapshot_xmin(',
        'template = "pg_snapshot_xmax(',
    ),
    "keys that decrypt beside the first": Change(
        "common.db.fields",
        "[Fernet(key) for key in keys]",
        "[Fernet(key) for key in keys[:1]]",
    ),
    "keys that verify beside the first": Change(
        "accounts.sign_in.tokens",
        "keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]\n",
        "keys = [settings.SECRET_KEY]\n",
    ),
    "comparison of the clocks": Change(
        "webhooks.engine.dispatcher", "            self._clock.compare()\n", ""
    ),
    "life of periodic tasks": Change("config.schedule", "max(LEAST_LIFE, seconds)", "max(2.0, seconds)"),
    # Of the attacks in tests/security from here on.
    "places for those who wait": Change(
        "common.places",
        "is_full = needs_place and len(self._holds) >= self.number",
        "is_full = False",
    ),
    "places for work of our own": Change(
        "common.places",
        "    if visit is None or own_work().holds(visit) is not None:\n        return\n",
        "    return\n",
    ),
    "end of the wait for a lock": Change(
        "common.db.postgresql.base", "if current() is not None and", "if False and"
    ),
    "origin of a shop's page": Change(
        "storeapi.views.placements", "if origin not in origins_of(store):", "if False:"
    ),
    "page of a shop in a frame": Change("stores.connected.framing", " or is_own(page.url):", ":"),
    "count of openings": Change(
        "developers.api.views.test_stores",
        "        limits.count_changes(self.developer, limits.OPENING[scenario])\n",
        "",
    ),
    "two test calls of an app": Change(
        "webhooks.services.sandbox.testing",
        '    if taken is None:\n        raise TooManyRequests(TOO_MANY, retry_after=FORGOTTEN_AFTER, code="too_many_tests")\n',
        "    taken = taken or keys[0]\n",
    ),
    "owner of an app": Change(
        "marketplace.queries",
        "get_or_not_found(own_apps(developer), app_id",
        "get_or_not_found(App.objects, app_id",
    ),
    "role on an app": Change(
        "marketplace.access", "    if _RANKS.index(role) < _RANKS.index(least):", "    if False:"
    ),
    "address of an invitation": Change(
        "accounts.services.roster", "        if not user.has_address(row.email):", "        if False:"
    ),
    "role in a store": Change("accounts.access", "    if not may(role, least):", "    if False:"),
    "role at the exchange": Change(
        "installations.oauth",
        "            and may(role_in(grant.business, grant.user), StoreRole.MANAGER)\n",
        "",
    ),
    "installation of a webhook": Change(
        "webhooks.queries",
        "kept = Webhook.objects.kept().filter(installation=installation)",
        "kept = Webhook.objects.kept()",
    ),
    "scope of a call": Change(
        "installations.authentication",
        "if scope is None or scope in installation.effective_scopes:",
        "if True:",
    ),
    "pause of an app": Change(
        "installations.authentication", "if installation.paused_at is not None:", "if False:"
    ),
    "right to an unsent payload": Change(
        "webhooks.queries", "    return may_learn_of(installation, delivery.event.type)", "    return True"
    ),
    "right to compare an unsent payload": Change(
        "developers.portal.deliveries.views",
        "    if worked is None or not may_read_payload(shown):",
        "    if worked is None:",
    ),
    "owner's right to remove members": Change(
        "accounts.services.roster", "            self.require_owner(thing, person)", "            pass"
    ),
    "lock of a suspended app's manifest": Change(
        "extensions.services.manifests",
        "    if app.suspended_at is not None:\n        return Coded(",
        "    if False:\n        return Coded(",
    ),
    "approved reach": Change(
        "extensions.manifest.reach",
        "return agreed is not None and facts.stay_within(agreed)",
        "return True",
    ),
    "pin of an approved script": Change(
        "extensions.manifest.reach", 'if agreed.pin not in ("", self.pin):', "if False:"
    ),
    "cap on discounts": Change(
        "extensions.hooks.handlers",
        'given = min(asked, request.data["subtotal"] * call.hook.most_discount // 100)',
        "given = asked",
    ),
    "requests of a developer": Change(
        "developers.api.views.base", "        self.count(self.developer)\n", ""
    ),
    "forms of a merchant": Change(
        "common.web.forms.kept", "        count_request(person)\n", "        pass\n"
    ),
    "length of a page's text": Change(
        "stores.services.pages", "    if len(text) > lengths.PAGE:\n", "    if False:\n"
    ),
    "number of apps": Change("marketplace.services.apps", "        require_room(developer)\n", ""),
    "listeners of a developer": Change(
        "webhooks.engine.listeners",
        "    if not store and others.filter(person=person, store=None).count() >= MOST_OF_DEVELOPER:\n",
        "    if False:\n",
    ),
    "person of a form": Change(
        "common.web.forms.kept", "if stamp and stamp.person != str(request.user.pk):", "if False:"
    ),
    "address of a form": Change(
        "common.web.forms.stamps",
        "if path == request.path or OF_A_SCRIPT in request.headers:",
        "if path:",
    ),
    "person of a stamp": Change(
        "common.web.forms.stamps",
        "stamp is not None and stamp.person == str(request.user.pk)",
        "stamp is not None",
    ),
    "person of a kept form": Change(
        "common.web.forms.kept", 'if kept and kept["person"] != str(request.user.pk):', "if False:"
    ),
    "network of a guess": Change(
        "accounts.sign_in.limits",
        'return f"{kept_email_key(email)} {client_subnet(request)}"',
        "return kept_email_key(email)",
    ),
    "origin of a frame": Change("extensions.manifest.values", "    if is_own(value):\n", "    if False:\n"),
    "own server of a submitted URL": Change("marketplace.rules", "if url and is_own(url):", "if False:"),
    "verifier of a code": Change(
        "installations.oauth",
        "            and _verifies(request.code_verifier, grant.code_challenge)\n",
        "",
    ),
    "code that works once": Change(
        "installations.oauth",
        "        if grant.used_at is not None:\n            raise CodeUsedAgain(grant, grant.used_at)\n",
        "",
    ),
    "second factor of staff": Change(
        "accounts.services.second_factor", "bool(settings.SECOND_FACTOR_FOR_STAFF) and", "False and"
    ),
    "second factor of a sign-in": Change(
        "accounts.api.views",
        "        if has_second_factor(user):\n",
        "        if False:\n",
    ),
    "count of wrong codes": Change(
        "accounts.services.second_factor", "blocked = len(since) > MOST_WRONG", "blocked = False"
    ),
    "end of tokens with a reset": Change(
        "accounts.services.profile",
        "        end_tokens(user=user)\n        end_connections",
        "        end_connections",
    ),
    "passkeys after the password": Change(
        "accounts.services.second_factor", "return not passkey.data.get(NOT_ALONE)", "return True"
    ),
    "right of a token": Change(
        "accounts.sign_in.tokens",
        "if right is None or not isinstance(request.auth, DeveloperToken) or right in request.auth.rights:",
        "if True:",
    ),
    "proof of the administration": Change(
        "accounts.admin_site", "return request.resolver_match.url_name in FREE", "return True"
    ),
    "step-up": Change("accounts.sign_in.step_up", "return bool(settings.STEP_UP)", "return False"),
    "confirmed address": Change(
        "accounts.services.confirmation",
        "return has_to_be_confirmed(user) and not is_confirmed(user)",
        "return False",
    ),
    "family of refresh tokens": Change(
        "accounts.sign_in.tokens",
        "    if not rotated:\n        _end_family(sign_in)\n",
        "    if not rotated:\n",
    ),
    "own zone of the stores": Change(
        "common.web.middleware.zones", "            request.urlconf = zone.urlconf\n", "            pass\n"
    ),
    "origin of a form": Change(
        "common.web.middleware.same_origin", 'return site in ("same-origin", "none")', "return True"
    ),
    "cleaned markup": Change(
        "stores.services.pages",
        "return nh3.clean(content, url_schemes=URL_SCHEMES, attributes=ATTRIBUTES)",
        "return content",
    ),
    "way back on this site": Change(
        "config.pages.views",
        "if not is_own_page(target, request):",
        "if False:",
    ),
    "names that pass for another": Change(
        "accounts.public_names",
        "if _names_platform(name) or _names_staff(name):",
        "if False:",
    ),
    "address of a page in a name": Change(
        "accounts.public_names",
        'if found := _ADDRESS.search(unicodedata.normalize("NFKC", name)):',
        "if found := None:",
    ),
    "address of a page in a product's name": Change(
        "stores.services.catalogue.products", "check_no_address(product.name)", "pass"
    ),
    "mails to one address": Change(
        "accounts.sign_in.limits",
        "        return False\n    return True\n",
        "        return True\n    return True\n",
    ),
    "mails of all new stores of a person": Change(
        "stores.services.order_mails",
        "Business.objects.owned_by(store.owner_id).filter(is_sandbox=False,",
        "Business.objects.filter(pk=store.pk, is_sandbox=False,",
    ),
    "number of stores": Change("accounts.services.businesses", ">= MOST_STORES", ">= 10**9"),
    "one row of many": Change(
        "common.db.rows", "if is_outage(error) and not is_of_one_statement(error):", "if True:"
    ),
    "texts of mail errors": Change(
        "common.mails.sending", "raise raised(type(error).__name__) from None", "raise"
    ),
    "weekly checks put off for a day": Change(
        "conformance.services.weekly", "busy_with_ours if _was_put_off(row, now) else busy", "busy"
    ),
    "mails about pins in a day": Change(
        "extensions.services.scripts", "if not is_news or len(row.pin_mails) >= PIN_MAILS:", "if not is_news:"
    ),
    "changed bytes": Change(
        "extensions.services.scripts", "bool(row.digests) and row.digests != digests", "False"
    ),
    "pinned scripts held back": Change(
        "extensions.in_store.embeds_and_blocks", "if not pinned or not settings.WATCH_SCRIPTS:", "if pinned:"
    ),
    "work of one thread": Change(
        "common.db.leases",
        "    if not here.acquire(blocking=False):\n",
        "    if here:\n        return work()\n    if not here.acquire(blocking=False):\n",
    ),
    "one request at a host": Change(
        "common.http.looks",
        "            busy |= {look.host, look.source.owner}\n",
        "            pass\n",
    ),
    "silent hosts left alone": Change(
        "common.http.looks", "                silent.add(look.host)\n", "                pass\n"
    ),
    # Of the lives in tests/life from here on.
    "suspension of an app": Change(
        "installations.models.installations",
        'f"{app}suspended_at": None, f"{app}deleted_at"',
        'f"{app}deleted_at"',
    ),
    "pause in a store": Change(
        "installations.models.installations",
        'return usable(prefix, app) & models.Q(**{f"{prefix}paused_at": None})',
        "return usable(prefix, app)",
    ),
    "sending after a resume": Change(
        "webhooks.receivers", "    send_paused(installation=installation, now=now)\n", "    pass\n"
    ),
    "nothing kept for a suspended app": Change(
        "webhooks.receivers", "    cancel_all(app=app, now=now)\n", "    pass\n"
    ),
    "48 hours before an erasure": Change(
        "webhooks.services.erasure",
        "due_at = now if installation.business.copy_of_id else installation.data_erasure_at",
        "due_at = now",
    ),
    "end of an erasure with a reinstall": Change(
        "webhooks.receivers",
        "    erasure.cancel(app=installation.app, business=installation.business, now=now)\n",
        "    pass\n",
    ),
    "consent before a scope": Change(
        "installations.services.approval",
        "self._take(row, removed)\n        lacking",
        "row.granted_scopes = in_order(row.approved_scopes)\n        lacking",
    ),
    "consent to a scope that comes back": Change(
        "installations.services.approval",
        "removed = set(row.granted_scopes) - set(row.approved_scopes)",
        "removed: set[str] = set()",
    ),
    "agreed reach": Change(
        "extensions.services.releases",
        "if each is not None and agreed.covers(definition, each)), None)",
        "if each is not None), None)",
    ),
    "version of an answer": Change(
        "merchants.consent.views",
        ' or request.POST.get("version") != str(question.version):',
        ":",
    ),
    "stores of a step": Change(
        "installations.services.approval",
        "return self.release.includes(row.pk) or row.is_own or self._converts(row)",
        "return True",
    ),
    "agreement before a taken-back version": Change(
        "installations.services.approval",
        'agreed = Case(returns, default="agreed_version")',
        'agreed = Case(default="agreed_version")',
    ),
    "scopes that a taken-back version took": Change(
        "installations.services.approval", "if not regained:", "if True:"
    ),
    "saves before a version was taken back": Change(
        "extensions.queries",
        "app.live_saves and (app.taken_back_at is None or saved_at > app.taken_back_at)",
        "app.live_saves",
    ),
    "switches of a store": Change(
        "extensions.in_store.embeds_and_blocks", "is_on = state is None or state.is_on", "is_on = True"
    ),
    "test install of who leaves": Change(
        "installations.receivers",
        "    if installation is not None:\n        uninstall(installation=installation, by=user",
        "    if False:\n        uninstall(installation=installation, by=user",
    ),
    "code after an uninstall": Change(
        "installations.services.authorization",
        'uninstalled_at__gte=OuterRef("created"),',
        'uninstalled_at__gte=OuterRef("created"),\n        pk=None,',
    ),
    "token of a code that came twice": Change(
        "installations.views.token", "if use.is_replay(again.used_at):", "if False:"
    ),
    "newest of several consents": Change(
        "installations.services.authorization",
        "if grant.installation_id is not None or grant.superseded:",
        "if grant.installation_id is not None:",
    ),
    # Of sign-in by an identity provider.
    "verified addresses only": Change(
        "accounts.sign_in.provider", ' and facts.get("email_verified") is True', ""
    ),
    "addresses open no account": Change(
        "accounts.services.connections",
        "return row.user if row else None",
        "return row.user if row else User.objects.with_email(identity.email)",
    ),
    "signatures of ID tokens": Change(
        "accounts.sign_in.id_tokens",
        '        if header.get("alg") not in ALGORITHMS:\n'
        "            raise RefusedToken(f\"The ID token is signed by {header.get('alg')!r}.\")\n"
        "        claims: Claims = jwt.decode(\n"
        "            token,\n"
        "            _key_for(header, keys),\n"
        '            algorithms=[header["alg"]],\n'
        "            issuer=issuer,\n"
        "            audience=client_id,\n"
        "            leeway=CLOCKS_DIFFER,\n"
        '            options={"require": _MUST_HAVE},\n',
        "        claims = jwt.decode(\n            token,\n"
        '            options={"require": _MUST_HAVE, "verify_signature": False},\n',
    ),
    "issuer of ID tokens": Change("accounts.sign_in.id_tokens", "            issuer=issuer,\n", ""),
    "audience of ID tokens": Change(
        "accounts.sign_in.id_tokens",
        'options={"require": _MUST_HAVE}',
        'options={"require": _MUST_HAVE, "verify_aud": False}',
    ),
    "authorized party of ID tokens": Change(
        "accounts.sign_in.id_tokens", "    _check_party(claims, client_id)\n", ""
    ),
    "end of ID tokens": Change(
        "accounts.sign_in.id_tokens",
        'options={"require": _MUST_HAVE}',
        'options={"require": _MUST_HAVE, "verify_exp": False}',
    ),
    "nonce": Change("accounts.sign_in.id_tokens", 'if claims.get("nonce") != nonce:', "if False:"),
    "state of the browser": Change(
        "accounts.sign_in.provider",
        'provider.unstash_redirect_state(request, request.GET.get("state", ""))',
        '[*[each[0] for each in request.session.get("socialaccount_states", {}).values()], '
        '{"pkce_code_verifier": "", "nonce": "", "process": LOGIN, "user_id": "", "began_at": 0}][0]',
    ),
    "states that work once": Change(
        "accounts.sign_in.provider",
        'provider.unstash_redirect_state(request, request.GET.get("state", ""))',
        'request.session["socialaccount_states"][request.GET["state"]][0]',
    ),
    "issuer of responses": Change(
        "accounts.sign_in.provider",
        "    _check_issuer_of_response(request, adapter.openid_config, who.issuer)\n",
        "",
    ),
    "issuer of descriptions": Change(
        "accounts.sign_in.provider", 'if config.get("issuer") != issuer:', "if False:"
    ),
    "issuer in the key of a connection": Change(
        "accounts.services.connections",
        "return SocialAccount.objects.filter(provider=issuer)",
        "return SocialAccount.objects.all()",
    ),
    "subject of userinfo": Change(
        "accounts.sign_in.provider", 'if found.get("sub") != claims["sub"]:', "if False:"
    ),
    "own pages after the provider": Change(
        "accounts.views.provider", 'return url if url and is_own_page(url, request) else ""', "return url"
    ),
    "time of the proof": Change("accounts.views.provider", "if not done.is_fresh_proof:", "if False:"),
    "person of the proof": Change(
        "accounts.views.provider", "if connections.account_of(done.identity) != user:", "if False:"
    ),
    "sign-ins that prove nothing": Change(
        "accounts.sign_in.step_up",
        'each["method"] != BY_PROVIDER or each.get("reauthenticated")',
        "True",
    ),
    "proof before a second factor": Change(
        "accounts.sign_in.step_up",
        "return can and not proved_recently(request)",
        "return False",
    ),
    "one account for a person at the provider": Change(
        "accounts.services.connections",
        "        _insert(user, identity)\n",
        "        account_of(identity) and _rows(identity.issuer).update(user=user)\n",
    ),
    "browser of the mailed link": Change(
        "accounts.services.connections", "user is not None and sealed == key and", "user is not None and"
    ),
}


def source_of(change: Change) -> str:
    return (ROOT / Path(*change.module.split("."))).with_suffix(".py").read_text()


def unprotected_source(change: Change) -> bytes:
    """The module's source without the protection. Raises LookupError where the source has changed."""
    source = source_of(change)
    if source.count(change.old) != 1:
        raise LookupError(f"{change.module} does not have this once: {change.old}")
    return source.replace(change.old, change.new).encode()


@contextmanager
def taken_out(name: str) -> Iterator[None]:
    """Within the block, the function that has the protection runs without it, in this process."""
    change = PROTECTIONS[name]
    with functions_of(
        unprotected_source(change), source=source_of(change), module=import_module(change.module)
    ):
        yield


def take_out(name: str) -> None:
    """Have the protection's module imported without it. To be called before anything imports the module."""
    change = PROTECTIONS[name]
    assert change.module not in sys.modules, f"{change.module} is there already."
    sys.meta_path.insert(0, _Finder(change))


class _Finder:
    def __init__(self, change: Change) -> None:
        self._change = change

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._change.module:
            return None
        spec = PathFinder.find_spec(name, path, target)
        assert spec is not None
        assert spec.origin is not None
        spec.loader = _Loader(name, spec.origin, self._change)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, change: Change) -> None:
        super().__init__(name, path)
        self._change = change

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(unprotected_source(self._change), self.path)
