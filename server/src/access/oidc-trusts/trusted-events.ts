import { type Claims, getClaimText } from './claims.ts'
import type { TokenJob, TrustTerms } from './token-job.ts'

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
export function classifyCode(claims: Claims, terms: TrustTerms): TokenJob['foreign_code'] {
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
