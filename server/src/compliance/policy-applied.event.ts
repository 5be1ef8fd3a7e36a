import { Type } from 'typebox'
import type { Event } from '../platform/queue/event.ts'

/** Published when a policy is new, or a new version of it is in force. */
export const policyApplied: Event<{ org_id: string; policy_id: string }> = {
  name: 'compliance.policy.applied',
  payload: Type.Object({ org_id: Type.String(), policy_id: Type.String() }),
}
