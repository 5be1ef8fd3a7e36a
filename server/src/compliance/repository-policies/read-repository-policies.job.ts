import { type Static, Type } from 'typebox'
import type { HostClient } from '../../codehosts/code-host.ts'
import { openRepository } from '../../codehosts/connections/open-client.ts'
import type { HostRepository } from '../../codehosts/host-repository.ts'
import type { Job } from '../../platform/queue/job.ts'
import type { Services } from '../../services.ts'
import { compileRego } from '../engines/evaluate-rego.ts'
import { RegoError } from '../engines/opa-server.ts'
import { POLICY_FILES_MAX } from '../policies/policy.store.ts'
import { PolicyFileError } from '../policy-file/policy-mistake.ts'
import { parseRepositoryPolicy } from './parse-repository-policy.ts'
import { isPolicyFile, POLICY_FOLDERS } from './policy-folder.ts'
import { findPolicyCommit, listPolicyFiles, type PolicySource } from './policy-source.store.ts'
import { type FoundPolicies, type ReadFile, storePolicies } from './store-policies.ts'

const Payload = Type.Object({ org_id: Type.String(), provider: Type.String(), repository_id: Type.String() })

/**
 * Reads the policy files of a repository's tracked branch. Waiting jobs of a repository are one.
 */
export const readRepositoryPoliciesJob: Job<Services, Static<typeof Payload>> = {
  name: 'compliance.read-repository-policies',
  payload: Payload,
  attemptsMax: 20,
  once: ({ org_id, provider, repository_id }) => `${org_id} ${provider} ${repository_id}`,
  run: readRepositoryPolicies,
}

async function readRepositoryPolicies(services: Services, source: PolicySource): Promise<void> {
  const { sql } = services
  const [commitSha, opened] = await Promise.all([findPolicyCommit(sql, source), openRepository(services, source)])
  if (commitSha === null || opened === null) return
  const { client, repository } = opened
  const listed = await listFiles(client, repository, commitSha)
  const known = new Map((await listPolicyFiles(sql, source)).map(({ path, blob }) => [path, blob]))
  const files: ReadFile[] = []
  for (const file of listed.slice(0, POLICY_FILES_MAX)) {
    const isKnown = known.get(file.path) === file.blob
    files.push(isKnown ? { ...file, policy: 'unchanged' } : await readFile(services, { client, repository }, file))
  }
  await storePolicies(services, source, { commitSha, files, mistakes: tooMany(listed.length) })
}

type File = { path: string; blob: string }

async function listFiles(client: HostClient, repository: HostRepository, commitSha: string): Promise<File[]> {
  const folders = await Promise.all(POLICY_FOLDERS.map((path) => client.listFolder(repository, path, commitSha)))
  return folders.flat().filter(({ path }) => isPolicyFile(path))
}

function tooMany(count: number): FoundPolicies['mistakes'] {
  if (count <= POLICY_FILES_MAX) return []
  const message = `a repository can have at most ${POLICY_FILES_MAX} policy files; the others are ignored`
  return [{ path: POLICY_FOLDERS[0] as string, message }]
}

type Place = { client: HostClient; repository: HostRepository }

async function readFile(services: Services, { client, repository }: Place, file: File): Promise<ReadFile> {
  const text = await client.readBlob(repository, file.blob)
  if (text === null) return { ...file, policy: null, mistake: 'the file could not be read' }
  try {
    const policy = parseRepositoryPolicy(file.path, text)
    if (policy.engine.type === 'rego') await compileRego(services, policy.engine)
    return { ...file, policy }
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
