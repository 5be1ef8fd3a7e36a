import type { Schema } from '../../api/client.ts'
import type { operations } from '../../api/schema.ts'

export const RESULT_STATUSES = ['failing', 'warning', 'passing', 'not_evaluated'] as const satisfies ResultStatus[]
export const POLICY_MODES = ['enforce', 'monitor'] as const satisfies Policy['mode'][]

export const RESULT_STATUS_NAMES: Record<ResultStatus, string> = {
  failing: 'Failing',
  warning: 'Warning',
  passing: 'Passing',
  not_evaluated: 'Not evaluated',
}

/** What a policy looks at. */
export const SCOPE_NAMES: Record<NonNullable<NonNullable<PolicyWithFile['current']['definition']>['scope']>, string> = {
  commit: 'The commit',
  run: 'The deploying run',
  attempt: 'One attempt',
}

/** What evaluates a policy, as people read it. */
export const ENGINE_NAMES: Record<NonNullable<Policy['engine']>, string> = {
  cel: 'CEL rules',
  opa: 'OPA server',
  wasm: 'WebAssembly',
  rego: 'Rego module',
}

/** The tabs of a policy, as its address names them. */
export const POLICY_TABS = ['file', 'results', 'versions', 'edit'] as const

export type Policy = Schema<'Policy'>

export type PolicyWithFile = operations['getPolicy']['responses'][200]['content']['application/json']['data']

export type ComplianceResult = Schema<'ComplianceResult'>

export type ResultStatus = ComplianceResult['status']

export type PolicyTab = (typeof POLICY_TABS)[number]
