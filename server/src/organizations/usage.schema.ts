import { Type } from 'typebox'
import { Closed, Nullable, OneOf, Timestamp } from '../platform/http/schemas.ts'
import { PLAN_FEATURES } from './plan.ts'

const COUNTED_LIMITS = ['ci_runs_per_month', 'artifact_bytes_per_month'] as const

const CountedLimit = Closed({
  name: OneOf(COUNTED_LIMITS, {
    description:
      '`ci_runs_per_month`: new CI runs. `artifact_bytes_per_month`: bytes of new artifacts. Months are in UTC.',
  }),
  used: Type.Integer({ description: 'What the organization has used since the limit was last reset.' }),
  limit: Nullable(Type.Integer({ description: 'The limit of the plan. Null if the plan does not limit it.' })),
  resets_at: { ...Timestamp, description: 'When `used` starts at 0 again.' },
})

const bytes = (description: string) => Type.Integer({ description })

export const Usage = Closed(
  {
    plan: Type.String({ description: 'The name of the plan.' }),
    features: Type.Array(OneOf(PLAN_FEATURES), { description: 'The features that the plan includes.' }),
    retention_days: Type.Integer({ description: 'For how many days data is kept.' }),
    limits: Type.Array(CountedLimit, { description: 'The limits that the plan counts, with what is used of them.' }),
    maximums: Closed(
      {
        security_report_bytes: bytes('The largest security report, in bytes.'),
        security_uploads_per_commit: Type.Integer({ description: 'Security uploads of one commit.' }),
        artifact_bytes: bytes('The largest artifact, in bytes.'),
        artifact_bytes_per_run: bytes('The bytes of all artifacts of one run.'),
      },
      { description: 'The limits that apply to a single object.' },
    ),
  },
  { description: 'What the plan of an organization includes, and what is used of it.' },
)
