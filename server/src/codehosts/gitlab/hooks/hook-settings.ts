import type { WebhookTarget } from '../../code-host.ts'
import { signingToken } from './webhook-secret.ts'

/** Events that we use. Servers ignore those that they do not know. */
const WANTED = ['push', 'merge_requests', 'note', 'pipeline', 'job', 'deployment', 'vulnerability', 'project']
const UNWANTED = [
  ...['tag_push', 'issues', 'confidential_issues', 'confidential_note', 'wiki_page', 'releases'],
  ...['feature_flag', 'milestone', 'emoji', 'subgroup', 'member', 'resource_access_token'],
]

/**
 * Everything that a webhook of ours has. GitLab shows neither its secrets nor whether they are
 * right, so they are always sent.
 */
export function hookSettings({ address, secret }: WebhookTarget): Record<string, unknown> {
  const events = [...WANTED.map((event) => [event, true]), ...UNWANTED.map((event) => [event, false])]
  return {
    url: address,
    token: secret,
    signing_token: signingToken(secret),
    enable_ssl_verification: true,
    push_events_branch_filter: '',
    branch_filter_strategy: 'all_branches',
    ...Object.fromEntries(events.map(([event, isWanted]) => [`${event}_events`, isWanted])),
  }
}
