import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { organizationObjects, organizationParts } from '../../src/commands/org-content.ts'
import { deleteOrganization } from '../../src/organizations/delete-organization.ts'
import { exportOrganization, verifyExport } from '../../src/organizations/export-organization.ts'
import { findOrganization } from '../../src/organizations/organization.store.ts'
import { listDeleted, listOwnedTables } from '../../src/organizations/organization-rows.store.ts'
import type { ObjectStore } from '../../src/platform/objects/object-store.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { furnish } from '../support/furnish.ts'
import { rowsOf } from '../support/organization-rows.ts'

const run = promisify(execFile)

let api: TestApi
let owner: Caller
let other: Caller
let directory: string
before(async () => {
  api = await startTestApi()
  directory = await mkdtemp(join(tmpdir(), 'shiplock-export-'))
  owner = await api.caller()
  other = await api.caller()
  for (const each of [owner, other]) await furnish(api, each)
})
after(async () => {
  await api?.close()
  await rm(directory, { recursive: true, force: true })
})

async function exportOwner(path: string) {
  const organization = await findOrganization(api.services.sql, owner.slug)
  assert.ok(organization)
  return exportOrganization(api.services, path, { organization, listObjects: organizationObjects })
}

test('an export has every row of every table of the organization, and its objects', async () => {
  const path = join(directory, 'one.tar.gz')
  const { rows, objects, tables } = await exportOwner(path)
  assert.ok(rows > 0 && objects > 0)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const unpacked = await mkdtemp(join(directory, 'unpacked-'))
  await run('tar', ['-xzf', path, '-C', unpacked])
  const head = JSON.parse(await readFile(join(unpacked, 'export.json'), 'utf8'))
  assert.deepEqual([head.format, head.organization.slug], ['shiplock-organization', owner.slug])
  for (const [name, digest] of await rowsOf(api.services.sql, owner.orgId)) {
    const count = Number(digest.split(' ')[0])
    assert.equal(tables[name] ?? 0, count, name)
    if (count === 0) continue
    const lines = (await readFile(join(unpacked, `tables/${name}.1.ndjson`), 'utf8')).trim().split('\n')
    assert.equal(lines.length, count, name)
    for (const line of lines) assert.equal(JSON.parse(line).org_id, owner.orgId, name)
  }
  const { stdout } = await run('find', [join(unpacked, 'objects'), '-type', 'f'])
  assert.equal(stdout.trim().split('\n').length, objects)
})

test('an export does not replace a file, and leaves no part behind when it fails', async () => {
  const path = join(directory, 'two.tar.gz')
  const read = () => {
    throw new Error('the store is down')
  }
  const broken = { stat: async () => ({ sizeBytes: 1, sha256: null }), read } as unknown as ObjectStore
  const organization = await findOrganization(api.services.sql, owner.slug)
  assert.ok(organization)
  const failed = exportOrganization({ ...api.services, objects: broken }, path, {
    organization,
    listObjects: organizationObjects,
  })
  await assert.rejects(failed, /the store is down/)
  assert.deepEqual(
    (await readdir(directory)).filter((name) => name.startsWith('two')),
    [],
  )
  await exportOwner(path)
  await assert.rejects(exportOwner(path), /exists/)
})

test('an export that is cut or changed on disk is noticed', async () => {
  const path = join(directory, 'three.tar.gz')
  await exportOwner(path)
  const whole = await readFile(path)
  const sha256 = createHash('sha256').update(gunzipSync(whole)).digest('hex')
  await verifyExport(path, sha256)
  await truncate(path, whole.length - 100)
  await assert.rejects(verifyExport(path, sha256), /cannot be read again/)
  await writeFile(path, gzipSync('something else'))
  await assert.rejects(verifyExport(path, sha256), /does not contain what was written/)
})

test('a deleted organization leaves one row that says so, and the other organization is unchanged', async () => {
  const kept = await rowsOf(api.services.sql, other.orgId)
  const { rows } = await deleteOrganization(api.services, { id: owner.orgId }, organizationParts)
  assert.ok(rows > 0)
  for (const [name, digest] of await rowsOf(api.services.sql, owner.orgId)) assert.equal(digest, '0 ', name)
  assert.deepEqual(await rowsOf(api.services.sql, other.orgId), kept)
  const [deleted] = await listDeleted(api.services.sql)
  assert.deepEqual([deleted?.slug, deleted?.id], [owner.slug, owner.orgId])
})

test('every column named org_id belongs to a table that is exported and deleted', async () => {
  const { tables } = await listOwnedTables(api.services.sql)
  const named = await api.services.sql<{ name: string }[]>`
    select table_name as name
    from information_schema.columns
    where table_schema = 'public' and column_name = 'org_id'
    order by table_name`
  assert.deepEqual(tables.toSorted(), named.map(({ name }) => name).toSorted())
})
