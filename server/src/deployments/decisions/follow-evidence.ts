import { insertAuditEntry, listHistory, SYSTEM } from '../../audit/audit.store.ts'
import { listRunCommits } from '../../ci/evidence/newest-runs.store.ts'
import { listReportedAttempts } from '../../ci/pipeline-runs/expired-run.store.ts'
import { type EvidenceReplaced, evidenceReplaced } from '../../ci/runs/run.events.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { publish } from '../../platform/queue/event.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { publishUpdates, update } from '../../platform/queue/update.ts'
import type { Services } from '../../services.ts'
import { listAskedWith, listDeployed } from '../waiting-deployment.store.ts'
import { decideByPolicyJob } from './decide-by-policy.ts'

const ACTION = 'deployment.replace_evidence'

/**
 * Notes on each deployment whose policies were asked with evidence that is gone, what it was, when
 * it went and by whom (trust §2); once until they are asked again. Those that wait are asked again,
 * and so are approved ones if nobody has read the approval. Safe to repeat.
 */
export async function followEvidence({ sql, clock }: Services, gone: EvidenceReplaced): Promise<void> {
  const { org_id, what, by, at } = gone
  const said = `Policies were asked with ${what}. `
  const reason = `${said}It was replaced or removed by ${by} (${at.slice(0, 19).replace('T', ' ')} UTC).`
  await sql.begin(async (tx) => {
    const stored = gone.run_id === undefined ? [] : await listRunCommits(tx, org_id, gone.run_id)
    const commits = gone.commit_sha === undefined ? stored : [...stored, gone.commit_sha]
    for (const { id, asked_at, is_open } of await listAskedWith(tx, gone, commits)) {
      const object = { type: 'deployment', id }
      const isNoted = (await listHistory(tx, org_id, object)).some(
        (entry) =>
          entry.action === ACTION &&
          (entry.reason === reason || (entry.reason?.startsWith(said) && entry.at > asked_at)),
      )
      if (isNoted) continue
      const entry = { principal: SYSTEM, action: ACTION, object, reason, details: { what, by, at } }
      await insertAuditEntry(tx, org_id, entry, clock.now())
      await publishUpdates(tx, org_id, [update('deployment', id)])
      if (is_open) await enqueue(tx, decideByPolicyJob, { org_id, id })
    }
  })
}

/**
 * Before retention deletes runs: tells the deployments whose policies can have been asked with
 * their reports, which are those of the run or its commit (trust §2).
 */
export async function followExpiringRuns(tx: Tx, org_id: string, ids: readonly string[], now: Date): Promise<void> {
  const attempts = await listReportedAttempts(tx, org_id, ids)
  const deployed = await listDeployed(tx, org_id, attempts)
  for (const { name, since, commit_sha, ...attempt } of attempts) {
    if (!deployed.has(attempt.run_id) && !deployed.has(commit_sha)) continue
    const by = 'the retention of the organization'
    const times = { since: since.toISOString(), at: now.toISOString() }
    const gone = { org_id, ...attempt, ...(commit_sha !== null && { commit_sha }), what: `the reports of ${name}`, by }
    await publish(tx, evidenceReplaced, { ...gone, ...times })
  }
}
