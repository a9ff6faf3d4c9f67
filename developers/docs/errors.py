"""Every error that an app or its developer may get from an API, with its cause and what to do.

`PROBLEMS` has one row per code, which is named where the error is raised. `message` is what such an error says; `<…>` stands for any
text. The errors of single endpoints come from the OpenAPI document. tests/developers/docs/test_errors.py fails for a
code without a row, and for a row whose code nothing raises.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from common.errors import error_body, status_name
from common.rest import schema
from developers.docs import reference
from extensions.enums import CallOutcome
from webhooks.insight.diagnosis import Diagnosis, diagnose


@dataclass(frozen=True, slots=True)
class DocumentedError:
    code: str
    status: int
    message: str
    cause: str
    fix: str


@dataclass(frozen=True, slots=True)
class DescribedError:
    """An error that endpoints describe themselves."""

    about: str
    endpoints: list[tuple[str, str, str]]  # slug of the group, id and summary


@dataclass(frozen=True, slots=True)
class Status:
    number: int
    about: str
    problems: list[DocumentedError]
    places: list[DescribedError]

    @property
    def name(self) -> str:
        return status_name(self.number)

    @property
    def ident(self) -> str:
        return f"status-{self.number}"


ABOUT: Final = {
    400: "The request is wrong. `details` lists every problem with the path of its field. Correct the request, then retry.",
    401: "The request has no valid credential. The response has the header `WWW-Authenticate: Bearer`.",
    403: "The credential is valid, but doesn't allow this call.",
    404: "The object doesn't exist, or belongs to another store or developer. Both look the same on purpose.",
    405: "The path exists, but not with this method. The header `Allow` lists the methods.",
    409: "The request is valid, but the current state doesn't allow it. Read the object again, then decide.",
    410: "The object existed and is no longer kept.",
    413: "The request body is too large.",
    415: "The request body has a Content-Type that the endpoint doesn't accept.",
    416: "The part of the file that you asked for doesn't exist.",
    422: "One of the store's apps refused the order.",
    429: "Too many requests. Wait for the number of seconds in `Retry-After`.",
    500: "An error on the platform's side. It is recorded. Retry once; if it fails again, send us the `X-Request-Id`.",
    503: "The platform can't do this at the moment. Retry after `Retry-After` seconds.",
}

PROBLEMS: Final = (
    DocumentedError("validation_failed", 400, "<field>: <what is wrong>", "A field or parameter has a value that isn't accepted.", "Read `details`: each entry names a field and what it accepts."),
    DocumentedError("wrong_idempotency_key", 400, "Must be 1 to 255 printable ASCII characters.", "The Idempotency-Key is empty, too long, or has other characters.", "Send a random UUID as the key."),
    DocumentedError("wrong_id", 400, "Must be 1 to 100 characters of A-Z a-z 0-9 . _ ~ : - and neither . nor ..", "An id of a connected shop has other characters, or is too long.", "Send the shop's own id, or a digest of it in hex."),
    DocumentedError("invalid_gzip", 400, "The body is not one whole gzip file.", "The body has `Content-Encoding: gzip`, but is broken, cut off, or followed by something else.", "Send one gzip file, or the body without Content-Encoding."),
    DocumentedError("invalid_json", 400, "The body is not valid JSON: <reason>", "The body can't be parsed as JSON.", "Send valid JSON in UTF-8, with Content-Type: application/json."),
    DocumentedError("json_not_object", 400, "The body must be a JSON object.", "The body is a list, a string or a number.", "Send an object: {…}. A manifest is the body itself."),
    DocumentedError("json_too_deep", 400, "The body is nested more than <number> levels deep.", "Objects and lists are inside each other more than 64 times.", "Send a flatter object."),
    DocumentedError("too_many_values", 400, "The body has more than <number> values.", "A JSON body has more than 50,000 values.", "Send several smaller bodies."),
    DocumentedError("malformed_multipart", 400, "<The> multipart body <is malformed>", "A multipart upload is empty, malformed or incomplete, or has more than 20 parts.", "Let your HTTP library build the body from files."),
    DocumentedError("boundary_too_short", 400, "The boundary in the Content-Type must have at least <number> characters.", "The header of a multipart upload was set by hand.", "Leave the header out: HTTP libraries add it with a long boundary."),
    DocumentedError("missing_boundary", 400, "The Content-Type names no valid boundary.", "The header of a multipart upload was set by hand.", "Leave the header out: HTTP libraries add it with the boundary."),
    DocumentedError("app_incomplete", 400, "The app can't be submitted yet. <what is missing>", "The app lacks something that a review needs, or its Redirect URL or Webhook URL is the platform's own, which is for your sandbox store only.", "Complete what `details` lists. The page Review in the portal has the same list."),
    DocumentedError("malformed_request", 400, "The request can't be understood.", "The request is malformed HTTP or contains invalid characters.", "Compare it with the sample of the endpoint."),
    DocumentedError("unknown_host", 400, "Unknown host name.", "The `Host` header names another host.", "Use the address at the top of the API reference."),
    DocumentedError("broken_chunks", 400, "The chunks of the body can't be read.", "A body with Transfer-Encoding: chunked is malformed.", "Let your HTTP library send the body."),
    DocumentedError("missing_token", 401, "Send the access token in the header: Authorization: Bearer <token>.", "The header `Authorization` is missing.", "Send the access token of the installation; in the developer API, the one of /auth/login or a developer token."),
    DocumentedError("malformed_authorization", 401, "The Authorization header must read: Bearer <token>.", "The header has another form, such as Basic or a token without `Bearer`.", "Send `Authorization: Bearer fbat_…`."),
    DocumentedError("token_revoked", 401, "The access token is unknown or has been revoked.", "The store uninstalled the app, a newer token replaced this one, the app is suspended, or the token has a typo.", "If the store uninstalled the app, stop calling. Otherwise send its owner through the consent page for a new token."),
    DocumentedError("wrong_kind_of_token", 401, "This is an app's access token. Send the access token of /auth/login or a developer token.", "The developer API got the token of an installation.", "Use your own token, not your app's."),
    DocumentedError("token_expired", 401, "The access token has expired. Get a new one with POST /auth/refresh.", "A sign-in's access token is valid for an hour.", "Exchange the refresh token for a new pair."),
    DocumentedError("invalid_token", 401, "The access token is not valid.", "It was changed, cut off, or issued by another installation.", "Sign in again."),
    DocumentedError("developer_token_revoked", 401, "The developer token is unknown, expired or revoked.", "Developer tokens expire after a year at the latest, and can be revoked.", "Create a new one under Account, Developer tokens."),
    DocumentedError("refresh_token_invalid", 401, "The refresh token is no longer valid. Sign in again.", "It was used before, has expired, or its sign-in has ended.", "Sign in again. Store each new refresh token, since each works once."),
    DocumentedError("sign_in_ended", 401, "This sign-in has ended. Sign in again.", "You signed out, or ended this session.", "Sign in again."),
    DocumentedError("password_changed", 401, "The password has changed. Sign in again.", "A new password ends all sign-ins.", "Sign in with the new password."),
    DocumentedError("wrong_credentials", 401, "Wrong e-mail address or password.", "The account is unknown, or the password is wrong.", "Check both."),
    DocumentedError("mfa_required", 401, "This account has a second factor. Send a current code as otp: each works once.", "`otp` is missing, wrong or used. `details` has the field `otp` with `mfa_required`.", "Send the current code of the authenticator app as `otp`."),
    DocumentedError("missing_scope", 403, "This call needs the scope <scope>, which the token does not have.", "The app doesn't ask for the scope, or the store hasn't agreed to it.", "Add the scope to the app. Stores agree to it after an approval. See Ask for more permissions."),
    DocumentedError("scope_not_agreed", 403, "This call needs the scope <scope>, which the token does not have. <store> has not agreed to it yet.", "An approved version asks for the scope, and the store's owner hasn't answered yet.", "Wait, or send the owner through the consent page. The same token then has the scope."),
    DocumentedError("app_paused", 403, "The store has paused this app", "The merchant paused the app.", "Nothing to correct. Calls work again when the merchant resumes the app; webhooks are held until then."),
    DocumentedError("wrong_app_role", 403, "Your role on this app is <role>. Only its OWNER and its DEVELOPERs can do this.", "A VIEWER only reads. Members, transfer and deletion are the OWNER's.", "Ask the owner of the app for another role, or to do it."),
    DocumentedError("wrong_role", 403, "Only developer accounts can use this API.", "The account is a merchant's or a reviewer's.", "Sign in with a developer account."),
    DocumentedError("password_sign_in_off", 403, "There are no passwords here. Sign in at <page>, and use a developer token in place of this call.", "People sign in by an identity provider here. POST /auth/refresh goes on for who is signed in already.", "Create a developer token on the account's page Tokens, or run `extension-platform login`."),
    DocumentedError("payment_of_other_app", 403, "The payment of this order was made by another app.", "Only the app that created a payment reports its result.", "Report payments only for orders whose `checkout.create_payment` your app answered."),
    DocumentedError("payment_by_merchant", 403, "The merchant collects the payment of this order.", "CASH and CARD are collected outside the platform.", "Don't report a payment for such orders."),
    DocumentedError("invalid_key", 401, "The key is unknown or has ended.", "The key of a connected shop was replaced more than 24 hours ago, or the shop was disconnected.", "Ask the operator for a new key."),
    DocumentedError("missing_token_right", 403, "This developer token doesn't have the right “<right>”. Create one with it at <page>, or use the access token of /auth/login.", "Regenerating a client secret, deleting an app, and changing members need a right that wasn't selected when the token was created. Tokens of command lines have none.", "Create another token on the account's page Tokens and select the right, or do it in the portal."),
    DocumentedError("address_unconfirmed", 403, "Confirm your e-mail address first. Use the link that we mailed to <address>.", "Your account's address isn't confirmed. Until it is, you can't create apps, developer tokens or test installs, sign in a command line, submit an app or become the owner of one, or invite a store's staff.", "Follow the link in the mail. The portal resends it."),
    DocumentedError("form_expired", 403, "This form has expired, and nothing was saved. Go back, copy what you typed, and open the page again.", "The request went to a page of the site and has no CSRF token.", "Programs call the paths of the API reference instead."),
    DocumentedError("not_allowed", 403, "<what is not allowed>", "The credential doesn't allow this.", "`message` says what is missing."),
    DocumentedError("not_found", 404, "<object> not found", "The ID is wrong, or the object is another store's or developer's.", "Check the ID, and that the token belongs to the same store."),
    DocumentedError("shop_not_found", 404, "<the shop's reason>", "The store is connected (`isConnected`), and its own software doesn't know the order or a product.", "Read the object again. The shop may have removed it just now."),
    DocumentedError("unknown_path", 404, "No such endpoint: <method> <path>.", "The path is misspelled.", "Compare it with the API reference."),
    DocumentedError("listener_ended", 404, "This listener has ended. Start another one.", "It didn't ask for work for a minute, or was stopped.", "Start it again. The command `listen` does so by itself."),
    DocumentedError("export_pending", 404, "The export has no file yet.", "The export is still being made.", "Read the export until its status is READY."),
    DocumentedError("export_failed", 404, "The export failed.", "The file couldn't be made.", "Request a new export."),
    DocumentedError("method_not_allowed", 405, "Method <method> not allowed", "The endpoint doesn't have this method.", "See `Allow`, or the API reference."),
    DocumentedError("version_taken", 409, "Version <number> of this row came before, with other content. Send it with a higher version.", "A connected shop sends a row that has changed, under the version that it had.", "Give each change of a row a higher version."),
    DocumentedError("store_read_only", 409, "The orders of this store are changed elsewhere.", "The store is connected (`isConnected`), and its own software doesn't accept changes from apps.", "Ask the merchant to change the order there."),
    DocumentedError("shop_conflict", 409, "<the shop's reason>", "The store is connected (`isConnected`), and the state of its own software doesn't allow this.", "Read the object again, then decide."),
    DocumentedError("order_status_conflict", 409, "An order that is <status> can't become <status>.", "Orders only move forward, and end with DELIVERED or CANCELLED.", "Read the order, and set a later status."),
    DocumentedError("product_unavailable", 409, "<product> is not available.", "The merchant has switched the product off or archived it.", "Leave it out. `isAvailable` and `status` say so beforehand."),
    DocumentedError("product_sold_out", 409, "<product> is sold out.", "No stock is left.", "Leave it out, or wait for `product.back_in_stock`."),
    DocumentedError("not_enough_stock", 409, "There is not enough of <product>: <number> left.", "The order asks for more than the stock.", "Lower the quantity."),
    DocumentedError("prices_changing", 409, "Prices are changing right now. Please place the order again.", "The merchant changed prices or the currency while apps were asked.", "Send the order again with a new Idempotency-Key."),
    DocumentedError("prices_changed", 409, "The prices or items have changed since you opened this page. Check the summary.", "Prices changed since the checkout page was opened.", "Read the products again."),
    DocumentedError("idempotency_key_reused", 409, "This Idempotency-Key was used with another request.", "The key belongs to a call with another method, path or body.", "Use a new key for each call. Retry only with the same body."),
    DocumentedError("idempotency_key_in_progress", 409, "The first request with this Idempotency-Key is still in progress.", "Two requests with one key overlap.", "Retry after a second."),
    DocumentedError("idempotency_key_taken_over", 409, "This request took too long, and another one with its Idempotency-Key took over.", "A retry with the same key finished first.", "Retry with the same key: you get its response."),
    DocumentedError("payment_final", 409, "The payment is <status> and can't become <status>.", "The result of a payment is final.", "Read the order's `payment`."),
    DocumentedError("payment_pending", 409, "The payment of this order is pending or completed.", "A payment was already requested.", "Wait for its result."),
    DocumentedError("order_cancelled", 409, "The order was cancelled.", "Cancelled orders have no payment.", "Don't report a payment for it."),
    DocumentedError("export_running", 409, "Another export of this installation is being made. Wait until it is READY.", "An installation has one export at a time.", "Wait until the first one is READY or FAILED."),
    DocumentedError("too_many_webhooks", 409, "An installation has at most <number> webhooks. Delete one first.", "The limit is reached.", "Delete one that you no longer need, or list several events in one."),
    DocumentedError("webhook_not_deletable", 409, "The app-defined webhook can be changed but not deleted. Switch it off instead.", "It belongs to the app's Webhook URL.", "Set `isActive` to false, or remove the Webhook URL from the app."),
    DocumentedError("webhook_filter_fixed", 409, "The filter of this webhook is the app's webhookFilter. Change it there.", "The app-defined webhook follows the app.", "Change webhookFilter of the app."),
    DocumentedError("webhook_url_fixed", 409, "The URL of this webhook is the app's Webhook URL. Change it there.", "The app-defined webhook follows the app.", "Change the Webhook URL in the app's details."),
    DocumentedError("no_webhook_url", 409, "The app has no Webhook URL to send events to. Set one first.", "The app-defined webhook has no URL.", "Set the app's Webhook URL."),
    DocumentedError("webhook_inactive", 409, "The webhook is not active. Switch it on first.", "Nothing is sent to an inactive webhook.", "Set `isActive` to true, then repeat the call."),
    DocumentedError("test_not_resent", 409, "A test is sent once. Test the webhook again instead.", "Deliveries of `webhook.test` are not resent.", "Call the test endpoint again."),
    DocumentedError("held_while_paused", 409, "The store has paused the app. Held deliveries are sent when the store resumes it.", "Nothing is sent to a paused app.", "Wait until the merchant resumes it."),
    DocumentedError("customer_erased", 409, "The delivery has ended, and its copy of the customer is erased. It can't be resent.", "A `customer.data_erasure` is blanked once its delivery has ended.", "Nothing to do. The erased orders and reviews have null for what is gone."),
    DocumentedError("export_erased", 410, "The file was deleted, because a customer in it was erased. Request another export.", "A store erased a customer whose orders the file had.", "Request another export."),
    DocumentedError("erasure_cancelled", 409, "The app was installed again, so there is nothing to erase.", "A reinstall cancels the data erasure.", "Nothing to do."),
    DocumentedError("erasure_not_due", 409, "It is due on <time>. Until then the app may be installed again.", "A data erasure is sent 48 hours after the uninstall.", "Wait. On the sandbox store, Erase now sends it at once."),
    DocumentedError("no_erasure", 409, "No data erasure of your sandbox store is waiting.", "The app isn't installed there, and its last erasure has ended.", "Install the app on your sandbox store first."),
    DocumentedError("erasure_not_waiting", 409, "This erasure isn't waiting for its time. It is: <state>.", "It is being sent already, or has ended.", "Nothing to do. Its delivery is in the portal."),
    DocumentedError("not_installed", 409, "The app is no longer installed.", "The store uninstalled the app during the request.", "Stop calling for this store."),
    DocumentedError("not_on_sandbox", 409, "The app is not installed on your sandbox.<advice>", "The call needs a test install.", "Install the app on your sandbox store first."),
    DocumentedError("listener_replaced", 409, "Another command line listens for this app now.", "An app has one listener, and `listen` was started again elsewhere.", "Use that one, or start `listen` here again."),
    DocumentedError("app_suspended", 409, "The app is suspended. <what must wait>", "A reviewer suspended the app.", "Answer the mail about the suspension."),
    DocumentedError("app_in_review", 409, "The app is in review<advice>.", "An app in review can't change.", "Wait for the decision, or withdraw the submission."),
    DocumentedError("not_in_review", 409, "The app is not in review.", "There is nothing to withdraw.", "Nothing to do."),
    DocumentedError("already_in_review", 409, "The app is already in review.", "It was submitted before.", "Wait for the decision."),
    DocumentedError("already_approved", 409, "This version is already approved. Change the app before you submit it again.", "Nothing has changed since the approval.", "Change the app, then submit it."),
    DocumentedError("release_open", 409, "<what> is still being released. Wait until its release is complete, or take it back.", "The last version's release is rolling or halted.", "Advance or resume it until it is complete, or take it back."),
    DocumentedError("release_state", 409, "The release is <state>, so it can't <action>.", "A release that rolls can be advanced, halted and taken back, a halted one resumed and taken back, a complete one taken back.", "Read the release, and choose what its state has."),
    DocumentedError("no_earlier_version", 409, "No version came before this one, so it can't be taken back.", "It is the first version that was approved.", "Submit a corrected version."),
    DocumentedError("version_not_running", 409, "Another version was restored since. This one doesn't run.", "Stores run an earlier version already.", "Nothing to do."),
    DocumentedError("review_started", 409, "A reviewer has started on the submission, so it can no longer be withdrawn.", "A reviewer holds the submission.", "Wait for the decision."),
    DocumentedError("app_approved", 409, "The app has been approved, so merchants may use it. It can no longer be deleted.", "Stores may depend on an approved app.", "Uninstall it from your sandbox store instead."),
    DocumentedError("version_adds_scopes", 409, "Version <version> asks for more scopes than the current one: <scopes>.", "Restoring a version may not widen what the app can do.", "Submit the app with these scopes instead."),
    DocumentedError("version_adds_reach", 409, "Version <version> adds to what stores agreed to: <names>. Submit it for review instead.", "Restoring a version may not add hooks, scripts, hosts, or what stores would have to agree to about their data.", "Submit the app for review instead."),
    DocumentedError("check_ended", 409, "This check has ended.", "All its responses came, or it ran out of time.", "Read its results, or start a new check."),
    DocumentedError("check_step_mismatch", 409, "This check is at step <number>, not at step <number>.", "The responses of this step came already, or belong to another check.", "Read the check, and send the responses of its current requests."),
    DocumentedError("checks_running", 409, "<number> checks are running already. Wait until one has ended.", "A developer can run a few checks at a time.", "Wait. A check whose command line is gone ends within two minutes."),
    DocumentedError("too_many_test_stores", 409, "You have <number> test stores already. Delete one first, or wait until one has expired.", "A developer can have a few test stores at a time, over all apps.", "Delete those that you no longer need. A test that was killed leaves one until it expires."),
    DocumentedError("not_on_test_store", 409, "The app is not installed on this test store.", "It was uninstalled there.", "Install it again, by POST on the test store's /install."),
    DocumentedError("wrong_origin", 403, "The store has no pages at this origin.", "The page that asks is at another origin than the store's `storefrontUrl` and `storefrontOrigins`.", "Add the origin to the store, or ask from one of its pages."),
    DocumentedError("store_going", 409, "A store with this id is being removed.", "The store was deleted a moment ago, and its rows are still being removed.", "Try again after `Retry-After` seconds."),
    DocumentedError("too_many_people", 409, "A store has at most <number> people. End some who don't come any more.", "A shop signed in more people of one store than it may have.", "Call DELETE for people who have left."),
    DocumentedError("currency_fixed", 409, "The currency can't change once the store has a product or an order.", "Amounts are kept in the store's currency.", "Delete the store and open it again, or use another id."),
    DocumentedError("store_slug_taken", 409, "Another store has this slug. Choose another one.", "Slugs of stores are unique on the platform.", "Choose another one, or send none."),
    DocumentedError("slug_taken", 409, "Another app has this slug. Choose another one.", "Slugs are unique on the platform.", "Choose another one."),
    DocumentedError("member_exists", 409, "This person is a member already.", "The address belongs to a member of the app, or is invited.", "Change the role with PATCH, or remove the invitation and send another."),
    DocumentedError("too_many_members", 409, "An app has at most <number> members.", "The limit is reached. Invitations count.", "Remove a member, or an invitation."),
    DocumentedError("owner_stays", 409, "The owner can't be changed or removed. Transfer the app first.", "An app always has one owner.", "Offer the app to a developer of it, who accepts in the portal."),
    DocumentedError("not_an_active_developer", 409, "Only an active DEVELOPER of the app, with a developer's account, can become its owner.", "The member is invited, a VIEWER or the owner, or has an account of another kind.", "Change the role first, or choose another member."),
    DocumentedError("too_many_stores", 409, "A person has at most <number> stores.", "The limit is reached. Stores of other people in which the person works, sandbox and test stores don’t count.", "Use one of the stores."),
    DocumentedError("too_many_apps", 409, "A developer has at most <number> apps. Delete one that you no longer need.", "The limit is reached.", "Delete an app that was never approved."),
    DocumentedError("account_exists", 409, "An account with this e-mail address already exists.", "You have registered before.", "Sign in, or reset the password."),
    DocumentedError("token_name_taken", 409, "You have a token with this name already.", "Names of developer tokens are unique for each account.", "Choose another name."),
    DocumentedError("too_many_tokens", 409, "You have <number> tokens. Revoke one that you no longer need.", "An account has a limited number of developer tokens.", "Revoke one under Account, Developer tokens."),
    DocumentedError("password_changed_meanwhile", 409, "Your password has changed. Sign in again.", "The password changed while the request was under way, so no token was created.", "Sign in with the new password, then try again."),
    DocumentedError("conflict", 409, "<what the state doesn't allow>", "The current state doesn't allow the call.", "Read the object again. `message` says what is in the way."),
    DocumentedError("cursor_too_old", 410, "Events right after this cursor are no longer kept. The oldest cursor is <cursor>", "The feed keeps events for 30 days.", "Continue from the cursor at the end of `message`, and make a new export for what is missing."),
    DocumentedError("gone", 410, "<what is gone>", "The object was removed for good.", "Stop asking for it."),
    DocumentedError("answer_erased", 410, "The answer to this call was erased. The call was carried out once.", "A customer was erased whom the answer to your Idempotency-Key named.", "Read the object itself. Don't make it a second time."),
    DocumentedError("body_too_large", 413, "The body is too large.", "A JSON body may have 1 MiB, and an upload of pictures 32 MiB.", "Send less in one request."),
    DocumentedError("unsupported_media_type", 415, "Content-Type <type> is not accepted. Send <type>.", "The header is missing, or names a format that the endpoint doesn't read; or the body is compressed (`Content-Encoding`).", "Send `Content-Type: application/json`, and the body uncompressed."),
    DocumentedError("form_not_utf8", 415, "Send the form in UTF-8. Some of its bytes are in another encoding.", "The form has bytes of another encoding, such as ISO-8859-1.", "Encode the form's values in UTF-8. The name of the charset in the Content-Type header doesn't matter."),
    DocumentedError("range_not_satisfiable", 416, "The file has <number> bytes.", "`Range` begins after the end of the file.", "Start again without `Range`."),
    DocumentedError("refused_by_app", 422, "<the reason of the app>", "An app with the hook `order.validate` refused the order.", "Show `message` to the buyer."),
    DocumentedError("shop_refused", 422, "<the shop's reason>", "The store is connected (`isConnected`), and its own software refused.", "Show `message` to the user, or change what you send."),
    DocumentedError("unprocessable", 422, "<what is wrong>", "The request is well-formed, but can't be carried out.", "`message` or the body says why."),
    DocumentedError("rate_limited", 429, "More than <number> requests in a minute. Try again in <number> seconds.", "The installation, an address without a valid token, or a developer made too many requests.", "Wait. Read lists with a larger `limit`, and use webhooks or the feed instead of polling."),
    DocumentedError("too_many_keys", 429, "Too many answers are kept for your Idempotency-Keys. Use fewer, or call without one.", "100,000 keys or 64 MiB of answers are kept for the installation or person.", "Call without a key, or wait until the oldest is 24 hours old."),
    DocumentedError("too_many_changes", 429, "More than <number> test events and changes of sandbox stores in a minute. Try again in <number> seconds.", "Too many test events or changes were made on sandbox stores. A scenario counts each of its changes.", "Wait. In tests, make only the changes that a test needs."),
    DocumentedError("too_many_invitations", 429, "That is more than <number> invitations a minute. Try again in <duration>.", "Too many people were invited at once.", "Wait."),
    DocumentedError("too_many_own_listeners", 429, "You listen for <number> apps already. Stop one of the listeners first.", "A developer can listen for a few apps at once.", "Stop a command `listen` that you no longer need."),
    DocumentedError("too_many_listeners", 429, "Too many developers are listening at the moment. Try again in a minute.", "The platform lets a limited number of developers listen at once.", "Wait. The command `listen` tries again by itself."),
    DocumentedError("too_many_attempts", 429, "Too many attempts. Try again in <number> seconds.", "Too many sign-ins, registrations or code exchanges from one address.", "Wait. Exchange codes from one server, one at a time."),
    DocumentedError("too_many_checks", 429, "That is more than <number> checks a minute. Try again in <number> seconds.", "Too many checks were started.", "Wait."),
    DocumentedError("too_many_wrong_codes", 429, "Too many wrong codes for this account in 24 hours. Use a passkey or a recovery code. <advice>", "Too many wrong codes of the second factor came with the right password. Codes of the authenticator app are refused for a day, right ones too.", "Send a recovery code as `otp`, or sign in on the page with a passkey. If the codes weren't yours, choose a new password."),
    DocumentedError("too_many_tests", 429, "<number> test calls of this app are under way. Wait until one of them has ended.", "The app's webhooks are being tested, and an endpoint takes its time.", "Wait until a test has ended."),
    DocumentedError("internal_error", 500, "Something went wrong on our side. It has been recorded.", "A fault of the platform.", "Retry once, then send us the `X-Request-Id`."),
    DocumentedError("database_unreachable", 503, "The database can't be reached right now. Try again in a few seconds.", "An outage of the platform's database.", "Retry with the same Idempotency-Key."),
    DocumentedError("platform_away", 503, "The platform didn't answer. Try again in a second.", "One of the platform's servers failed or is being replaced. Your request may have taken effect.", "Retry with the same Idempotency-Key. Without one, look first whether it was done."),
    DocumentedError("shop_unreachable", 503, "The store's own software gave no usable answer, and nothing was changed here. Send the request again with the same Idempotency-Key.", "The store is connected (`isConnected`). Its software failed, was too slow, or answered with something that can't be read. It may have done what you asked.", "Retry after `Retry-After` seconds with the same Idempotency-Key, so that it is done once."),
    DocumentedError("payment_method_busy", 503, "This payment method is busy at the moment. Try again in a few seconds.", "Too many requests wait for slow apps.", "Retry later with the same Idempotency-Key. Nothing was saved."),
    DocumentedError("unavailable", 503, "<what can't be done at the moment>", "The platform can't do this at the moment. Nothing was changed.", "Retry after `Retry-After` seconds."),
    DocumentedError("storage_full", 503, "The platform's storage is full at the moment. Try again in a few minutes.", "A disk of the platform has no space left. Nothing was saved.", "Retry after `Retry-After` seconds, with the same Idempotency-Key."),
    DocumentedError("files_unreachable", 503, "Files can't be reached right now. Try again in a few seconds.", "An outage of the platform's file storage.", "Retry after `Retry-After` seconds."),
    DocumentedError("service_busy", 503, "The service is busy at the moment. Try again in a few seconds.", "Pictures, searches, test stores and other work that takes long is done for a few requests at once, and for one person or address half of them.", "Retry after `Retry-After` seconds, and send such requests one after the other."),
    DocumentedError("locked", 503, "Another request is changing the same at the moment. Try again in a few seconds.", "Another request held the same order, app or store for over a second. Nothing was saved.", "Retry with the same Idempotency-Key."),
    DocumentedError("database_too_slow", 503, "This takes the database too long at the moment. Try again in a few seconds.", "The platform's database would have needed over five seconds. Nothing was saved.", "Retry after `Retry-After` seconds, or ask for less: a smaller page, a shorter time."),
    DocumentedError("too_many_waiting", 503, "Too many requests are waiting for apps' servers at the moment. Try again in a few seconds.", "Your server took over half a second, and the requests that may wait longer are all under way.", "Respond faster, or retry after `Retry-After` seconds."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Code:
    """A machine-readable code with its meaning."""

    name: str
    where: str
    cause: str
    fix: str


OAUTH: Final = (
    Code("access_denied", "redirect; device sign-in", "The person pressed Cancel, denied the command line, or has no right to the store of `business_id`.", "Offer to try again."),
    Code("authorization_pending", "device sign-in", "The developer hasn't answered yet.", "Ask again after `interval` seconds."),
    Code("expired_token", "device sign-in", "The codes are older than 15 minutes.", "Start again."),
    Code("invalid_client", "token, revoke (401)", "The Client ID or secret is wrong, or the app is suspended.", "Check both on the page Credentials."),
    Code("invalid_grant", "token (400)", "The code is unknown, used, older than 60 seconds or another app's; the `code_verifier` or `redirect_uri` doesn't match; or the store has uninstalled the app since.", "Send the merchant to the consent page again. Exchange codes at once, and only once."),
    Code("invalid_request", "redirect; token, revoke (400, 405, 413, 415)", "A parameter is missing, given twice or not allowed, or the body has another format.", "Compare the request with Install by OAuth."),
    Code("invalid_scope", "redirect", "`scope` names one that the app doesn't have.", "Ask only for scopes of the app, or leave `scope` out."),
    Code("server_error", "token, revoke (500)", "A fault of the platform.", "Retry once."),
    Code("slow_down", "device sign-in", "The command line asks too often.", "Wait five seconds longer from now on."),
    Code("temporarily_unavailable", "token, revoke (429, 503)", "Too many requests from one address, or an outage.", "Retry after `Retry-After` seconds."),
    Code("unsupported_grant_type", "token (400)", "`grant_type` is another one than `authorization_code`.", "Send `grant_type=authorization_code`."),
    Code("unsupported_response_type", "redirect", "`response_type` is another one than `code`.", "Send `response_type=code`."),
)  # fmt: skip

# Every value of `X-Error-Code`.
CODES: Final = {each.code for each in PROBLEMS} | {each.name for each in OAUTH}

HOOK_OUTCOMES: Final = {
    CallOutcome.ANSWERED: ("Your server answered as expected.", "Nothing to do."),
    CallOutcome.TIMEOUT: ("Your server didn't answer within the hook's timeout.", "Answer from memory or a cache, and do slow work afterwards."),
    CallOutcome.UNREACHABLE: ("No connection, or the connection broke.", "Check that the Webhook URL is public and its certificate valid."),
    CallOutcome.HTTP_ERROR: ("Your server answered another status than 2xx.", "Look at your log. A redirect counts as an error, too."),
    CallOutcome.NOT_JSON: ("The answer is not JSON, or was cut off.", "Answer a JSON object with 2xx."),
    CallOutcome.UNEXPECTED: ("The answer is JSON, but a field is missing or wrong.", "Compare it with the hook catalog. Try it in the portal checks each field."),
    CallOutcome.BREAKER_OPEN: ("The hook failed several times in a row, so it is skipped for a while.", "Correct the cause, then reset the breaker on the page Hook calls."),
    CallOutcome.NO_TIME_LEFT: ("Apps before yours used up the store's time for apps.", "Nothing to correct in your app; a lower priority runs earlier."),
}  # fmt: skip


EXAMPLE: Final = error_body(
    400,
    "items[0].quantity: Must be an integer.",
    [{"field": "items[0].quantity", "message": "Must be an integer."}],
)


@cache
def statuses() -> list[Status]:
    """Every error status, with its messages and what the endpoints say about it."""
    return [
        Status(number, about, [each for each in PROBLEMS if each.status == number], _places(number))
        for number, about in ABOUT.items()
    ]


def _places(status: int) -> list[DescribedError]:
    found: dict[str, list[tuple[str, str, str]]] = {}
    for group in reference.groups():
        for endpoint in group.endpoints:
            response = endpoint.operation["responses"].get(str(status))
            if response and response["description"] != schema.PROBLEMS.get(status):
                entry = (group.slug, endpoint.id, endpoint.operation["summary"])
                found.setdefault(response["description"], []).append(entry)
    return [DescribedError(about, endpoints) for about, endpoints in found.items()]


DELIVERY_CLASSES: Final = ("dns", "refused", "reset", "tls", "timeout_connect", "timeout_response", "blocked_address", "redirect", "protocol", "http_4xx", "http_5xx")  # fmt: skip
_EXAMPLE_STATUS: Final = {"redirect": 301, "http_4xx": 400, "http_5xx": 500}


def delivery_classes() -> list[tuple[str, Diagnosis]]:
    """Each `errorClass` of an attempt, with the explanation that the portal gives."""
    found = [(name, diagnose(_EXAMPLE_STATUS.get(name), name)) for name in DELIVERY_CLASSES]
    return [(name, diagnosis) for name, diagnosis in found if diagnosis]
