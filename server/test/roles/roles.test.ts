import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { openSql, type Sql } from '../../src/platform/db/sql.ts'
import { EXPIRING_SHARED, listDue } from '../../src/retention/expiry.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { neededGrants, ROLES, withGrants } from '../support/needed-grants.ts'
import { runRoles } from '../support/run-roles.ts'

const INSUFFICIENT_PRIVILEGE = '42501'

let database: TestDatabase
const sessions = new Map<string, Sql>()

before(async () => {
  database = await createTestDatabase()
  await runRoles(database)
  for (const role of ['shiplock_owner', 'shiplock_app', 'shiplock_worker', 'shiplock_read'])
    sessions.set(role, openSql({ ...database.connection, user: role }, { max: 1, applicationName: 'test' }))
})
after(async () => {
  for (const sql of sessions.values()) await sql.end()
  await database?.drop()
})

function as(role: string): Sql {
  return sessions.get(role) ?? assert.fail(role)
}

test('roles.sql grants what the code needs', () => {
  const committed = readFileSync(ROLES, 'utf8')
  assert.equal(committed, withGrants(committed, neededGrants()), 'write it: npm run roles --workspace server')
})

test('roles.sql can be run again', async () => {
  await runRoles(database)
})

test('the worker can remove everything that expires', async () => {
  const at = new Date()
  await as('shiplock_worker').begin(async (tx) => {
    for (const { expiring, expiry } of listDue({ org_id: randomUUID(), before: at, at }, 1))
      await expiring.remove(tx, { ...expiry, limit: 1, from: null })
    for (const { remove } of EXPIRING_SHARED) await remove(tx, at, 1)
  })
})

test('everything belongs to the owner', async () => {
  const foreign = await as('shiplock_owner')`
    select class.oid::regclass::text as name
    from pg_class class
    where class.relnamespace = 'public'::regnamespace
      and class.relkind in ('r', 'p', 'S', 'v')
      and class.relowner <> 'shiplock_owner'::regrole`
  assert.deepEqual([...foreign], [])
})

const REFUSED: Record<string, string[]> = {
  shiplock_app: [
    'update audit_entries set reason = null',
    'delete from audit_entries',
    'truncate audit_entries',
    'delete from log_entries',
    'update log_entries set sha256 = sha256',
    'delete from log_tiles',
    'update log_checkpoints set note = note',
    'delete from log_checkpoints',
    'update log_key set origin = origin',
    'update log_key set sealed_private_key = sealed_private_key',
    'delete from chain_links',
    'update chain_links set hash = hash',
    'delete from signing_keys',
    'update signing_keys set pem = pem',
    'delete from organizations',
    'delete from ci_runs',
    'delete from findings',
    "insert into schema_migrations (name, checksum) values ('x', 'x')",
    'update schema_migrations set checksum = checksum',
    'create table anything ()',
    'create schema anything',
    'drop table ci_runs',
    'alter table audit_entries disable trigger all',
    'set session_replication_role = replica',
    'set role shiplock_owner',
    "copy ci_runs to program 'true'",
    'select rolpassword from pg_authid',
  ],
  shiplock_worker: [
    'update audit_entries set reason = null',
    'delete from log_entries',
    'delete from log_tiles',
    'delete from log_checkpoints',
    'delete from log_key',
    'delete from chain_links',
    'delete from provenance_chains',
    'delete from organizations',
    'delete from users',
    'truncate ci_runs',
    'create table anything ()',
    'set role shiplock_owner',
  ],
  shiplock_read: [
    'insert into ci_runs default values',
    'update ci_runs set status = status',
    'delete from ci_runs',
    'select from api_keys',
    'select from user_passwords',
    'select from user_sessions',
    'select from user_totp',
    'select from signing_keys',
    'select from log_key',
    'select from codehost_apps',
    'select from single_sign_on',
    'create temporary table anything ()',
    'set role shiplock_app',
  ],
}
for (const [role, statements] of Object.entries(REFUSED))
  for (const statement of statements)
    test(`${role} may not: ${statement}`, async () => {
      await assert.rejects(as(role).unsafe(statement), { code: INSUFFICIENT_PRIVILEGE })
    })

test('every role may read what it serves', async () => {
  for (const role of sessions.keys()) {
    await as(role)`select from ci_runs limit 1`
    await as(role)`select from jobs limit 1`
  }
})

test('a worker may delete an audit entry only after it has expired', async () => {
  const [organization] = await as('shiplock_owner')<[{ id: string }]>`
    insert into organizations (id, slug, name, plan, created_at)
    values (gen_random_uuid(), 'roles', 'roles', 'enterprise', now())
    returning id`
  await as('shiplock_app')`
    insert into audit_entries ${as('shiplock_app')({
      ...{ org_id: organization.id, id: randomUUID(), at: new Date(), action: 'api_key.create' },
      ...{
        principal_type: 'command_line',
        principal_name: 'test',
        object_type: 'api_key',
        object_id: 'k',
        details: {},
      },
    })}`
  await assert.rejects(
    as('shiplock_worker')`delete from audit_entries where org_id = ${organization.id}`,
    /append only/,
  )
})
