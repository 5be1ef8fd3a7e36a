import type { operations } from '../../api/schema.ts'

export const PRINCIPAL_TYPES = [
  'user',
  'api_key',
  'policy',
  'system',
  'command_line',
] as const satisfies PrincipalType[]

export const PRINCIPAL_NAMES: Record<PrincipalType, string> = {
  user: 'Person',
  api_key: 'API key',
  policy: 'Policy',
  system: 'Shiplock',
  command_line: 'Command line',
}

/** The verbs of the actions by the objects that they are about (docs/audit-log.md). */
const VERBS: Record<string, string[]> = {
  account: ['join_by_sso', 'rename', 'reset'],
  api_key: ['create', 'revoke'],
  alert: ['dismiss', 'reopen'],
  audit_log: ['export'],
  chain: ['acknowledge'],
  code_host: ['set_up'],
  connection: ['create', 'renew', 'sync', 'remove'],
  delivery: ['replay'],
  deployment: ['approve', 'reject', 'override', 'bypass', 'cancel', 'replace_evidence', 'ask_again', 'supersede'],
  environment: ['set', 'move', 'delete'],
  finding_stream: ['end', 'take_over'],
  gate: ['create', 'change', 'delete', 'propose_change', 'confirm_change', 'withdraw_change'],
  invitation: ['create', 'resend', 'revoke', 'accept'],
  issue: ['split', 'merge'],
  member: ['add', 'change_role', 'disable', 'enable', 'remove', 'leave', 'join_by_sso'],
  oidc_trust: ['create', 'revoke', 'unpin'],
  organization: ['set_up', 'rename', 'update'],
  passkey: ['add', 'rename', 'remove'],
  password: ['change'],
  policy: ['apply', 'remove', 'propose_change', 'confirm_change', 'withdraw_change'],
  provenance: ['acknowledge'],
  provider_account: ['set', 'remove'],
  recovery_codes: ['create'],
  role: ['create', 'update', 'delete'],
  security_upload: ['create', 'confirm'],
  session: ['start', 'confirm', 'end', 'revoke'],
  single_sign_on: ['configure', 'connect', 'unlink', 'remove'],
  totp: ['enable', 'disable'],
  triage: ['dismiss', 'reopen', 'undo'],
}

/** The actions to choose from. The server filters by others, too. */
export const ACTIONS = Object.entries(VERBS).flatMap(([object, verbs]) => verbs.map((verb) => `${object}.${verb}`))

export const OBJECT_TYPES = [
  ...[
    'api_key',
    'code_host',
    'connection',
    'delivery',
    'deployment',
    'environment',
    'finding',
    'finding_stream',
    'gate',
    'invitation',
  ],
  ...[
    'issue',
    'member',
    'oidc_trust',
    'organization',
    'policy',
    'role',
    'security_upload',
    'session',
    'single_sign_on',
  ],
  ...['triage', 'user'],
]

const NAMES: Record<string, string> = {
  api_key: 'API key',
  oidc_trust: 'OIDC trust',
  totp: 'Authenticator app',
  single_sign_on: 'Single sign-on',
}

const PAST: Record<string, string> = {
  apply: 'applied',
  join_by_sso: 'joined by single sign-on',
  leave: 'left',
  set_up: 'set up',
  override: 'overridden',
  split: 'split',
  change_role: 'role changed',
  propose_change: 'change proposed',
  confirm_change: 'change confirmed',
  withdraw_change: 'change withdrawn',
  reset: 'reset',
  set: 'set',
  sync: 'synchronized',
  cancel: 'cancelled',
  undo: 'undone',
  resend: 'sent again',
  bypass: 'bypassed',
  take_over: 'taken over',
  unpin: 'unpinned',
}

type Page = operations['listAuditLog']['responses'][200]['content']['application/json']

export type AuditEntry = Page['data'][number]

type PrincipalType = AuditEntry['principal']['type']

/** `api_key.create` is "API key created". */
export function describeAction(action: string): string {
  const [object = '', verb = ''] = action.split('.')
  const past = PAST[verb] ?? verb.replaceAll('_', ' ').replace(/e?$/, 'ed')
  return `${nameOf(object)} ${past}`
}

/** `api_key` is "API key", `security_upload` "Security upload". */
export function nameOf(type: string): string {
  const words = type.replaceAll('_', ' ')
  return NAMES[type] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

type DetailLine = { label: string; value: string }

/** The details of an entry as lines to read: a field in a field is "Before: mode". */
export function detailLines(details: Record<string, unknown>, above = ''): DetailLine[] {
  return Object.entries(details).flatMap(([key, value]) => {
    const label = above === '' ? nameOf(key) : `${above}: ${nameOf(key).toLowerCase()}`
    if (isFields(value)) return detailLines(value, label)
    return [{ label, value: textOf(value) }]
  })
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (!Array.isArray(value)) return typeof value === 'object' ? 'none' : String(value)
  if (value.length === 0) return 'none'
  return value.map((item) => (typeof item === 'object' ? JSON.stringify(item) : String(item))).join(', ')
}
