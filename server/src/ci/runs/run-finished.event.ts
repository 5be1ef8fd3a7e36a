import { type Static, Type } from 'typebox'
import { OneOf } from '../../platform/http/schemas.ts'
import type { Event } from '../../platform/queue/event.ts'
import { RUN_STATUSES } from './run-status.ts'

const Payload = Type.Object({
  org_id: Type.String(),
  run_id: Type.String(),
  attempt: Type.Integer(),
  status: OneOf(RUN_STATUSES),
})

export type RunFinished = Static<typeof Payload>

/**
 * Published when an attempt reaches a final status, by an update or because its deadline has
 * passed.
 */
export const runFinished: Event<RunFinished> = { name: 'ci.run.finished', payload: Payload }
