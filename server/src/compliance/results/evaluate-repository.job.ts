import { defineJob } from '../../platform/queue/job.ts'
import { definePayload, text } from '../../platform/queue/payload.ts'
import { update } from '../../platform/updates/update.ts'
import type { Services } from '../../services.ts'
import { evaluatePolicy } from '../engines/evaluate-policy.ts'
import type { PolicyInput } from '../input/policy-input.schema.ts'
import { findBundle, listPolicies, type Policy } from '../policies/policy.store.ts'
import { getCoveredBranches, isRepositoryCovered } from '../policies/policy-binding.ts'
import { createUnreadableVerdict, getResultStatus, type RuleVerdict } from '../policies/policy-verdict.ts'
import { getHostlessName } from './known-repositories.ts'
import { type RepositoryInputs, readRepositoryInputs } from './read-repository-inputs.ts'
import { deleteHostlessResults, deleteOtherResults, type NewResult, upsertResults } from './result.store.ts'

/** Updates the results of a repository. Waiting jobs for one repository are merged. */
export const evaluateRepositoryJob = defineJob('compliance.evaluate-repository', {
  payload: definePayload({ org_id: text, repository: text }),
  attemptsMax: 10,
  once: ({ org_id, repository }) => `${org_id} ${repository}`,
  run: (services: Services, { org_id, repository }) => evaluateRepository(services, org_id, repository),
  updates: () => [update('compliance_result')],
})

/** Stores a result for each policy that covers the repository. Deletes others (decisions §10). */
export async function evaluateRepository(services: Services, orgId: string, repository: string): Promise<void> {
  const { sql, clock } = services
  const now = clock.now()
  const stored = await listPolicies(sql, orgId, { repository })
  const policies = stored.filter(({ definition }) => isRepositoryCovered(definition, repository))
  const results: NewResult[] = []
  if (policies.length > 0) {
    const inputs = await readRepositoryInputs(sql, orgId, repository, now)
    for (const policy of policies) results.push(await evaluate(services, orgId, policy, inputs))
  }
  const hostless = getHostlessName(repository)
  await sql.begin(async (tx) => {
    if (hostless !== null) await deleteHostlessResults(tx, orgId, hostless)
    await deleteOtherResults(tx, orgId, repository, results)
    await upsertResults(tx, { org_id: orgId, repository, results, at: now })
  })
}

async function evaluate(
  services: Services,
  orgId: string,
  { id, name, definition }: Policy,
  inputs: RepositoryInputs,
): Promise<NewResult> {
  const result = { policy_id: id, policy_name: name }
  if (!definition?.bindings) return { ...result, ...evaluated(createUnreadableVerdict()) }
  const input = await inputs({ branches: getCoveredBranches(definition) })
  if (hasNoEvidence(input)) return { ...result, status: 'not_evaluated', details: [] }
  const find = (sha256: string) => findBundle(services.sql, orgId, sha256)
  return { ...result, ...evaluated(await evaluatePolicy(services, definition.engine, input, find)) }
}

/** Whether no run and no security report of the repository is known. */
function hasNoEvidence({ run, scans }: PolicyInput): boolean {
  return run === null && scans.length === 0
}

function evaluated(rules: RuleVerdict[]): Pick<NewResult, 'status' | 'details'> {
  const details = rules.map(({ rule, status, reason, evidence }) => {
    const texts = [reason, evidence].filter((text) => text !== null)
    return { rule, result: status, evidence: texts.length === 0 ? null : texts.join(' · ') }
  })
  return { status: getResultStatus(rules), details }
}
