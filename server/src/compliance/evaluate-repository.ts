import type { Services } from '../services.ts'
import { policyError } from './engines/read-verdicts.ts'
import { evaluatePolicy } from './evaluate-policy.ts'
import { hostlessName } from './known-repositories.ts'
import { listPolicies, type Policy } from './policy.store.ts'
import { coversRepository } from './policy-binding.ts'
import { findBundle } from './policy-bundle.store.ts'
import { resultStatus } from './policy-decision.ts'
import type { RuleVerdict } from './policy-evaluation.ts'
import type { PolicyInput } from './policy-input.schema.ts'
import { type RepositoryInputs, repositoryInputs } from './repository-inputs.ts'
import { deleteHostlessResults, deleteOtherResults, type NewResult, upsertResults } from './result-writing.store.ts'

/** Brings the compliance results of one repository up to date, one for each policy that is bound to it (decisions §10). */
export async function evaluateRepository(services: Services, orgId: string, repository: string): Promise<void> {
  const { sql, clock } = services
  const now = clock.now()
  const policies = (await listPolicies(sql, orgId)).filter((policy) => covers(policy, repository))
  const results: NewResult[] = []
  if (policies.length > 0) {
    const inputs = await repositoryInputs(sql, orgId, repository, now)
    for (const policy of policies) results.push(await evaluate(services, orgId, policy, inputs))
  }
  const hostless = hostlessName(repository)
  await sql.begin(async (tx) => {
    if (hostless !== null) await deleteHostlessResults(tx, orgId, hostless)
    await deleteOtherResults(tx, orgId, repository, results)
    await upsertResults(tx, orgId, repository, results, now)
  })
}

function covers({ definition }: Policy, repository: string): boolean {
  return definition === null || coversRepository(definition.bindings, repository)
}

async function evaluate(
  services: Services,
  orgId: string,
  { id, name, definition }: Policy,
  inputs: RepositoryInputs,
): Promise<NewResult> {
  const result = { policy_id: id, policy_name: name }
  if (!definition?.bindings)
    return { ...result, ...evaluated(policyError('The stored policy cannot be read; apply its file again')) }
  const input = await inputs(definition.bindings)
  if (isUnknown(input)) return { ...result, status: 'not_evaluated', details: [] }
  const find = (sha256: string) => findBundle(services.sql, orgId, sha256)
  return { ...result, ...evaluated(await evaluatePolicy(services, definition.engine, input, find)) }
}

/** Neither a run nor a security report has ever spoken of the repository. */
function isUnknown({ run, scans }: PolicyInput): boolean {
  return run === null && scans.length === 0
}

function evaluated(rules: RuleVerdict[]): Pick<NewResult, 'status' | 'details'> {
  const details = rules.map(({ rule, status, reason, evidence }) => {
    const words = [reason, evidence].filter((text) => text !== null)
    return { rule, result: status, evidence: words.length === 0 ? null : words.join(' · ') }
  })
  return { status: resultStatus(rules), details }
}
