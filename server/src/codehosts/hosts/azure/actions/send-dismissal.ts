import { type HostAction, HostRefusal } from '../../../code-host.ts'
import type { DismissReason } from '../../../host-alert.ts'
import { restPath } from '../../../kit/rest-client.ts'
import type { AzureApi } from '../client.ts'

/** Advanced Security's word for each of our reasons. Some share the nearest one. */
const WORDS: Readonly<Record<DismissReason, string>> = {
  false_positive: 'falsePositive',
  inaccurate: 'falsePositive',
  used_in_tests: 'acceptedRisk',
  not_used: 'notDistributed',
  wont_fix: 'acceptedRisk',
  tolerable_risk: 'acceptedRisk',
  no_capacity: 'acceptedRisk',
  revoked: 'fixed',
  risk_accepted: 'acceptedRisk',
  mitigated: 'acceptedRisk',
}

/** The word for a reason that this version does not know. */
const OTHER = WORDS.wont_fix
/** Words that alerts were dismissed with before, in Azure DevOps. */
const OWN_WORDS = ['fixed', 'acceptedRisk', 'falsePositive', 'agreedToGuidance', 'toolUpgrade', 'notDistributed']

type Dismissal = Extract<HostAction, { type: 'dismissal' }>
type Reopening = Extract<HostAction, { type: 'reopening' }>

/** Dismisses an alert. Repeating it has no further effect. */
export function sendDismissal(api: AzureApi, { repository, alert, reason, comment }: Dismissal): Promise<void> {
  const word = Object.hasOwn(WORDS, reason) ? WORDS[reason as DismissReason] : ownWord(reason)
  const change = {
    state: 'dismissed',
    dismissedReason: word,
    ...(comment === null ? {} : { dismissedComment: comment }),
  }
  return send(api, { repository, alert }, change)
}

/** Opens a dismissed alert again. Repeating it has no further effect. */
export function sendReopening(api: AzureApi, { repository, alert }: Reopening): Promise<void> {
  return send(api, { repository, alert }, { state: 'active' })
}

function ownWord(reason: string): string {
  return OWN_WORDS.includes(reason) ? reason : OTHER
}

async function send(
  api: AzureApi,
  { repository, alert }: Pick<Reopening, 'repository' | 'alert'>,
  body: Record<string, string>,
): Promise<void> {
  const project = await api.projectOf(repository)
  if (project === null) throw new HostRefusal(404, 'The repository does not exist, or may not be read.')
  const path = restPath`/${project}/_apis/alert/repositories/${repository.id}/alerts/${alert.number}`
  await api.request({ method: 'PATCH', path, body, security: true })
}
