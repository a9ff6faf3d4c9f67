// What has changed and isn't pushed yet, in the shop's own database (PostgreSQL).
//
// Triggers mark rows in the transaction that changes them, by anyone: the shop's services, an import, an operator with SQL.
// A mark says which row changed, not how: the sender reads the shop when it pushes.

const TABLES = `
  CREATE TABLE IF NOT EXISTS platform_mark (
    id bigserial PRIMARY KEY, resource text NOT NULL, row_id text NOT NULL,
    quiet boolean NOT NULL DEFAULT false, forced boolean NOT NULL DEFAULT false,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(), due_at timestamptz NOT NULL DEFAULT '-infinity');
  CREATE INDEX IF NOT EXISTS platform_mark_row ON platform_mark (resource, row_id);
  CREATE TABLE IF NOT EXISTS platform_row (
    resource text, row_id text, version bigint NOT NULL, kept bigint NOT NULL DEFAULT -1,
    digest text NOT NULL DEFAULT '', refused text NOT NULL DEFAULT '', PRIMARY KEY (resource, row_id));
  CREATE TABLE IF NOT EXISTS platform_note (
    name text PRIMARY KEY, value jsonb, noted_at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE OR REPLACE FUNCTION platform_mark_rows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    EXECUTE 'INSERT INTO platform_mark (resource, row_id) SELECT $2, id::text FROM (' || TG_ARGV[1] || ') AS changed (id) WHERE id IS NOT NULL'
      USING to_jsonb(CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END), TG_ARGV[0];
    RETURN NULL;
  END $$;`;

const NOW = "extract(epoch FROM clock_timestamp()) * 1000";
const VERSION = `
  ON CONFLICT (resource, row_id) DO UPDATE SET version = greatest(platform_row.version + 1, excluded.version)
  RETURNING resource, row_id AS id, version`;
const TAKE = `
  WITH oldest AS (SELECT resource, row_id FROM platform_mark WHERE due_at <= clock_timestamp() ORDER BY id LIMIT 100),
  due AS (SELECT DISTINCT resource, row_id FROM oldest),
  work AS (
    SELECT resource, row_id AS id, array_agg(id::text) AS marks, bool_and(quiet) AS quiet, bool_or(forced) AS forced,
      extract(epoch FROM max(made_at)) * 1000 AS made_at
    FROM platform_mark JOIN due USING (resource, row_id) GROUP BY resource, row_id),
  versions AS (
    INSERT INTO platform_row (resource, row_id, version)
    SELECT resource, id, ${NOW} FROM work ORDER BY resource, id ${VERSION})
  SELECT * FROM work JOIN versions USING (resource, id)`;

class Outbox {
  /** `query(statement, values)` runs one statement: in the transaction that it belongs to, or alone. */
  constructor(query) {
    this.query = query;
  }

  /**
   * Make tables and triggers; for a migration. Of each trigger: the shop's table, the kind of row, and a query of the ids that a
   * change of the table's row changes, which is `$1` as JSON.
   */
  async create(triggers) {
    await this.query(TABLES);
    for (const [table, resource, ids] of triggers) {
      const call = `platform_mark_rows('${resource}', '${ids.replaceAll("'", "''")}')`;
      await this.query(`CREATE OR REPLACE TRIGGER platform_marks AFTER INSERT OR UPDATE OR DELETE ON "${table}"
        FOR EACH ROW EXECUTE FUNCTION ${call}`);
    }
  }

  async mark(resource, ids, { quiet = false, forced = false } = {}) {
    const into = "INSERT INTO platform_mark (resource, row_id, quiet, forced) SELECT $1, unnest($2::text[]), $3, $4";
    await this.query(into, [resource, ids, quiet, forced]);
  }

  /**
   * The rows of the oldest marks that are due, each under a new version. It is made after the marks are taken and before the
   * shop is read: the highest version has what all marks before it promised, however many senders there are.
   */
  async take() {
    const works = await this.query(TAKE);
    return works.map((work) => ({ ...work, version: Number(work.version), made_at: Number(work.made_at) }));
  }

  /** For a row in the answer to a command. */
  async nextVersion(resource, id) {
    const into = `INSERT INTO platform_row (resource, row_id, version) VALUES ($1, $2, ${NOW}) ${VERSION}`;
    return Number((await this.query(into, [resource, id]))[0].version);
  }

  /** The works that have a mark that isn't quiet since they were taken. Pushed quietly, its event would be lost. */
  async overtaken(works) {
    const loud = await this.query(
      `SELECT DISTINCT resource, row_id FROM platform_mark WHERE NOT quiet AND row_id = ANY ($1)`,
      [works.filter((work) => work.quiet).map((work) => work.id)],
    );
    return works.filter(
      (work) => work.quiet && loud.some((row) => row.resource === work.resource && row.row_id === work.id),
    );
  }

  /** The platform has this version, with a content of this digest; "" for a row that it doesn't keep. */
  async settle(work, digest, refused = "") {
    await this.query(
      `WITH done AS (DELETE FROM platform_mark WHERE id = ANY ($1::bigint[]))
       UPDATE platform_row SET kept = CASE WHEN $5 <> '' THEN kept WHEN $4 = '' THEN -1 ELSE $3 END, refused = $5,
         digest = CASE WHEN $5 <> '' THEN digest ELSE $4 END
       WHERE resource = $2 AND row_id = $6 AND kept < $3`,
      [work.marks, work.resource, work.version, digest, refused, work.id],
    );
  }

  /** Nothing is left of it, not even its id: that of an erasure is an address. */
  async forget(work) {
    await this.query("DELETE FROM platform_mark WHERE id = ANY ($1::bigint[])", [work.marks]);
    await this.query("DELETE FROM platform_row WHERE resource = $1 AND row_id = $2", [work.resource, work.id]);
  }

  /** The platform keeps none of these any more. */
  async lost(resource) {
    await this.query("UPDATE platform_row SET kept = -1, digest = '' WHERE resource = $1", [resource]);
  }

  async postpone(work, milliseconds) {
    const due = "clock_timestamp() + $2 * interval '1 ms'";
    await this.query(`UPDATE platform_mark SET due_at = ${due} WHERE id = ANY ($1::bigint[])`, [
      work.marks,
      milliseconds,
    ]);
  }

  async isKept({ resource, id }) {
    const found = "SELECT 1 FROM platform_row WHERE resource = $1 AND row_id = $2 AND kept >= 0";
    return (await this.query(found, [resource, id])).length > 0;
  }

  /** The rows that the platform keeps, sorted as it wants them: `[{id, version, digest}]`. */
  async kept(resource) {
    const found = await this.query(
      `SELECT row_id AS id, kept AS version, digest FROM platform_row WHERE resource = $1 AND kept >= 0
       ORDER BY row_id COLLATE "C"`,
      [resource],
    );
    return found.map((row) => ({ ...row, version: Number(row.version) }));
  }

  /** Forget commands that aren't repeated any more, and the questions of old carts. */
  async clean() {
    const age = "CASE WHEN name LIKE 'command:%' THEN interval '3 days' ELSE interval '90 days' END";
    await this.query(`DELETE FROM platform_note WHERE name ~ '^(command|quote):' AND noted_at < now() - ${age}`);
  }

  /** Whether the name is free: then it is this transaction's. Another one that claims it waits. */
  async claim(name) {
    const into = "INSERT INTO platform_note (name, value) VALUES ($1, 'null') ON CONFLICT DO NOTHING RETURNING name";
    return (await this.query(into, [name])).length > 0;
  }

  async noted(name) {
    return (await this.query("SELECT value FROM platform_note WHERE name = $1", [name]))[0]?.value;
  }

  async note(name, value) {
    const put = "ON CONFLICT (name) DO UPDATE SET value = excluded.value, noted_at = excluded.noted_at";
    await this.query(`INSERT INTO platform_note (name, value) VALUES ($1, $2) ${put}`, [name, JSON.stringify(value)]);
  }
}

module.exports = { Outbox };
