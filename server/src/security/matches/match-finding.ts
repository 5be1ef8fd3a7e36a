import { hash } from 'node:crypto'
import { decideSeverity } from '../../inventory/advisories/group-matches.ts'
import type { EndedMatch } from '../../inventory/matches/compare-matches.ts'
import { type FoundMatch, formatPlace } from '../../inventory/matches/match-components.ts'
import { toComponent } from '../formats/report/dependency-finding.ts'
import type { GroupRating } from '../intel/intel.store.ts'
import type { IncomingFinding, StatedFacts } from '../reconcile/report-members.ts'
import { DESCRIPTION_MAX, RULE_ID_MAX, TITLE_MAX, truncateText, VERSION_MAX } from '../vocabulary/bounded-text.ts'
import type { MatchContent, MatchLink, StoredFinding } from './match.store.ts'

/**
 * The tool of all findings of the inventory. No report of a tool with this name is in their
 * streams.
 */
export const MATCH_TOOL = 'shiplock'

/** What a match shows. `subject` is what the documents are about. */
type ShownMatch = { found: FoundMatch; rating: GroupRating | null; subject: string | null }

/** The finding of a match. A new one has a fingerprint of its own, which it keeps. */
export function toMatchFinding(
  { found, rating, subject }: ShownMatch,
  { finding_id, fingerprint }: { finding_id: string | null; fingerprint: string },
): IncomingFinding {
  const { match, component, isPatched } = found
  const [id = ''] = match.vuln_ids
  const { name, version, purl, path } = toComponent(component)
  const content: MatchContent = {
    type: match.type === 'informational' ? match.informational : match.type === 'vulnerability' ? null : match.type,
    severity: decideSeverity(match, rating?.severity ?? null).severity,
    title: truncateText(`${id} in ${name}`, TITLE_MAX) ?? id,
    description: truncateText(
      `${name} ${version} is affected, says ${match.advisory_ids.join(', ')}.`,
      DESCRIPTION_MAX,
    ),
    path,
    package_name: name,
    package_version: version,
    fixed_version: truncateText(match.fixed_version, VERSION_MAX),
    purl,
    vuln_ids: match.vuln_ids,
    rule_id: truncateText(id, RULE_ID_MAX),
    cvss_version: rating?.cvss_version ?? null,
    cvss_score: rating?.cvss_score ?? null,
    cvss_vector: rating?.cvss_vector ?? null,
  }
  const state = isPatched ? 'dismissed' : 'open'
  return toFinding(content, { subject, fingerprint, state, stated: { ...NOTHING_STATED, finding_id } })
}

/** A finding that ended: what it showed last, and until when. */
export function toEndedFinding(
  { stored }: EndedMatch<StoredFinding>,
  { subject, seen_at, commit_sha }: { subject: string | null; seen_at: string; commit_sha: string | null },
): IncomingFinding {
  const { finding_id, fingerprint } = stored
  const stated = { ...NOTHING_STATED, finding_id, seen_at, commit_sha }
  return toFinding(stored, { subject, fingerprint, state: 'fixed', stated })
}

/** The times and the commit are those of the stream. */
const NOTHING_STATED: StatedFacts = {
  alert_id: null,
  revision: null,
  finding_id: null,
  first_seen_at: null,
  seen_at: null,
  commit_sha: null,
  dismissed_by_name: null,
  dismissed_at: null,
  dismissal_source: null,
}

type FindingParts = Pick<IncomingFinding, 'fingerprint' | 'state'> & { subject: string | null; stated: StatedFacts }

function toFinding(content: MatchContent, { subject, fingerprint, state, stated }: FindingParts): IncomingFinding {
  return {
    tool: MATCH_TOOL,
    subject,
    tool_version: null,
    kind: 'dependency',
    type: content.type,
    severity: content.severity,
    state,
    dismiss_reason: state === 'dismissed' ? 'patched' : null,
    dismiss_comment: null,
    title: content.title,
    description: content.description,
    native_url: null,
    path: content.path,
    start_line: null,
    end_line: null,
    start_column: null,
    end_column: null,
    package_name: content.package_name,
    package_version: content.package_version,
    fixed_version: content.fixed_version,
    purl: content.purl,
    vuln_ids: content.vuln_ids,
    cwes: [],
    rule_id: content.rule_id,
    secret_type: null,
    resource_name: null,
    scanner_score: null,
    cvss_version: content.cvss_version,
    cvss_score: content.cvss_score,
    cvss_vector: content.cvss_vector,
    fingerprint,
    fingerprint_method: 'match',
    relocation: null,
    similarity: null,
    context: null,
    stated,
  }
}

const HASH_HEX = 32

/** What a finding is a match of. */
export function toMatchLink({ component, package_key, match }: FoundMatch, position: number): MatchLink {
  const [canonical_id = ''] = match.vuln_ids
  const place = formatPlace(component)
  const match_hash = hash('sha256', JSON.stringify([place, canonical_id]), 'hex').slice(0, HASH_HEX)
  return { position, component_no: component.component_no, package_key, canonical_id, match_hash, ended_as: null }
}

export function toEndedLink({ stored, as }: EndedMatch<StoredFinding>, position: number): MatchLink {
  const { component_no, package_key, canonical_id, finding_id } = stored
  // Any number of findings of one match may have ended.
  const match_hash = hash('sha256', finding_id, 'hex').slice(0, HASH_HEX)
  return { position, component_no, package_key, canonical_id, match_hash, ended_as: as }
}
