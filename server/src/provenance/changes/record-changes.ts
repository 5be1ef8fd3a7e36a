import { listJobChecks } from '../../ci/evidence/commit-evidence.store.ts'
import { listFailedJobs } from '../../ci/provider-runs/run-job.store.ts'
import type { HostBranchRules } from '../../codehosts/host-change.ts'
import { type DeployJob, listDeployJobs } from '../../deployments/host/host-deployment.store.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { runAlone } from '../../platform/db/advisory-lock.ts'
import { checkSql, type Tx } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { formatRepositoryKey, type RepositoryKey } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { appendLink } from '../chain/append-link.ts'
import { findChange, type StoredChange, updateNewestAmendment } from './change.store.ts'
import type { Amendment } from './change-record.ts'
import { describeResults } from './describe-change.ts'
import { type HostReads, openHostReads } from './host-reads.ts'
import {
  findNextDue,
  type Landing,
  listDueLandings,
  lockLanding,
  updateImportDue,
  updateLandingDue,
} from './landing.store.ts'
import { AFTER_ERROR, computeFirstDue, computeLaterTry } from './landing-schedule.ts'
import { recordChangesJob } from './landings.job.ts'
import { AMENDED_FOR_MS, collectLateFacts, type DeployResults, filterDeployed, type LateFact } from './late-facts.ts'
import type { LandingPass } from './read-landing.ts'
import { readResults, settleLanding } from './record-landing.ts'

const LANDINGS_AT_ONCE = 20
const SLICE_MS = 5000
const SOON_MS = 3 * MINUTE_MS

/**
 * Works on some due landings of a repository, unless another process does. Then it queues itself
 * again, so that an import takes turns with other jobs.
 */
export async function recordChanges(
  services: Services,
  repository: RepositoryKey,
  stopping?: AbortSignal,
): Promise<void> {
  const key = `record changes ${formatRepositoryKey(repository)}`
  const ran = await runAlone(services.sql, key, () => settleSome(services, repository, stopping))
  stopping?.throwIfAborted()
  if (ran) await queueNext(services, repository)
}

async function settleSome(services: Services, repository: RepositoryKey, stopping?: AbortSignal): Promise<void> {
  const { sql, clock } = services
  const now = clock.now()
  const due = await listDueLandings(sql, repository, { now, limit: LANDINGS_AT_ONCE })
  if (due.length === 0) return
  const reads = await openHostReads(services, repository)
  const rules = new Map<string, HostBranchRules | null>()
  for (const landing of due) {
    if (stopping?.aborted || clock.now().getTime() > now.getTime() + SLICE_MS) return
    const missed = reads.missed
    await settleSafely({ services, reads, rules, landing })
    if (reads.missed > missed && (await isHostDown(services, repository, reads))) return
  }
}

/** A landing that fails by itself does not hold up the others. */
async function settleSafely(pass: LandingPass): Promise<void> {
  const { services, landing } = pass
  try {
    await settleLanding(pass)
  } catch (err) {
    await checkSql(services.sql)
    services.log.error({ err, landing: landing.id }, 'Could not write the record of a change')
    const later = computeLaterTry(landing, AFTER_ERROR, services.clock.now())
    await updateLandingDue(services.sql, landing, { ...landing, ...later })
  }
}

/**
 * Where the host says when it accepts requests again, the import of the repository waits until
 * then.
 */
async function isHostDown({ sql }: Services, repository: RepositoryKey, reads: HostReads): Promise<boolean> {
  if (reads.source === null) return false
  const { is_down, retry_at } = await reads.failure()
  if (is_down && retry_at !== null) await updateImportDue(sql, repository, retry_at)
  return is_down
}

/** Queues the job for what is due soon. The scheduled job finds what is due later. */
async function queueNext({ sql, clock }: Services, repository: RepositoryKey): Promise<void> {
  const next = await findNextDue(sql, repository)
  if (next === null) return
  const delay = Math.max(next.getTime() - clock.now().getTime(), 0)
  if (delay <= SOON_MS) await enqueue(sql, recordChangesJob, repository, delay)
}

const AMENDMENTS_MAX = 500

/**
 * Follows a review, check or run of a landing. The landing is locked: a record that is being
 * written either contains the fact, or is amended.
 */
export async function followFact(
  services: Services,
  { org_id, landing_id: id }: { org_id?: string; landing_id: number },
): Promise<void> {
  await services.sql.begin(async (tx) => {
    const landing = await lockLanding(tx, { ...(org_id !== undefined && { org_id }), id })
    if (landing.state === 'waiting') await wake(services, tx, landing)
    if (landing.state === 'recorded') await amend(services, tx, landing)
  })
}

/** The record may be due. A landing whose host does not answer keeps its pause. */
async function wake({ clock }: Services, tx: Tx, landing: Landing): Promise<void> {
  if (landing.tries > 0) return
  const due_at = new Date(Math.max(clock.now().getTime(), computeFirstDue(landing).getTime()))
  // Also if it is due already: a pass that has read the landing must not postpone it.
  await updateLandingDue(tx, landing, { ...landing, due_at })
  const { org_id, provider, repository_id } = landing
  await enqueue(tx, recordChangesJob, { org_id, provider, repository_id })
}

async function amend(services: Services, tx: Tx, landing: Landing): Promise<void> {
  const now = services.clock.now()
  if (now.getTime() > landing.landed_at.getTime() + AMENDED_FOR_MS) return
  const change = await findChange(tx, landing.org_id, landing.change_id as string)
  if (change?.record == null) return
  const { record, amendments } = change
  const results = await readResults(tx, landing, change.merge_sha)
  const present = describeResults(results, landing, record.branch_rules)
  const deployed = await readDeployResults(tx, landing, [...new Set([landing.head_sha, change.merge_sha])])
  const found = collectLateFacts(record, amendments, filterDeployed(present, deployed))
  await appendAmendments(services, tx, change, found.slice(0, AMENDMENTS_MAX - amendments.length))
}

async function readDeployResults(tx: Tx, landing: Landing, shas: string[]): Promise<DeployResults> {
  const jobs = await listDeployJobs(tx, landing, shas)
  if (jobs.length === 0) return { run_ids: [], checks: [] }
  const deploying = new Set(jobs.map(({ run_id, job_id }) => `${run_id} ${job_id}`))
  const failed = await listFailedJobs(tx, landing.org_id, [...new Set(jobs.map(({ run_id }) => run_id))])
  const failedBy = Map.groupBy(failed, ({ run_id, attempt }) => `${run_id} ${attempt}`)
  const isDeployed = ({ run_id, attempt }: DeployJob) =>
    failedBy.get(`${run_id} ${attempt}`)?.every(({ id }) => deploying.has(`${run_id} ${id}`)) ?? false
  return {
    run_ids: jobs.filter(isDeployed).map(({ run_id }) => run_id),
    checks: await listJobChecks(tx, landing, { shas, job_ids: jobs.map(({ job_id }) => job_id) }),
  }
}

async function appendAmendments(services: Services, tx: Tx, change: StoredChange, facts: LateFact[]): Promise<void> {
  const now = services.clock.now()
  let { last_index } = change
  for (const fact of facts) {
    const body: Amendment = { change: change.id, at: now.toISOString(), ...fact }
    const link = { kind: 'amendment' as const, change_id: change.id, body, at: now }
    last_index = (await appendLink(services, tx, change, link)).index
  }
  const newest = facts.at(-1)
  if (newest) await updateNewestAmendment(tx, change, { last_index, deviations: newest.facts.deviations })
}
