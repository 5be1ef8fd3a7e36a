import { isRequestRef, isSameRef } from '../../repositories/repository-identity.ts'
import type { EvidenceTerms, Trust } from './policy.schema.ts'
import type { PolicyInput } from './policy-input.schema.ts'

type Evidence = PolicyInput['evidence']
type Scan = PolicyInput['scans'][number]

/**
 * What the reports in `scans`, which the rule admits, say about `findings` and `issues`. That
 * nothing is open is good news only if somebody has looked: a report must be about what is
 * deployed, or the alerts of the connected host must be read (trust §2). `all` is the input with
 * the evidence of every lane.
 */
export function findEvidence(scans: readonly Scan[], all: PolicyInput, terms: EvidenceTerms): Evidence {
  const commit = all.deployment?.commit_sha ?? all.run?.commit_sha ?? null
  const asksCommit = terms.evidence === 'commit'
  const isOfCommit = (scan: Scan) => !asksCommit || (commit !== null && scan.commit_sha === commit)
  // What untrusted reports find is not counted, so they do not say either that nothing was found.
  const counting = scans.filter(
    (scan) => scan.trust !== 'untrusted' && isOfDeployedRef(scan, all.evidence) && isOfCommit(scan),
  )
  const tools = [...new Set(counting.map(({ tool }) => tool))]
  const hasAny = counting.length > 0 || (all.evidence.alerts && !asksCommit)
  const known = new Set(tools.map((tool) => tool.toLowerCase()))
  const silent = (terms.tools ?? []).filter((tool) => !known.has(tool.toLowerCase()))
  const isMissing = silent.length > 0 || !hasAny
  return { ...all.evidence, tools, missing: isMissing ? explainMissing(all, terms, { silent, commit }) : null }
}

/**
 * Whether a report is about the deployed branch, merge queue or tag. Where a tag, a commit of the
 * tracked branch or no ref is deployed, it may be about the tracked branch. A report of another
 * branch is no evidence, whatever its commit, and also if it says that it is tracked.
 */
function isOfDeployedRef({ ref, tracked }: Scan, evidence: Evidence): boolean {
  const { ref: deployed, tracked_branch, on_tracked_branch } = evidence
  if (isSameRef(ref, deployed)) return true
  if (tracked_branch === null) return tracked && (ref === null || (isOfNoBranch(deployed) && !isRequestRef(ref)))
  const isOfTracked = ref === null || isSameRef(ref, tracked_branch)
  const isTrackedDeployed = isSameRef(deployed, tracked_branch)
  return tracked && isOfTracked && (isOfNoBranch(deployed) || isTrackedDeployed || on_tracked_branch)
}

/** A tag, or a ref that is not known. */
function isOfNoBranch(ref: string | null): boolean {
  return ref === null || ref.startsWith('refs/tags/')
}

/** Without an organization, as in `policy test`, its default is the usual one. */
export function getNamedTrust({ trust }: Pick<EvidenceTerms, 'trust'>): Trust {
  return trust === null || trust === 'default' ? 'uploaded' : trust
}

type Missing = { silent: string[]; commit: string | null }

const ACCEPTED = {
  verified: 'of a job with an OIDC token',
  uploaded: 'of a job with an OIDC token or uploaded with an API key',
  any: 'of a CI job or uploaded with an API key',
}

/** Says what is missing, and what can be done about it. */
function explainMissing({ evidence, scans }: PolicyInput, terms: EvidenceTerms, { silent, commit }: Missing): string {
  const { ref, tracked_branch } = evidence
  const trust = getNamedTrust(terms)
  const tools = silent.length > 0 ? ` by ${silent.join(', ')}` : ''
  const place = ref ?? tracked_branch ?? 'the tracked branch'
  const where = terms.evidence === 'commit' ? `the commit ${commit ?? '(not known)'} on ${place}` : place
  const isThere = (lane: string) => scans.some((scan) => scan.trust === lane)
  const hints = [
    ...(isThere('ui') ? ['A report that a person uploads does not count.'] : []),
    ...(isThere('uploaded') && trust === 'verified' ? ['What API keys upload counts with trust: uploaded.'] : []),
    ...(isThere('self_reported') && trust !== 'any'
      ? ['What jobs report with an API key counts with trust: any.']
      : []),
  ]
  return (
    `no security report ${ACCEPTED[trust]}${tools} was read for ${where}. Upload one (shiplock upload), ` +
    ['or set absent_evidence: pass in the rule.', ...hints].join(' ')
  )
}

const SOURCES = new Map([
  ['known_exploited', 'kev'],
  ['max_epss', 'epss'],
])

/** The source of a fact that is absent, because it was never imported. Null for other facts. */
export function findSourceNotImported(fact: string, { imported }: Evidence): string | null {
  const source = SOURCES.get(fact)
  return source === undefined || imported.includes(source) ? null : source
}
