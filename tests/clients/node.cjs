// node-postgres and postgres.js, as their users call them: node.cjs LIBRARY PORT
// The rows are those of tests/slt. What it says that a library has is what `shows` held.
const assert = require('node:assert');
const pg = require('pg');
const Cursor = require('pg-cursor');
const postgres = require('postgres');

const config = { host: '127.0.0.1', port: Number(process.argv[3]), user: 'me', password: 'x', database: 'groundline' };
const ENDLESS = 'SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b';

async function fails(code, query) {
  const error = await query.then(() => null, (error) => error);
  checked.equal(error?.code, code, error?.message);
}

let checks = 0;
/** What is asserted is counted. */
const checked = Object.fromEntries(['ok', 'equal', 'deepEqual'].map((name) => [name, (...held) => {
  checks += 1;
  assert[name](...held);
}]));

/** Says that the library has `aspect`, `by` the words of the table, once what `holds` asserts has passed. Without an assertion it fails. */
async function shows(aspect, by, holds) {
  const before = checks;
  await holds();
  assert(checks > before, `${aspect}: ${by}: nothing was asserted`);
  console.log(`has ${aspect}: ${by}`);
}

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A query ends within a second of the request in the best of ten tries: where it did not run yet, the request is lost. */
async function cancelled(begin) {
  const taken = [];
  while (taken.length < 10 && !taken.some((each) => each < 1000)) {
    const [query, cancel] = begin();
    const over = fails('57014', query);
    await wait(200);
    const first = Date.now();
    cancel();
    await over;
    taken.push(Date.now() - first);
  }
  checked.ok(taken.at(-1) < 1000, `cancelled after ${taken} ms`);
}

const TYPED = 'SELECT name, start_time, duration_ns, cost_usd, finish_reasons FROM spans WHERE finish_reasons IS NOT NULL LIMIT 1';

async function nodePostgres() {
  const client = new pg.Client(config);
  await client.connect();
  const count = await client.query('SELECT count(*) FROM spans WHERE name <> $1 AND duration_ns > $2 AND start_time > $3', ['none', -1, new Date(0)]);
  await shows('parameters', 'times', () => checked.ok(Number(count.rows[0].count) > 0, 'parameters, and the name of a column'));
  await shows('metadata', 'columns', () => checked.deepEqual(count.fields.map((field) => [field.name, field.dataTypeID]), [['count', 20]]));
  const [typed] = (await client.query(TYPED)).rows;
  await shows('types', 'times', () => checked.ok(typed.start_time instanceof Date && typeof typed.name === 'string'));
  await shows('types', 'lists', () => checked.ok(Array.isArray(typed.finish_reasons)));
  await shows('parameters', 'lists', async () => {
    const any = await client.query('SELECT count(*) FROM spans WHERE name = ANY($1)', [['chat gpt-x', 'none']]);
    checked.ok(Number(any.rows[0].count) > 0, 'lists');
  });
  for (let n = 0; n < 3; n++) {
    const named = await client.query({ name: 'next', text: 'SELECT $1::int + 1 AS n', values: [n] });
    checked.equal(Number(named.rows[0].n), n + 1);
  }
  await shows('large', 'cursors', async () => {
    const cursor = client.query(new Cursor('SELECT value FROM generate_series(1, 100000) ORDER BY 1'));
    checked.equal((await cursor.read(10)).length, 10);
    checked.equal((await cursor.read(1000000)).length, 99990);
    await cursor.close();
  });
  await shows('errors', 'SQLSTATE', async () => {
    await fails('42703', client.query('SELECT nope FROM spans'));
    await fails('25006', client.query('DELETE FROM spans'));
  });
  await shows('cancel', '`cancel`', () => cancelled(() => {
    const endless = new pg.Query(ENDLESS);
    const over = new Promise((resolve, reject) => endless.on('error', reject).on('end', resolve));
    client.query(endless);
    return [over, () => new pg.Client(config).cancel(client, endless)];
  }));
  await client.end();
  const pool = new pg.Pool({ ...config, max: 2, statement_timeout: 3000, lock_timeout: 10 });
  checked.equal((await pool.query('SELECT 1 AS one')).rows.length, 1);
  await shows('cancel', 'timeouts', () => fails('57014', pool.query(ENDLESS)));
  await pool.end();
}

async function postgresJs() {
  const sql = postgres({ ...config, max: 1 });
  const named = await sql`SELECT name, duration_ns FROM spans WHERE name <> ${'none'} LIMIT 2`;
  checked.equal(named.length, 2);
  await shows('parameters', 'lists', async () => {
    const [any] = await sql`SELECT count(*) FROM spans WHERE name = ANY(${['chat gpt-x']})`;
    checked.ok(Number(any.count) > 0, 'lists');
    const [all] = await sql`SELECT count(*) FROM spans WHERE name IN ${sql(['chat gpt-x', 'none'])}`;
    checked.ok(Number(all.count) > 0);
  });
  await shows('parameters', 'times', async () => {
    const [since] = await sql`SELECT count(*) FROM spans WHERE start_time > ${new Date(0)}`;
    checked.ok(Number(since.count) > 0);
  });
  const [typed] = await sql.unsafe(TYPED);
  await shows('types', 'times', () => checked.ok(typed.start_time instanceof Date && typeof typed.name === 'string'));
  await shows('types', 'lists', () => checked.ok(Array.isArray(typed.finish_reasons)));
  await shows('large', 'cursors', async () => {
    let rows = 0;
    for await (const part of sql`SELECT value FROM generate_series(1, 100000)`.cursor(1000)) rows += part.length;
    checked.equal(rows, 100000);
  });
  await sql.begin('isolation level repeatable read read only', async (tx) => checked.equal((await tx`SELECT 1 AS x`).length, 1));
  await shows('errors', 'SQLSTATE', () => fails('42P01', sql`SELECT * FROM nope`));
  await shows('metadata', '`describe`', async () => {
    const told = await sql`SELECT name, duration_ns FROM spans WHERE name <> ${'none'}`.describe();
    checked.deepEqual([told.columns.map((column) => [column.name, column.type]), told.types], [[['name', 25], ['duration_ns', 20]], [25]]);
  });
  await shows('cancel', '`cancel`', () => cancelled(() => {
    const endless = sql.unsafe(ENDLESS).execute();
    return [endless, () => endless.cancel()];
  }));
  await sql.end({ timeout: 5 });
}

const library = { node_postgres: nodePostgres, postgres_js: postgresJs }[process.argv[2]];
library().then(() => console.log('all ok'), (error) => {
  console.error(error);
  process.exit(1);
});
