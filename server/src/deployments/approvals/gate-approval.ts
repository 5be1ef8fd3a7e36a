import type { RequiredGate } from '../required-gate.store.ts'
import type { Answer } from './answer.store.ts'

/** Who answers, as far as a gate asks: `isRunCreator` for the credential that reported the run. */
export type Answerer = { type: 'api_key' | 'user'; isRunCreator: boolean }

/** May this principal's answer count for the gate? People may always; keys and the run's own credential where it says so. */
export function takesAnswer(gate: RequiredGate, { type, isRunCreator }: Answerer): boolean {
  return (type === 'user' || gate.allow_api_keys) && (!isRunCreator || gate.allow_run_creator)
}

/** The gates, not approved so far, that enough different principals have approved. `runCredentialId` reported the run. */
export function newlyApproved(gates: RequiredGate[], answers: Answer[], runCredentialId: string | null): string[] {
  const approvals = answers.filter(({ decision }) => decision === 'approved')
  const countOf = (gate: RequiredGate) =>
    approvals.filter((answer) => takesAnswer(gate, answererOf(answer, runCredentialId))).length
  return gates.filter((gate) => !gate.approved_at && countOf(gate) >= gate.required_approvals).map(({ id }) => id)
}

function answererOf(answer: Answer, runCredentialId: string | null): Answerer {
  return { type: answer.principal_type, isRunCreator: answer.principal_id === runCredentialId }
}
