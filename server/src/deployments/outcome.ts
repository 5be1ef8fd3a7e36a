import type { DeploymentStatus } from './deployment.schema.ts'
import { EXPIRED, type GateState } from './gate-state.ts'

/** How the service's own rule ends: what becomes of the deployment and of the gate that a CI system polls. */
export type Outcome = {
  status: DeploymentStatus
  custom_rule_state: 'approved' | 'rejected' | 'expired' | 'cancelled'
  gate: GateState
}

export const EXPIRY: Outcome = { status: 'expired', custom_rule_state: 'expired', gate: EXPIRED }

export const SUPERSEDED = cancelled('A higher attempt of the run asked for the same.')

/** A run that ended otherwise than well deploys nothing any more. */
export function runEnded(runStatus: string): Outcome {
  return cancelled(`The run has finished as ${runStatus}.`)
}

function cancelled(note: string): Outcome {
  const gate = { status: 'cancelled', decision: 'rejected', decided_by: 'run', note } as const
  return { status: 'cancelled', custom_rule_state: 'cancelled', gate }
}

/** What a principal's word does when it is the last one needed. `by` is the principal as pollers see it. */
export function decided(decision: 'approved' | 'rejected', by: string, note: string | null): Outcome {
  const gate = { status: 'decided', decision, decided_by: by, note } as const
  return { status: decision, custom_rule_state: decision, gate }
}
