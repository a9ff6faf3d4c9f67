// The app on a store of the platform, from its install to the erasure of the store's data: three days in seconds.

import assert from "node:assert/strict";
import { mkdtemp, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { openStore, skip, waits } from "extension-platform-node/testing";

const FILE = (process.env.INSTALLATIONS = `${await mkdtemp(`${tmpdir()}/app-`)}/installations.json`);
const SCHEDULE = [30, 120, 480, 1920, 7200]; // seconds between two attempts, or up to 5% more
const [{ app }, { keep }] = [await import("./app.js"), await import("./installations.js")];

test("a store from install to erasure", { skip }, async (t) => {
  const server = createServer(app).listen(0);
  t.after(() => server.close());
  const store = await openStore(t, { port: (server.address() as AddressInfo).port });
  const webhookId = await store.webhookId();
  await keep(store.installation);
  const fail = async (minutes: number, attempts: number) => {
    await store.placeOrder();
    await store.advance({ minutes });
    return store.waitFor("order.created", { attempts });
  };
  await store.down(503, () => fail(60, 5)); // the app's server is down for an hour
  await store.advance({ hours: 2 });
  const { attempts } = await store.waitFor("order.created");
  assert.equal(attempts.map((each) => each.httpStatus).join(), "503,503,503,503,503,200");
  waits({ attempts }).forEach((time, i) => assert.ok(SCHEDULE[i]! <= time && time <= 1.06 * SCHEDULE[i]!));
  const held = await store.down(410, () => fail(12, 4)); // gone for good: the platform switches the webhook off
  await store.advance({ seconds: 1 });
  assert.equal((await store.client.webhook(webhookId)).isActive, false);
  await store.client.updateWebhook(webhookId, { isActive: true });
  assert.equal(await store.client.recover(webhookId, { since: new Date(held.createdAt) }), 1);
  await store.waitFor("order.created");
  await store.uninstall();
  await store.advance({ days: 2 });
  await store.waitFor("business.data_erasure");
  assert.ok(!(await readFile(FILE, "utf8")).includes(store.installation.accessToken));
});
