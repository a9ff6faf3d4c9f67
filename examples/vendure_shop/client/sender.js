// Pushes what the outbox notes. It may be killed anywhere, and several may run.

const { PlatformError, digestOf } = require("./platform");

const MOST_BYTES = 900_000; // of a push; the platform reads 1 MiB
const INTERVAL = 5_000; // rows of one comparison
const LONGEST = 10_000; // ms between two tries, unless the platform says more
const SETTLES = 2_000; // ms after which the platform's answer has every install that came before
const DAY = 24 * 3600 * 1000;

class Sender {
  /** `rows` is the shop: `ids(resource, since)` and `read(resource, ids)`; `record` is the store's. */
  constructor({ platform, outbox, rows, record, log }) {
    Object.assign(this, { platform, outbox, rows, record, log, wanted: {}, lookedAt: 0, lookAt: 0, failures: 0 });
  }

  /** Work until `stop` says so. Whatever fails is logged and tried again. */
  async run(stop) {
    while (!stop()) {
      let rest = 200;
      try {
        if (await this.step()) rest = 0;
        this.failures = 0;
      } catch (error) {
        this.failures += 1;
        const pause = Math.min(LONGEST, 250 * 2 ** Math.min(this.failures, 10)) * (0.5 + Math.random() / 2);
        rest = error instanceof PlatformError ? Math.max(pause, error.retryAfter * 1000) : LONGEST;
        this.log(`The next push is in ${(rest / 1000).toFixed(1)} s: ${error.stack}`);
      }
      await new Promise((resume) => setTimeout(resume, rest));
    }
  }

  /** Do what is due. Return whether there may be more at once. */
  async step() {
    if (this.record) {
      await this.outbox.note("business", (await this.platform.call("PUT", "", this.record)).id);
      this.record = null;
    }
    if (Date.now() >= this.lookAt) await this.look();
    const works = await this.outbox.take();
    const isDue = !works.length && Date.now() - ((await this.outbox.noted("compared")) ?? 0) >= DAY;
    if (works.length) await this.push(works);
    else if (isDue) await this.compare();
    return works.length > 0 || isDue;
  }

  /** Ask what apps read. For the first one that reads orders, those that are older go there without events. */
  async look() {
    const lookedAt = Date.now();
    const { json, headers } = await this.platform.send("GET", "/wanted", undefined, { etag: this.etag });
    Object.assign(this, { lookedAt, lookAt: lookedAt + 10_000 });
    if (!json) return;
    await this.outbox.note("wanted", json);
    if (json.ordersSince && json.ordersSince !== (await this.outbox.noted("filled"))) {
      await this.fill("orders", json.ordersSince);
    }
    if (!json.ordersSince) await this.outbox.lost("orders"); // with the last app that read them
    await this.outbox.note("filled", json.ordersSince);
    Object.assign(this, { wanted: json, etag: headers.get("ETag") });
  }

  async fill(resource, since) {
    await this.outbox.mark(resource, await this.rows.ids(resource, since), { quiet: true });
  }

  async push(works) {
    const ready = [];
    for (const work of works) {
      const { resource, id } = work;
      if (resource === "people") await this.tell(work, "DELETE", `/people/${encodeURIComponent(id)}`);
      else if (resource === "erasures") await this.tell(work, "POST", "/customers/erase", { email: id });
      else if (this.wanted[resource] || (await this.outbox.isKept(work))) ready.push(work);
      else if (this.lookedAt >= work.made_at + SETTLES) await this.outbox.settle(work, "");
      else await this.lookLater(work);
    }
    const made = await this.read(ready);
    const overtaken = await this.outbox.overtaken(ready); // their other mark is taken next time
    for (const quiet of [false, true]) {
      const sent = made.filter(({ work }) => work.quiet === quiet && !overtaken.includes(work));
      for (const part of parts(sent)) await this.pushPart(part, quiet);
    }
  }

  /** Orders wait until it is sure that no app was installed just before them. */
  async lookLater(work) {
    this.lookAt = Math.min(this.lookAt, work.made_at + SETTLES);
    await this.outbox.postpone(work, Math.max(0, work.made_at + SETTLES - Date.now()));
  }

  /** People who left, and erasures. One that the platform refuses keeps nothing else back. */
  async tell(work, ...request) {
    try {
      await this.platform.call(...request);
    } catch (error) {
      if (error.status !== 400) throw error;
      this.log(`The platform refuses one of the ${work.resource}.`);
    }
    await this.outbox.forget(work);
  }

  /** The rows as they are sent. */
  async read(works) {
    const made = [];
    for (const resource of new Set(works.map((work) => work.resource))) {
      const asked = works.filter((work) => work.resource === resource);
      const ids = asked.map((work) => work.id);
      const { rows, failed } = await this.readAll(resource, ids);
      for (const work of asked) {
        const isNoOrder = resource === "orders" && !rows.has(work.id); // a cart, or in another currency
        if (failed.includes(work.id)) await this.outbox.postpone(work, LONGEST);
        else if (isNoOrder) await this.outbox.settle(work, "");
        else made.push(await this.made(work, rows.get(work.id)));
      }
    }
    return made;
  }

  async made(work, data) {
    const { resource, id, version, forced: force } = work;
    const quote = resource === "orders" && (await this.outbox.noted(`quote:${id}`))?.quote;
    const row = data ? { data: quote ? { ...data, quote } : data } : { deleted: true };
    return { work, digest: data ? digestOf(data) : "", row: { resource, id, version, force, ...row } };
  }

  /** The shop's rows by id. One that the shop fails to make is in `failed`, and doesn't keep the others back. */
  async readAll(resource, ids) {
    try {
      return { rows: await this.rows.read(resource, ids), failed: [] };
    } catch (error) {
      if (ids.length > 1) return this.readHalves(resource, ids);
      this.log(`The row ${resource} ${ids[0]} can't be made: ${error.stack}`);
      return { rows: new Map(), failed: ids };
    }
  }

  async readHalves(resource, ids) {
    const middle = ids.length / 2;
    const first = await this.readAll(resource, ids.slice(0, middle));
    const second = await this.readAll(resource, ids.slice(middle));
    return { rows: new Map([...first.rows, ...second.rows]), failed: [...first.failed, ...second.failed] };
  }

  async pushPart(part, quiet) {
    let results;
    try {
      ({ results } = await this.platform.call("POST", "/rows", { quiet, rows: part.map((each) => each.row) }));
    } catch (error) {
      if (![400, 413].includes(error.status)) throw error;
      if (part.length === 1) return this.refuse(part[0].work, error);
      const middle = part.length / 2; // one of them is why: find it
      for (const half of [part.slice(0, middle), part.slice(middle)]) await this.pushPart(half, quiet);
      return;
    }
    for (const [index, { work, digest }] of part.entries()) {
      const { error, result } = results[index];
      if (!error) await this.outbox.settle(work, result === "unwanted" ? "" : digest);
      else if (error.statusCode === 409)
        await this.outbox.postpone(work, 0); // another content under this version
      else if (error.statusCode >= 429) await this.outbox.postpone(work, LONGEST);
      else await this.refuse(work, error);
    }
  }

  /** It is tried again when it changes. */
  async refuse(work, { message, details = [] }) {
    const why = details.map((each) => `${each.field}: ${each.message}`).join(", ") || message;
    this.log(`The platform refuses ${work.resource} ${work.id}: ${why}`);
    await this.outbox.settle(work, "", why);
  }

  /** Compare both sides, and mark what differs: rows that were lost here or there, and changes that no trigger saw. */
  async compare() {
    await this.look();
    for (const resource of ["products", "pages", "orders"]) {
      if (this.wanted[resource]) await this.compareAll(resource, new Date(Date.now() - 60_000));
    }
    await this.outbox.clean();
    await this.outbox.note("compared", Date.now());
  }

  async compareAll(resource, takenAt) {
    const [kept, ids] = [
      await this.outbox.kept(resource),
      new Set(await this.rows.ids(resource, this.wanted.ordersSince)),
    ];
    const changed = new Set(kept.filter((row) => resource !== "orders" && !ids.has(row.id)).map((row) => row.id));
    const digests = new Map(kept.map((row) => [row.id, row.digest]));
    for (const [id, row] of (await this.readAll(resource, [...ids])).rows) {
      if (digests.get(id) !== digestOf(row)) changed.add(id);
    }
    const isFirst = resource !== "orders" && !(await this.outbox.noted("compared"));
    await this.outbox.mark(resource, [...changed], { quiet: isFirst });
    for (let start = 0; start === 0 || start < kept.length; start += INTERVAL) {
      const rows = kept.slice(start, start + INTERVAL).map((row) => [row.id, row.version]);
      const [after, until] = [kept[start - 1]?.id, kept[start + INTERVAL] && kept[start + INTERVAL - 1].id];
      const asked = { resource, after, until, rows, delete: resource !== "orders", takenAt };
      const { missing, outdated, ahead } = await this.platform.call("POST", "/snapshot", asked);
      await this.outbox.mark(resource, [...missing, ...outdated]);
      await this.outbox.mark(resource, ahead, { forced: true });
    }
  }
}

/** In pushes that the platform reads. A row that is too long is alone, and is refused. */
function parts(made) {
  const found = [];
  let size = Infinity;
  for (const each of made) {
    const length = Buffer.byteLength(JSON.stringify(each.row)) + 1;
    if (size + length > MOST_BYTES) size = found.push([]) * 0;
    found.at(-1).push(each);
    size += length;
  }
  return found;
}

module.exports = { Sender };
