import { readFile } from 'node:fs/promises'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

export const PLAN_FEATURES = ['api_access', 'security_uploads', 'unique_issues', 'signed_statements'] as const
export type PlanFeature = (typeof PLAN_FEATURES)[number]

/** What an organization may do. A limit that is null does not exist for the plan. */
export type Plan = {
  name: string
  features: readonly PlanFeature[]
  retention_days: number
  security_report_bytes_max: number
  security_uploads_per_commit_max: number
  artifact_bytes_max: number
  artifact_bytes_per_run_max: number
  ci_runs_per_month_max: number | null
}

/** Plans by name, from the smallest to the largest. */
export type Plans = ReadonlyMap<string, Plan>

const MIB = 2 ** 20
const GIB = 2 ** 30

/** Decisions §3. Numbers of features that a plan lacks are zero. */
const BUILT_IN: Plan[] = [
  {
    name: 'free',
    features: [],
    retention_days: 30,
    security_report_bytes_max: 0,
    security_uploads_per_commit_max: 0,
    artifact_bytes_max: 0,
    artifact_bytes_per_run_max: 0,
    ci_runs_per_month_max: 0,
  },
  {
    name: 'team',
    features: ['api_access', 'security_uploads'],
    retention_days: 90,
    security_report_bytes_max: 50 * MIB,
    security_uploads_per_commit_max: 10,
    artifact_bytes_max: 100 * MIB,
    artifact_bytes_per_run_max: 500 * MIB,
    ci_runs_per_month_max: 10_000,
  },
  {
    name: 'business',
    features: ['api_access', 'security_uploads', 'unique_issues'],
    retention_days: 365,
    security_report_bytes_max: 200 * MIB,
    security_uploads_per_commit_max: 25,
    artifact_bytes_max: 500 * MIB,
    artifact_bytes_per_run_max: 2 * GIB,
    ci_runs_per_month_max: 100_000,
  },
  {
    name: 'enterprise',
    features: ['api_access', 'security_uploads', 'unique_issues', 'signed_statements'],
    retention_days: 1095,
    security_report_bytes_max: GIB,
    security_uploads_per_commit_max: 100,
    artifact_bytes_max: 2 * GIB,
    artifact_bytes_per_run_max: 10 * GIB,
    ci_runs_per_month_max: null,
  },
]

/** What a self-hoster's organization gets unless told otherwise. */
export const DEFAULT_PLAN = 'enterprise'

const Count = Type.Integer({ minimum: 0 })
const PlansFile = Type.Array(
  Type.Object(
    {
      name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' }),
      features: Type.Array(Type.Union(PLAN_FEATURES.map((feature) => Type.Literal(feature)))),
      retention_days: Type.Integer({ minimum: 1 }),
      security_report_bytes_max: Count,
      security_uploads_per_commit_max: Count,
      artifact_bytes_max: Count,
      artifact_bytes_per_run_max: Count,
      ci_runs_per_month_max: Type.Union([Count, Type.Null()]),
    },
    { additionalProperties: false },
  ),
  { minItems: 1 },
)

/** The plans in force: the built-in table, or the one in `file` instead of it. Throws with the first mistake named. */
export async function loadPlans(file: string | null): Promise<Plans> {
  const plans = file === null ? BUILT_IN : await readPlansFile(file)
  return new Map(plans.map((plan) => [plan.name, plan]))
}

async function readPlansFile(file: string): Promise<Plan[]> {
  const content: unknown = JSON.parse(await readFile(file, 'utf8'))
  if (Value.Check(PlansFile, content)) return content as Plan[]
  const [mistake] = Value.Errors(PlansFile, content)
  throw new Error(`SHIPLOCK_PLANS_FILE ${file}: ${mistake?.instancePath || '/'} ${mistake?.message}`)
}

/** The smallest plan with a feature, or null where no plan has it. */
export function smallestPlanWith(plans: Plans, feature: PlanFeature): string | null {
  for (const plan of plans.values()) if (plan.features.includes(feature)) return plan.name
  return null
}
