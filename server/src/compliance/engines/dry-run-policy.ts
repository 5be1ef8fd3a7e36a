import { listRecentRuns, type RecentRun } from '../../ci/evidence/newest-runs.store.ts'
import { limitReached } from '../../platform/http/errors.ts'
import { parseBranchName } from '../../repositories/repository-identity.ts'
import type { Services } from '../../services.ts'
import { getScope, type PolicyDefinition } from '../policies/policy.schema.ts'
import { isDeploymentCovered } from '../policies/policy-binding.ts'
import { createPlainEnvironment } from '../policies/policy-input.schema.ts'
import { decide, type PolicyDecision, type RuleVerdict } from '../policies/policy-verdict.ts'
import { type PolicyInputs, readPolicyInputs } from '../policies/read-policy-input.ts'
import { evaluatePolicy } from './evaluate-policy.ts'
import { PolicyAsker, PolicyBudgetError } from './policy-queue.ts'

/** How many runs or deployments a dry run looks at to find those that the policy covers. */
export const EXAMINED_MAX = 1000
const TIME_MS_MAX = 15_000
const RETRY_SECONDS = 5

/** A run or a deployment that the policy covers. */
export type DryRunSubject<Shown> = { shown: Shown; readInputs: () => PolicyInputs }

/** The verdict on one subject. `decision` is that of the policy in `enforce`. */
type DryRunResult<Shown> = Shown & { decision: PolicyDecision; rules: RuleVerdict[] }

export type DryRun<Shown> = {
  results: DryRunResult<Shown>[]
  /** False if its time or the budget of the policies was over before the last subject. */
  is_complete: boolean
}

const waiting = new Set<string>()

/**
 * Evaluates a policy that is not applied on subjects, as of now. Stores nothing. Gates come before
 * it. Throws 429 `rate_limited` while another dry run of the organization is running.
 */
export async function evaluateDryRun<Shown>(
  services: Services,
  orgId: string,
  definition: PolicyDefinition,
  findSubjects: () => Promise<DryRunSubject<Shown>[]>,
): Promise<DryRun<Shown>> {
  if (waiting.has(orgId)) {
    const message = 'Another dry run of the organization is running. Try again when it has ended.'
    throw limitReached(message, { limit: 1, resetAt: null }).retryAfter(RETRY_SECONDS)
  }
  waiting.add(orgId)
  try {
    return await evaluateSubjects(services, orgId, definition, await findSubjects())
  } finally {
    waiting.delete(orgId)
  }
}

async function evaluateSubjects<Shown>(
  services: Services,
  orgId: string,
  definition: PolicyDefinition,
  subjects: DryRunSubject<Shown>[],
): Promise<DryRun<Shown>> {
  const end = services.clock.now().getTime() + TIME_MS_MAX
  const results: DryRunResult<Shown>[] = []
  for (const { shown, readInputs } of subjects) {
    if (services.clock.now().getTime() > end) return { results, is_complete: false }
    const asking = { asker: new PolicyAsker(orgId, { waitMs: TIME_MS_MAX }), findBundle: async () => null }
    const { inputs } = await readInputs()(getScope(definition))
    const rules = await evaluatePolicy(services, definition.engine, inputs, asking).catch((error) => {
      if (error instanceof PolicyBudgetError) return null
      throw error
    })
    if (rules === null) return { results, is_complete: false }
    results.push({ ...shown, decision: decide('enforce', rules), rules })
  }
  return { results, is_complete: true }
}

/** Which runs or deployments to try a policy on. `repository` is `owner/name`. */
export type TrialFilter = { since: Date; last: number; repository: string | null; environment: string | null }

/** A run as a dry run shows it. */
export type TriedRun = Omit<RecentRun, 'ref'> & { branch: string | null }

/**
 * The last runs that a policy covers. With an environment, each run is tried as if it were deployed
 * there. A policy without bindings is tried on every run, because any gate can name it.
 */
export async function findRunsToTry(
  { sql, clock }: Pick<Services, 'sql' | 'clock'>,
  orgId: string,
  definition: PolicyDefinition,
  { last, ...filter }: TrialFilter,
): Promise<DryRunSubject<{ run: TriedRun }>[]> {
  const now = clock.now()
  const { environment } = filter
  const runs = await listRecentRuns(sql, orgId, { ...filter, limit: EXAMINED_MAX }, now)
  const tried = runs.map(({ ref, ...run }) => ({ ...run, branch: parseBranchName(ref) }))
  const target: { environment?: string } = environment === null ? {} : { environment }
  return tried
    .filter((run) => definition.bindings === null || isDeploymentCovered(definition, { ...run, ...target }))
    .slice(0, last)
    .map((run) => ({
      shown: { run },
      readInputs: () => readPolicyInputs(sql, { org_id: orgId, ...toSubject(run, environment) }, clock.now()),
    }))
}

function toSubject(run: TriedRun, environment: string | null) {
  const { id, attempt, repository, branch, commit_sha } = run
  const subject = { repository, branch, run: { id, attempt } }
  if (environment === null) return { ...subject, deployment: null, environment: null }
  const deployment = { id: 'dry-run', branch, commit_sha, attempt }
  return { ...subject, deployment, environment: createPlainEnvironment(environment) }
}
