// Writes server/test/fixtures/upgrade/states.json.gz: every schema of main since the first one, from
// the history of this repository (`npm run upgrade-fixtures --workspace server`). Needs a full clone.
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { checksumOf } from '../../../src/platform/db/migrations/read-migrations.ts'
import { openSql, type Sql } from '../../../src/platform/db/sql.ts'
import { createEmptyTestDatabase, type TestDatabase } from '../database.ts'
import { fillTables } from './fill-tables.ts'
import { applyMigration, type LandedStates, type Row, writeLandedStates } from './landed-states.ts'

const FIRST = 'fe2d62f'
const FOLDER = 'server/migrations'
const ROOT = new URL('../../../..', import.meta.url).pathname

/**
 * Tables that stay empty in a state: nothing wrote them while they had this form. By the checksum of
 * the file that creates them.
 */
const UNUSED: Record<string, string[]> = {
  f8f2317cb1109c98e6a385113a33db5c28caea82f3a0d87d5add9501da86efe4: ['provenance_chains', 'chain_links'],
}

/** A check of schema.sql, which can have several lines. */
const CHECK = /^ {2}constraint (\w+) (CHECK [\s\S]*?)(?=,?\n(?: {2}constraint|\);))/gm
/** SQLSTATEs of a missing table, column or function. */
const MISSING = ['42P01', '42703', '42883']

const written: LandedStates = { states: [], rows: {}, earlier_texts: {} }
for (const commit of git('rev-list', '--reverse', '--first-parent', `${FIRST}^..main`)) await addState(commit)
await writeLandedStates(written)

async function addState(commit: string): Promise<void> {
  const migrations = await readState(commit)
  const known = JSON.stringify(migrations)
  if (written.states.some((state) => JSON.stringify(state.migrations) === known)) return
  const database = await createEmptyTestDatabase()
  try {
    const tables = await fill(database, migrations)
    const title = git('log', '-1', '--format=%s', commit).join()
    written.states.push({ commit, title, migrations, tables })
    console.error(`${commit.slice(0, 8)} ${title}: ${tables.length} tables`)
  } finally {
    await database.drop()
  }
}

/** Names and checksums. Texts that are not those of today are kept. */
async function readState(commit: string): Promise<Record<string, string>> {
  const migrations: Record<string, string> = {}
  for (const path of git('ls-tree', '--name-only', commit, `${FOLDER}/`).filter((name) => name.endsWith('.sql'))) {
    const name = path.slice(FOLDER.length + 1)
    const text = execFileSync('git', ['show', `${commit}:${path}`], { cwd: ROOT, encoding: 'utf8' })
    const checksum = checksumOf(text)
    migrations[name] = checksum
    const today = await readFile(new URL(`../../../migrations/${name}`, import.meta.url), 'utf8').catch(() => '')
    if (today !== text) written.earlier_texts[checksum] = text
  }
  return migrations
}

async function fill(database: TestDatabase, migrations: Record<string, string>): Promise<[string, number[]][]> {
  const sql = openSql(database.connection, { max: 1, applicationName: 'fixtures' })
  try {
    for (const [name, checksum] of Object.entries(migrations)) await applyMigration(sql, written, name, checksum)
    await addLaterChecks(sql)
    const unused = Object.values(migrations).flatMap((checksum) => UNUSED[checksum] ?? [])
    // Nothing wrote alerts before this migration, which made their table anew.
    if (!('0030_alerts.sql' in migrations)) unused.push('security_alerts')
    const filled = await fillTables(sql, newestFirst(), unused)
    return filled.map(([table, rows]) => [table, rows.map((row) => numberOf(table, row))])
  } finally {
    await sql.end()
  }
}

/**
 * Adds the checks of today's schema, so that rows are invented as programs wrote them: values that
 * no program wrote were often refused by a later migration only.
 */
async function addLaterChecks(sql: Sql): Promise<void> {
  const [people] = await sql`select from pg_attribute where attname = 'person_id' limit 1`
  // Before answers had a column for the person, only keys answered.
  if (!people) await sql`alter table deployment_answers add check (principal_type <> 'user')`.catch(refuseUnlessMissing)
  const schema = await readFile(new URL('../../../schema.sql', import.meta.url), 'utf8')
  for (const part of schema.split('\n\n')) {
    const table = /^create table (\w+)/.exec(part)?.[1]
    for (const [, name, check] of part.matchAll(CHECK))
      await sql.unsafe(`alter table ${table} add constraint later_${name} ${check}`).catch(refuseUnlessMissing)
  }
}

function refuseUnlessMissing(error: { code: string }): void {
  if (!MISSING.includes(error.code)) throw error
}

function newestFirst(): Record<string, Row[]> {
  return Object.fromEntries(Object.entries(written.rows).map(([table, rows]) => [table, rows.toReversed()]))
}

/** Equal rows of several states are stored once. */
function numberOf(table: string, row: Row): number {
  written.rows[table] ??= []
  const rows = written.rows[table]
  const at = rows.findIndex((known) => JSON.stringify(known) === JSON.stringify(row))
  return at >= 0 ? at : rows.push(row) - 1
}

function git(...args: string[]): string[] {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean)
}
