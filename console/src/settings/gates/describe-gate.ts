import type { Schema } from '../../api/client.ts'

export type Gate = Schema<'ConfiguredGate'>
export type GateSettings = Pick<
  Gate,
  | 'name'
  | 'environment'
  | 'repository'
  | 'branch'
  | 'required_approvals'
  | 'allow_api_keys'
  | 'allow_run_creator'
  | 'policies'
>

/** The settings of a gate without what the server adds. */
export function settingsOf(gate: Gate): GateSettings {
  const { id, version, created_at, updated_at, ...settings } = gate
  return settings
}

/** What each setting of a gate says, in words. */
export function gateFacts(gate: GateSettings): [label: string, value: string][] {
  return [
    ['Environment', gate.environment],
    ['Repository', gate.repository ?? 'Every repository'],
    ['Branch', gate.branch ?? 'Every branch and tag'],
    ['Approvals', describeApprovals(gate)],
    ['Who can approve', gate.allow_api_keys ? 'People and API keys' : 'People only'],
    ['Creator of the run', gate.allow_run_creator ? 'Can approve' : 'Cannot approve'],
    ['Policies', gate.policies.length === 0 ? 'Those that cover the deployment' : gate.policies.join(', ')],
  ]
}

export function describeApprovals({ required_approvals: count }: Pick<Gate, 'required_approvals'>): string {
  return count === 1 ? '1 approval' : `${count} approvals by different people`
}

/** The facts that differ between two versions of a gate. */
export function gateChanges(before: GateSettings, after: GateSettings): string[] {
  const earlier = new Map(gateFacts(before))
  const changes = gateFacts(after)
    .filter(([label, value]) => earlier.get(label) !== value)
    .map(([label, value]) => `${label}: ${earlier.get(label)} → ${value}`)
  return before.name === after.name ? changes : [`Name: ${before.name} → ${after.name}`, ...changes]
}
