import { shortened } from '../../../platform/shortened.ts'
import type { HostAction } from '../../code-host.ts'
import type { DismissReason, HostAlertType } from '../../host-alert.ts'
import type { GithubApi } from '../client/github-api.ts'

/**
 * GitHub's word for each of our reasons. Each type of alerts has its own words, so some reasons
 * share the nearest one.
 */
const WORDS: Readonly<Record<HostAlertType, Readonly<Record<DismissReason, string>>>> = {
  code_scanning: {
    false_positive: 'false positive',
    inaccurate: 'false positive',
    used_in_tests: 'used in tests',
    not_used: "won't fix",
    wont_fix: "won't fix",
    tolerable_risk: "won't fix",
    no_capacity: "won't fix",
    revoked: "won't fix",
  },
  dependabot: {
    false_positive: 'inaccurate',
    inaccurate: 'inaccurate',
    used_in_tests: 'tolerable_risk',
    not_used: 'not_used',
    wont_fix: 'tolerable_risk',
    tolerable_risk: 'tolerable_risk',
    no_capacity: 'no_bandwidth',
    revoked: 'tolerable_risk',
  },
  secret_scanning: {
    false_positive: 'false_positive',
    inaccurate: 'false_positive',
    used_in_tests: 'used_in_tests',
    not_used: 'wont_fix',
    wont_fix: 'wont_fix',
    tolerable_risk: 'wont_fix',
    no_capacity: 'wont_fix',
    revoked: 'revoked',
  },
}

/** Stands for a reason that this version does not know. */
const OTHER: DismissReason = 'wont_fix'
const COMMENT_CHARS_MAX = 280

type Dismissal = Extract<HostAction, { type: 'dismissal' }>

/** Dismisses an alert. Repeating it has no further effect. */
export function sendDismissal(api: GithubApi, { repository, alert, reason, comment }: Dismissal): Promise<void> {
  const words = WORDS[alert.type]
  const word = Object.hasOwn(words, reason) ? words[reason as DismissReason] : words[OTHER]
  const text = comment === null ? null : shortened(comment, COMMENT_CHARS_MAX)
  const address = { repository, alert_number: alert.number }
  if (alert.type === 'secret_scanning') {
    const change = { state: 'resolved', resolution: word, ...(text === null ? {} : { resolution_comment: text }) }
    return api.send('PATCH /repos/{owner}/{repo}/secret-scanning/alerts/{alert_number}', { ...address, ...change })
  }
  const change = { state: 'dismissed', dismissed_reason: word, ...(text === null ? {} : { dismissed_comment: text }) }
  return api.send(`PATCH /repos/{owner}/{repo}/${FOLDERS[alert.type]}/alerts/{alert_number}`, { ...address, ...change })
}

const FOLDERS = { code_scanning: 'code-scanning', dependabot: 'dependabot' } as const
