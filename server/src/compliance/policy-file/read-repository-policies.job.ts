import { type HostClient, HostRefusal } from '../../codehosts/code-host.ts'
import { openRepository } from '../../codehosts/connections/open-client.ts'
import type { HostEventHandler } from '../../codehosts/deliveries/host-event-handler.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import { defineJob, enqueue, formatLoneParty } from '../../platform/queue/job.ts'
import { findById } from '../../repositories/repository.store.ts'
import { formatRepositoryKey, parseBranchName, REPOSITORY_KEY } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { checkRego } from '../engines/evaluate-rego.ts'
import { RegoError } from '../engines/opa-server.ts'
import { POLICY_FILES_MAX } from '../policies/policy.store.ts'
import { PolicyFileError } from './policy-document.ts'
import { findPolicyCommit, listPolicyFiles, type PolicySource, upsertPush } from './policy-source.store.ts'
import { isPolicyFile, POLICY_FOLDERS, parseRepositoryPolicy } from './repository-policy.parser.ts'
import { type FoundPolicies, type ReadFile, synchronizePolicies } from './store-policies.ts'

/**
 * Reads the policy files of a repository's tracked branch. Waiting jobs of a repository are one.
 */
export const readRepositoryPoliciesJob = defineJob('compliance.read-repository-policies', {
  waitsFor: ({ provider }) => formatLoneParty(provider),
  payload: REPOSITORY_KEY,
  attemptsMax: 20,
  once: formatRepositoryKey,
  run: readRepositoryPolicies,
})

async function readRepositoryPolicies(services: Services, source: PolicySource): Promise<void> {
  const { sql } = services
  const opened = await openRepository(services, source)
  if (opened === null) return
  const { client, repository } = opened
  const commitSha = (await findPolicyCommit(sql, source)) ?? (await noteHead(services, source, opened))
  if (commitSha === null) return
  const known = new Map((await listPolicyFiles(sql, source)).map(({ path, blob }) => [path, blob]))
  const listed = await listFiles(client, repository, commitSha)
  if (listed === null) return keepPolicies(services, source, commitSha, known)
  const files: ReadFile[] = []
  for (const file of listed.slice(0, POLICY_FILES_MAX)) {
    const isKnown = known.get(file.path) === file.blob
    files.push(
      isKnown ? { ...file, policy: 'unchanged' } : await readFile(services, { client, repository, commitSha }, file),
    )
  }
  const mistakes: FoundPolicies['mistakes'] = []
  if (listed.length > POLICY_FILES_MAX) {
    const message = `a repository can have at most ${POLICY_FILES_MAX} policy files; the others are ignored`
    mistakes.push({ path: POLICY_FOLDERS[0] as string, message })
  }
  await synchronizePolicies(services, source, { commitSha, files, mistakes })
}

/** Before the first push, the head of the tracked branch counts. Every push is newer. */
async function noteHead(
  { sql }: Services,
  source: PolicySource,
  { client, repository }: Pick<Place, 'client' | 'repository'>,
): Promise<string | null> {
  const head = await client.readBranchHead(repository, repository.default_branch)
  if (head !== null) await sql.begin((tx) => upsertPush(tx, source, { commit_sha: head, pushed_at: new Date(0) }))
  return findPolicyCommit(sql, source)
}

type File = { path: string; blob: string }

/** Null if the host does not let us read the folders. */
async function listFiles(client: HostClient, repository: HostRepository, commitSha: string): Promise<File[] | null> {
  try {
    const folders = await Promise.all(POLICY_FOLDERS.map((path) => client.listFolder(repository, path, commitSha)))
    return folders.flat().filter(({ path }) => isPolicyFile(path))
  } catch (error) {
    if (error instanceof HostRefusal) return null
    throw error
  }
}

/** Files that cannot be read keep their last good versions. Without any there is nothing to say. */
async function keepPolicies(services: Services, source: PolicySource, commitSha: string, known: Map<string, string>) {
  const files = [...known].map(([path, blob]) => ({ path, blob, policy: 'unchanged' as const }))
  const mistakes = files.map(({ path }) => ({ path, message: 'the file could not be read' }))
  if (files.length > 0) await synchronizePolicies(services, source, { commitSha, files, mistakes })
}

type Place = { client: HostClient; repository: HostRepository; commitSha: string }

async function readFile(services: Services, { client, repository, commitSha }: Place, file: File): Promise<ReadFile> {
  const text = await client.readFile(repository, { ...file, commit_sha: commitSha })
  if (text === null) return { ...file, policy: null, mistake: 'the file could not be read' }
  try {
    const policy = parseRepositoryPolicy(file.path, text)
    if (policy.engine.type === 'rego') await checkRego(services, policy.engine)
    return { ...file, policy, source: text }
  } catch (error) {
    return { ...file, policy: null, mistake: explain(error) }
  }
}

/**
 * Mistakes of the author become text. Other errors, such as an OPA server that does not answer, are
 * thrown, so that the job is tried again.
 */
function explain(error: unknown): string {
  if (error instanceof PolicyFileError) return error.message
  if (error instanceof RegoError)
    return error.mistakes.map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`).join('\n')
  throw error
}

/**
 * After a push to the tracked branch: reads the repository's policy files again. Pushes that arrive
 * late are ignored, because the newest commit contains them.
 */
export const followPush: HostEventHandler<'push'> = async (_services, tx, { org_id, provider }, push) => {
  const { after, ref, pushed_at, repository } = push
  const known = await findById(tx, org_id, provider, repository.id)
  const tracked = known?.tracked_branch ?? repository.default_branch
  if (after === null || !ref.startsWith('refs/heads/') || parseBranchName(ref) !== parseBranchName(tracked)) return
  const source = { org_id, provider, repository_id: repository.id }
  if (await upsertPush(tx, source, { commit_sha: after, pushed_at }))
    await enqueue(tx, readRepositoryPoliciesJob, source)
}

/** An import queues this for every repository; it must not hold up what people wait for. */
const FIRST_READ = { ...readRepositoryPoliciesJob, priority: 10 }

/** Reads the policy files of a repository that was connected, without waiting for its next push. */
export const followRepository: HostEventHandler<'repository'> = async (_services, tx, { org_id, provider }, event) => {
  const source = { org_id, provider, repository_id: event.repository.id }
  if (event.change === 'changed' && (await findPolicyCommit(tx, source)) === null) await enqueue(tx, FIRST_READ, source)
}
