import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'
import { migrate, pendingMigrations } from '../../src/platform/db/migrations/migrate.ts'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { createEmptyTestDatabase } from '../support/database.ts'
import { describeSchema } from '../support/describe-schema.ts'
import { type LandedState, type LandedStates, readLandedStates } from '../support/upgrade/landed-states.ts'
import { type Changed, lostRows, openState, readTables, withoutColumnOrder } from '../support/upgrade/open-state.ts'

/** What migrations have changed on purpose since the first state. */
const CHANGED: Changed = {
  removed: [],
  columns: {
    // 0053: what reports and alerts state got its own columns; what is shown is computed from them.
    'findings.state': 'reported_state',
    'findings.dismiss_reason': 'reported_dismiss_reason',
    'findings.dismiss_comment': 'reported_dismiss_comment',
    'findings.dismissed_by_name': 'reported_dismissed_by_name',
    'findings.dismissed_at': 'reported_dismissed_at',
    'findings.dismissal_source': 'reported_dismissal_source',
    'findings.facet': null,
    'security_alerts.status': null,
    'security_alerts.is_dismissed_here': null,
    'security_alerts.own_ended_call': null,
    'security_alerts.own_dismissed_by': 'own_by',
    'security_alerts.own_dismissed_by_name': 'own_by_name',
    'security_alerts.own_dismiss_reason': 'own_reason',
    'security_alerts.own_dismiss_comment': 'own_comment',
    'security_alerts.own_dismissed_at': 'own_at',
    // 0029: it is stored with the deployment.
    'opened_gates.policies_asked_at': null,
  },
}

const landed: LandedStates = await readLandedStates()
let schema: string[]

before(async () => {
  schema = withoutColumnOrder(await readFile(new URL('../../schema.sql', import.meta.url), 'utf8'))
})

describe('a database of each schema that was on main upgrades in place with its data', () => {
  for (const state of landed.states) {
    test(`${state.commit.slice(0, 8)} ${state.title}`, () => withState(state, upgrade))
  }
})

async function upgrade(sql: Sql): Promise<void> {
  const before = await readTables(sql)
  before.delete('schema_migrations')
  await migrate(sql)

  assert.deepEqual(withoutColumnOrder(await describeSchema(sql)), schema)
  assert.deepEqual(lostRows(before, await readTables(sql), CHANGED), [])
  assert.deepEqual(await pendingMigrations(sql), [])
  assert.deepEqual(await migrate(sql), [])
}

async function withState(state: LandedState, use: (sql: Sql) => Promise<void>): Promise<void> {
  const database = await createEmptyTestDatabase()
  const sql = openSql(database.connection, { max: 1, applicationName: 'upgrade' })
  try {
    await openState(sql, landed, state)
    await use(sql)
  } finally {
    await sql.end()
    await database.drop()
  }
}
