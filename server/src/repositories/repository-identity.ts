import { getCodeHost, listFormerAddresses, PROVIDERS, type Provider } from '../codehosts/catalogue.ts'
import { matchAnyGlob, matchGlob } from '../platform/glob.ts'
import { definePayload, text } from '../platform/queue/payload.ts'

const NAME_CHARS_MAX = 300
const SEGMENT = /^[\p{L}\p{N}._~+@ -]{1,200}$/u
const HOST = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[1-9]\d{0,4})?$/

export function getDefaultHost(provider: Provider): string {
  return getCodeHost(provider).host
}

/** An environment of a repository, whose host is known by its name or by the address. */
export type NamedEnvironment = { environment: string; repository: string; provider?: string | null | undefined }

/** The code hosts that compare environments without case (ci-evidence §4). */
export const CASELESS_PROVIDERS: readonly Provider[] = PROVIDERS.filter(
  (name) => getCodeHost(name).ignoresEnvironmentCase,
)

/** Whether a host compares environments without case. An unknown one is known by the address. */
function isCaseless({ provider, repository }: Pick<NamedEnvironment, 'provider' | 'repository'>): boolean {
  const known = PROVIDERS.find((name) => name === provider)
  if (known !== undefined) return CASELESS_PROVIDERS.includes(known)
  const { host } = splitAddress(repository)
  return CASELESS_PROVIDERS.some((name) => getDefaultHost(name) === host)
}

/** Whether one of the patterns matches an environment, without case where its host has none. */
export function matchEnvironment(patterns: readonly string[], named: NamedEnvironment): boolean {
  if (!isCaseless(named)) return matchAnyGlob(patterns, named.environment)
  return matchAnyGlob(
    patterns.map((pattern) => pattern.toLowerCase()),
    named.environment.toLowerCase(),
  )
}

/** The names as the host compares them. `address` is `host/owner/name`, for an unknown provider. */
export function isSameEnvironment(provider: string | null, one: string, other: string, address = ''): boolean {
  if (one === other) return true
  return one.toLowerCase() === other.toLowerCase() && isCaseless({ provider, repository: address })
}

/**
 * A repository id in the form that is stored: UUIDs in lower case, without braces. Null if it is
 * invalid.
 */
export function normalizeRepositoryId(provider: Provider, id: string): string | null {
  const { pattern, isBraced } = getCodeHost(provider).repositoryId
  const stored = (isBraced ? id.replace(/^\{(.*)\}$/, '$1') : id).toLowerCase()
  return pattern.test(stored) ? stored : null
}

/** The form of a provider's repository ids, for messages. */
export function describeRepositoryId(provider: Provider): string {
  return getCodeHost(provider).repositoryId.form
}

/** True for `owner/name`, with groups or a project in between if the provider has them. */
export function isRepositoryName(provider: Provider, name: string): boolean {
  const segments = name.split('/')
  if (name.length > NAME_CHARS_MAX || segments.length < 2 || segments.length > getCodeHost(provider).nameSegmentsMax)
    return false
  return segments.every((segment) => SEGMENT.test(segment) && segment !== '.' && segment !== '..')
}

/** Splits `host/owner/name` into the host and the name. An address without a slash is a name. */
export function splitAddress(address: string): { host: string; name: string } {
  const slash = address.indexOf('/')
  return { host: address.slice(0, Math.max(0, slash)), name: address.slice(slash + 1) }
}

/** True for a host name in lower case, optionally with a port. */
export function isHost(host: string): boolean {
  return HOST.test(host)
}

/**
 * True if a glob matches a repository: its whole address `host/owner/name`, or the name without the
 * host. Case is ignored, as on code hosts. Patterns that are written for a former address of the
 * repository match it, too (ci-evidence §1).
 */
export function matchRepository(pattern: string, repository: string): boolean {
  const [glob, address] = [pattern.toLowerCase(), repository.toLowerCase()]
  if (matchGlob(glob, address) || matchGlob(glob, splitAddress(address).name)) return true
  const former = listFormerAddresses(address).filter(({ mark }) => glob.includes(mark))
  return former.some((each) => matchGlob(glob, each.address) || matchGlob(glob, splitAddress(each.address).name))
}

export function matchAnyRepository(patterns: readonly string[], repository: string): boolean {
  return patterns.some((pattern) => matchRepository(pattern, repository))
}

const BRANCH_REF = 'refs/heads/'

/**
 * The branch that a ref names, in the one form in which branches are compared: `refs/heads/main`
 * and `main` are both `main`. A ref that does not start with `refs/` is the name of a branch. Every
 * other ref is no branch and gives null: a tag (`refs/tags/v1`), a merge request's merge commit
 * (`refs/pull/1/merge`), and an absent ref.
 *
 * The function `branch_name` of the database separates the streams of different refs. It has the
 * same rule for branches and returns other refs unchanged.
 */
export function parseBranchName(ref: string | null): string | null {
  if (ref === null || !ref.startsWith('refs/')) return ref
  return ref.startsWith(BRANCH_REF) ? ref.slice(BRANCH_REF.length) || null : null
}

/** `7/merge` is the `GITHUB_REF_NAME` of a pull request. */
const PROPOSED =
  /^(?:pull|pull-requests|merge-requests)\/\d+\/|^\d+\/(?:merge|head)$|^(?:refs\/heads\/)?gh-readonly-queue\//

/**
 * Whether a report about this ref is about the tracked branch of its repository. A report without a
 * ref is. If the repository is not connected, its tracked branch is unknown and every report
 * counts: it is better to show too many findings than to hide some. What only a pull or merge
 * request or a merge queue proposes never does.
 */
export function isTracked(ref: string | null, trackedBranch: string | null): boolean {
  if (ref === null) return true
  // Merge queues have branches of their own on some code hosts. Some CI systems shorten refs.
  if (trackedBranch === null) return !isRequestRef(ref) && !PROPOSED.test(ref)
  const branch = parseBranchName(ref)
  return branch !== null && branch === parseBranchName(trackedBranch)
}

/** Pull and merge requests have refs that are neither branches nor tags. */
export function isRequestRef(ref: string | null): boolean {
  return ref !== null && /^refs\/(?!heads\/|tags\/)/.test(ref)
}

/** Whether two refs are one, however they are written. A ref that is not known is none. */
export function isSameRef(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && (parseBranchName(one) ?? one) === (parseBranchName(other) ?? other)
}

const MERGE_QUEUE = /^(?:refs\/heads\/)?gh-readonly-queue\/|^refs\/merge-requests\/\d+\/train$/

/** Whether a ref is that of a merge queue, whose commit becomes that of the tracked branch. */
export function isMergeQueueRef(ref: string | null): boolean {
  return ref !== null && MERGE_QUEUE.test(ref)
}

/** A repository of a code host, as an organization sees it. Jobs have it as their payload. */
export type RepositoryKey = { org_id: string; provider: string; repository_id: string }

/** The payload of a job for a repository. */
export const REPOSITORY_KEY = definePayload({ org_id: text, provider: text, repository_id: text })

/** Names a repository in locks and in the keys of jobs. */
export function formatRepositoryKey({ org_id, provider, repository_id }: RepositoryKey): string {
  return `${org_id} ${provider} ${repository_id}`
}
