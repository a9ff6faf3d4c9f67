CREATE TABLE IF NOT EXISTS stores (
    installation_id TEXT PRIMARY KEY,
    business_id TEXT NOT NULL,
    business_name TEXT NOT NULL,
    currency TEXT NOT NULL,
    storefront_url TEXT NOT NULL,
    is_test_install INTEGER NOT NULL,
    by_oauth INTEGER NOT NULL,
    access_token TEXT NOT NULL,
    installation_secret TEXT NOT NULL,
    webhook_id TEXT NOT NULL,
    webhook_secret TEXT NOT NULL,
    webhook_url TEXT NOT NULL,
    missing_events TEXT NOT NULL,
    connected_at TEXT NOT NULL,
    ended_at TEXT,
    erased_at TEXT,
    erased_webhooks INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS received (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    received_at TEXT NOT NULL,
    status INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    reason TEXT,
    repeat INTEGER NOT NULL,
    event TEXT NOT NULL,
    timestamp TEXT,
    delivery_id TEXT,
    webhook_id TEXT NOT NULL,
    business_id TEXT,
    data TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS invoices (
    id TEXT PRIMARY KEY,
    business_id TEXT NOT NULL,
    order_id TEXT NOT NULL,
    amount INTEGER NOT NULL,
    currency TEXT NOT NULL,
    description TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'OPEN'
);
CREATE TABLE IF NOT EXISTS rings (business_id TEXT NOT NULL, rung_at TEXT NOT NULL);
-- What works once: deliveries, states and codes. Of a code, the installation that it gave.
CREATE TABLE IF NOT EXISTS used (key TEXT PRIMARY KEY, result TEXT NOT NULL DEFAULT '');
-- Signs the sessions of browsers.
CREATE TABLE IF NOT EXISTS secret_key (value TEXT NOT NULL);
INSERT INTO secret_key SELECT hex(randomblob(32)) WHERE NOT EXISTS (SELECT * FROM secret_key);
