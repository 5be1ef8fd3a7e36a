import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runProgram } from '../support/program.ts'
import { assertRefused, printedBy } from '../support/run-command.ts'

let dataDir: string
before(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'shiplock-retention-'))
  await printedBy(dataDir, ['org', 'create', 'acme', '--plan', 'team'])
})
after(() => rm(dataDir, { recursive: true, force: true }))

test('retention run prints figures by kind, and doctor shows when it ran', async () => {
  const before_ = await printedBy(dataDir, ['doctor'])
  const check = (findings: { check: string; ok: boolean; detail: string }[]) =>
    findings.find((finding) => finding.check === 'retention')
  assert.match(check(before_)?.detail ?? '', /has not run yet/)
  const { expired } = await printedBy(dataDir, ['retention', 'run', '--dry-run'])
  assert.equal(expired.runs, 0)
  assert.equal(expired.audit_entries, 0)
  const done = await printedBy(dataDir, ['retention', 'run'])
  assert.ok(done.finished_at >= done.started_at)
  assert.equal(done.objects, 0)
  const after_ = check(await printedBy(dataDir, ['doctor']))
  assert.equal(after_?.ok, true)
  assert.match(after_?.detail ?? '', /last run ended .*Z, 0 rows removed/)
  const { stdout } = await runProgram(dataDir, ['retention', 'run', '--dry-run'])
  assert.match(stdout, /KIND +EXPIRED/)
})

test('org delete asks for an export and a confirmation, and deletes nothing before it has both', async () => {
  const file = join(dataDir, 'acme.tar.gz')
  await assertRefused(dataDir, 2, /--export FILE.*--without-export/, ['org', 'delete', 'acme', '--yes'])
  const both = ['org', 'delete', 'acme', '--export', file, '--without-export', '--yes']
  await assertRefused(dataDir, 2, /either --export FILE/, both)
  await assertRefused(dataDir, 2, /Confirm with --yes/, ['org', 'delete', 'acme', '--without-export'])
  await assertRefused(dataDir, 2, /Confirm with --yes/, ['org', 'delete', 'acme', '--export', file])
  const nowhere = join(dataDir, 'missing', 'acme.tar.gz')
  await assertRefused(dataDir, 1, /ENOENT/, ['org', 'delete', 'acme', '--export', nowhere, '--yes'])
  const [kept] = await printedBy(dataDir, ['org', 'list'])
  assert.equal(kept.slug, 'acme')
})

test('org delete exports first, and shows what was deleted', async () => {
  await assertRefused(dataDir, 1, /"nobody" does not exist/, ['org', 'delete', 'nobody', '--without-export', '--yes'])
  const file = join(dataDir, 'acme.tar.gz')
  const done = await printedBy(dataDir, ['org', 'delete', 'acme', '--export', file, '--yes'])
  assert.equal(done.export.file, file)
  assert.equal(done.tables.organizations, 1)
  assert.deepEqual(await printedBy(dataDir, ['org', 'list']), [])
  const [deleted] = await printedBy(dataDir, ['org', 'list', '--deleted'])
  assert.equal(deleted.slug, 'acme')
  await assertRefused(dataDir, 1, /does not exist/, ['org', 'export', 'acme', file])
  await printedBy(dataDir, ['org', 'create', 'brief'])
  const brief = await printedBy(dataDir, ['org', 'delete', 'brief', '--without-export', '--yes'])
  assert.equal(brief.export, null)
})
