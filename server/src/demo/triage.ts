import { toPrincipal } from '../access/actor.ts'
import { DAY_MS } from '../platform/clock.ts'
import { createTriage } from '../security/triage/create-triage.ts'
import { mergeIssues, splitIssue } from '../security/triage/edit-issues.ts'
import { undoTriage } from '../security/triage/end-triage.ts'
import { listOpenIssues } from '../security/triage/target.store.ts'
import type { Demo, Step } from './world/demo.ts'

type Reason = 'false_positive' | 'wont_fix' | 'used_in_tests' | 'risk_accepted' | 'mitigated'

const DISMISSALS: readonly {
  days: number
  by: string
  kind: string
  title?: string
  at: number
  reason: Reason
  comment: string
  expires?: number
}[] = [
  {
    days: 74,
    by: 'praman',
    kind: 'secret',
    title: 'private key',
    at: 0,
    reason: 'used_in_tests',
    comment: 'The file is only read by the test suite.',
  },
  {
    days: 62,
    by: 'praman',
    kind: 'code',
    at: 0.33,
    reason: 'false_positive',
    comment: 'The value comes from an enumeration.',
  },
  {
    days: 47,
    by: 'sokafor',
    kind: 'dependency',
    at: 0.52,
    reason: 'mitigated',
    comment: 'The gateway limits the size of requests.',
  },
  {
    days: 30,
    by: 'praman',
    kind: 'secret',
    title: 'API key',
    at: 0,
    reason: 'risk_accepted',
    comment: 'Accepted until the move to the new carrier.',
    expires: 60,
  },
  {
    days: 17,
    by: 'sokafor',
    kind: 'dependency',
    at: 0.86,
    reason: 'wont_fix',
    comment: 'The service is shut down next month.',
  },
  {
    days: 6,
    by: 'praman',
    kind: 'code',
    at: 0.6,
    reason: 'false_positive',
    comment: 'Not reachable: the route needs a session.',
  },
]

/** What the security team decides: dismissals, one undone, a split and a merge. */
export function triageSteps(demo: Demo): Step[] {
  const ago = (days: number) => new Date(demo.now.getTime() - days * DAY_MS)
  return [
    ...DISMISSALS.map((dismissal) => ({ at: ago(dismissal.days), tell: (told: Demo) => dismiss(told, dismissal) })),
    { at: ago(25), tell: dismissByMistake },
    { at: ago(12), tell: split },
    { at: ago(11), tell: merge },
  ]
}

async function dismiss(
  demo: Demo,
  { by, kind, title = '', at, reason, comment, expires }: (typeof DISMISSALS)[number],
): Promise<void> {
  const open = await listOpenIssues(demo.services.sql, demo.source.org_id)
  const issues = open.filter((issue) => issue.kind === kind && issue.title.includes(title))
  const issue = issues[Math.floor(issues.length * at)]
  if (!issue) return
  const expires_at =
    expires === undefined ? null : new Date(demo.clock.now().getTime() + expires * DAY_MS).toISOString()
  const request = { action: 'dismiss' as const, issue_ids: [issue.id], reason, comment, expires_at }
  await createTriage(demo.services, demo.source.org_id, toPrincipal(demo.person(by)), request)
  await demo.settle()
}

async function dismissByMistake(demo: Demo): Promise<void> {
  const { services, source } = demo
  const issue = (await listOpenIssues(services.sql, source.org_id)).at(-2)
  if (!issue) return
  const principal = toPrincipal(demo.person('sokafor'))
  const request = { action: 'dismiss' as const, issue_ids: [issue.id], reason: 'false_positive' as const }
  const id = await createTriage(services, source.org_id, principal, request)
  await undoTriage(services, source.org_id, principal, id)
  await demo.settle()
}

async function split(demo: Demo): Promise<void> {
  const issue = (await listOpenIssues(demo.services.sql, demo.source.org_id)).find(
    ({ kind, finding_ids }) => kind === 'dependency' && finding_ids.length > 1,
  )
  if (!issue) return
  const request = {
    issueId: issue.id,
    findingIds: issue.finding_ids.slice(0, 1),
    comment: 'The image has a copy of its own, which another team updates',
  }
  await splitIssue(demo.services, demo.person('praman'), request)
  await demo.settle()
}

async function merge(demo: Demo): Promise<void> {
  const issues = await listOpenIssues(demo.services.sql, demo.source.org_id)
  const code = issues.filter(({ kind }) => kind === 'code')
  const first = code.find(({ id, repository }) =>
    code.some((other) => other.repository === repository && other.id !== id),
  )
  const own = code.filter(({ repository }) => repository === first?.repository)
  if (own.length < 2) return
  const issueIds = own.slice(0, 2).map(({ id }) => id)
  await mergeIssues(demo.services, demo.person('praman'), {
    issueIds,
    comment: 'One function has both, and one change mends both',
  })
  await demo.settle()
}
