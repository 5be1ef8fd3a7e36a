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

/** Published when an attempt of a run has ended, whether its CI system said so or its deadline passed. */
export const runFinished: Event<RunFinished> = { name: 'ci.run.finished', payload: Payload }
