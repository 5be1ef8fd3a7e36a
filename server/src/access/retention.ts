import type { FastifyRequest } from 'fastify'
import type { Plan } from '../organizations/plan.ts'
import { DAY_MS } from '../platform/clock.ts'
import type { ListContext } from '../platform/http/lists.ts'
import type { Services } from '../services.ts'

/** The oldest creation time within the data retention of a plan. */
export function retainedSince(plan: Plan, now: Date): Date {
  return new Date(now.getTime() - plan.retention_days * DAY_MS)
}

/** The context of a list request. Cursors are bound to its route and organization. */
export function listContext({ clock, cursorKey }: Services, request: FastifyRequest): ListContext {
  const { org_id, plan } = request.actor
  const route = request.routeOptions.url ?? ''
  return { route, orgId: org_id, retentionDays: plan.retention_days, now: clock.now(), key: cursorKey }
}
