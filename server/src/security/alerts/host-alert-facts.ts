import { hash } from 'node:crypto'
import type { Provider } from '../../codehosts/catalogue.ts'
import { formatHostAlertId, type HostAlert, type HostAlertType } from '../../codehosts/host-alert.ts'
import { isCutKey, normalizeSnippet } from '../formats/sarif/result-text.ts'
import type { ContextHash } from '../issues/grouping/grouping-facts.ts'
import {
  COMMENT_MAX,
  collectTexts,
  DESCRIPTION_MAX,
  NAME_MAX,
  PATH_MAX,
  parseWebUrl,
  RULE_ID_MAX,
  TITLE_MAX,
  truncateText,
  VERSION_MAX,
} from '../vocabulary/bounded-text.ts'
import { collectCwes } from '../vocabulary/cwe.ts'
import type { Severity } from '../vocabulary/severity.ts'

/** What a code host states about an alert, in the columns of `security_alerts`. */
export type HostAlertFacts = {
  id: string
  provider: Provider
  repository_id: string
  repository: string
  type: HostAlertType
  number: number
  severity: Severity
  title: string
  description: string | null
  package_ecosystem: string | null
  package_name: string | null
  vulnerable_versions: string | null
  patched_version: string | null
  cve_id: string | null
  ghsa_id: string | null
  advisory_url: string | null
  github_alert_url: string | null
  references: string[]
  path: string | null
  start_line: number | null
  end_line: number | null
  start_column: number | null
  end_column: number | null
  commit_sha: string | null
  git_ref: string | null
  rule_id: string | null
  tool_name: string | null
  tool_version: string | null
  cwes: string[]
  cvss_version: string | null
  cvss_score: number | null
  cvss_vector: string | null
  secret_type: string | null
  /** Hex: a keyed hash of the secret. */
  secret_hash: string | null
  detected_at: Date
  fixed_at: Date | null
  dismissed_by: string | null
  dismissed_by_name: string | null
  dismiss_reason: string | null
  dismiss_comment: string | null
  dismissed_at: Date | null
  host_updated_at: Date
  host_status: HostAlert['status']
}

/** Orders versions of one alert with the same time and state, so that their arrival does not. */
export type HostVersion = { host_facts: number; host_hash: string }

/** A version with the time of the request that it answered. Null: unknown. */
export type ReadAlert = HostAlertFacts & HostVersion & { host_read_at: Date | null }

/** A dependency has no lines. Its place is the file that names it. */
type Place = NonNullable<HostAlert['location']>
const NO_PLACE = { path: null, start_line: null, end_line: null, start_column: null, end_column: null }

/**
 * The facts of an alert with bounded texts. The value of a secret is replaced by its keyed hash and
 * removed from all texts.
 */
export function toHostAlertFacts(alert: HostAlert, contextHash: ContextHash): HostAlertFacts {
  const text = textReader(alert)
  const { repository, package: affected, secret, cvss } = alert
  return {
    id: formatHostAlertId(repository.provider, repository.id, alert),
    provider: repository.provider,
    repository_id: repository.id,
    repository: repository.full_name,
    type: alert.type,
    number: alert.number,
    severity: alert.severity,
    title: text(alert.title, TITLE_MAX) ?? text(alert.rule_id, TITLE_MAX) ?? 'Security alert',
    description: text(alert.description, DESCRIPTION_MAX),
    package_ecosystem: text(affected?.ecosystem, NAME_MAX),
    package_name: text(affected?.name, NAME_MAX),
    vulnerable_versions: text(affected?.vulnerable_versions, NAME_MAX),
    patched_version: text(affected?.patched_version, VERSION_MAX),
    cve_id: text(alert.cve_id, NAME_MAX),
    ghsa_id: text(alert.ghsa_id, NAME_MAX),
    advisory_url: parseWebUrl(alert.advisory_url),
    github_alert_url: parseWebUrl(alert.url),
    references: collectTexts(alert.references).filter((reference) => parseWebUrl(reference) !== null),
    ...getPlace(alert),
    commit_sha: text(alert.commit_sha, VERSION_MAX),
    git_ref: text(alert.git_ref, NAME_MAX),
    rule_id: text(alert.rule_id, RULE_ID_MAX),
    tool_name: text(alert.tool_name, NAME_MAX),
    tool_version: text(alert.tool_version, VERSION_MAX),
    cwes: collectCwes(alert.cwes),
    cvss_version: text(cvss?.version, VERSION_MAX),
    cvss_score: cvss?.score ?? null,
    cvss_vector: text(cvss?.vector, NAME_MAX),
    secret_type: text(secret?.type, RULE_ID_MAX),
    secret_hash: secretHash(secret?.value ?? null, contextHash),
    detected_at: alert.detected_at,
    fixed_at: alert.fixed_at,
    ...toDismissal(alert, text),
    host_updated_at: alert.updated_at,
    host_status: alert.status,
  }
}

type ReadText = (text: string | null | undefined, max: number) => string | null

const SECRET_CHARS_MIN = 4

/** Reads texts without the value of the alert's secret, which hosts may repeat in them. */
function textReader({ secret }: HostAlert): ReadText {
  const value = secret?.value ?? ''
  const isSecret = value.length >= SECRET_CHARS_MIN
  return (text, max) => truncateText((isSecret ? text?.replaceAll(value, '***') : text) ?? null, max)
}

/** The same hash as that of a scanner's finding that flags exactly the secret. */
function secretHash(value: string | null, contextHash: ContextHash): string | null {
  const flagged = normalizeSnippet(value, true)
  return flagged === null || isCutKey(flagged) ? null : contextHash(flagged)
}

function getPlace({ location, package: affected }: HostAlert): typeof NO_PLACE | Place {
  if (location !== null) return { ...location, path: truncateText(location.path, PATH_MAX) ?? '' }
  const path = truncateText(affected?.manifest_path ?? null, PATH_MAX)
  return path === null ? NO_PLACE : { ...NO_PLACE, path }
}

function toDismissal({ status, dismissal }: HostAlert, text: ReadText) {
  const { by = null, reason = null, comment = null, at = null } = (status === 'open' ? null : dismissal) ?? {}
  return {
    dismissed_by: text(by?.login, NAME_MAX),
    dismissed_by_name: text(by?.name ?? by?.login, NAME_MAX),
    dismiss_reason: text(reason, NAME_MAX),
    dismiss_comment: text(comment, COMMENT_MAX),
    dismissed_at: at,
  }
}

const HASH_HEX = 32

/** More facts count before fewer: a list may leave out what a read of the alert contains. */
export function toHostVersion(facts: HostAlertFacts): HostVersion {
  const { repository: _, ...ofAlert } = facts
  const known = Object.values(ofAlert).filter(
    (value) => value !== null && !(Array.isArray(value) && value.length === 0),
  )
  return {
    host_facts: known.length,
    host_hash: hash('sha256', JSON.stringify(ofAlert), 'hex').slice(0, HASH_HEX),
  }
}
