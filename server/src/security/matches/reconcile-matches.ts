import { compareMatches, type PairedMatches } from '../../inventory/matches/compare-matches.ts'
import {
  findNewestOfScope,
  listPresent,
  type MatchScope,
  type NewestOfScope,
} from '../../inventory/matches/match-scope.store.ts'
import { type InventoryMatching, lockInventoryMatching } from '../../organizations/organization.store.ts'
import type { Tx } from '../../platform/db/sql.ts'
import { createUuid } from '../../platform/ids.ts'
import type { Services } from '../../services.ts'
import { hashFingerprint } from '../formats/report/parsed-report.ts'
import { lockIntel } from '../intel/intel-source.store.ts'
import { KnownRules } from '../issues/grouping/known-rules.ts'
import { lockStreams, type StreamReport } from '../reconcile/finding-stream.store.ts'
import { buildContentHash, copyIncoming } from '../reconcile/incoming.store.ts'
import { reconcileStated } from '../reconcile/reconcile-report.ts'
import { type IncomingFinding, ReportMembers, STATED_COLUMNS } from '../reconcile/report-members.ts'
import { followStatements } from '../vex/apply-statements.ts'
import { updateInheritedFindings } from '../writing/finding-writing.store.ts'
import { lockRepository } from '../writing/grouping.store.ts'
import { updateRefreshedIssues } from '../writing/issue-writing.store.ts'
import { type FoundMatches, findMatches } from './find-matches.ts'
import {
  findMatchStream,
  listStoredMatches,
  type MatchLink,
  type MatchStream,
  type StoredFinding,
  updateMatchStream,
  upsertMatchLinks,
} from './match.store.ts'
import { MATCH_TOOL, toEndedFinding, toEndedLink, toMatchFinding, toMatchLink } from './match-finding.ts'
import { insertMatchingProgress } from './match-progress.store.ts'

/** How many findings of the inventory were opened, also again, and closed. */
export type MatchCounts = { opened: number; closed: number }

export const NO_MATCHES: MatchCounts = { opened: 0, closed: 0 }

/**
 * Brings the findings of a scope in line with its components and the stored advisories: those of
 * packages with these names, or all. All are compared at the first time, and after the organization
 * turned matching on or off. Locks the repository, the intelligence, and then the stream. Returns
 * null if nothing changed.
 */
export async function reconcileMatches(
  services: Pick<Services, 'clock' | 'ruleMap'>,
  tx: Tx,
  scope: MatchScope,
  names: string[] | null,
): Promise<MatchCounts | null> {
  const { org_id, repository_no } = scope
  await lockRepository(tx, org_id, repository_no)
  const mode = await lockInventoryMatching(tx, org_id)
  await lockIntel(tx)
  const newest = await findNewestOfScope(tx, scope)
  const before = await findMatchStream(tx, scope)
  if (newest === null || (mode === 'off' && (before === null || before.has_ended))) return null
  const isTurned = before === null || before.has_ended !== (mode === 'off') || before.preview !== (mode === 'preview')
  const stream = before ?? (await insertStream(services, tx, scope, newest))
  const asked = isTurned ? null : names
  const components = mode === 'off' ? [] : await listPresent(tx, scope, asked)
  const { present = [], replaced = [] } = Object.groupBy(components, ({ is_replaced }) =>
    is_replaced ? 'replaced' : 'present',
  )
  const found = await findMatches(tx, present)
  const stored = await listStoredMatches(tx, org_id, stream.id, asked)
  const endAs = mode === 'off' ? ('matching_off' as const) : null
  const paired = compareMatches(found.matches, stored, { present, replaced, withdrawn: found.withdrawn, endAs })
  const written = await writeMatches(services, tx, { scope, mode, newest, stream, ratings: found.ratings }, paired)
  const at = services.clock.now()
  await updateMatchStream(tx, org_id, stream.id, {
    preview: mode === 'preview',
    ended: mode === 'off' ? { at, reason: 'The organization does not match components with advisories.' } : null,
    commit_sha: newest.commit_sha,
    reported_at: newest.reported_at,
  })
  return written
}

async function insertStream(
  { clock }: Pick<Services, 'clock'>,
  tx: Tx,
  scope: MatchScope,
  newest: NewestOfScope,
): Promise<MatchStream> {
  await insertMatchingProgress(tx, scope.org_id)
  await lockStreams(tx, toStreamReport(scope, newest, false), [toStreamKey(scope)], clock.now())
  return (await findMatchStream(tx, scope)) as MatchStream
}

function toStreamKey({ subject }: MatchScope) {
  return { tool: MATCH_TOOL, tool_family: MATCH_TOOL, subject }
}

function toStreamReport(
  { org_id, repository_no, category, lane }: MatchScope,
  { git_ref, commit_sha, reported_at }: NewestOfScope,
  tracked: boolean,
): StreamReport {
  return {
    org_id,
    repository_no,
    upload_id: null,
    lane,
    category,
    git_ref,
    commit_sha,
    tracked,
    source: 'osv',
    origin: 'inventory',
    reported_at,
  }
}

type MatchRun = Pick<FoundMatches, 'ratings'> & {
  scope: MatchScope
  mode: InventoryMatching
  newest: NewestOfScope
  stream: MatchStream
}

/** Writes what differs. Most documents and imports change few findings. */
async function writeMatches(
  services: Pick<Services, 'clock' | 'ruleMap'>,
  tx: Tx,
  { scope, mode, newest, stream, ratings }: MatchRun,
  { found, ended }: PairedMatches<StoredFinding>,
): Promise<MatchCounts | null> {
  const { org_id, repository_no, subject, lane } = scope
  const tracked = mode === 'off' ? stream.tracked : mode === 'on' && newest.tracked && lane !== 'untrusted'
  const findings: IncomingFinding[] = []
  const links: MatchLink[] = []
  const counts = { ...NO_MATCHES }
  const now = services.clock.now()
  for (const { match, stored } of found) {
    const rating = ratings.get(match.match.vuln_ids[0] as string) ?? null
    const fingerprint = stored?.fingerprint ?? hashFingerprint('match', [createUuid(now)])
    const identity = { finding_id: stored?.finding_id ?? null, fingerprint }
    const finding = toMatchFinding({ found: match, rating, subject }, identity)
    const link = toMatchLink(match, findings.length)
    const isLinked = stored?.component_no === link.component_no && stored.canonical_id === link.canonical_id
    if (isLinked && stored.ended_as === null && stored.content_hash === buildContentHash(finding)) continue
    if (stored === null || stored.ended_as !== null) counts.opened++
    findings.push(finding)
    links.push(link)
  }
  for (const end of ended) {
    counts.closed++
    links.push(toEndedLink(end, findings.length))
    const seen = { subject, seen_at: newest.reported_at.toISOString(), commit_sha: newest.commit_sha }
    findings.push(toEndedFinding(end, seen))
  }
  if (findings.length === 0 && tracked === stream.tracked) return null
  const incoming = await copyMatches(services, tx, findings, tracked)
  const report = {
    ...toStreamReport(scope, newest, tracked),
    keys: [toStreamKey(scope)],
    versions: new Map(),
    link: async (recorded: Parameters<typeof upsertMatchLinks>[0]) => {
      await upsertMatchLinks(recorded, stream.id, links)
      return []
    },
  }
  await reconcileStated(incoming, report, services.clock)
  const at = services.clock.now()
  const merged = ended.flatMap(({ stored, into }) => (into === null ? [] : { from: stored.finding_id, into }))
  const same = { from: merged.map(({ from }) => from), into: merged.map(({ into }) => into) }
  const issueIds = await updateInheritedFindings(tx, org_id, { ...same, until: at }, at)
  if (issueIds.length > 0) await updateRefreshedIssues(tx, org_id, issueIds, at)
  await followStatements(tx, { org_id, repository_no, at: now })
  return counts
}

async function copyMatches(
  { ruleMap }: Pick<Services, 'ruleMap'>,
  tx: Tx,
  findings: readonly IncomingFinding[],
  isTracked: boolean,
) {
  const members = new ReportMembers(isTracked, (text) => text, new KnownRules(ruleMap))
  const copy = await copyIncoming(tx, members, STATED_COLUMNS)
  try {
    await copy.write(findings)
    return await copy.end()
  } catch (error) {
    await copy.abort(error as Error)
    throw error
  }
}
