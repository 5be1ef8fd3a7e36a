import { DAY_MS } from '../../platform/clock.ts'
import { countIssueDay } from '../../trends/issue-days.store.ts'
import { refreshOrganization } from '../../trends/refresh-days.job.ts'
import type { Demo, Step } from '../world/demo.ts'
import { STORY_DAYS } from './changes.ts'

/** Every evening the open issues are counted, as the job of the worker does. */
export function makeChartSteps(demo: Demo): Step[] {
  return Array.from({ length: STORY_DAYS }, (_, index) => ({
    at: new Date(demo.now.getTime() - (STORY_DAYS - index) * DAY_MS + DAY_MS / 2),
    tell: ({ services, source, clock }: Demo) => countIssueDay(services.sql, source.org_id, clock.now()),
  }))
}

/** Counts the days of runs and deployments, so that the charts are complete at once. */
export async function countDays({ services, source }: Demo): Promise<void> {
  await countIssueDay(services.sql, source.org_id, services.clock.now())
  await refreshOrganization(services, source.org_id)
}
