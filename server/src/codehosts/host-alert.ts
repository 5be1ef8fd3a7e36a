import { getCodeHost, type Provider } from './catalogue.ts'
import type { HostAccount, HostRepository } from './host-repository.ts'

export const HOST_ALERT_TYPES = ['code_scanning', 'dependabot', 'secret_scanning'] as const
export type HostAlertType = (typeof HOST_ALERT_TYPES)[number]

/** The list of a repository's alerts of one type. */
export function getAlertListName(type: HostAlertType): string {
  return `${type}_alerts`
}

/** Why an alert is dismissed. Each code host has its own words for these reasons. */
export const DISMISS_REASONS = [
  'false_positive',
  'wont_fix',
  'used_in_tests',
  'tolerable_risk',
  'inaccurate',
  'not_used',
  'no_capacity',
  'revoked',
  'risk_accepted',
  'mitigated',
] as const
export type DismissReason = (typeof DISMISS_REASONS)[number]

/** Names an alert within its repository. */
export type HostAlertName = { type: HostAlertType; number: number }

/** A security alert, as its code host describes it. */
export type HostAlert = HostAlertName & {
  repository: HostRepository
  status: 'open' | 'fixed' | 'dismissed'
  severity: 'critical' | 'high' | 'medium' | 'low' | 'info'
  title: string
  description: string | null
  url: string | null
  references: string[]
  rule_id: string | null
  tool_name: string | null
  tool_version: string | null
  cwes: string[]
  /** For dependencies. */
  package: {
    ecosystem: string
    name: string
    vulnerable_versions: string | null
    patched_version: string | null
    manifest_path: string | null
  } | null
  cve_id: string | null
  ghsa_id: string | null
  advisory_url: string | null
  cvss: { version: string | null; score: number | null; vector: string | null } | null
  location: {
    path: string
    start_line: number | null
    end_line: number | null
    start_column: number | null
    end_column: number | null
  } | null
  commit_sha: string | null
  git_ref: string | null
  /** `value` is never stored or logged: it is hashed with a key at once. */
  secret: { type: string; display_name: string | null; value: string | null; validity: string | null } | null
  detected_at: Date
  fixed_at: Date | null
  dismissal: {
    by: HostAccount | null
    /** In the host's own words. */
    reason: string | null
    comment: string | null
    at: Date | null
  } | null
  updated_at: Date
}

/** What alerts of some types, and at some hosts, do not have. */
export const NO_DETAILS = {
  description: null,
  references: [],
  rule_id: null,
  tool_name: null,
  tool_version: null,
  cwes: [],
  package: null,
  cve_id: null,
  ghsa_id: null,
  advisory_url: null,
  cvss: null,
  location: null,
  commit_sha: null,
  git_ref: null,
  secret: null,
  fixed_at: null,
  dismissal: null,
} satisfies Partial<HostAlert>

/** The id under which we keep an alert of a code host, which numbers it within its repository. */
export function formatHostAlertId(provider: Provider, repositoryId: string, { type, number }: HostAlertName): string {
  return `${getCodeHost(provider).idPrefix}_alert_${type}_${repositoryId}_${number}`
}
