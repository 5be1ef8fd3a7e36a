import { defineJob, defineScheduledJob, enqueue } from '../platform/queue/job.ts'
import { definePayload, text } from '../platform/queue/payload.ts'
import type { Services } from '../services.ts'
import { countIssueDay, listOrganizationsWithIssues } from './issue-days.store.ts'

type Organization = { org_id: string }

/** Counts the open issues of an organization after they may have changed. */
export const refreshIssueDay = defineJob('trends.refresh-issue-day', {
  class: 'bulk',
  payload: definePayload({ org_id: text }),
  attemptsMax: 5,
  priority: 10,
  once: ({ org_id }) => org_id,
  run: ({ sql, clock }: Services, { org_id }) => countIssueDay(sql, org_id, clock.now()),
})

/** After a report was read, alerts or triage changed. */
export async function recountIssues({ sql }: Services, { org_id }: Organization): Promise<void> {
  await enqueue(sql, refreshIssueDay, { org_id })
}

/** Every hour, so that each day has a figure and no change is missed for long. */
export const refreshIssueDays = defineScheduledJob<Services>('trends.refresh-issue-days', {
  class: 'bulk',
  schedule: '55 * * * *',
  async run({ sql, clock }) {
    for (const orgId of await listOrganizationsWithIssues(sql)) await countIssueDay(sql, orgId, clock.now())
  },
})
