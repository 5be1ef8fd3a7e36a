import { isSameRef } from '../../repositories/repository-identity.ts'
import type { TrustClass } from '../runs/trust.ts'

/** A run of the commit. */
export type ScopeRun = {
  id: string
  ref: string | null
  trust: TrustClass
  pipeline: string
  /** Whether it is about a pull or merge request. */
  is_request: boolean
}

export type ReportFacts = {
  id: string
  run_id: string
  attempt: number
  job: string
  name: string
  matrix: Record<string, unknown> | null
  runner: string | null
  at: string
  trust: TrustClass
  /** What the CI system calls the job in every try. Null if nobody has said. */
  key: string | null
  retries: number
}

export type AttestationFacts = {
  id: string
  report_id: string
  kind: string
  name: string
  status: string
  at: string
  trust: TrustClass
}

export type KnownRun = ScopeRun & { age: number; is_own: boolean }
export type KnownRuns = ReadonlyMap<string, KnownRun>

const NOTES_MAX = 10

/** The reports of one attempt at a place, with their attestations. */
type Generation = { run: KnownRun; attempt: number; reports: PlacedReport[] }
type PlacedReport = ReportFacts & {
  attestations: AttestationFacts[]
  /** It arrived after a later try of the same job, and changes nothing. */
  is_late: boolean
}

export type Standing = { reports: ReportFacts[]; attestations: AttestationFacts[] }

/**
 * Selects the evidence that has not given way to newer evidence of its place and lane (ci-evidence
 * §3). `ref` is the deployed one. `notes` say why older reports of a job count beside newer ones.
 */
export function selectStanding(found: Standing, runs: KnownRuns, ref: string | null): Standing & { notes: string[] } {
  const replaced = new Set<string>()
  const gone = new Set<string>()
  const notes: string[] = []
  for (const place of groupByPlace(found, runs)) {
    if (place.length === 1) continue
    for (const older of place) {
      for (const later of selectLater(place, older, ref)) notes.push(...replaceOlder(older, later, { replaced, gone }))
    }
  }
  const attestations = found.attestations.filter(({ id }) => !gone.has(id))
  const kept = new Set(attestations.map(({ report_id }) => report_id))
  const reports = found.reports.filter(({ id }) => !replaced.has(id) || kept.has(id))
  return { reports, attestations, notes: [...new Set(notes)].slice(0, NOTES_MAX) }
}

/** A place is a job of a pipeline with its matrix, and the name of the report; here of one lane. */
function groupByPlace({ reports, attestations }: Standing, runs: KnownRuns): Generation[][] {
  const ofReport = Map.groupBy(attestations, ({ report_id }) => report_id)
  const places = new Map<string, Map<string, Generation>>()
  for (const report of reports) {
    const run = runs.get(report.run_id)
    if (run === undefined) continue
    const place = JSON.stringify([run.pipeline, report.job, report.matrix ?? {}, report.name, report.trust])
    const generations = places.get(place) ?? new Map<string, Generation>()
    places.set(place, generations)
    const key = `${report.run_id} ${report.attempt}`
    const generation = generations.get(key) ?? { run, attempt: report.attempt, reports: [] }
    generations.set(key, generation)
    generation.reports.push({ ...report, attestations: ofReport.get(report.id) ?? [], is_late: false })
  }
  return [...places.values()].map((generations) => markLate([...generations.values()].sort(compareAge)))
}

/** Within a run the count of tries comes before the number of the attempt (ci-evidence §8.4). */
function markLate(place: Generation[]): Generation[] {
  const tried = new Map<string, number>()
  for (const { run, reports } of place.toReversed()) {
    const getKey = (report: ReportFacts) => JSON.stringify([run.id, report.key])
    const keyed = reports.filter(({ key }) => key !== null)
    for (const report of keyed) report.is_late = report.retries < (tried.get(getKey(report)) ?? 0)
    for (const report of keyed) tried.set(getKey(report), Math.max(report.retries, tried.get(getKey(report)) ?? 0))
  }
  return place
}

/** Newest first. */
function compareAge(one: Generation, other: Generation): number {
  return other.run.age - one.run.age || other.attempt - one.attempt
}

/** Later generations of each kind that are compared with one; it stands beside more of them. */
const COMPARED_MAX = 20

/**
 * Those that a generation may give way to: other attempts of its run and, unless it is of the
 * deploying run, runs of its pipeline that were created later, on its own ref or the deployed one.
 */
function selectLater(place: readonly Generation[], older: Generation, ref: string | null): Generation[] {
  const { run } = older
  const attempts = place.filter((later) => later.run.id === run.id && later !== older)
  if (run.is_own) return attempts.slice(0, COMPARED_MAX)
  const newer = place.filter((later) => later.run.age > run.age)
  return [
    ...attempts.slice(0, COMPARED_MAX),
    ...newer.filter((later) => isSameRef(later.run.ref, run.ref)).slice(0, COMPARED_MAX),
    ...newer.filter((later) => isSameRef(later.run.ref, ref)).slice(0, COMPARED_MAX),
  ]
}

type Replaced = { replaced: Set<string>; gone: Set<string> }

/**
 * Lets what an attempt has reported at a place give way to another attempt: key by key, and what
 * has no equal key as a whole, if there are at least as many reports. Returns notes about the rest.
 */
function replaceOlder(older: Generation, later: Generation, replaced: Replaced): string[] {
  const keys = new Set(later.reports.flatMap(({ key }) => key ?? []))
  const ownKeys = new Set(older.reports.flatMap(({ key }) => key ?? []))
  const fresh = later.reports.filter(({ is_late }) => !is_late)
  for (const key of ownKeys.intersection(keys)) {
    const rivals = older.reports.filter((report) => report.key === key)
    const tries = fresh.filter((report) => report.key === key)
    if (isNewer(older, later, rivals, tries)) replace(rivals, tries, replaced)
  }
  const rest = older.reports.filter(({ key }) => key === null || !keys.has(key))
  const others = fresh.filter(({ key }) => key === null || !ownKeys.has(key))
  if (compareAge(older, later) <= 0 || rest.length === 0 || others.length === 0) return []
  if (others.length < rest.length) {
    const isUnknown = rest.some(({ key }) => key === null)
    return isUnknown ? [describeBeside(older, later, rest.length, others.length)] : []
  }
  replace(rest, others, replaced)
  return []
}

/** Whether tries of a job are later than those of another attempt, and no fewer. */
function isNewer(older: Generation, later: Generation, rivals: ReportFacts[], tries: ReportFacts[]): boolean {
  if (tries.length < rivals.length) return false
  const getRetries = (reports: ReportFacts[]) => Math.max(...reports.map(({ retries }) => retries))
  const retried = older.run.id === later.run.id ? getRetries(tries) - getRetries(rivals) : 0
  return retried > 0 || (retried === 0 && compareAge(older, later) > 0)
}

/** Each attestation gives way only if as many of its kind, name and lane ran something. */
function replace(rivals: readonly PlacedReport[], tries: readonly PlacedReport[], { replaced, gone }: Replaced): void {
  const getName = ({ kind, name, trust }: AttestationFacts) => JSON.stringify([kind, name, trust])
  const hasRun = ({ kind, status }: AttestationFacts) => status !== 'info' || !INFO_BEFORE.includes(kind)
  const ran = tries.flatMap(({ attestations }) => attestations.filter(hasRun).map(getName))
  const before = Map.groupBy(
    rivals.flatMap(({ attestations }) => attestations),
    getName,
  )
  for (const [name, older] of before) {
    if (ran.filter((other) => other === name).length < older.length) continue
    for (const { id } of older) gone.add(id)
  }
  for (const { id } of rivals) replaced.add(id)
}

/** Kinds that are `info` until something has run, or was read. */
const INFO_BEFORE: readonly string[] = ['test-results', 'scan', 'ownership']

function describeBeside(older: Generation, later: Generation, before: number, now: number): string {
  const [first] = older.reports
  const place = ({ run, attempt }: Generation) => `attempt ${attempt} of run ${run.id}`
  return (
    `The job ${first?.job} has ${before} reports in ${place(older)} and ${now} in ${place(later)}: all of them count, ` +
    'because nothing says which job was repeated. Send job.key, what the CI system calls the job in every try.'
  )
}
