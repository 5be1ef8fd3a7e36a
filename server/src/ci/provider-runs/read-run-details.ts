import type { HostClient, HostFile } from '../../codehosts/code-host.ts'
import { openRepository } from '../../codehosts/connections/open-client.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import type { HostCommit } from '../../codehosts/host-run.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { enqueue } from '../../platform/queue/job.ts'
import type { RepositoryKey } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { findMergedPullRequests } from '../changes/host-change.store.ts'
import { applyHostRun } from './apply-host-run.ts'
import { insertUnscored } from './provider-run.store.ts'
import { completeRunsJob } from './provider-runs.job.ts'
import {
  insertWorkflowFile,
  listKnownAccounts,
  listUnknownFiles,
  listWithoutDetails,
  type RunWithoutDetails,
  updateCommit,
  updateDetails,
  upsertAccount,
} from './run-details.store.ts'
import { createTolerantReads, READ_AGAIN_MS, type TolerantReads } from './tolerant-reads.ts'
import { NO_WORKFLOW, parseWorkflowFile, toWorkflowFile, type WorkflowFile } from './workflow-file.parser.ts'

const RUNS_AT_ONCE = 100
const NAMES_LAST_MS = 30 * DAY_MS

type Reading = {
  services: Services
  client: HostClient
  reads: TolerantReads
  key: RepositoryKey
  repository: HostRepository
  runs: RunWithoutDetails[]
}

/**
 * Reads what events do not say about runs: the author of the commit, the merged pull request, the
 * workflow file, earlier attempts and the names of actors. Takes some runs of a repository, newest
 * first. What the host does not have stays null and is not asked for again.
 */
export async function readRunDetails(services: Services, key: RepositoryKey): Promise<void> {
  const opened = await openRepository(services, key)
  if (opened === null) return
  const runs = await listWithoutDetails(services.sql, key, RUNS_AT_ONCE)
  if (runs.length === 0) return
  const reading = { ...opened, services, reads: createTolerantReads(), key, runs }
  await readCommits(reading)
  await readAccounts(reading)
  await readEarlierAttempts(reading)
  await markRead(reading)
  reading.reads.end()
}

/** Asks the host once per workflow file for all commits, each with the version of the file. */
async function readCommits(reading: Reading): Promise<void> {
  const { services, client, reads, key, repository, runs } = reading
  const shas = [...new Set(runs.map(({ commit_sha }) => commit_sha))]
  const merged = new Map(
    (await findMergedPullRequests(services.sql, key, shas)).map((pull) => [pull.merge_commit_sha, pull]),
  )
  for (const [workflow_path, group] of Map.groupBy(runs, (run) => run.workflow_path)) {
    const runsOf = Map.groupBy(group, ({ commit_sha }) => commit_sha)
    const wanted = [...runsOf.keys()].map((sha) => ({ sha, workflow_path }))
    const commits = await reads.read('readCommits', () => client.readCommits(repository, wanted), [])
    if (workflow_path !== null) await readWorkflowFiles(reading, workflow_path, commits)
    for (const commit of commits) {
      const ids = (runsOf.get(commit.sha) ?? []).map(({ run_id }) => run_id)
      const pull = merged.get(commit.sha) ?? commit.merged_pull_request
      await updateCommit(services.sql, key.org_id, ids, { ...commit, merged_pull_request: pull })
    }
  }
}

/** Reads each version of a workflow file once. */
async function readWorkflowFiles(
  { services: { sql }, client, reads, key, repository }: Reading,
  path: string,
  commits: readonly HostCommit[],
): Promise<void> {
  const files = new Map<string, HostFile>()
  for (const { sha, workflow_blob: blob } of commits)
    if (blob !== null) files.set(blob, { path, commit_sha: sha, blob })
  for (const blob of await listUnknownFiles(sql, key, [...files.keys()])) {
    const file = files.get(blob) as HostFile
    const workflow = await reads.read('readFile', () => readWorkflow(client, repository, file), undefined)
    if (workflow !== undefined) await insertWorkflowFile(sql, key, blob, workflow)
  }
}

/** Files in the syntax of GitHub are read here; hosts with another one describe their jobs. */
async function readWorkflow(client: HostClient, repository: HostRepository, file: HostFile): Promise<WorkflowFile> {
  if (client.readWorkflow) {
    const described = await client.readWorkflow(repository, file)
    return described === null ? NO_WORKFLOW : toWorkflowFile(described)
  }
  const text = await client.readFile(repository, file)
  return text === null ? NO_WORKFLOW : parseWorkflowFile(text)
}

async function readAccounts({ services: { sql, clock }, client, reads, key, runs }: Reading): Promise<void> {
  const now = clock.now()
  const logins = new Map(runs.map(({ actor_id, actor_login }) => [actor_id, actor_login]))
  const ids = [...logins.keys()].filter((id) => id !== null)
  const known = await listKnownAccounts(sql, key, ids, new Date(now.getTime() - NAMES_LAST_MS))
  for (const id of ids.filter((actor) => !known.includes(actor))) {
    const account = await reads.read('readAccount', () => client.readAccount(logins.get(id) as string), undefined)
    if (account === undefined) continue
    await upsertAccount(sql, key, { id, name: account?.id === id ? account.name : null, read_at: now })
  }
}

async function readEarlierAttempts({ services, client, reads, key, repository, runs }: Reading): Promise<void> {
  const source = { ...key, connection_id: '', provider: repository.provider, host: repository.host }
  const missing = runs.flatMap((run) => run.missing_attempts.map((attempt) => ({ run, attempt })))
  for (const {
    run: { external_run_id: id },
    attempt,
  } of missing) {
    const learned = { by: 'read', at: services.clock.now() } as const
    const run = await reads.read('readRun', () => client.readRun(repository, id, attempt), null)
    if (run?.attempt !== attempt) continue
    await services.sql.begin((tx) => applyHostRun(services, tx, { ...source, learned }, run))
  }
}

/**
 * Runs of which something may be read later are asked for again, but not for longer than
 * `READ_AGAIN_MS`. The completion of the runs queues this job again while it has untried ones.
 */
async function markRead({ services: { sql, clock }, reads, key, runs }: Reading): Promise<void> {
  const now = clock.now()
  const isRecent = ({ details_tried_at: at }: RunWithoutDetails) =>
    at === null || now.getTime() - at.getTime() < READ_AGAIN_MS
  const again = reads.missed > 0 ? runs.filter(isRecent) : []
  const read = runs.filter((run) => !again.includes(run))
  const ids = runs.map(({ run_id }) => run_id)
  await updateDetails(sql, key.org_id, again, { due: true, now })
  await updateDetails(sql, key.org_id, read, { due: false, now })
  await insertUnscored(sql, key, ids)
  await enqueue(sql, completeRunsJob, key)
}
