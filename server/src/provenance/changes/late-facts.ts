import { isFinal } from '../../ci/runs/run-status.ts'
import { DAY_MS } from '../../platform/clock.ts'
import { toCanonicalJson } from '../../platform/crypto/signed-bytes.ts'
import {
  type Amendment,
  type ChangeRecord,
  DEVIATIONS,
  type Deviation,
  type RecordCheck,
  type RecordedResults,
  type RecordReview,
  type RecordRun,
} from './change-record.ts'
import { computeDeviations } from './deviations.ts'

/** How long after a landing facts are added to its record. */
export const AMENDED_FOR_MS = 90 * DAY_MS

/** A late fact that a record with its amendments does not state. */
export type LateFact = Pick<Amendment, 'kind' | 'facts'>

/** What a late fact can show about the landing. Other rules are judged by what was known then. */
const SHOWN: Record<Amendment['kind'], Deviation[]> = {
  review: ['self_approved', 'no_review', 'stale_review'],
  check: ['check_failed'],
  run: ['check_failed'],
}

/**
 * The facts of a change that differ from what its record and its amendments state: reviews that are
 * new or different, and checks and runs that have finished or have another result. Each names all
 * deviations of the change that are known then.
 */
export function collectLateFacts(
  record: ChangeRecord,
  amendments: readonly Amendment[],
  present: RecordedResults,
): LateFact[] {
  const stated = withAmendments(record, amendments)
  const found = [
    ...newReviews(stated.reviews, present.reviews).map((review) => ({ kind: 'review' as const, facts: { review } })),
    ...newChecks(stated.checks, present.checks).map((check) => ({ kind: 'check' as const, facts: { check } })),
    ...newRuns(stated.runs, present.runs).map((run) => ({ kind: 'run' as const, facts: { run } })),
  ]
  let known = stated
  return found.map(({ kind, facts }) => {
    const amended = withAmendments(known, [{ facts: { ...facts, deviations: [] } }])
    const shown = computeDeviations(judged(known, amended)).filter((deviation) => SHOWN[kind].includes(deviation))
    const deviations = uniteDeviations(known.deviations, shown)
    known = { ...amended, deviations }
    return { kind, facts: { ...facts, deviations } }
  })
}

/** Checks that are jobs of deployments, and runs in which nothing but these has failed. */
export type DeployResults = { run_ids: string[]; checks: Pick<RecordCheck, 'commit_sha' | 'source' | 'name'>[] }

/** Results without those of deployments, which the lineage of the commit states. */
export function filterDeployed(results: RecordedResults, { run_ids, checks }: DeployResults): RecordedResults {
  const deploying = new Set(checks.map(getCheckName))
  return {
    ...results,
    checks: results.checks.filter((check) => !deploying.has(getCheckName(check))),
    runs: results.runs.filter(({ id }) => !run_ids.includes(id)),
  }
}

/** Deviations of several lists, each once, in the order of `DEVIATIONS`. */
function uniteDeviations(...lists: (readonly Deviation[])[]): Deviation[] {
  return DEVIATIONS.filter((deviation) => lists.some((list) => list.includes(deviation)))
}

/** An approval that was dismissed after the landing was there when the change landed. */
function judged(before: ChangeRecord, after: ChangeRecord): ChangeRecord {
  const reviews = after.reviews.map((review) => {
    const earlier = before.reviews.find(({ id }) => id === review.id)
    return review.state === 'dismissed' && earlier ? earlier : review
  })
  return { ...after, reviews }
}

/** A record with its late facts in place of what it stated. */
function withAmendments(record: ChangeRecord, amendments: readonly Pick<Amendment, 'facts'>[]): ChangeRecord {
  const facts = amendments.map((amendment) => amendment.facts)
  const getId = ({ id }: { id: string }) => id
  return {
    ...record,
    reviews: selectNewest([...record.reviews, ...facts.flatMap(({ review }) => review ?? [])], getId),
    checks: selectNewest([...record.checks, ...facts.flatMap(({ check }) => check ?? [])], getCheckName),
    runs: selectNewest([...record.runs, ...facts.flatMap(({ run }) => run ?? [])], getId),
    deviations: uniteDeviations(record.deviations, ...facts.map(({ deviations }) => deviations)),
  }
}

function selectNewest<Fact>(facts: readonly Fact[], nameOfFact: (fact: Fact) => string): Fact[] {
  return [...new Map(facts.map((fact) => [nameOfFact(fact), fact])).values()]
}

function newReviews(stated: RecordReview[], present: RecordReview[]): RecordReview[] {
  const known = new Set(stated.map((review) => toCanonicalJson(review)))
  return present.filter((review) => !known.has(toCanonicalJson(review)))
}

function newChecks(stated: RecordCheck[], present: RecordCheck[]): RecordCheck[] {
  const known = new Map(stated.map((check) => [getCheckName(check), check.status]))
  return present.filter((check) => isFinal(check.status) && known.get(getCheckName(check)) !== check.status)
}

function newRuns(stated: RecordRun[], present: RecordRun[]): RecordRun[] {
  const getResult = ({ attempt, status }: RecordRun) => `${attempt} ${status}`
  const known = new Map(stated.map((run) => [run.id, getResult(run)]))
  return present.filter((run) => isFinal(run.status) && known.get(run.id) !== getResult(run))
}

function getCheckName({ commit_sha, source, name }: DeployResults['checks'][number]): string {
  return JSON.stringify([commit_sha, source, name])
}
