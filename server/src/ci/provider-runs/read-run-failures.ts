import type { HostClient } from '../../codehosts/code-host.ts'
import { openRepository } from '../../codehosts/connections/open-client.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import type { HostJob } from '../../codehosts/host-run.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { insertUnscored } from './provider-run.store.ts'
import { completeRunsJob } from './provider-runs.job.ts'
import { listUnreadFailures, type UnreadFailure, updateFailure } from './run-details.store.ts'
import { explainFailure, type JobEvidence, LOG_BYTES_MAX, selectDecisiveJobs } from './run-failure.ts'
import { upsertJobs } from './run-job.store.ts'
import { createTolerantReads, READ_AGAIN_MS, type TolerantReads } from './tolerant-reads.ts'

const RUNS_AT_ONCE = 20

type Reading = { client: HostClient; reads: TolerantReads; repository: HostRepository }

/**
 * Reads why the newest failed runs of a repository failed: their failed jobs, the messages of these
 * and the end of their logs. What cannot be read now is read again later; until then the rest
 * explains the failure.
 */
export async function readRunFailures(services: Services, key: RepositoryKey): Promise<void> {
  const opened = await openRepository(services, key)
  if (opened === null) return
  const reads = createTolerantReads()
  const runs = await listUnreadFailures(services.sql, key, RUNS_AT_ONCE)
  for (const run of runs) await readOne(services, { ...opened, reads }, key.org_id, run)
  await insertUnscored(
    services.sql,
    key,
    runs.map(({ run_id }) => run_id),
  )
  if (runs.length > 0) await enqueue(services.sql, completeRunsJob, key)
  reads.end()
}

async function readOne({ sql, clock }: Services, reading: Reading, orgId: string, run: UnreadFailure) {
  const missedBefore = reading.reads.missed
  const allJobs = await listJobs(reading, run)
  await upsertJobs(sql, { org_id: orgId, run_id: run.run_id }, allJobs)
  const jobs: JobEvidence[] = []
  for (const job of selectDecisiveJobs(allJobs)) jobs.push(await readJob(reading, job))
  const now = clock.now()
  const isRecent = run.failure_tried_at === null || now.getTime() - run.failure_tried_at.getTime() < READ_AGAIN_MS
  const due = reading.reads.missed > missedBefore && isRecent
  await updateFailure(sql, orgId, run, { ...explainFailure(run.status, jobs), due, now })
}

function listJobs({ client, reads, repository }: Reading, run: UnreadFailure): Promise<HostJob[]> {
  return reads.read('listJobs', () => client.listJobs(repository, run.external_run_id, run.attempt), [])
}

/** The log of a cancelled job says nothing about a failure. */
async function readJob({ client, reads, repository }: Reading, job: HostJob): Promise<JobEvidence> {
  const annotations = await reads.read('listAnnotations', () => client.listAnnotations(repository, job.id), [])
  const readLog = () => client.readJobLog(repository, job.id, LOG_BYTES_MAX)
  const log = job.status === 'cancelled' ? null : await reads.read('readJobLog', readLog, null)
  return { job, annotations, log }
}
