/* What all peers on Node share: a job, its request, its result, and the conversation with the harness. `jobs.py` has the same. */

import { createHmac, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { Agent, request } from "undici";

export const DATABASE = process.env.DATABASE_URL;
export const REDIS = process.env.REDIS_URL;
export const PREFIX = process.env.PEER_PREFIX; // of keys in Redis
export const EVENT = "INSERT INTO events (id, data) VALUES ($1, $2)";
const RESULT = "INSERT INTO results (id, status) VALUES ($1, $2) ON CONFLICT DO NOTHING";
const TIMEOUT = 10_000; // milliseconds, as the product's
// URL, secret, headers and body of each endpoint, read once: a peer has no webhooks to look up.
const ENDPOINTS = JSON.parse(readFileSync(process.env.PEER_ENDPOINTS, "utf8"));

const agent = new Agent({ headersTimeout: TIMEOUT, bodyTimeout: TIMEOUT, connections: null });
const results = new pg.Pool({ connectionString: DATABASE, max: 10 });

/** Seconds on the clock that all processes of the machine share, as Python's `time.monotonic`. */
export const monotonic = () => Number(process.hrtime.bigint()) / 1e9;

/** The signed POST of a job, and the row of its result. */
export async function send(job) {
  const endpoint = ENDPOINTS[job.endpoint];
  let status = 0;
  try {
    const answer = await request(endpoint.url, {
      method: "POST",
      headers: { ...endpoint.headers, "X-Service-Event-Id": job.id, ...signed(endpoint.secret, job.id, job.body) },
      body: job.body,
      dispatcher: agent,
    });
    await answer.body.dump();
    status = answer.statusCode;
  } catch {
    // The endpoint didn't answer in time: a result, too.
  }
  await results.query(RESULT, [job.id, status]);
}

/** Both schemes of the product (docs/contract.md, section 5). */
function signed(secret, id, body) {
  const now = Math.floor(Date.now() / 1000);
  const key = Buffer.from(secret.slice(secret.lastIndexOf("_") + 1), "base64");
  return {
    "X-Webhook-Timestamp": String(now),
    "X-Webhook-Signature": "sha256=" + createHmac("sha256", secret).update(`${now}.${body}`).digest("hex"),
    "webhook-id": id,
    "webhook-timestamp": String(now),
    "webhook-signature": "v1," + createHmac("sha256", key).update(`${id}.${now}.${body}`).digest("base64"),
  };
}

/**
 * Does what the harness asks for. `add` queues many jobs as fast as it can. `publish` commits an event, with its job, in a
 * transaction of its own, and returns the time just before the COMMIT.
 */
export async function produce(add, publish) {
  say("ready");
  for await (const line of createInterface({ input: process.stdin })) {
    const asked = JSON.parse(line);
    if (asked.add) {
      const jobs = Array.from({ length: asked.add }, (_, number) => newJob(number));
      await add(jobs);
      say(jobs.map((job) => job.id));
    } else {
      say(await atPace(asked.rate, asked.seconds, publish));
    }
  }
  process.exit(0);
}

/** Id, endpoint and time of each; no longer than a fifth over the time asked for. */
async function atPace(rate, seconds, publish) {
  const began = monotonic();
  const published = [];
  for (let number = 0; number < rate * seconds; number++) {
    const early = began + number / rate - monotonic();
    if (early > 0) await sleep(early * 1000);
    if (monotonic() - began > seconds * 1.2) break;
    const job = newJob(number);
    published.push([job.id, job.endpoint, await publish(job)]);
  }
  return published;
}

function newJob(number) {
  const endpoint = number % ENDPOINTS.length;
  return { id: randomUUID(), endpoint, body: ENDPOINTS[endpoint].body };
}

const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
