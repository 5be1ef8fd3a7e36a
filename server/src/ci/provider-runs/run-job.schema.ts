import { Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../../platform/http/schemas.ts'
import { RUN_STATUSES } from '../runs/run-status.ts'

export const RunJob = Closed(
  {
    id: Type.String({ description: 'The id of the job on the code host.' }),
    attempt: Type.Integer({ description: 'The attempt that the job belongs to.' }),
    name: Type.String({ description: 'The name of the job, with its matrix values, as the code host shows it.' }),
    status: OneOf(RUN_STATUSES, { description: 'The status of the job.' }),
    started_at: Nullable({ ...Timestamp, description: 'When the job started. Null until then.' }),
    completed_at: Nullable({ ...Timestamp, description: 'When the job finished. Null until then.' }),
    duration_seconds: Nullable(
      Type.Integer({ description: 'The number of whole seconds from `started_at` to `completed_at`.' }),
    ),
    html_url: Nullable(Type.String({ description: 'The URL of the job on the code host.' })),
  },
  { $id: 'RunJob', description: 'A job of one attempt of a run, as its code host reports it.' },
)

export const RunJobQuery = Closed({
  attempt: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 999,
      description: 'The attempt whose jobs are returned. Defaults to the newest one with jobs.',
    }),
  ),
})
