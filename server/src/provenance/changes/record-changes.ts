import type { HostBranchRules } from '../../codehosts/host-change.ts'
import { MINUTE_MS } from '../../platform/clock.ts'
import { runAlone } from '../../platform/db/advisory-lock.ts'
import { checkSql } from '../../platform/db/sql.ts'
import { enqueue } from '../../platform/queue/job.ts'
import { formatRepositoryKey, type RepositoryKey } from '../../repositories/repository-key.ts'
import type { Services } from '../../services.ts'
import { type HostReads, openHostReads } from '../landings/host-reads.ts'
import { findNextDue, listDueLandings, updateImportDue, updateLandingDue } from '../landings/landing.store.ts'
import { AFTER_ERROR, computeLaterTry } from '../landings/landing-schedule.ts'
import { recordChangesJob } from '../landings/landings.job.ts'
import type { LandingPass } from '../landings/read-landing.ts'
import { settleLanding } from './record-landing.ts'

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
