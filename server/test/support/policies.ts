import { OPERATOR } from '../../src/audit/audit.store.ts'
import { evaluatePolicy } from '../../src/compliance/engines/evaluate-policy.ts'
import { PolicyAsker } from '../../src/compliance/engines/policy-queue.ts'
import { type AppliedPolicy, applyPolicy } from '../../src/compliance/policies/apply-policy.ts'
import type { PolicyDefinition } from '../../src/compliance/policies/policy.schema.ts'
import type { PolicyInput } from '../../src/compliance/policies/policy-input.schema.ts'
import { createEmptyInput } from '../../src/compliance/policies/policy-input.schema.ts'
import type { RuleVerdict } from '../../src/compliance/policies/policy-verdict.ts'
import { parsePolicyFile } from '../../src/compliance/policy-file/policy.parser.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/platform/log.ts'
import type { Caller, TestApi } from './api.ts'

export const POLICY_TIME = '2026-03-04T05:06:07.890Z'

/** Returns an input without evidence, plus the given fields. */
export function policyInput(fields: Partial<PolicyInput> = {}): PolicyInput {
  return { ...createEmptyInput(new Date(POLICY_TIME)), repository: 'github.com/acme/api', ...fields }
}

/** Returns an attestation in the form of the policy input. */
export function attestationOf(fields: Partial<PolicyInput['attestations'][number]> = {}) {
  return {
    ...{ report_id: '1-0123456789abcdef01234567', job: 'test', kind: 'test-results', name: 'unit', status: 'pass' },
    ...{ data: { passed: 3, failed: 0, skipped: 0, errors: 0 }, at: POLICY_TIME, trust: 'self_reported' },
    ...fields,
  }
}

/** Parses a policy file whose engine needs no bundle. */
export function definitionOf(yaml: string): PolicyDefinition {
  const { engine, ...policy } = parsePolicyFile(yaml)
  if (engine.type === 'wasm') throw new Error('a bundle is read from a file')
  return { ...policy, engine }
}

const log = createLog('silent')

/** Evaluates a policy on an input. */
export function verdictsOf(
  definition: PolicyDefinition,
  input: PolicyInput,
  env: Record<string, string> = {},
): Promise<RuleVerdict[]> {
  const asking = { findBundle: async () => null, asker: new PolicyAsker(null) }
  return evaluatePolicy({ config: readConfig(env), log }, definition.engine, [input], asking)
}

export function apply(api: TestApi, { orgId }: Pick<Caller, 'orgId'>, yaml: string): Promise<AppliedPolicy> {
  return applyPolicy(api.services, orgId, OPERATOR, {
    definition: definitionOf(yaml),
    source: yaml,
    bundle: null,
    file: null,
  })
}
