import { type Claims, getClaimNumber, getClaimOfForm, getClaimStart, getClaimText, selectClaims } from './claims.ts'
import { isOnThisMachine } from './issuer.ts'
import {
  ATTEMPT_MAX,
  COMMIT_SHA,
  NAME_CHARS_MAX,
  REF,
  RUN_ID,
  RUN_NUMBER_MAX,
  type TokenEvent,
  type TokenJob,
  type TrustTerms,
  toAddress,
} from './token-job.ts'

const KEPT = [
  'sub',
  'repository',
  'repository_id',
  'repository_owner',
  'repository_owner_id',
  'repository_visibility',
  'run_id',
  'run_attempt',
  'run_number',
  'workflow',
  'workflow_ref',
  'workflow_sha',
  'job_workflow_ref',
  'sha',
  'ref',
  'ref_type',
  'head_ref',
  'base_ref',
  'event_name',
  'actor',
  'actor_id',
  'environment',
  'runner_environment',
] as const

/** Reads the claims of a GitHub Actions job (GitHub, "OpenID Connect reference"). */
export function readGithubJob(claims: Claims, issuer: string, terms: TrustTerms): TokenJob | null {
  const runId = getClaimOfForm(claims, 'run_id', RUN_ID)
  const repositoryId = getClaimOfForm(claims, 'repository_id', /^[1-9]\d{0,18}$/)
  if (runId === null || repositoryId === null) return null
  const address = toAddress(getGithubHost(issuer), getClaimText(claims, 'repository'))
  const attempt = getClaimNumber(claims, 'run_attempt', ATTEMPT_MAX)
  return {
    provider: 'github',
    run: { ci_system: 'github-actions', external_run_id: runId, host_run_id: runId, attempt },
    repository: {
      id: repositoryId,
      owner_id: getClaimText(claims, 'repository_owner_id'),
      host: isOnThisMachine(issuer) ? null : getGithubHost(issuer),
      address,
    },
    commit_sha: getClaimOfForm(claims, 'sha', COMMIT_SHA),
    ref: getClaimOfForm(claims, 'ref', REF),
    pipeline_name: getClaimStart(claims, 'workflow', NAME_CHARS_MAX),
    run_number: getClaimNumber(claims, 'run_number', RUN_NUMBER_MAX),
    event: classifyEvent(claims),
    actor: getClaimStart(claims, 'actor', NAME_CHARS_MAX),
    environment: getClaimStart(claims, 'environment', NAME_CHARS_MAX),
    url: address && `https://${address}/actions/runs/${runId}${attempt === null ? '' : `/attempts/${attempt}`}`,
    foreign_code: classifyCode(claims, terms),
    claims: selectClaims(claims, KEPT),
  }
}

const GITHUB_HOST = 'github.com'
const GITHUB_ISSUER_HOST = 'token.actions.githubusercontent.com'
const SERVER_PATH = '/_services/token'
const TENANT_HOST = /^token\.actions\.([a-z0-9-]+\.ghe\.com)$/

/**
 * The host of the repositories: `https://HOST/_services/token` is the issuer of a GitHub Enterprise
 * Server, `https://token.actions.TENANT.ghe.com` that of an enterprise with data residency. Another
 * issuer cannot speak for repositories of github.com, except one on this machine.
 */
export function getGithubHost(issuer: string): string {
  const { host, pathname } = new URL(issuer)
  if (pathname.startsWith(SERVER_PATH)) return host
  if (host === GITHUB_ISSUER_HOST || isOnThisMachine(issuer)) return GITHUB_HOST
  return TENANT_HOST.exec(host)?.[1] ?? host
}

const EVENTS = new Map<string, TokenEvent>([
  ['pull_request', 'pull_request'],
  ['pull_request_target', 'pull_request'],
  ['pull_request_review', 'pull_request'],
  ['pull_request_review_comment', 'pull_request'],
  ['schedule', 'schedule'],
  ['workflow_dispatch', 'manual'],
])

function classifyEvent(claims: Claims): TokenEvent {
  const name = getClaimText(claims, 'event_name') ?? ''
  if (name === 'push') return getClaimText(claims, 'ref_type') === 'tag' ? 'tag' : 'push'
  return EVENTS.get(name) ?? 'other'
}

/**
 * The events whose workflows run code that somebody with write access has put into the repository.
 * All others can be caused by strangers, or start a workflow with what strangers wrote.
 */
const TRUSTED_EVENTS = ['push', 'schedule', 'merge_group', 'workflow_dispatch', 'release', 'create', 'deployment']
const OWN_REF = /^refs\/(?:heads|tags)\/./

/**
 * An event that is not listed counts as one of strangers, so that a new one of GitHub does. The
 * token does not tell whether the head of a pull request is in a fork. Strangers can leave
 * something behind on a self-hosted runner of a public repository (GitHub, "Secure use reference").
 */
function classifyCode(claims: Claims, terms: TrustTerms): TokenJob['foreign_code'] {
  if (isOnPublicRunner(claims) && !terms.self_hosted) return 'possible'
  const event = getClaimText(claims, 'event_name') ?? ''
  const isTrusted = TRUSTED_EVENTS.includes(event) || terms.trusted_events.includes(event)
  if (isTrusted && OWN_REF.test(getClaimText(claims, 'ref') ?? '')) return 'none'
  return event === 'pull_request' ? 'pull_request' : 'possible'
}

/**
 * GitHub Enterprise Server may leave the visibility out. Its repositories are not public to
 * strangers.
 */
function isOnPublicRunner(claims: Claims): boolean {
  const isSelfHosted = getClaimText(claims, 'runner_environment') === 'self-hosted'
  return isSelfHosted && getClaimText(claims, 'repository_visibility') === 'public'
}

/** The form of an event that a trust can name. */
export const EVENT_FORM = '^[a-z_]{1,50}$'

/** Why the code of a job may be that of strangers, as far as its trust could say that it is not. */
export type UnusualJob = { event: string; self_hosted: boolean }

/** What a trust would have to name for a job to count; null where it says nothing about it. */
export function getUnusual({ provider, foreign_code, claims }: TokenJob): UnusualJob | null {
  const { event_name: event } = claims
  if (provider !== 'github' || foreign_code !== 'possible') return null
  if (event === undefined || !new RegExp(EVENT_FORM).test(event)) return null
  const self_hosted = isOnPublicRunner(claims)
  return self_hosted || !isListedEvent(event) ? { event, self_hosted } : null
}

/** Whether an event counts without a trust that names it, if the rest of the token permits. */
export function isListedEvent(event: string): boolean {
  return event === 'pull_request' || TRUSTED_EVENTS.includes(event)
}
