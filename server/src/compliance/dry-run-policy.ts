import type { ApiError } from '../platform/http/api-error.ts'
import { limitReached } from '../platform/http/errors.ts'
import type { Services } from '../services.ts'
import { evaluatePolicy } from './engines/evaluate-policy.ts'
import type { PolicyInput } from './input/policy-input.schema.ts'
import type { PolicyDefinition } from './policies/policy.schema.ts'
import { decide, type PolicyDecision, type RuleVerdict } from './policies/policy-verdict.ts'

/** How many runs or deployments a dry run looks at to find those that the policy covers. */
export const EXAMINED_MAX = 1000
const TIME_MS_MAX = 15_000
const RETRY_SECONDS = 5

/** A run or a deployment that the policy covers. */
export type DryRunSubject<Shown> = { shown: Shown; readInput: () => Promise<PolicyInput> }

/** The verdict on one subject. `decision` is that of the policy in `enforce`. */
type DryRunResult<Shown> = Shown & { decision: PolicyDecision; rules: RuleVerdict[] }

export type DryRun<Shown> = {
  results: DryRunResult<Shown>[]
  /** False if the time limit ended the dry run before the last subject. */
  is_complete: boolean
}

const waiting = new Set<string>()
let last: Promise<unknown> = Promise.resolve()

/**
 * Evaluates a policy that is not applied on subjects, as of now. Stores nothing. The dry runs of a
 * process run one after the other, so that the policies of gates wait for one evaluation at most.
 * Throws 429 `rate_limited` while another dry run of the organization is running.
 */
export async function evaluateDryRun<Shown>(
  services: Services,
  orgId: string,
  definition: PolicyDefinition,
  findSubjects: () => Promise<DryRunSubject<Shown>[]>,
): Promise<DryRun<Shown>> {
  if (waiting.has(orgId)) throw alreadyRunning()
  waiting.add(orgId)
  const running = last.then(async () => evaluateSubjects(services, definition, await findSubjects()))
  last = running.catch(() => {})
  return running.finally(() => waiting.delete(orgId))
}

async function evaluateSubjects<Shown>(
  services: Services,
  { engine }: PolicyDefinition,
  subjects: DryRunSubject<Shown>[],
): Promise<DryRun<Shown>> {
  const end = services.clock.now().getTime() + TIME_MS_MAX
  const results: DryRunResult<Shown>[] = []
  for (const { shown, readInput } of subjects) {
    if (services.clock.now().getTime() > end) return { results, is_complete: false }
    const rules = await evaluatePolicy(services, engine, await readInput(), async () => null)
    results.push({ ...shown, decision: decide('enforce', rules), rules })
  }
  return { results, is_complete: true }
}

function alreadyRunning(): ApiError {
  const message = 'Another dry run of the organization is running. Try again when it has ended.'
  return limitReached(message, { limit: 1, resetAt: null }).retryAfter(RETRY_SECONDS)
}
