import type { Connection } from './api.ts'
import { sleep } from './http/deadline.ts'
import type { components } from './openapi.ts'

export type DeploymentGate = components['schemas']['DeploymentGate']
export type OpenedGate = components['schemas']['OpenedGate']

export type WaitForGateOptions = {
  /** Called with the opened gate, and again whenever the gate has changed. */
  onState?: ((gate: DeploymentGate) => void) | undefined
  signal?: AbortSignal | undefined
}

/** The server holds a poll until the gate is decided, at most this long. */
const WAIT_SECONDS = 20

/**
 * Waits until a gate is decided, expired or cancelled. Deploy only if its `decision` is `approved`.
 */
export async function waitForGate(
  { api, settings }: Connection,
  { poll_token, expires_at: _, ...opened }: OpenedGate,
  { onState, signal }: WaitForGateOptions = {},
): Promise<DeploymentGate> {
  let gate: DeploymentGate = opened
  onState?.(gate)
  while (gate.status === 'waiting') {
    const polledAt = performance.now()
    const next = await poll(api, gate.gate_id, poll_token, signal)
    if (JSON.stringify(next) !== JSON.stringify(gate)) onState?.(next)
    gate = next
    const elapsedMs = performance.now() - polledAt
    if (gate.status === 'waiting')
      await sleep(Math.max(0, gate.poll_after_seconds * 1000 - elapsedMs), [signal, settings.signal])
  }
  return gate
}

async function poll(
  api: Connection['api'],
  gateId: string,
  token: string,
  signal: AbortSignal | undefined,
): Promise<DeploymentGate> {
  const { data } = await api.GET('/v1/ci/gates/{gate_id}', {
    params: { path: { gate_id: gateId }, header: { prefer: `wait=${WAIT_SECONDS}` } },
    headers: { authorization: `Bearer ${token}` },
    signal,
  })
  return data.data
}
