import { MINUTE_MS } from '../../platform/clock.ts'
import { EXPIRED, type GateState } from '../deployment-state.ts'
import type { DeploymentGate } from './gate.schema.ts'
import type { StoredGate } from './opened-gate.store.ts'

/** Converts an opened gate to its wire form at `now`. `baseUrl` is the address of the console. */
export function toDeploymentGate(gate: StoredGate, baseUrl: string, now: Date): DeploymentGate {
  const { status, decision, decided_by, note } = getGateStateAt(gate, now)
  return {
    gate_id: gate.id,
    deployment_id: gate.deployment_id,
    environment: gate.environment,
    gate: gate.gate,
    decision,
    status,
    decided_by,
    note,
    url: `${baseUrl}/deployments/${gate.deployment_id}`,
    poll_after_seconds: pollAfterSeconds(gate.created_at, now),
  }
}

/** An overdue gate reads as expired even before `deployments.settle` has updated it. */
export function getGateStateAt(gate: GateState & Pick<StoredGate, 'answer_until'>, now: Date): GateState {
  return gate.status === 'waiting' && gate.answer_until && gate.answer_until <= now ? EXPIRED.gate : gate
}

/** The longer a gate has been open, the longer clients wait between polls (decisions §9). */
function pollAfterSeconds(openedAt: Date, now: Date): number {
  const ageMs = now.getTime() - openedAt.getTime()
  if (ageMs < MINUTE_MS) return 5
  return ageMs < 10 * MINUTE_MS ? 15 : 60
}
