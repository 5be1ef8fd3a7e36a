import assert from 'node:assert/strict'
import { createSecretKey, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { COMMANDS } from '../../src/commands/commands.ts'
import { checkVersion, DATABASE_CHECKS, QUEUE_CHECKS, RECORD_CHECKS } from '../../src/commands/doctor-database.ts'
import { CHECK_NAMES, type Check, type CheckName, runCheck, toFinding } from '../../src/commands/doctor-finding.ts'
import { CODE_HOST_CHECKS, defineServiceChecks } from '../../src/commands/doctor-services.ts'
import {
  checkSecretKey,
  defineBackupChecks,
  defineKmsChecks,
  defineObjectChecks,
} from '../../src/commands/doctor-storage.ts'
import { readConfig } from '../../src/config.ts'
import { recordBackup } from '../../src/platform/backup-marks.ts'
import { enqueue } from '../../src/platform/queue/job.ts'
import { openLogKey } from '../../src/provenance/log/log-key.ts'
import type { Services } from '../../src/services.ts'
import { startTestApi, type TestApi } from '../support/api.ts'
import { insertConnection } from '../support/host-objects.ts'

const ROOT = new URL('../../../', import.meta.url).pathname
/** Nothing listens there. */
const AWAY = '127.0.0.1:1'

let api: TestApi
let services: Services
before(async () => {
  api = await startTestApi()
  services = api.services
})
after(() => api.close())

const CHECKS: readonly Check[] = [
  { check: 'settings', examine: async () => ({ ok: false, detail: 'SHIPLOCK_PORT …' }) },
  { check: 'database', examine: (broken) => checkVersion(broken, 'external') },
  ...DATABASE_CHECKS,
  { check: 'secret key', examine: checkSecretKey },
  ...defineObjectChecks({ ...readConfig({}), s3: {} as never }),
  ...RECORD_CHECKS,
  ...QUEUE_CHECKS,
  ...defineBackupChecks({ ...readConfig({}), walArchive: '/var/lib/wal' }),
  ...defineKmsChecks({ ...readConfig({}), signingKmsKey: 'a-key' }),
  ...defineServiceChecks(
    readConfig({
      SHIPLOCK_OPA_URL: `http://${AWAY}`,
      SHIPLOCK_SMTP_URL: `smtp://user:hunter2@${AWAY}`,
      SHIPLOCK_SSO_ISSUER: `http://${AWAY}`,
      SHIPLOCK_SSO_CLIENT_ID: 'a',
      SHIPLOCK_SSO_CLIENT_SECRET: 'hunter2',
    }),
  ),
  ...CODE_HOST_CHECKS,
]

/** How each check is made to fail, and what it then says. */
const FAILURES: Record<CheckName, [breaking: () => Services | Promise<Services>, detail: RegExp]> = {
  settings: [() => services, /SHIPLOCK_PORT/],
  database: [() => answering([{ version: 140_012 }]), /PostgreSQL 14\.12; versions 15 to 18/],
  migrations: [() => answering([{ missing: true }]), /pending: 0001_baseline\.sql/],
  replication: [
    () => answering([{ is_standby: false, standbys: 0, waits_for: 'other' }]),
    /commits wait for a standby \(synchronous_standby_names is other\)/,
  ],
  'secret key': [
    async () => {
      await openLogKey(services)
      return { ...services, sealingKey: createSecretKey(randomBytes(32)) }
    },
    /was stored with another SHIPLOCK_SECRET_KEY/,
  ],
  objects: [
    async () => {
      await rm(join(services.config.dataDir, 'objects'), { recursive: true })
      return services
    },
    /ENOENT/,
  ],
  'uploads from browsers': [
    () => {
      const presignPut = async () => ({ url: `http://${AWAY}/`, method: 'PUT', headers: {}, expires_at: new Date() })
      return { ...services, objects: { presignPut } as never }
    },
    /fetch failed/,
  ],
  disk: [() => ({ ...services, config: { ...services.config, dataDir: '/proc' } }), /^0\.0 GiB \(0 %\)/],
  gates: [
    () => answering([{ repository_full_name: 'acme/app', environment: 'production' }]),
    /no gate covers production of acme\/app/,
  ],
  provenance: [
    () =>
      answering([{ provider: 'github', repository_id: '1', full_name: 'acme/app', breaks: 2, found_at: new Date(0) }]),
    /chains of change records are broken: .* \(2, since 1970/,
  ],
  statements: [
    async () => {
      const id = '00000000-0000-7000-8000-00000000f0e1'
      await services.sql`
        insert into organizations (id, slug, name, plan, created_at)
        values (${id}, 'forged', 'Forged', 'enterprise', now())`
      await services.sql`
        insert into signing_keys (org_id, keyid, pem, sealed_private_key, created_at, retired_at)
        values (${id}, ${'a'.repeat(64)}, 'a key', 'v1.c2VhbGVk', now(), now())`
      return services
    },
    /^1 rows were not stored by this server: key a{64}$/,
  ],
  log: [
    async () => {
      await openLogKey(services)
      await services.sql`delete from log_checkpoints`
      return services
    },
    /^the checkpoint of its 0 entries is lost; none is stored$/,
  ],
  worker: [
    async () => {
      await enqueue(services.sql, { name: 'a', attemptsMax: 1 }, {})
      await services.sql`update jobs set run_at = now() - interval '1 hour' where name = 'a'`
      return services
    },
    /the oldest for 36\d\d s; 0 are running; no worker is running/,
  ],
  sweepers: [() => answering([{ missing: true }]), /the database is not migrated/],
  retention: [
    () => answering([{ started_at: new Date(0), finished_at: new Date(0), is_finished: true, removed_in_run: 7 }]),
    /last run ended 1970.*, 7 rows removed; it is overdue/,
  ],
  backups: [
    async () => {
      await recordBackup(services.config.dataDir, new Date(0))
      return services
    },
    /the last backup was made at 1970/,
  ],
  'WAL archive': [
    () => answering([{ is_on: true, failing_since: new Date(0), failed_file: '00000001' }]),
    /00000001 could not be archived in \S+ since 1970/,
  ],
  clock: [() => services, /differs by -?\d{6,} ms/],
  'signing key': [
    () => {
      Object.assign(process.env, {
        AWS_REGION: 'eu-west-1',
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'hunter2',
        AWS_ENDPOINT_URL_KMS: `http://${AWAY}`,
      })
      return services
    },
    /./,
  ],
  opa: [() => services, /OPA could not be reached/],
  mail: [
    () => ({
      ...services,
      config: { ...services.config, smtp: { url: `smtp://user:hunter2@${AWAY}`, from: 'a@b.example' } },
    }),
    /The mail server does not accept us \(E/,
  ],
  'identity provider': [
    () => {
      const sso = { issuer: `http://${AWAY}`, client_id: 'a', client_secret: 'hunter2', organization: 'default' }
      return { ...services, config: { ...services.config, sso: sso as never } }
    },
    /The identity provider cannot be read/,
  ],
  'github app': [() => ({ ...services, hostApps: failing('cannot be decrypted') }), /cannot be decrypted/],
  proxies: [() => ({ ...services, sql: rejecting('no answer') as never }), /no answer/],
  trusts: [() => ({ ...services, sql: rejecting('no answer') as never }), /no answer/],
  policies: [() => ({ ...services, sql: rejecting('no answer') as never }), /no answer/],
  'private addresses': [() => ({ ...services, sql: rejecting('no answer') as never }), /no answer/],
  connections: [
    async () => {
      await insertConnection(services.sql, (await api.caller()).orgId)
      await services.sql`update codehost_connections set status = 'suspended'`
      return services
    },
    /is suspended on its code host/,
  ],
  installations: [() => ({ ...services, sql: rejecting('no answer') as never }), /no answer/],
  deliveries: [() => answering([{ failed: 3, waiting: 0 }]), /3 have failed/],
  calls: [() => answering([{ failed: 3, refused: 0, retried: 0 }]), /3 calls to code hosts have failed/],
}

for (const name of CHECK_NAMES) {
  test(`the check ${name} can fail, and says what to do`, async () => {
    const check = CHECKS.find((candidate) => candidate.check === name)
    assert.ok(check)
    const [breaking, detail] = FAILURES[name]
    const broken = await breaking()
    const found = await runCheck(name, () => check.examine(broken))
    assert.equal(found.ok, false, found.detail)
    assert.match(found.detail, detail)
    assert.doesNotMatch(JSON.stringify(found), /hunter2/)
    assertUseful(found.next ?? '')
  })
}

test('what needs tables of a later migration asks for the migration', async () => {
  const undefinedTable = Object.assign(new Error('relation "log_key" does not exist'), { code: '42P01' })
  const found = await runCheck('retention', () => Promise.reject(undefinedTable))
  assert.deepEqual(found, {
    check: 'retention',
    ok: false,
    detail: 'not checked: the database is not migrated',
    next: toFinding('migrations', { ok: false, detail: '' }).next,
  })
})

test('a secret key that others can read fails, and a check that succeeds asks for nothing', async () => {
  await chmod(join(services.config.dataDir, 'secret-key'), 0o644)
  assert.match(
    (await runCheck('secret key', () => checkSecretKey(services))).detail,
    /others can read .* \(its mode is 644\)/,
  )
  assert.deepEqual(toFinding('opa', { ok: true, detail: '' }), { check: 'opa', ok: true, detail: '' })
})

/** It names commands and pages that exist. */
function assertUseful(next: string): void {
  assert.ok(next.length > 15)
  for (const [, command = ''] of next.matchAll(/shiplock-server ([a-z-]+(?: [a-z]+)?)/g))
    assert.ok(command in COMMANDS || (command.split(' ')[0] as string) in COMMANDS, command)
  for (const [, page = '', anchor] of next.matchAll(/(docs\/[\w/-]+\.md)(?:#([\w-]+))?/g)) {
    assert.ok(existsSync(ROOT + page), page)
    const anchors = [...readFileSync(ROOT + page, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    )
    if (anchor !== undefined) assert.ok(anchors.includes(anchor), `${page}#${anchor}`)
  }
}

/** The services of a database that answers every query with these rows. */
function answering(rows: object[]): Services {
  return { ...services, sql: (async () => rows) as never }
}

/** A query that nobody waits for does not end the process. */
function rejecting(reason: string) {
  return () => {
    const query = Promise.reject(new Error(reason))
    query.catch(() => {})
    return query
  }
}

function failing(reason: string): Services['hostApps'] {
  return { get: () => ({ read: () => Promise.reject(new Error(reason)) }) } as unknown as Services['hostApps']
}
