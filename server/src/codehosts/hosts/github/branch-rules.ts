import { type Static, Type } from 'typebox'
import type { HostReader } from '../../code-host.ts'
import type { HostBranchRules } from '../../host-change.ts'
import type { HostRepository } from '../../host-repository.ts'
import { Id, Maybe, parseText, readAs, Text } from '../../kit/payload.ts'
import type { GithubApi } from './client.ts'
import { fetchFile, formatContentsRoute } from './repositories.ts'

/** GitHub uses the first file that exists. */
const PATHS = ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS']
/** GitHub does not use a larger file, nor one of the later paths in its place. */
const BYTES_MAX = 3 * 1024 * 1024

export function readCodeOwners(api: GithubApi): HostReader['readCodeOwners'] {
  return async (repository, commitSha) => {
    for (const path of PATHS) {
      const found = await api.read(formatContentsRoute(path), { repository, ref: commitSha })
      const file = found && api.parseItem(found, parseFile)
      if (file === null) continue
      const text = await fetchText(api, repository, { ...file, path, commit_sha: commitSha })
      return text === null || Buffer.byteLength(text) > BYTES_MAX ? null : { path, text }
    }
    return null
  }
}

const File = Type.Object({
  type: Maybe(Text),
  size: Maybe(Id),
  sha: Maybe(Text),
  content: Maybe(Text),
  encoding: Maybe(Text),
})

type FoundFile = { size: number | null; blob: string | null; text: string | null }

/** Null for a folder, and for a link to another repository. */
function parseFile(value: unknown): FoundFile | null {
  if (Array.isArray(value)) return null
  const { type, size, sha, content, encoding } = readAs(File, value)
  if (type !== undefined && type !== null && type !== 'file') return null
  const text = encoding === 'base64' ? Buffer.from(content ?? '', 'base64').toString() : null
  return { size: size ?? null, blob: sha ?? null, text: text && (parseText(text) ?? '') }
}

/** GitHub includes the text of files up to 1 MB. */
async function fetchText(
  api: GithubApi,
  repository: HostRepository,
  { size, blob, text, path, commit_sha }: FoundFile & { path: string; commit_sha: string },
): Promise<string | null> {
  if (size !== null && size > BYTES_MAX) return null
  if (text !== null || blob === null) return text
  return fetchFile(api, repository, { path, commit_sha, blob })
}

/** A rule of a ruleset. Rules without parameters have none. */
const Rule = Type.Object({ type: Text, parameters: Maybe(Type.Unknown()) })

const PullRequestParameters = Type.Object({
  required_approving_review_count: Maybe(Id),
  require_code_owner_review: Maybe(Type.Boolean()),
})

const StatusCheckParameters = Type.Object({
  required_status_checks: Maybe(Type.Array(Type.Object({ context: Text }))),
})

/**
 * What all rules of a branch require together: the strictest of each. Rules of other types are left
 * out. Throws an `Error` if a rule cannot be read, because the others would seem to be all.
 */
export function parseBranchRules(values: readonly unknown[]): HostBranchRules {
  const rules = values.map((value) => readAs(Rule, value))
  const has = (type: string) => rules.some((rule) => rule.type === type)
  const pullRequests = parseParameters(rules, 'pull_request', PullRequestParameters)
  const checks = parseParameters(rules, 'required_status_checks', StatusCheckParameters)
  const contexts = checks.flatMap(({ required_status_checks: required }) => required ?? [])
  return {
    requires_pull_request: has('pull_request'),
    required_approvals: Math.max(0, ...pullRequests.map((rule) => rule.required_approving_review_count ?? 0)),
    requires_code_owner_review: pullRequests.some((rule) => rule.require_code_owner_review),
    required_checks: [...new Set(contexts.map(({ context }) => context))].sort(),
    requires_signatures: has('required_signatures'),
    blocks_force_pushes: has('non_fast_forward'),
    blocks_deletion: has('deletion'),
    requires_merge_queue: has('merge_queue'),
    complete: false,
  }
}

function parseParameters<Schema extends typeof PullRequestParameters | typeof StatusCheckParameters>(
  rules: readonly Static<typeof Rule>[],
  type: string,
  schema: Schema,
): Static<Schema>[] {
  return rules.filter((rule) => rule.type === type).map(({ parameters }) => readAs(schema, parameters ?? {}))
}
