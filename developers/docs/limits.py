"""All limits, from the constants that enforce them."""

from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from django.conf import settings

from accounts.models import LASTS
from accounts.services import businesses, developer_tokens, invitations, second_factor
from accounts.services.staff import STAFF
from accounts.sign_in import limits as sign_in_limits
from accounts.sign_in import tickets, tokens
from activity.services import retention as log_retention
from activity.services import writing
from common import lengths, strangers
from common.http import transport, url_policy
from common.rest import bodies, idempotency
from common.rest.views import JsonView
from common.text.nesting import MAX_DEPTH, MAX_VALUES
from common.times import duration
from common.web import limits as rate_limits
from common.web.middleware.bodies import LARGEST, MAX_ESCAPES
from conformance.services import runs
from developers import limits as developer_limits
from extensions import json_documents, session_tokens
from extensions.hooks import answers, breaker, ledger, simulator
from extensions.in_store import placements
from extensions.manifest import problems, values
from extensions.schemas import references
from installations import limits as api_limits
from installations.services import authorization
from marketplace import data_terms, rules
from marketplace.services import apps, pictures
from marketplace.services.members import MEMBERS
from stores import hookpoints
from stores.buyers import attributes
from stores.services import carts
from stores.services.catalogue import products
from teststores import services as test_stores
from webhooks import health
from webhooks.engine import claim_selection, listeners, retry
from webhooks.filters import rules as filter_rules
from webhooks.messages import message
from webhooks.services import deliveries, inboxes, registration
from webhooks.services import retention as delivery_retention
from webhooks.services.sandbox import testing


@dataclass(frozen=True, slots=True)
class Limit:
    name: str
    value: str
    beyond: str  # what happens beyond it


@dataclass(frozen=True, slots=True)
class LimitGroup:
    ident: str
    title: str
    limits: list[Limit]


@cache
def groups() -> list[LimitGroup]:
    return [
        LimitGroup("api", "API requests", _api()),
        LimitGroup("texts", "Texts", _texts()),
        LimitGroup("orders", "Orders", _orders()),
        LimitGroup("webhooks", "Webhooks", _webhooks()),
        LimitGroup("hooks", "Hooks", _hooks()),
        LimitGroup("manifest", "Manifest and settings", _manifest()),
        LimitGroup("apps", "Apps", _apps()),
        LimitGroup("sign-in", "OAuth and sign-in", _sign_in()),
        LimitGroup("retention", "How long data is kept", _retention()),
    ]


def _api() -> list[Limit]:
    return [
        Limit("Requests of an installation to the app API and webhooks API", f"{api_limits.REQUESTS_A_MINUTE} in {rate_limits.WINDOW} seconds", "429 with Retry-After"),
        Limit("Requests of a connected shop; a batch counts as one for each 50 rows", f"{settings.STORE_API_RATE:,} in {rate_limits.WINDOW} seconds", "429 with Retry-After"),
        Limit("Hooks, tickets and placements that a connected shop asks for, apart from its other requests", f"{settings.STORE_API_RATE:,} in {rate_limits.WINDOW} seconds", "429 with Retry-After"),
        Limit("People of a connected store", f"{tickets.MOST:,}", "409"),
        Limit("Requests without a valid token, for each address", f"{api_limits.REQUESTS_A_MINUTE} in {rate_limits.WINDOW} seconds", "429"),
        Limit("Calls of the developer API, and forms sent in the portal and in a merchant's dashboard, together for each person", f"{rate_limits.PERSON_REQUESTS} in {rate_limits.WINDOW} seconds", "429 with Retry-After"),
        Limit("JSON request body", size(bodies.MAX_BODY), "413"),
        Limit("Upload of an app's pictures", size(LARGEST), "413"),
        Limit("Parts of such an upload", str(developer_limits.MAX_PARTS), "400"),
        Limit("Levels of objects and lists in a JSON body", str(MAX_DEPTH), "400"),
        Limit("Values in a JSON body", f"{MAX_VALUES:,}", "400"),
        Limit("Escaped characters of a form such as %E9", f"{MAX_ESCAPES:,}", "413"),
        Limit("Idempotency-Key", f"1 to {idempotency.MAX_KEY} printable ASCII characters", "400"),
        Limit("Repeats with an Idempotency-Key return the first response", duration(idempotency.KEPT_FOR), "a new call"),
        Limit("Idempotency-Keys of an installation or a person", f"{idempotency.MOST_KEYS:,}, and {size(idempotency.MOST_SIZE)} of answers", "429 with Retry-After"),
        Limit("Objects on a page", f"{page_of((JsonView.page_default, JsonView.page_maximum))}; orders {page_of(api_limits.ORDERS_A_PAGE)}; reviews {page_of(api_limits.REVIEWS_A_PAGE)}", "lowered"),
        Limit("Events on a page of the feed", page_of(api_limits.EVENTS_A_PAGE), "lowered"),
        Limit("Exports being made, for each installation", "1", "409"),
    ]  # fmt: skip


def _texts() -> list[Limit]:
    """Where no other row has a smaller number."""
    lengths_of = {
        "Names, titles and categories": lengths.NAME,
        "Names of people and stores": lengths.PERSON,
        "E-mail address": lengths.EMAIL,
        "Phone number": lengths.PHONE,
        "Address": lengths.ADDRESS,
        "Notes, comments and reasons": lengths.NOTE,
        "Description of a product": lengths.DESCRIPTION,
        "Text of a page": lengths.PAGE,
        "Password, token, parameter of OAuth": lengths.TOKEN,
        "Search and filter": lengths.SEARCH,
    }
    texts = [Limit(name, f"{most:,} characters", "400") for name, most in lengths_of.items()]
    return [
        *texts,
        Limit("Products of a store, archived ones included", f"{products.MOST_PRODUCTS:,}", "refused"),
    ]


def _orders() -> list[Limit]:
    return [
        Limit("Lines of an order", str(carts.MAX_LINES), "400"),
        Limit("Quantity of a line", f"{api_limits.MAX_QUANTITY:,}", "400"),
    ]  # fmt: skip


def _webhooks() -> list[Limit]:
    return [
        Limit("Webhooks of an installation, besides the app-defined one", str(registration.MAX_WEBHOOKS), "409"),
        Limit("Conditions of a filter, and names in its `changed`", str(filter_rules.MOST), "400"),
        Limit("A value of a condition", f"{filter_rules.MAX_TEXT} characters; {filter_rules.MOST_VALUES} values of `in`", "400"),
        Limit("Deliveries at the same time to one host name, all webhooks whose server isn't known to answer quickly together", str(claim_selection.HOST_ATTEMPTS), "they wait"),
        Limit("Time for a response", f"{transport.TIMEOUT:.0f} seconds", "the attempt fails"),
        Limit("Attempts of a delivery", str(len(retry.delays()) + 1), "EXHAUSTED"),
        Limit("Tests of webhooks under way, for each app", str(testing.AT_ONCE), "429 with Retry-After"),
        Limit("Waits between attempts", ", ".join(map(duration, retry.delays())), f"up to {retry.SPREAD:.0%} later; twice as long with Retry-After"),
        Limit("Response body that is kept", size(message.EXCERPT_BYTES), "cut"),
        Limit("Resent after recover or resume, for each webhook", f"{deliveries.RECOVERED_PER_SECOND} a second", "spread over time"),
        Limit("Failing until you get a mail", f"{duration(health.WARNED_AFTER)}, then {duration(health.WARNED_AGAIN_AFTER)}", "e-mail"),
        Limit("Failing until a webhook is disabled", f"{duration(health.DISABLED_AFTER)}, with {health.EXHAUSTED_AT_LEAST} failed deliveries and {health.FAILED_AT_LEAST} failed attempts", "deliveries are HELD"),
        Limit("Two answers 410, at least this far apart", duration(health.GONE_APART), "the webhook is disabled"),
        Limit("Length of a URL", f"{url_policy.MAX_URL_LENGTH:,} characters", "400"),
        Limit("Delay of a data erasure after the uninstall", duration(timedelta(seconds=settings.DATA_ERASURE_DELAY)), "business.data_erasure"),
        Limit("Listeners (`extension-platform listen`) of an app, of all its members", "1", "the new one replaces the old"),
        Limit("Listeners of a developer, those of test stores aside", str(listeners.MOST_OF_DEVELOPER), "429"),
        Limit("Listeners of a test store", "1", "the new one replaces the old"),
        Limit("Requests of a developer's listeners", f"{developer_limits.POLLS:,} in {rate_limits.WINDOW} seconds", "429 with Retry-After"),
        Limit("Test events and changes on sandbox stores, for each developer", f"{developer_limits.CHANGES} in {rate_limits.WINDOW} seconds; opening a test store counts as {' or '.join(map(str, developer_limits.OPENING.values()))}", "429 with Retry-After"),
        Limit("Entries of an inbox", f"{inboxes.MOST}, for {duration(inboxes.KEPT)}", "the oldest are removed"),
    ]  # fmt: skip


def _hooks() -> list[Limit]:
    return [
        Limit("Timeout of a hook", f"{values.TIMEOUTS.start:,} to {values.TIMEOUTS.stop - 1:,} ms", "the flow goes on without the app"),
        Limit("All hooks of a flow together", f"{hookpoints.BUDGET_SECONDS:.0f} seconds", "further hooks are skipped"),
        Limit("Size of a response", size(answers.MAX_BYTES), "failure"),
        Limit("Failures in a row that open the circuit breaker", str(breaker.THRESHOLD), f"skipped for {duration(breaker.FIRST_PAUSE)}, later up to {duration(breaker.LONGEST_PAUSE)}"),
        Limit("Waits of a request for apps' servers, all together, while the platform is busy", f"{strangers.FREE:g} seconds", "hooks are skipped; 503 for payments, tests and checks"),
        Limit("Pages that call apps, for each shopper's address", f"{hookpoints.ASKED_PER_MINUTE} a minute", "429 for the shopper"),
        Limit("Tries in the portal", f"{simulator.PER_MINUTE} a minute", "429"),
        Limit("Response text in the list of calls", f"{ledger.EXCERPT:,} characters", "cut"),
    ]  # fmt: skip


def _manifest() -> list[Limit]:
    return [
        Limit("Manifest, as JSON without white space", size(problems.MAX_BYTES), "400"),
        Limit("Blocks, embeds, hooks and admin pages, of each kind", str(problems.MAX_OF_EACH), "400"),
        Limit("Levels of a manifest", str(problems.MAX_DEPTH), "400"),
        Limit("Problems that one response lists", str(problems.MAX_PROBLEMS), "the total is named"),
        Limit("Settings schema, and the values of one", size(json_documents.MAX_BYTES), "400"),
        Limit("Levels of a settings schema", str(references.MAX_LEVELS), "400"),
        Limit("Properties of a settings schema", str(references.MAX_PROPERTIES), "400"),
        Limit("Numbers in settings and manifests", "−(2^53−1) to 2^53−1", "400"),
        Limit("Session token of an admin page, a block or a widget", duration(session_tokens.LIFETIME), "your server must refuse it"),
        Limit("Requests of a connected store's pages for what apps show there, for each address", f"{placements.PUBLIC_A_MINUTE} in {rate_limits.WINDOW} seconds", "429 with Retry-After"),
        Limit("Requests of a store's page for the session tokens of its blocks and widgets, for each session", f"{session_tokens.BLOCKS_A_MINUTE} in {rate_limits.WINDOW} seconds", "SERVICE_BLOCK_INIT without a token"),
        Limit("Attributes of an app in a cart, and in an order", f"{attributes.MOST_KEYS} keys of 40 characters, texts of {attributes.LONGEST}", "left out, and named in the app's log; 400 from the API"),
        Limit("Messages with attributes from a block or a widget", "2 a second", "joined, and sent later"),
    ]  # fmt: skip


def _apps() -> list[Limit]:
    return [
        Limit("Apps of a developer, deleted ones aside", str(apps.MOST_APPS), "409"),
        Limit("Members of an app, invitations included", str(MEMBERS.most), "409"),
        Limit("Stores of a merchant", str(businesses.MOST_STORES), "409"),
        Limit("People of a merchant's store, invitations included", str(STAFF.most), "409"),
        Limit("Invitations of a person", f"{invitations.A_MINUTE} in {rate_limits.WINDOW} seconds, {invitations.A_DAY} a day", "429 with Retry-After"),
        Limit("Time to accept an invitation or a transfer", duration(LASTS), "it ends"),
        Limit("Name, slug, description, version of an app", ", ".join(f"{rules.LENGTHS[name]:,}" for name in ("name", "slug", "description", "version")) + " characters", "400"),
        Limit("Checks at a time, for each developer", str(runs.MOST_AT_A_TIME), "409"),
        Limit("Checks started, for each developer", f"{runs.PER_MINUTE} a minute", "429"),
        Limit("A check", duration(runs.LONGEST), "the other rules count as not tried"),
        Limit("Test stores at a time, for each developer", str(test_stores.MOST_AT_A_TIME), "409"),
        Limit("A test store", f"{duration(test_stores.SHORTEST)} to {duration(test_stores.LONGEST)}, {duration(test_stores.USUAL)} if not given", "deleted"),
        Limit("Where the data goes", f"{data_terms.MAX_COUNTRIES} countries, 0 to {data_terms.MAX_DAYS:,} days, {data_terms.MAX_PROCESSORS} characters about other processors", "400"),
        Limit("Screenshots", str(rules.MAX_SCREENSHOTS), "400"),
        Limit("A picture", f"{size(pictures.MAX_BYTES)}, {pictures.MAX_PIXELS // 1_000_000} megapixels", "400"),
        Limit("How to test, scope reason", f"{rules.REMARKS['how_to_test']:,} and {rules.REMARKS['scope_reason']:,} characters", "400"),
    ]  # fmt: skip


def _sign_in() -> list[Limit]:
    return [
        Limit("Wrong codes of a second factor after the right password, for each account", f"{second_factor.MOST_WRONG} in {duration(second_factor.COUNTED_FOR)}", "429; recovery codes and passkeys still work"),
        Limit("Mails of a kind (an account exists, new password, confirmation, invitation) to one address", f"{sign_in_limits.MAILS_AN_HOUR} an hour, {sign_in_limits.MAILS_A_DAY} a day", "not sent, and the answer doesn't say so"),
        Limit("Authorization code", duration(authorization.CODE_LIFETIME), "invalid_grant"),
        Limit("Code exchanges, revocations and registrations, for each address", f"{rate_limits.PER_ADDRESS} a minute", "429"),
        Limit("Failed sign-ins, for each account and network", f"{sign_in_limits.PER_ACCOUNT} a minute, with growing delays", "429"),
        Limit("Developer tokens of an account", f"{developer_tokens.MOST_TOKENS}, for at most {developer_tokens.LONGEST.days} days", "409"),
        Limit("Codes of a device sign-in", duration(developer_tokens.GRANT_LIFETIME), "expired_token"),
        Limit("Access token of a developer's sign-in", duration(tokens.ACCESS_LIFETIME), "401"),
    ]  # fmt: skip


def _retention() -> list[Limit]:
    return [
        Limit("Events in the feed, and deliveries", duration(delivery_retention.KEPT), "410; deleted within a week"),
        Limit("Files of exports", duration(api_limits.EXPORTS_KEPT), "404"),
        Limit("Results of checks", duration(runs.STORE_KEPT), "404"),
        Limit("Calls in the list of requests", duration(log_retention.KEPT), "deleted"),
        Limit("Bodies in the list of requests, sandbox stores only", size(writing.KEPT_OF_BODY), "cut"),
    ]  # fmt: skip


def size(number: int) -> str:
    """`64 KiB` for 65536."""
    return f"{number // 1024**2} MiB" if number % 1024**2 == 0 else f"{number // 1024} KiB"


def page_of(sizes: tuple[int, int]) -> str:
    """Of a list: by default and at most."""
    default, maximum = sizes
    return f"{default} by default, {maximum} at most"
