/**
 * pg-boss: jobs in PostgreSQL, queued in the transaction of the event.
 *
 * As its documentation says: LISTEN/NOTIFY, batches that are fetched again at once while they are full and settled job by job, and
 * heartbeats, so that a dead worker's jobs are tried again.
 */

import pg from "pg";
import { PgBoss } from "pg-boss";
import { DATABASE, EVENT, monotonic, produce, send } from "./jobs.js";

const boss = new PgBoss({ connectionString: DATABASE, useListenNotify: true, max: 20 });
boss.on("error", (error) => console.error(error));
await boss.start();

async function work() {
  const options = { batchSize: 30, localConcurrency: 10, perJobResults: true, burstWhenBatchFull: true };
  await boss.work("send", options, (jobs) =>
    Promise.all(jobs.map((job) => send(job.data).then(() => ({ id: job.id, status: "completed" })))),
  );
}

async function producer() {
  const client = new pg.Client({ connectionString: DATABASE });
  await client.connect();
  const db = { executeSql: (text, values) => client.query(text, values) };

  const add = (jobs) =>
    boss.insert(
      "send",
      jobs.map((job) => ({ data: job })),
    );

  async function publish(job) {
    await client.query("BEGIN");
    await client.query(EVENT, [job.id, job.body]);
    await boss.send("send", job, { db });
    const at = monotonic();
    await client.query("COMMIT");
    return at;
  }

  await produce(add, publish);
}

switch (process.argv[2]) {
  case "setup":
    await boss.createQueue("send", { notify: true, heartbeatSeconds: 10, retryLimit: 5 });
    await boss.stop({ graceful: false });
    process.exit(0);
  case "work":
    await work();
    break;
  case "produce":
    await producer();
}
