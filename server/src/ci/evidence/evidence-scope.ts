import { isMergeQueueRef, isRequestRef, isSameRef, isTracked } from '../../repositories/repository-identity.ts'
import { isRunOfStrangers, TRUST_CLASSES, type TrustClass } from '../runs/trust.ts'
import {
  type AttestationFacts,
  type KnownRun,
  type KnownRuns,
  type ReportFacts,
  type ScopeRun,
  type Standing,
  selectStanding,
} from './standing-evidence.ts'

/** What a policy looks at (ci-evidence §3): the commit, the deploying run, or one attempt of it. */
export const SCOPES = ['commit', 'run', 'attempt'] as const
export type Scope = (typeof SCOPES)[number]

/** The evidence of a commit, before anything gives way. */
export type FoundEvidence = {
  /** The deploying run with its attempt. Null if there is none. */
  own: { run_id: string; attempt: number } | null
  /** In the order of their creation. */
  runs: ScopeRun[]
  reports: ReportFacts[]
  attestations: AttestationFacts[]
  /** The trust of what is beyond the limits. */
  cut: TrustClass[]
}

/** Where a deployment comes from. Null where it is not known. */
export type DeployedRefs = { ref: string | null; tracked_branch: string | null }

/** The evidence that counts, strongest lane and failures first. */
export type SelectedEvidence = {
  reports: ReportFacts[]
  attestations: AttestationFacts[]
  /** The trust of what is left out, because there is too much. */
  cut: TrustClass[]
}

/** The evidence of one scope. */
export type ScopedEvidence = {
  /**
   * What the policies are asked with: the evidence that may be good news and, if other refs have
   * bad news, the same with these. The worse answer counts.
   */
  views: [SelectedEvidence, ...SelectedEvidence[]]
  /** Why older reports of a job count beside newer ones, for people. */
  notes: string[]
}

/** The maximum length of each list of the policy input. */
export const EVIDENCE_ITEMS_MAX = 1000

/**
 * Selects the evidence of a scope, piece by piece (ci-evidence §3): what has given way to newer
 * evidence of its place and lane is left out, and everything else counts side by side.
 */
export function selectEvidence(found: FoundEvidence, scope: Scope, refs: DeployedRefs): ScopedEvidence {
  const { own } = found
  if (scope === 'attempt') {
    const reports = found.reports.filter((report) => report.run_id === own?.run_id && report.attempt === own.attempt)
    const standing = { reports, attestations: selectReported(found.attestations, reports) }
    return { views: [{ ...truncateLists({ ...standing, cut: [] }), cut: [] }], notes: [] }
  }
  const runs = new Map(found.runs.map((run, age) => [run.id, { ...run, age, is_own: run.id === own?.run_id }]))
  const reports = found.reports.filter(({ run_id }) => scope === 'commit' || run_id === own?.run_id)
  const considered = { ...found, reports, attestations: selectReported(found.attestations, reports) }
  const { notes, ...standing } = selectStanding(considered, runs, refs.ref)
  return { views: selectViews(standing, runs, refs, found.cut), notes }
}

function selectReported(
  attestations: readonly AttestationFacts[],
  reports: readonly ReportFacts[],
): AttestationFacts[] {
  const ids = new Set(reports.map(({ id }) => id))
  return attestations.filter(({ report_id }) => ids.has(report_id))
}

/** The statuses of bad news, worst first. */
const BADNESS = ['fail', 'warn']

/** What may be good news, and then also the bad news of other refs. */
function selectViews(
  standing: Standing,
  runs: KnownRuns,
  refs: DeployedRefs,
  cut: readonly TrustClass[],
): ScopedEvidence['views'] {
  const trusted = new Set([...runs.values()].filter((run) => isGoodNews(run, refs)).map(({ id }) => id))
  const isAdmitted = ({ run_id, trust }: ReportFacts) => {
    const run = runs.get(run_id)
    // What strangers say counts about their own run only (trust §2).
    return run !== undefined && (trust !== 'untrusted' || run.is_own || isRunOfStrangers(run, refs.tracked_branch))
  }
  const reports = standing.reports.filter(isAdmitted)
  const good = reports.filter(({ run_id }) => trusted.has(run_id))
  const goodNews = selectReported(standing.attestations, good)
  const view = truncateLists({ reports: good, attestations: goodNews, cut: [...cut] })
  const others = reports.filter(({ run_id }) => !trusted.has(run_id))
  const badNews = selectReported(standing.attestations, others).filter(({ status }) => BADNESS.includes(status))
  if (badNews.length === 0) return [view]
  const bad = new Set(badNews.map(({ report_id }) => report_id))
  const withBad = {
    reports: [...good, ...others.filter(({ id }) => bad.has(id))],
    attestations: [...goodNews, ...badNews],
    cut: [...cut],
  }
  return [view, truncateLists(withBad)]
}

/** Good news is that of the deployed ref, the tracked branch and merge queues (ci-evidence §3). */
function isGoodNews({ ref, is_own, is_request }: KnownRun, { ref: deployed, tracked_branch }: DeployedRefs): boolean {
  if (is_own || isSameRef(ref, deployed) || isMergeQueueRef(ref)) return true
  return !is_request && !isRequestRef(ref) && isTracked(ref, tracked_branch)
}

function truncateLists({ reports, attestations, cut }: SelectedEvidence): SelectedEvidence {
  const rank = ({ trust }: { trust: TrustClass }) => TRUST_CLASSES.indexOf(trust)
  const badness = ({ status }: AttestationFacts) =>
    BADNESS.includes(status) ? BADNESS.indexOf(status) : BADNESS.length
  const age = (one: { at: string; id: string }, other: { at: string; id: string }) =>
    Date.parse(other.at) - Date.parse(one.at) || (one.id < other.id ? -1 : 1)
  const sorted = attestations.toSorted((a, b) => rank(a) - rank(b) || badness(a) - badness(b) || age(a, b))
  const strongest = reports.toSorted((a, b) => rank(a) - rank(b) || age(a, b))
  return {
    reports: strongest.slice(0, EVIDENCE_ITEMS_MAX).sort(age),
    attestations: sorted.slice(0, EVIDENCE_ITEMS_MAX),
    cut: [...new Set([...cut, ...sorted.slice(EVIDENCE_ITEMS_MAX).map(({ trust }) => trust)])],
  }
}
