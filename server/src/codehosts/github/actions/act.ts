import { shortened } from '../../../platform/shortened.ts'
import type { HostAction, HostClient } from '../../code-host.ts'
import type { GithubApi } from '../client/github-api.ts'
import { sendDismissal, sendReopening } from './send-dismissal.ts'

type Send<Type extends HostAction['type']> = (
  api: GithubApi,
  action: Extract<HostAction, { type: Type }>,
) => Promise<void>

const SENDERS: { readonly [Type in HostAction['type']]: Send<Type> } = {
  decision: (api, { target, decision, text }) => answerRule(api, target, { state: decision, comment: text }),
  comment: (api, { target, text }) => answerRule(api, target, { comment: text }),
  dismissal: sendDismissal,
  reopening: sendReopening,
  commit_status: sendCommitStatus,
}

export function act(api: GithubApi): HostClient['act'] {
  return (action) => (SENDERS[action.type] as Send<HostAction['type']>)(api, action as never)
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
  { repository, run_id, environment }: Extract<HostAction, { type: 'decision' }>['target'],
  answer: { state?: 'approved' | 'rejected'; comment: string },
): Promise<void> {
  return api.send('POST /repos/{owner}/{repo}/actions/runs/{run_id}/deployment_protection_rule', {
    repository,
    run_id,
    environment_name: environment,
    ...answer,
    comment: shortened(answer.comment, COMMENT_CHARS_MAX),
  })
}

function sendCommitStatus(api: GithubApi, action: Extract<HostAction, { type: 'commit_status' }>): Promise<void> {
  const { repository, commit_sha: sha, context, state, description, url } = action
  return api.send('POST /repos/{owner}/{repo}/statuses/{sha}', {
    repository,
    sha,
    context,
    state,
    description: shortened(description, DESCRIPTION_CHARS_MAX),
    ...(url === null ? {} : { target_url: url }),
  })
}
