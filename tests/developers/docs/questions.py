"""Questions as developers of apps write them, each with the page that answers it best."""

GUIDE = "/docs/guides/{}/"

QUESTIONS: tuple[tuple[str, str], ...] = tuple(
    (question, page if page.startswith("/") else GUIDE.format(page))
    for question, page in [
        ("How do I verify the signature of a webhook?", "signatures"),
        ("How can I receive webhooks on localhost?", "local-development"),
        ("How do I test my app end to end?", "testing-your-app"),
        ("Can I test retries without waiting three hours?", "testing-your-app"),
        ("How do I run tests in GitHub Actions?", "testing-your-app"),
        ("How do I install the command line?", "command-line"),
        ("Which exit codes does extension-platform have?", "command-line"),
        ("How do I get JSON output from the CLI?", "command-line"),
        ("Is there an SDK for TypeScript?", "sdk-node"),
        ("Which methods does the Python client have?", "sdk-python"),
        ("How do I use the SDK with Django?", "sdk-python"),
        ("How do I exchange the code for an access token?", "oauth"),
        ("What does error 429 mean?", "/docs/errors/"),
        ("How many requests may I send per minute?", "/docs/limits/"),
        ("How do I catch up on events I missed?", "missed-events"),
        ("How do I erase data after an uninstall?", "erasure"),
        ("How do I add a scope to an app that is installed?", "re-consent"),
        ("How do I submit my app for review?", "go-live"),
        ("What do reviewers look at?", "review-criteria"),
        ("How do I offer a payment method at checkout?", "hooks"),
        ("How do I show a block on a page?", "blocks"),
        ("How do I add a floating widget to a store?", "embeds"),
        ("Who is looking at my admin page?", "admin-pages"),
        ("Which fields does the manifest have?", "manifest"),
        ("What is in the payload of order.created?", "/docs/events/"),
        ("How do I list orders?", "/docs/reference/orders/"),
        ("When is a webhook disabled automatically?", "events"),
        ("How do I build my first app with Flask?", "first-app"),
        ("Why does rule WH005 fail?", "check-rules"),
        ("How do I resize a block's frame from JavaScript?", "blocks"),
    ]
)
