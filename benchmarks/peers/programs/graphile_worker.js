/**
 * Graphile Worker: jobs in PostgreSQL, queued in the transaction of the event.
 *
 * As its page on performance says: a local queue of one more than the jobs at once, and completed jobs written in batches.
 */

import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { DATABASE, EVENT, monotonic, produce, send } from "./jobs.js";

const CONCURRENCY = 300;
// Instead of two lines for each job.
const logger = new Logger(() => (level, message) => level === "error" && console.error(message));

async function work() {
  await run({
    preset: {
      worker: {
        connectionString: DATABASE,
        logger,
        concurrentJobs: CONCURRENCY,
        maxPoolSize: 20,
        localQueue: { size: CONCURRENCY + 1 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
    taskList: { send },
  });
}

async function producer() {
  const utils = await makeWorkerUtils({ connectionString: DATABASE });
  const client = new pg.Client({ connectionString: DATABASE });
  await client.connect();

  const add = (jobs) => utils.addJobs(jobs.map((job) => ({ identifier: "send", payload: job })));

  async function publish(job) {
    await client.query("BEGIN");
    await client.query(EVENT, [job.id, job.body]);
    await client.query("SELECT graphile_worker.add_job('send', $1::json)", [job]);
    const at = monotonic();
    await client.query("COMMIT");
    return at;
  }

  await produce(add, publish);
}

switch (process.argv[2]) {
  case "setup": {
    const utils = await makeWorkerUtils({ connectionString: DATABASE });
    await utils.migrate();
    process.exit(0);
  }
  case "work":
    await work();
    break;
  case "produce":
    await producer();
}
