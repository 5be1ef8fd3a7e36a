import { randomBytes } from 'node:crypto'
import { systemClock } from '../src/platform/clock.ts'
import { computeDerivedKey, loadSecretKey } from '../src/platform/crypto/secret-key.ts'
import type { ChangeRecord } from '../src/provenance/changes/change-record.ts'
import { mergedRecord } from '../test/support/change-records.ts'
import { recordChange } from '../test/support/recorded-changes.ts'
import type { Setting } from './setting.ts'

/** As many as are verified with a record. */
const CHANGES_PER_REPOSITORY = 64

/** Records changes of new repositories. */
export async function storeChanges({ sql, ours, directory }: Setting, count: number): Promise<ChangeRecord[]> {
  const integrityKey = computeDerivedKey(await loadSecretKey(undefined, directory), 'integrity of stored rows')
  const services = { sql, clock: systemClock, integrityKey }
  const records: ChangeRecord[] = []
  const name = randomBytes(4).toString('hex')
  while (records.length < count) {
    const id = `${name}-${Math.floor(records.length / CHANGES_PER_REPOSITORY)}`
    const repository = { provider: 'github', host: 'github.com', id, full_name: 'acme/api' }
    const commits = { ...mergedRecord().commits, merge: randomBytes(20).toString('hex') }
    records.push(await recordChange(services, ours.orgId, { repository, commits }))
  }
  return records
}

/** A successful deployment of each change, with the id of the change. */
export async function deployChanges({ sql, ours }: Setting, records: readonly ChangeRecord[]): Promise<void> {
  const at = new Date()
  for (const { id, repository, commits } of records) {
    await sql`
      insert into deployments (
        org_id, id, provider, host, host_id, host_updated_at, repository, repository_full_name, repository_id,
        environment, status, attempt, commit_sha, branch, gated, created_at, updated_at, succeeded_at
      )
      values (
        ${ours.orgId}, ${id}, 'github', 'github.com', ${id}, ${at}, 'api', 'acme/api', ${repository.id},
        'production', 'success', 1, ${commits.merge}, 'main', false, ${at}, ${at}, ${at}
      )`
  }
}
