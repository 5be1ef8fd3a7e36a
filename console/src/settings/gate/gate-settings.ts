import type { Schema } from '../../api/client.ts'

const GLOB_CHARS_MAX = 200
const TEXT_CHARS_MAX = 300

/** Bounds the time that a match can take. */
const STARS_MAX = 8

const BRACES = /^[^{}]*(?:\{[^{}]*\}[^{}]*){0,2}$/

export type Gate = Schema<'ConfiguredGate'>
export type ListedGate = Schema<'ListedGate'>

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
  | 'approve_by_policies'
  | 'require_linked_accounts'
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
    ['Who opened the deployment', gate.allow_run_creator ? 'Can approve' : 'Cannot approve'],
    ['Accounts at the code host', gate.require_linked_accounts ? 'Must be linked' : 'Need not be linked'],
    ['Policies', gate.policies.length === 0 ? 'Those that cover the deployment' : gate.policies.join(', ')],
    ['Approval by policies', describePolicyApproval(gate)],
  ]
}

function describePolicyApproval({ approve_by_policies, policies }: GateSettings): string {
  if (approve_by_policies === 'covering') return 'All that cover the deployment (before the upgrade)'
  if (approve_by_policies) return policies.length === 1 ? 'The policy that it names' : 'Those that it names, together'
  return 'None: policies can only block'
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

/**
 * Whether a text matches a glob, as the server decides it: `*` within one part of a path, `**` for any
 * number of parts, `?`, and `{a,b}`. Only for previews. A glob that the server refuses matches only
 * itself.
 */
export function matchesGlob(glob: string, text: string): boolean {
  if (glob === '*' || glob === '**' || glob === text) return true
  if (!/[*?{]/.test(glob) || /[()[\]\\|]/.test(glob) || text.length > TEXT_CHARS_MAX) return false
  if (glob.length > GLOB_CHARS_MAX || count(glob, '*') > STARS_MAX || !BRACES.test(glob)) return false
  return alternativesOf(glob).some((each) => new RegExp(`^${sourceOf(each)}$`, 'u').test(text))
}

function count(text: string, character: string): number {
  return text.split(character).length - 1
}

function alternativesOf(glob: string): string[] {
  const [, before = '', inside, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/s.exec(glob) ?? []
  if (inside === undefined) return [glob]
  return inside.split(',').flatMap((each) => alternativesOf(`${before}${each}${after}`))
}

function sourceOf(glob: string): string {
  const parts = glob.split('/').map((part) => (part === '**' ? null : partSource(part)))
  return parts.reduce<string>((source, part, index) => {
    const isLast = index === parts.length - 1
    if (part === null) return isLast ? source.replace(/\/$/, '(?:/.*)?') : `${source}(?:.*/)?`
    return `${source}${part}${isLast ? '' : '/'}`
  }, '')
}

function partSource(part: string): string {
  const source = part
    .replaceAll(/[.+^$]/g, '\\$&')
    .replaceAll(/\*+/g, '[^/]*')
    .replaceAll('?', '[^/]')
  return /^(?:\[\^\/\]\*)+$/.test(source) ? '[^/]+' : source
}
