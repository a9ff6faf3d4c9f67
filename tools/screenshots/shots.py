"""Every page in every state that it may have: `SHOTS`. To add a page, add a row, and what it shows to `cast`."""

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page

from tools.screenshots import cast as everybody


@dataclass(frozen=True, slots=True)
class Shot:
    """A page in a state. `path` may name what `cast.seed` made: `/portal/apps/{app.id}/`."""

    name: str
    path: str
    signed_in: str = ""  # a person of the cast
    act: Callable[[Page], None] | None = None  # what is pressed before the picture
    status: int = 200


def press(*names: str) -> Callable[[Page], None]:
    """Presses buttons, one after the other."""

    def act(page: Page) -> None:
        for name in names:
            page.get_by_role("button", name=name).first.click()
        page.wait_for_load_state()

    return act


def open_theme_menu(page: Page) -> None:
    """Opens the menu with the themes, which visitors on phones find in the site's."""
    page.get_by_label("Theme").or_(page.get_by_label("Site menu")).filter(visible=True).first.click()


def publish_empty_review(page: Page) -> None:
    page.locator("summary", has_text="Write a review").click()
    press("Publish review")(page)


def create_with_example(page: Page) -> None:
    """Creates an app from an example, whose requests and secrets the next page shows."""
    page.get_by_label("Name", exact=True).fill("Basket Bonus")
    page.get_by_label("Checkout hook").check()
    press("Create app")(page)


def run_first_call(page: Page) -> None:
    """Creates another app, and sends its first request from the page."""
    page.get_by_label("Name", exact=True).fill("Restock Radar")
    press("Create app", "Run it here")(page)
    page.get_by_text("Your first call").wait_for()


def check_twice(page: Page) -> None:
    """Has the app's server checked, and goes back to the list."""
    for _ in range(2):
        press("Run check")(page)
        page.get_by_label("Breadcrumb").get_by_role("link", name="Checks").click()


def play_a_day(page: Page) -> None:
    """Plays the first scenario of the test store."""
    press("Play A day of trading")(page)
    page.get_by_role("heading", name="A day of trading").wait_for()


def search_docs(page: Page) -> None:
    """Types into the search box of the documentation, and chooses the first result."""
    page.keyboard.press("/")
    page.keyboard.type("rate limit")
    page.get_by_role("option").first.wait_for()
    page.keyboard.press("ArrowDown")


def open_entry(page: Page) -> None:
    page.locator(".entries summary").first.click()


def regenerate(page: Page) -> None:
    """Asks for a new client secret, and does what the page wants to be sure."""
    page.get_by_label("to confirm").fill("loyalty-stars")
    press("Regenerate secret")(page)


def show_payload(page: Page) -> None:
    page.get_by_text("Payload of order.cancelled").click()


def change_redirect_url(page: Page) -> None:
    """An unsaved change, with which the bar to save it appears."""
    page.get_by_label("Redirect URL").fill("https://app.example.com/connected")


def open_endpoint(page: Page) -> None:
    page.locator(".endpoints summary", has_text="old.example.com").click()


def add_endpoint(page: Page) -> None:
    """Adds one that refuses the first test, and receives what another one receives too."""
    page.get_by_label("URL").fill("http://127.0.0.1:9/hooks")
    page.get_by_label("order.created").check()
    press("Add endpoint")(page)


def change_address(page: Page) -> None:
    page.get_by_label("New e-mail address").fill("dana@new.example.com")
    press("Send link")(page)


def prove(page: Page) -> None:
    """Enters the password where the page asks for it, which it does once."""
    if "/accounts/prove/" in page.url:
        page.get_by_label("Password", exact=True).fill("correct horse battery")
        press("Continue")(page)


def sign_in_as_theo(page: Page) -> None:
    """Up to the second step, which asks for a code."""
    page.get_by_label("E-mail").fill("theo@example.com")
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    press("Sign in")(page)


def unfold(page: Page) -> None:
    page.locator("details.past > summary").click()


def computed_without_a_timestamp(page: Page) -> None:
    """Has a delivery checked, with a value that no code computed."""
    page.get_by_label("your code computed").fill("ab" * 32)
    press("Check")(page)


def open_picture(page: Page) -> None:
    page.locator(".pictures a").first.click()


def open_tables(page: Page) -> None:
    for summary in page.locator("details.more > summary").all():
        summary.click()


def common_reasons(page: Page) -> None:
    """Selects a common reason and previews the e-mail."""
    page.get_by_text("Common reasons").click()
    page.get_by_label("Add screenshots").check()
    press("Preview e-mail")(page)
    page.get_by_text("Common reasons").click()


def add_entries(page: Page) -> None:
    """Adds an entry to two lists of a settings form."""
    for button in ("Add to Treats", "Add to Closed days"):
        page.get_by_role("button", name=button).click()
        page.wait_for_timeout(400)


def bad_settings(page: Page) -> None:
    """Sends settings that break the app's rules."""
    page.get_by_label("Heading").fill("")
    page.get_by_label("Stamps needed").fill("99")
    page.get_by_label("Link to your terms").fill("javascript:alert(1)")
    page.get_by_label("Printer").fill("AB 12")
    page.get_by_role("button", name="Remove Treat 1").click()
    page.wait_for_timeout(400)
    page.get_by_role("button", name="Save").last.click()
    page.wait_for_load_state()


def misspell(page: Page) -> None:
    """Types over the manifest in the editor, and has it checked."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(everybody.BAD_MANIFEST)
    press("Check")(page)
    page.locator(".cm-lintRange-error").first.wait_for()
    page.locator(".cm-editor").scroll_into_view_if_needed()  # it measures its lines once they are in view
    page.wait_for_timeout(200)


def rename_block(page: Page) -> None:
    """Another manifest than the one in force, on its way to be saved."""
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(everybody.OTHER_MANIFEST)
    press("Save")(page)


def first_failed_call(page: Page) -> None:
    page.get_by_role("row", name="Unexpected JSON").get_by_role("link").first.click()


def frames_ready(page: Page) -> None:
    """Waits until every frame of an app shows its page."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(300)


def type_a_title(page: Page) -> None:
    frames_ready(page)
    page.get_by_role("textbox", name="Title").fill("Kind words from Mill Lane")
    page.frame_locator("iframe.block").first.get_by_text("Kind words from Mill Lane").wait_for()


def preview_block(page: Page) -> None:
    """Opens a block of the picker on the page, before it is added."""
    press("Add block")(page)
    page.get_by_role("link", name="Preview").first.click()
    frames_ready(page)


def wrong_stock(page: Page) -> None:
    """A stock that is no number, in the second row of the list."""
    page.get_by_role("textbox", name="Stock of").nth(1).fill("a dozen")
    page.get_by_role("button", name="Set the stock").nth(1).click()
    page.wait_for_load_state()


def consent(app: str) -> str:
    """Where an app of the cast sends people to install it."""
    return f"/oauth/authorize?response_type=code&client_id={{{app}.client_id}}&state=xyz"


STORE = "/store/{store[shop].slug}/"


def into_cart(page: Page) -> None:
    """Two of what is shown, and one of something else."""
    page.get_by_label("Quantity").fill("2")
    press("Add to cart")(page)
    page.goto(page.url.replace("country-sourdough", "carrot-cake"))
    press("Add to cart")(page)
    page.get_by_role("link", name="Cart", exact=True).click()


def cart_in_trouble(page: Page) -> None:
    into_cart(page)
    page.get_by_label("Quantity of Carrot Cake").fill("50")
    press("Update quantities")(page)


def to_checkout(page: Page) -> None:
    into_cart(page)
    page.get_by_role("link", name="Checkout").click()


def to_delivery(page: Page) -> None:
    to_checkout(page)
    page.get_by_label("Delivery", exact=True).check()


def to_checkout_with_a_widget(page: Page) -> None:
    press("Add to cart")(page)
    page.get_by_role("link", name="Cart", exact=True).click()
    page.get_by_role("link", name="Checkout").click()
    frames_ready(page)


def total(page: Page) -> None:
    to_delivery(page)
    page.get_by_label("Town").fill("Portside")
    page.get_by_label("Town").blur()
    page.get_by_text("Price for the delivery method and town you chose.").wait_for()


def empty_checkout(page: Page) -> None:
    to_delivery(page)
    press("Place order")(page)


SHOTS = [
    Shot("home", "/"),
    Shot("home-developer", "/", "dana"),
    Shot("home-merchant", "/", "mira"),
    Shot("account-menu", "/", "dana", press("Account of")),
    Shot("theme-menu", "/", act=open_theme_menu),
    Shot("marketplace", "/marketplace/"),
    Shot("marketplace-merchant", "/marketplace/", "mira"),
    Shot("marketplace-category", "/marketplace/?category=pos&without=customers"),
    Shot("marketplace-nothing", "/marketplace/?q=zeppelin&category=loyalty"),
    Shot("marketplace-wrong", "/marketplace/?sort=luck", status=422),
    Shot("marketplace-app", "/marketplace/{bell.slug}/"),
    Shot("marketplace-app-adds", "/marketplace/{quotes.slug}/"),
    Shot("marketplace-app-preview", "/marketplace/{stars.slug}/preview/", "dana"),
    Shot("marketplace-app-lightbox", "/marketplace/{bell.slug}/", act=open_picture),
    Shot("marketplace-app-installed", "/marketplace/{bell.slug}/", "mira"),
    Shot("marketplace-app-developer", "/marketplace/{bell.slug}/", "sam"),
    Shot("marketplace-app-own", "/marketplace/{till.slug}/", "dana"),
    Shot("marketplace-app-reviewer", "/marketplace/{quotes.slug}/", "rae"),
    Shot("licenses", "/licenses/"),
    Shot("register", "/accounts/register/"),
    Shot("register-merchant", "/accounts/register/?role=MERCHANT"),
    Shot("register-errors", "/accounts/register/", act=press("Register")),
    Shot("sign-in", "/accounts/login/"),
    Shot("sign-in-errors", "/accounts/login/", act=press("Sign in")),
    Shot("password-reset", "/accounts/password-reset/"),
    Shot("password-reset-sent", "/accounts/password-reset/sent/"),
    Shot("account-profile", "/accounts/profile/", "dana"),
    Shot("account-profile-merchant", "/accounts/profile/", "mira"),
    Shot("account-profile-pending", "/accounts/profile/", "dana", change_address),
    Shot("account-delete", "/accounts/profile/delete/", "sam"),
    Shot("account-delete-merchant", "/accounts/profile/delete/", "noor"),
    Shot("account-delete-refused", "/accounts/profile/delete/", "dana"),
    Shot("account-delete-errors", "/accounts/profile/delete/", "sam", press("Delete account")),
    Shot("account-deleted", "/accounts/deleted/"),
    Shot("account-security", "/accounts/security/", "dana"),
    Shot("account-sessions", "/accounts/sessions/", "dana"),
    Shot("account-prove", "/accounts/security/app/", "dana"),
    Shot("account-authenticator-app", "/accounts/security/app/", "dana", prove),
    Shot("account-authenticator-app-remove", "/accounts/security/app/remove/", "theo"),
    Shot("account-passkey", "/accounts/security/passkeys/add/", "dana", prove),
    Shot("account-recovery-codes", "/accounts/security/recovery-codes/", "theo"),
    Shot("account-recovery-codes-new", "/accounts/security/recovery-codes/new/", "theo"),
    Shot("account-security-both", "/accounts/security/", "theo"),
    Shot("account-security-log", "/accounts/security-log/", "dana"),
    Shot("account-tokens", "/accounts/tokens/", "dana"),
    Shot("sign-in-second-step", "/accounts/login/", act=sign_in_as_theo),
    Shot("portal-device", "/portal/device/", "dana"),
    Shot("account-password", "/accounts/password/", "dana"),
    Shot("address-confirmation-sent", "/accounts/confirm-email/"),
    Shot("address-link-expired", "/accounts/confirm-email/x/"),
    Shot("styleguide", "/_styleguide/", "rae"),
    Shot("styleguide-errors", "/_styleguide/", "rae", press("Send it")),
    Shot("error-404", "/nothing/here", status=404),
    Shot("portal-apps", "/portal/", "dana"),
    Shot("portal-apps-empty", "/portal/", "sam"),
    Shot("portal-create", "/portal/create/", "dana"),
    Shot("portal-create-errors", "/portal/create/", "dana", press("Create app")),
    Shot("portal-created", "/portal/create/", "dana", create_with_example),
    Shot("portal-created-called", "/portal/create/", "dana", run_first_call),
    Shot(
        "portal-redirect",
        "/portal/apps/{stars.slug}/redirect/?code=3f9A0c1Qm7&state=xyz&iss=https://platform.example",
        "dana",
    ),
    Shot(
        "portal-redirect-refused", "/portal/apps/{stars.slug}/redirect/?error=access_denied&state=xyz", "dana"
    ),
    Shot("portal-redirect-empty", "/portal/apps/{parcels.slug}/redirect/", "dana"),
    Shot("portal-overview", "/portal/apps/{stars.slug}/", "dana"),
    Shot("portal-overview-health", "/portal/apps/{till.slug}/", "dana"),
    Shot("portal-overview-new", "/portal/apps/{parcels.slug}/", "dana"),
    Shot("portal-details", "/portal/apps/{stars.slug}/details/", "dana"),
    Shot("portal-details-pictures", "/portal/apps/{stars.slug}/details/pictures/", "dana"),
    Shot("portal-details-access", "/portal/apps/{stars.slug}/details/access/", "dana", change_redirect_url),
    Shot("portal-details-events", "/portal/apps/{stars.slug}/details/events/", "dana"),
    Shot("portal-details-approved", "/portal/apps/{till.slug}/details/", "dana"),
    Shot("portal-details-in-review", "/portal/apps/{wall.slug}/details/", "dana"),
    Shot("portal-manifest", "/portal/apps/{stars.slug}/manifest/", "dana"),
    Shot("portal-manifest-empty", "/portal/apps/{parcels.slug}/manifest/", "dana"),
    Shot("portal-manifest-errors", "/portal/apps/{stars.slug}/manifest/", "dana", misspell),
    Shot("portal-manifest-save", "/portal/apps/{stars.slug}/manifest/", "dana", rename_block),
    Shot("portal-manifest-urls", "/portal/apps/{stars.slug}/manifest/", "dana", press("Check URLs")),
    Shot("portal-manifest-in-review", "/portal/apps/{wall.slug}/manifest/", "dana"),
    Shot("portal-manifest-history", "/portal/apps/{till.slug}/manifest/history/", "dana"),
    Shot("portal-manifest-back", "/portal/apps/{till.slug}/manifest/history/{first_save.pk}/", "dana"),
    Shot("portal-credentials", "/portal/apps/{stars.slug}/credentials/", "dana"),
    Shot("portal-regenerate", "/portal/apps/{stars.slug}/credentials/regenerate/", "dana"),
    Shot("portal-client-secret", "/portal/apps/{stars.slug}/credentials/regenerate/", "dana", regenerate),
    Shot("portal-test", "/portal/apps/{parcels.slug}/test/", "dana"),
    Shot("portal-test-installed", "/portal/apps/{stars.slug}/test/", "dana"),
    Shot("portal-test-played", "/portal/apps/{stars.slug}/test/", "dana", play_a_day),
    Shot("portal-test-erasure", "/portal/apps/{wall.slug}/test/", "dana"),
    Shot("portal-inbox", "/portal/apps/{stars.slug}/inbox/", "dana", open_entry),
    Shot("portal-inbox-offer", "/portal/apps/{chat.slug}/inbox/", "dana"),
    Shot("portal-inbox-not-installed", "/portal/apps/{parcels.slug}/inbox/", "dana"),
    Shot("portal-test-token", "/portal/apps/{stars.slug}/test/", "dana", press("Issue a new token")),
    Shot("portal-test-uninstall", "/portal/apps/{stars.slug}/test/uninstall/", "dana"),
    Shot("portal-test-event", "/portal/apps/{stars.slug}/test/event/", "dana"),
    Shot("portal-webhooks", "/portal/apps/{stars.slug}/webhooks/", "dana"),
    Shot("portal-webhooks-tested", "/portal/apps/{stars.slug}/webhooks/?tested={sent[test].id}", "dana"),
    Shot("portal-webhooks-open", "/portal/apps/{stars.slug}/webhooks/", "dana", open_endpoint),
    Shot("portal-webhook-add", "/portal/apps/{chat.slug}/webhooks/new/", "dana", show_payload),
    Shot("portal-webhook-wrong", "/portal/apps/{stars.slug}/webhooks/new/", "dana", press("Add endpoint")),
    Shot("portal-webhook-secret", "/portal/apps/{stars.slug}/webhooks/new/", "dana", add_endpoint),
    Shot(
        "portal-webhook-edit", "/portal/apps/{stars.slug}/webhooks/{sent[failing_webhook].id}/edit/", "dana"
    ),
    Shot(
        "portal-webhook-delete",
        "/portal/apps/{stars.slug}/webhooks/{sent[failing_webhook].id}/delete/",
        "dana",
    ),
    Shot("portal-webhooks-empty", "/portal/apps/{parcels.slug}/webhooks/", "dana"),
    Shot(
        "portal-webhook-pause", "/portal/apps/{stars.slug}/webhooks/{sent[failing_webhook].id}/pause/", "dana"
    ),
    Shot("portal-deliveries", "/portal/apps/{stars.slug}/deliveries/", "dana"),
    Shot("portal-deliveries-none", "/portal/apps/{stars.slug}/deliveries/?q=1042&status=HELD", "dana"),
    Shot("portal-deliveries-wrong", "/portal/apps/{stars.slug}/deliveries/?status=LOST", "dana", status=422),
    Shot("portal-deliveries-empty", "/portal/apps/{parcels.slug}/deliveries/", "dana"),
    *(
        Shot(
            f"portal-delivery-{state}",
            f"/portal/apps/{{stars.slug}}/deliveries/{{sent[{state}].id}}/",
            "dana",
        )
        for state in ("recovered", "failing", "failed", "tls", "waiting", "held", "cancelled", "test")
    ),
    Shot("portal-analytics", "/portal/apps/{till.slug}/analytics/", "dana"),
    Shot("portal-analytics-table", "/portal/apps/{till.slug}/analytics/", "dana", open_tables),
    Shot("portal-analytics-empty", "/portal/apps/{parcels.slug}/analytics/", "dana"),
    Shot(
        "portal-delivery-compare", "/portal/apps/{stars.slug}/deliveries/{sent[failing].id}/compare/", "dana"
    ),
    Shot("portal-signature-checks", "/portal/apps/{stars.slug}/signatures/run/", "dana"),
    Shot(
        "portal-signature-checks-run",
        "/portal/apps/{stars.slug}/signatures/run/",
        "dana",
        press("Run checks"),
    ),
    Shot("portal-signature-checks-empty", "/portal/apps/{parcels.slug}/signatures/run/", "dana"),
    Shot("portal-checks-empty", "/portal/apps/{parcels.slug}/checks/", "dana"),
    Shot("portal-check", "/portal/apps/{rates.slug}/checks/", "dana", press("Run check")),
    Shot("portal-checks", "/portal/apps/{rates.slug}/checks/", "dana", check_twice),
    Shot("portal-why", "/portal/apps/{stars.slug}/deliveries/why/?event=order.created", "dana"),
    Shot("portal-why-nothing", "/portal/apps/{chat.slug}/deliveries/why/?event=product.created", "dana"),
    Shot("portal-why-empty", "/portal/apps/{parcels.slug}/deliveries/why/", "dana"),
    Shot("portal-why-wrong", "/portal/apps/{stars.slug}/deliveries/why/?event=LOST", "dana", status=422),
    Shot("portal-requests", "/portal/apps/{stars.slug}/requests/", "dana"),
    Shot("portal-requests-none", "/portal/apps/{stars.slug}/requests/?q=nothing&kind=hook", "dana"),
    Shot("portal-requests-empty", "/portal/apps/{parcels.slug}/requests/", "dana"),
    *(
        Shot(
            f"portal-request-{state}",
            f"/portal/apps/{{stars.slug}}/requests/{{sent[calls][{state}].id}}/",
            "dana",
        )
        for state in ("order", "invalid", "missing", "forbidden", "limited")
    ),
    Shot("portal-thread", "/portal/apps/{stars.slug}/threads/{sent[calls][order].id}/", "dana"),
    Shot("portal-scopes", "/portal/apps/{stars.slug}/scopes/", "dana"),
    Shot("portal-hooks", "/portal/apps/{rates.slug}/hooks/", "dana"),
    Shot("portal-hooks-empty", "/portal/apps/{parcels.slug}/hooks/", "dana"),
    Shot("portal-hook", "/portal/apps/{rates.slug}/hooks/checkout.shipping_rates/", "dana"),
    Shot("portal-hook-call", "/portal/apps/{rates.slug}/hooks/order.validate/", "dana", first_failed_call),
    Shot("portal-hook-try", "/portal/apps/{rates.slug}/hooks/order.validate/try/", "dana"),
    Shot(
        "portal-hook-tried",
        "/portal/apps/{rates.slug}/hooks/checkout.payment_methods/try/",
        "dana",
        press("Call hook"),
    ),
    Shot("portal-erasures", "/portal/apps/{till.slug}/erasures/", "dana"),
    Shot("portal-erasures-empty", "/portal/apps/{stars.slug}/erasures/", "dana"),
    Shot("portal-recover", "/portal/apps/{stars.slug}/deliveries/recover/", "dana"),
    Shot("portal-signature-checker", "/portal/apps/{stars.slug}/signatures/", "dana"),
    Shot("portal-signature-checker-errors", "/portal/apps/{stars.slug}/signatures/", "dana", press("Check")),
    Shot(
        "portal-signature-checker-verdict",
        "/portal/apps/{stars.slug}/signatures/?delivery={sent[failing].id}",
        "dana",
        computed_without_a_timestamp,
    ),
    Shot("portal-review-checklist", "/portal/apps/{parcels.slug}/review/", "dana"),
    Shot("portal-review-green", "/portal/apps/{stars.slug}/review/", "dana"),
    Shot("portal-review-in-review", "/portal/apps/{wall.slug}/review/", "dana"),
    Shot("portal-review-rejected", "/portal/apps/{chat.slug}/review/", "dana"),
    Shot("portal-review-approved", "/portal/apps/{till.slug}/review/", "dana"),
    Shot("portal-submit", "/portal/apps/{stars.slug}/review/submit/", "dana"),
    Shot("portal-submit-update", "/portal/apps/{chat.slug}/review/submit/", "dana"),
    Shot("portal-withdraw", "/portal/apps/{wall.slug}/review/withdraw/", "dana"),
    Shot("portal-versions", "/portal/apps/{chat.slug}/versions/", "dana"),
    Shot("portal-version-restore", "/portal/apps/{chat.slug}/versions/1/restore/", "dana"),
    Shot("portal-versions-empty", "/portal/apps/{parcels.slug}/versions/", "dana"),
    Shot("portal-delete", "/portal/apps/{parcels.slug}/delete/", "dana"),
    Shot("portal-delete-approved", "/portal/apps/{till.slug}/delete/", "dana"),
    Shot("portal-forbidden", "/portal/", "mira", status=403),
    Shot("consent", consent("till"), "mira"),
    Shot("consent-adds", consent("quotes"), "mira"),
    Shot("consent-shops", consent("till"), "noor"),
    Shot("consent-sandbox", consent("stars"), "dana"),
    Shot("consent-again", consent("till") + "&business_id={noors_shop.id}", "noor"),
    Shot("consent-erasure", consent("at_shop[ended].app"), "mira"),
    Shot("consent-refused", consent("parcels"), "mira", status=403),
    Shot(
        "consent-wrong", consent("till") + "&redirect_uri=https://elsewhere.example.com/", "mira", status=400
    ),
    Shot("merchant-home", "/merchant/", "mira"),
    Shot("merchant-home-sandbox", "/merchant/", "dana"),
    Shot("merchant-home-new", "/merchant/", "tom"),
    Shot("merchant-notices", "/merchant/notices/", "mira"),
    Shot("merchant-notices-none", "/merchant/notices/", "dana"),
    Shot("merchant-apps", "/merchant/apps/", "mira", unfold),
    Shot("merchant-apps-empty", "/merchant/apps/", "tom"),
    Shot("merchant-apps-sandbox", "/merchant/apps/", "dana"),
    Shot("merchant-app", "/merchant/apps/{at_shop[working].id}/", "mira"),
    Shot("merchant-app-checkout", "/merchant/apps/{at_shop[working].id}/checkout/", "mira"),
    Shot("merchant-app-asking", "/merchant/apps/{at_shop[asking].id}/", "mira"),
    Shot("merchant-app-failing", "/merchant/apps/{at_shop[failing].id}/", "mira"),
    Shot("merchant-app-trouble", "/merchant/apps/{at_shop[failing].id}/activity/", "mira"),
    Shot("merchant-app-sandbox", "/merchant/apps/{on_sandbox.id}/", "dana"),
    Shot("merchant-app-settings", "/merchant/apps/{at_shop[working].id}/settings/", "mira", add_entries),
    Shot(
        "merchant-app-settings-errors", "/merchant/apps/{at_shop[working].id}/settings/", "mira", bad_settings
    ),
    Shot("merchant-reconsent", "/merchant/apps/{at_shop[asking].id}/permissions/", "mira"),
    Shot("merchant-uninstall", "/merchant/apps/{at_shop[working].id}/uninstall/", "mira"),
    Shot("merchant-receipt", "/merchant/apps/{at_shop[working].id}/receipt/", "mira"),
    Shot("merchant-receipt-planned", "/merchant/apps/{at_shop[ended].id}/receipt/", "mira"),
    Shot("merchant-receipt-confirmed", "/merchant/apps/{at_shop[erased].id}/receipt/", "mira"),
    Shot("merchant-businesses", "/merchant/businesses/", "mira"),
    Shot("merchant-business-add", "/merchant/businesses/add/", "mira"),
    Shot("merchant-business-errors", "/merchant/businesses/add/", "mira", press("Add a business")),
    Shot("merchant-orders", "/merchant/orders/", "dana"),
    Shot("merchant-orders-none", "/merchant/orders/?q=77&status=READY", "dana"),
    Shot("merchant-orders-empty", "/merchant/orders/", "tom"),
    Shot("merchant-orders-wrong", "/merchant/orders/?status=LOST", "dana", status=422),
    Shot("merchant-order", "/merchant/orders/{desk[unheard].pk}/", "dana"),
    Shot("merchant-order-paid", "/merchant/orders/{desk[paid].pk}/", "dana"),
    Shot("merchant-order-packing-slip", "/merchant/orders/{desk[unheard].pk}/packing-slip/", "dana"),
    Shot("merchant-order-cancelled", "/merchant/orders/{desk[cancelled].pk}/", "dana"),
    Shot("merchant-order-cancel", "/merchant/orders/{desk[paid].pk}/cancel/", "dana"),
    Shot("merchant-products", "/merchant/products/", "dana"),
    Shot("merchant-products-stock-wrong", "/merchant/products/?show=low", "dana", wrong_stock),
    Shot("merchant-products-empty", "/merchant/products/", "tom"),
    Shot("merchant-product", "/merchant/products/{desk[product].pk}/", "dana"),
    Shot("merchant-product-pictures", "/merchant/products/{desk[pictured].pk}/", "dana"),
    Shot("merchant-product-add", "/merchant/products/add/", "dana"),
    Shot("merchant-product-errors", "/merchant/products/add/", "dana", press("Add product")),
    Shot("merchant-product-delete", "/merchant/products/{desk[product].pk}/delete/", "dana"),
    Shot("merchant-reviews", "/merchant/reviews/", "dana"),
    Shot("merchant-reviews-product", "/merchant/reviews/?product={desk[product].pk}", "dana"),
    Shot("merchant-reviews-empty", "/merchant/reviews/", "tom"),
    Shot("merchant-review-remove", "/merchant/reviews/{desk[review].pk}/delete/", "dana"),
    Shot("merchant-pages", "/merchant/pages/", "dana"),
    Shot("merchant-pages-empty", "/merchant/pages/", "tom"),
    Shot("merchant-page-add", "/merchant/pages/add/", "dana"),
    Shot("merchant-page-delete", "/merchant/pages/{desk[page].pk}/delete/", "dana"),
    Shot("merchant-store", "/merchant/store/", "mira"),
    Shot("merchant-store-look", "/merchant/store/", "dana"),
    Shot("merchant-forbidden", "/merchant/", "ada", status=403),
    Shot("store", STORE),
    Shot("store-category", STORE + "?category=Cakes"),
    Shot("store-nothing", STORE + "?q=zeppelin"),
    Shot("store-empty", "/store/{noors_shop.slug}/"),
    Shot("store-product", STORE + "products/country-sourdough/"),
    Shot("store-product-few", STORE + "products/almond-croissant/"),
    Shot("store-product-gone", STORE + "products/plum-danish/"),
    Shot("store-sorted", STORE + "?sort=-rating"),
    Shot("store-review-errors", STORE + "products/country-sourdough/", act=publish_empty_review),
    Shot("store-added", STORE + "products/country-sourdough/", act=press("Add to cart")),
    Shot("store-page", STORE + "pages/about/"),
    Shot("store-cart", STORE + "products/country-sourdough/", act=into_cart),
    Shot("store-cart-trouble", STORE + "products/country-sourdough/", act=cart_in_trouble),
    Shot("store-cart-empty", STORE + "cart/"),
    Shot("store-checkout", STORE + "products/country-sourdough/", act=to_checkout),
    Shot("store-checkout-delivery", STORE + "products/country-sourdough/", act=to_delivery),
    Shot("store-checkout-total", STORE + "products/country-sourdough/", act=total),
    Shot("store-checkout-errors", STORE + "products/country-sourdough/", act=empty_checkout),
    Shot("store-checkout-widget", "/store/{framed[shop].slug}/products/bowl/", act=to_checkout_with_a_widget),
    *(
        Shot(f"store-order-{state}", STORE + f"orders/{{store[orders][{state}]}}/")
        for state in ("cash", "waiting", "paid", "expired", "failed")
    ),
    Shot("store-pay-again", STORE + "orders/{store[orders][failed]}/pay/"),
    Shot("store-page-blocks", "/store/{framed[shop].slug}/pages/about-the-pottery/", act=frames_ready),
    Shot("merchant-page-editor", "/merchant/pages/{framed[page].pk}/edit/", "lena", frames_ready),
    Shot(
        "merchant-page-editor-block",
        "/merchant/pages/{framed[page].pk}/edit/?block={framed[block].pk}",
        "lena",
        type_a_title,
    ),
    Shot(
        "merchant-page-editor-picker", "/merchant/pages/{framed[page].pk}/edit/", "lena", press("Add block")
    ),
    Shot("merchant-page-editor-preview", "/merchant/pages/{framed[page].pk}/edit/", "lena", preview_block),
    Shot("merchant-app-embeds", "/merchant/apps/{framed[installation].pk}/embeds/", "lena"),
    Shot(
        "merchant-app-embed-settings",
        "/merchant/apps/{framed[installation].pk}/embeds/{framed[chat].pk}/",
        "lena",
    ),
    Shot(
        "merchant-app-page", "/merchant/apps/{framed[installation].pk}/pages/summary/", "lena", frames_ready
    ),
    Shot("store-404", STORE + "products/nothing/", status=404),
    Shot("admin", "/admin/", "rae"),
    Shot("review-queue", "/admin/marketplace/submission/", "rae"),
    Shot("review-queue-held", "/admin/marketplace/submission/?state=held", "rae"),
    Shot("review-queue-decided", "/admin/marketplace/submission/?state=decided", "rae"),
    Shot("review-queue-none", "/admin/marketplace/submission/?q=nowhere", "rae"),
    *(
        Shot(f"review-{name}", f"/admin/marketplace/submission/{{rounds[{name}].pk}}/change/", "rae")
        for name in ("new", "update", "held", "approved", "rejected")
    ),
    Shot("review-approve", "/admin/marketplace/submission/{rounds[update].pk}/approve/", "rae"),
    Shot("review-reject", "/admin/marketplace/submission/{rounds[update].pk}/reject/", "rae", common_reasons),
    Shot("review-apps", "/admin/marketplace/app/", "rae"),
    Shot("review-history", "/admin/marketplace/reviewentry/", "rae"),
    Shot("review-app", "/admin/marketplace/app/{till.pk}/change/", "rae"),
    Shot("review-app-suspended", "/admin/marketplace/app/{mailer.pk}/change/", "rae"),
    Shot("review-suspend", "/admin/marketplace/app/{till.pk}/suspend/", "rae"),
    Shot("review-lift", "/admin/marketplace/app/{mailer.pk}/reinstate/", "rae"),
    Shot("docs", "/docs/"),
    Shot("docs-guide", "/docs/guides/api/"),
    Shot("docs-contract", "/docs/guides/contract/"),
    Shot("docs-first-app", "/docs/guides/first-app/"),
    Shot("docs-quickstart", "/docs/guides/quickstart/"),
    Shot("docs-search", "/docs/search/?q=signature"),
    Shot("docs-search-none", "/docs/search/?q=xylophone"),
    Shot("docs-search-box", "/docs/guides/events/", act=search_docs),
    Shot("docs-errors", "/docs/errors/"),
    Shot("docs-run", "/docs/reference/orders/createOrder/run/", "dana"),
    Shot("docs-run-answer", "/docs/reference/products/listProducts/run/", "dana", press("Run it")),
    Shot("docs-run-signed-out", "/docs/reference/products/listProducts/run/"),
    Shot("docs-limits", "/docs/limits/"),
    Shot("docs-changelog", "/docs/changelog/"),
    Shot("docs-endpoints", "/docs/reference/"),
    Shot("docs-orders", "/docs/reference/orders/"),
    Shot("docs-apps", "/docs/reference/apps/"),
    Shot("docs-events", "/docs/events/"),
    Shot("docs-hooks", "/docs/hooks/"),
]
