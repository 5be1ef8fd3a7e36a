import { CODE_HOSTS } from '../../codehosts/catalogue.ts'
import { type Claims, getClaimNumber, getClaimOfForm, getClaimStart, getClaimText, selectClaims } from './claims.ts'
import { isOnThisMachine } from './issuer.ts'
import {
  ATTEMPT_MAX,
  COMMIT_SHA,
  JOB_INSTANCE,
  NAME_CHARS_MAX,
  REF,
  RUN_ID,
  RUN_NUMBER_MAX,
  type TokenEvent,
  type TokenJob,
  type TrustTerms,
  toAddress,
} from './token-job.ts'
import { classifyCode } from './trusted-events.ts'

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
  'check_run_id',
  'workflow',
  'workflow_ref',
  'workflow_sha',
  'job_workflow_ref',
  'sha',
  'ref',
  'ref_type',
  'ref_protected',
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
  const host = isOnThisMachine(issuer) ? null : getGithubHost(issuer)
  const attempt = getClaimNumber(claims, 'run_attempt', ATTEMPT_MAX)
  return {
    provider: 'github',
    run: {
      ci_system: CODE_HOSTS.github.ciSystem,
      ci_instance: host,
      external_run_id: runId,
      host_run_id: runId,
      attempt,
    },
    repository: {
      id: repositoryId,
      owner_id: getClaimText(claims, 'repository_owner_id'),
      host,
      address,
    },
    instance: getClaimOfForm(claims, 'check_run_id', JOB_INSTANCE),
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
