import { truncate } from '../../../platform/text.ts'
import type { ActionSenders, HostAction } from '../../code-host.ts'
import type { DismissReason, HostAlertType } from '../../host-alert.ts'
import type { GithubApi } from './client.ts'

type Action<Type extends HostAction['type']> = Extract<HostAction, { type: Type }>

export function createActionSenders(api: GithubApi): ActionSenders {
  return {
    decision: ({ target, decision, text }) => answerRule(api, target, { state: decision, comment: text }),
    comment: ({ target, text }) => answerRule(api, target, { comment: text }),
    dismissal: (action) => sendDismissal(api, action),
    /** Opens a dismissed alert again. Repeating it has no further effect. */
    reopening: ({ repository, alert }) => send(api, { repository, alert }, { state: 'open' }),
    commit_status: (action) => sendCommitStatus(api, action),
  }
}

/** Longer texts are refused (GitHub's guide to custom deployment protection rules). */
const COMMENT_CHARS_MAX = 1024
const DESCRIPTION_CHARS_MAX = 140

/**
 * Answers our protection rule. The address is made from the run and the repository. The callback
 * address that a webhook named is not used, so that it cannot direct our token elsewhere.
 */
function answerRule(
  api: GithubApi,
  { repository, run_id, environment }: Action<'decision'>['target'],
  answer: { state?: 'approved' | 'rejected'; comment: string },
): Promise<void> {
  return api.send('POST /repos/{owner}/{repo}/actions/runs/{run_id}/deployment_protection_rule', {
    repository,
    run_id,
    environment_name: environment,
    ...answer,
    comment: truncate(answer.comment, COMMENT_CHARS_MAX),
  })
}

function sendCommitStatus(api: GithubApi, action: Action<'commit_status'>): Promise<void> {
  const { repository, commit_sha: sha, context, state, description, url } = action
  return api.send('POST /repos/{owner}/{repo}/statuses/{sha}', {
    repository,
    sha,
    context,
    state,
    description: truncate(description, DESCRIPTION_CHARS_MAX),
    ...(url === null ? {} : { target_url: url }),
  })
}

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
    risk_accepted: "won't fix",
    mitigated: "won't fix",
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
    risk_accepted: 'tolerable_risk',
    mitigated: 'tolerable_risk',
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
    risk_accepted: 'wont_fix',
    mitigated: 'wont_fix',
  },
}

/** The word for a reason that this version does not know. */
const OTHER: DismissReason = 'wont_fix'
const DISMISSAL_CHARS_MAX = 280

/** Dismisses an alert. Repeating it has no further effect. */
function sendDismissal(api: GithubApi, { repository, alert, reason, comment }: Action<'dismissal'>): Promise<void> {
  const words = WORDS[alert.type]
  // A reason that is a word of GitHub stays: the alert was dismissed there before.
  const ownWord = Object.values(words).includes(reason) ? reason : words[OTHER]
  const word = Object.hasOwn(words, reason) ? words[reason as DismissReason] : ownWord
  const text = comment === null ? null : truncate(comment, DISMISSAL_CHARS_MAX)
  const isSecret = alert.type === 'secret_scanning'
  return send(
    api,
    { repository, alert },
    isSecret
      ? { state: 'resolved', resolution: word, ...(text === null ? {} : { resolution_comment: text }) }
      : { state: 'dismissed', dismissed_reason: word, ...(text === null ? {} : { dismissed_comment: text }) },
  )
}

const FOLDERS = {
  code_scanning: 'code-scanning',
  dependabot: 'dependabot',
  secret_scanning: 'secret-scanning',
} as const

function send(
  api: GithubApi,
  { repository, alert }: Pick<Action<'dismissal'>, 'repository' | 'alert'>,
  change: Record<string, string>,
): Promise<void> {
  const route = `PATCH /repos/{owner}/{repo}/${FOLDERS[alert.type]}/alerts/{alert_number}` as const
  return api.send(route, { repository, alert_number: alert.number, ...change })
}
