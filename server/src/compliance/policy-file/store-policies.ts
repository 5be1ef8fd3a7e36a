import { createHash } from 'node:crypto'
import { type Author, insertAuditEntry, SYSTEM } from '../../audit/audit.store.ts'
import type { HostAction } from '../../codehosts/code-host.ts'
import { findConnectionOfRepository } from '../../codehosts/connections/connection.store.ts'
import { findHostRepository } from '../../codehosts/connections/open-client.ts'
import { enqueueCall } from '../../codehosts/connections/send-call.job.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { publish } from '../../platform/queue/event.ts'
import { truncate } from '../../platform/text.ts'
import type { Services } from '../../services.ts'
import { policyChanged, savePolicy } from '../policies/apply-policy.ts'
import type { PolicyDefinition } from '../policies/policy.schema.ts'
import { updatePolicyRemoved } from '../policies/policy.store.ts'
import { listPolicyFiles, lockSource, type PolicySource, updateSourceRead } from './policy-source.store.ts'

/** A policy file as it was read. `mistake` states why it cannot be used. */
export type ReadFile = { path: string; blob: string } & (
  | { policy: PolicyDefinition; source: string }
  | { policy: 'unchanged' }
  | { policy: null; mistake: string }
)

export type FoundPolicies = {
  commitSha: string
  files: ReadFile[]
  /** Mistakes that concern no file that was read. */
  mistakes: { path: string; message: string }[]
}

/**
 * Brings the policies of a repository in line with its files. A file with mistakes keeps its last
 * good version, and a deleted file removes its policy. The result is sent to the host as a commit
 * status. Does nothing if a newer commit is to be read.
 */
export async function synchronizePolicies(
  services: Services,
  source: PolicySource,
  found: FoundPolicies,
): Promise<void> {
  const { sql, clock } = services
  const { org_id, provider, repository_id } = source
  await sql.begin(async (tx) => {
    const now = clock.now()
    if (!(await lockSource(tx, source, found.commitSha))) return
    const mistakes = [...found.mistakes]
    for (const file of found.files) {
      const { path, blob } = file
      if (file.policy === null) mistakes.push({ path, message: file.mistake })
      else if (file.policy !== 'unchanged') {
        const policy = { author: AUTHOR, definition: file.policy, source: file.source, bundle: null }
        await savePolicy(tx, org_id, { ...policy, file: { provider, repository_id, path, blob } }, now)
      }
    }
    const removed = await removeOthers(tx, source, found.files, now)
    await updateSourceRead(tx, source, { commitSha: found.commitSha, mistakes }, now)
    if (found.files.length > 0 || mistakes.length > 0 || removed > 0)
      await reportStatus(tx, source, { commitSha: found.commitSha, count: found.files.length, mistakes }, now)
  })
}

const AUTHOR: Author = { principal: SYSTEM, reason: null }

async function removeOthers(tx: Tx, source: PolicySource, files: ReadFile[], now: Date): Promise<number> {
  const kept = new Set(files.map(({ path }) => path))
  const removed = (await listPolicyFiles(tx, source)).filter(({ path }) => !kept.has(path))
  for (const { id, path } of removed) {
    await updatePolicyRemoved(tx, source.org_id, { id, removedBy: null }, now)
    const entry = { ...AUTHOR, action: 'policy.remove', object: { type: 'policy', id } }
    await insertAuditEntry(tx, source.org_id, { ...entry, details: { path } }, now)
    await publish(tx, policyChanged, { org_id: source.org_id, policy_id: id }, { actor: AUTHOR.principal })
  }
  return removed.length
}

type Result = { commitSha: string; count: number; mistakes: FoundPolicies['mistakes'] }

const STATUS_CONTEXT = 'shiplock/policies'
const DESCRIPTION_CHARS_MAX = 140

async function reportStatus(tx: Tx, source: PolicySource, result: Result, now: Date): Promise<void> {
  const { org_id, provider, repository_id } = source
  const [connection, repository] = await Promise.all([
    findConnectionOfRepository(tx, org_id, provider, repository_id),
    findHostRepository(tx, org_id, provider, repository_id),
  ])
  if (connection === null || repository === null) return
  const action: HostAction = {
    type: 'commit_status',
    repository: { id: repository_id, full_name: repository.full_name },
    commit_sha: result.commitSha,
    context: STATUS_CONTEXT,
    state: result.mistakes.length === 0 ? 'success' : 'failure',
    description: describe(result),
    url: null,
  }
  const digest = createHash('sha256').update(JSON.stringify(action)).digest('hex').slice(0, 32)
  const subject = { type: 'commit', id: result.commitSha } as const
  const key = `policies:${repository_id}:${result.commitSha}:${digest}`
  await enqueueCall(tx, { org_id, connection_id: connection.id, idempotency_key: key, subject, action }, now)
}

function describe({ count, mistakes }: Result): string {
  const [first] = mistakes
  if (first === undefined) return count === 1 ? '1 policy is valid' : `${count} policies are valid`
  const file = first.path.slice(first.path.lastIndexOf('/') + 1)
  const more = mistakes.length === 1 ? '' : ` (and ${mistakes.length - 1} more)`
  const text = `${file}: ${first.message.split('\n')[0]}`
  return `${truncate(text, DESCRIPTION_CHARS_MAX - more.length)}${more}`
}
