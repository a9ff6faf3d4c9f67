/**
 * BullMQ: jobs in Redis, queued after the event has been committed.
 *
 * As its guide says: 100 to 300 jobs at once for what waits, jobs removed once they are done, and its own check for stalled jobs.
 */

import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import pg from "pg";
import { DATABASE, EVENT, monotonic, PREFIX, produce, REDIS, send } from "./jobs.js";

const options = { connection: new Redis(REDIS, { maxRetriesPerRequest: null }), prefix: PREFIX };

function work() {
  const worker = new Worker("send", (job) => send(job.data), {
    ...options,
    concurrency: 300,
    removeOnComplete: { count: 0 },
  });
  worker.on("error", (error) => console.error(error));
}

async function producer() {
  const queue = new Queue("send", options);
  const client = new pg.Client({ connectionString: DATABASE });
  await client.connect();

  async function add(jobs) {
    for (let start = 0; start < jobs.length; start += 1000) {
      await queue.addBulk(jobs.slice(start, start + 1000).map((data) => ({ name: "send", data })));
    }
  }

  async function publish(job) {
    await client.query("BEGIN");
    await client.query(EVENT, [job.id, job.body]);
    const at = monotonic();
    await client.query("COMMIT");
    await queue.add("send", job);
    return at;
  }

  await produce(add, publish);
}

switch (process.argv[2]) {
  case "setup":
    process.exit(0);
  case "work":
    work();
    break;
  case "produce":
    await producer();
}
