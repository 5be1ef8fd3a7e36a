import { systemClock } from '../src/platform/clock.ts'
import { deriveKey, loadSecretKey } from '../src/platform/crypto/secret-key.ts'
import { recordChange } from '../test/support/recorded-changes.ts'
import type { Setting } from './setting.ts'

/** As many as are verified with a record. */
const CHANGES_PER_REPOSITORY = 64

/** Records changes of new repositories, and returns their ids. */
export async function storeChanges({ sql, ours, directory }: Setting, count: number): Promise<string[]> {
  const integrityKey = deriveKey(await loadSecretKey(undefined, directory), 'integrity of stored rows')
  const services = { sql, clock: systemClock, integrityKey }
  const ids: string[] = []
  while (ids.length < count) {
    const id = `${Date.now()}-${Math.floor(ids.length / CHANGES_PER_REPOSITORY)}`
    const repository = { provider: 'github', host: 'github.com', id, full_name: 'acme/api' }
    ids.push((await recordChange(services, ours.orgId, { repository })).id)
  }
  return ids
}
