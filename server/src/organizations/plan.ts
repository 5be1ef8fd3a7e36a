import { DAY_MS } from '../platform/clock.ts'
import { invalidRequest } from '../platform/http/errors.ts'

export const PLAN_FEATURES = ['api_access', 'security_uploads', 'unique_issues', 'signed_statements'] as const
export type PlanFeature = (typeof PLAN_FEATURES)[number]

/** What an organization may use. A limit of null means unlimited. */
export type Plan = {
  name: string
  features: readonly PlanFeature[]
  retention_days: number
  security_report_bytes_max: number
  security_uploads_per_commit_max: number
  artifact_bytes_max: number
  artifact_bytes_per_run_max: number
  artifact_bytes_per_month_max: number | null
  ci_runs_per_month_max: number | null
}

/** Plans by name, from the smallest to the largest. */
export type Plans = ReadonlyMap<string, Plan>

const MIB = 2 ** 20
const GIB = 2 ** 30

/** Decisions §3. The limits of a feature that a plan does not have are zero. */
export const BUILT_IN_PLANS: readonly Plan[] = [
  {
    name: 'free',
    features: [],
    retention_days: 30,
    security_report_bytes_max: 0,
    security_uploads_per_commit_max: 0,
    artifact_bytes_max: 0,
    artifact_bytes_per_run_max: 0,
    artifact_bytes_per_month_max: 0,
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
    artifact_bytes_per_month_max: null,
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
    artifact_bytes_per_month_max: null,
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
    artifact_bytes_per_month_max: null,
    ci_runs_per_month_max: null,
  },
]

/** The plan of a new organization unless another one is given. */
export const DEFAULT_PLAN = 'enterprise'

/** The smallest plan that has the feature, or null if no plan has it. */
export function selectSmallestPlan(plans: Plans, feature: PlanFeature): string | null {
  for (const plan of plans.values()) if (plan.features.includes(feature)) return plan.name
  return null
}

/** Returns the name if such a plan exists. Throws 400 with the names of all plans. */
export function requireKnownPlan(plans: Plans, name: string): string {
  if (plans.has(name)) return name
  throw invalidRequest(`Plan "${name}" does not exist; the plans are ${[...plans.keys()].join(', ')}`)
}

/** The plan of a stored organization. */
export function getPlan({ slug, plan: name }: { slug: string; plan: string }, plans: Plans): Plan {
  const plan = plans.get(name)
  if (!plan) throw new Error(`The plan ${name} of the organization ${slug} does not exist.`)
  return plan
}

/** The oldest creation time within the data retention of a plan. */
export function computeRetentionStart(plan: Plan, now: Date): Date {
  return new Date(now.getTime() - plan.retention_days * DAY_MS)
}
