import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { TRUST_CLASSES, type TrustClass } from '../runs/trust.ts'
import {
  type DeployedRefs,
  EVIDENCE_ITEMS_MAX,
  type FoundEvidence,
  type Scope,
  selectEvidence,
} from './evidence-scope.ts'
import type { AttestationFacts, ReportFacts, ScopeRun } from './standing-evidence.ts'

const MAIN = { ref: 'refs/heads/main', tracked_branch: 'main' }
const OWN = { run_id: 'run_own', attempt: 1 }

function toRun(id: string, fields: Partial<ScopeRun> = {}): ScopeRun {
  return { id, ref: MAIN.ref, trust: 'verified', pipeline: 'ci', is_request: false, ...fields }
}

function toReport(id: string, run_id: string, fields: Partial<ReportFacts> = {}): ReportFacts {
  const place = { attempt: 1, job: 'test', name: 'tests', matrix: null, key: null, retries: 0 }
  return { id, run_id, runner: null, at: '2026-03-01T10:00:00Z', trust: 'verified', ...place, ...fields }
}

/** One attestation for each report, with its status. */
function find(runs: ScopeRun[], given: [report: ReportFacts, status: string][]): FoundEvidence {
  const attestations = given.map(
    ([{ id, at, trust }, status]): AttestationFacts => ({
      ...{ id: `of ${id}`, report_id: id, kind: 'test-results', name: 'junit' },
      ...{ status, at, trust },
    }),
  )
  return { own: OWN, runs, reports: given.map(([report]) => report), attestations, cut: [] }
}

/** The statuses that each view of the policies has, by report. */
function statusesOf(found: FoundEvidence, refs: DeployedRefs = MAIN, scope: Scope = 'commit') {
  return selectEvidence(found, scope, refs).views.map(({ attestations }) =>
    Object.fromEntries(attestations.map(({ report_id, status }) => [report_id, status])),
  )
}

const own = toRun('run_own', { pipeline: 'deploy' })

/** What a policy sees of one other run of the commit, whose ref is given. */
function seenOf(run: Partial<ScopeRun>, refs: DeployedRefs = MAIN) {
  const other = toRun('run_other', run)
  const see = (status: string) => statusesOf(find([other, own], [[toReport('r', other.id), status]]), refs)
  return { good: see('pass'), bad: see('fail') }
}

test('good news comes from the deployed ref, the tracked branch and merge queues', () => {
  const release = { ref: 'refs/heads/release/1', tracked_branch: 'main' }
  const refs = ['refs/heads/main', 'main', 'refs/heads/release/1', 'release/1']
  const queues = [
    'refs/heads/gh-readonly-queue/main/pr-7-abc',
    'gh-readonly-queue/main/pr-7-abc',
    'refs/merge-requests/7/train',
  ]
  for (const ref of [...refs, ...queues]) {
    assert.deepEqual(seenOf({ ref }, release), { good: [{ r: 'pass' }], bad: [{ r: 'fail' }] }, ref)
  }
})

test('other refs bring bad news only, as a second view that the policies are asked with', () => {
  for (const ref of [
    'refs/heads/feature',
    'feature',
    'refs/tags/v1',
    'refs/pull/7/merge',
    'refs/merge-requests/7/head',
  ]) {
    assert.deepEqual(seenOf({ ref }), { good: [{}], bad: [{}, { r: 'fail' }] }, ref)
  }
  assert.deepEqual(seenOf({ ref: MAIN.ref, is_request: true }, { ref: 'refs/tags/v1', tracked_branch: 'main' }).good, [
    {},
  ])
})

test('where no tracked branch is known, every ref has good news but those of pull and merge requests', () => {
  const unknown = { ref: 'refs/tags/v1', tracked_branch: null }
  for (const ref of ['refs/heads/feature', 'refs/tags/v2', null]) {
    assert.deepEqual(seenOf({ ref }, unknown).good, [{ r: 'pass' }], String(ref))
  }
  for (const ref of ['refs/pull/7/merge', 'pull/7/merge', 'refs/merge-requests/7/head']) {
    assert.deepEqual(seenOf({ ref }, unknown).good, [{}], ref)
  }
  assert.deepEqual(seenOf({ ref: 'refs/heads/feature', is_request: true }, unknown).good, [{}])
})

test('a run of another ref takes nothing away, and a later run of the pipeline on the deployed ref does', () => {
  const [first, second] = [toRun('run_1'), toRun('run_2', { ref: 'refs/heads/feature' })]
  const failed = [toReport('old', 'run_1'), 'fail'] as [ReportFacts, string]
  const passed = [toReport('new', 'run_2'), 'pass'] as [ReportFacts, string]
  assert.deepEqual(statusesOf(find([first, second, own], [failed, passed])), [{ old: 'fail' }])
  assert.deepEqual(statusesOf(find([first, toRun('run_2'), own], [failed, passed])), [{ new: 'pass' }])
  const elsewhere = toRun('run_2', { pipeline: 'other' })
  assert.deepEqual(statusesOf(find([first, elsewhere, own], [failed, passed])), [{ old: 'fail', new: 'pass' }])
})

test('a newer attempt without keys replaces a place as a whole only with as many reports, else the notes say why', () => {
  const before = ['a', 'b'].map((id) => [toReport(id, 'run_own'), 'fail'] as [ReportFacts, string])
  const later = (id: string) => [toReport(id, 'run_own', { attempt: 2 }), 'pass'] as [ReportFacts, string]
  const few = selectEvidence(find([own], [...before, later('c')]), 'run', MAIN)
  assert.deepEqual(few.views[0].attestations.map(({ status }) => status).sort(), ['fail', 'fail', 'pass'])
  assert.match(few.notes.join(), /Send job\.key/)
  const enough = selectEvidence(find([own], [...before, later('c'), later('d')]), 'run', MAIN)
  assert.deepEqual(
    enough.views[0].attestations.map(({ status }) => status),
    ['pass', 'pass'],
  )
  assert.deepEqual(enough.notes, [])
})

test('a late report of an older try changes nothing', () => {
  const retried = toReport('new', 'run_own', { key: 'k', retries: 1 })
  const late = toReport('late', 'run_own', { attempt: 2, key: 'k', retries: 0 })
  const [view] = statusesOf(
    find(
      [own],
      [
        [retried, 'fail'],
        [late, 'pass'],
      ],
    ),
    MAIN,
    'run',
  )
  assert.equal(view?.new, 'fail')
})

test('beyond 1,000 attestations failures come first, and what is left out is told by its trust', () => {
  const reports = Array.from({ length: EVIDENCE_ITEMS_MAX + 5 }, (_, at) =>
    toReport(`r${at}`, 'run_own', { job: `job ${at}` }),
  )
  const found = find(
    [own],
    reports.map((report, at) => [report, at === reports.length - 1 ? 'fail' : 'pass']),
  )
  const [view] = selectEvidence(found, 'commit', MAIN).views
  assert.equal(view.attestations.length, EVIDENCE_ITEMS_MAX)
  assert.equal(view.attestations[0]?.status, 'fail')
  assert.deepEqual(view.cut, ['verified'])
  assert.deepEqual(selectEvidence({ ...found, cut: ['untrusted'] }, 'commit', MAIN).views[0].cut, [
    'untrusted',
    'verified',
  ])
  const few = find([own], [[toReport('r', 'run_own'), 'pass']])
  assert.deepEqual(selectEvidence({ ...few, cut: ['self_reported'] }, 'commit', MAIN).views[0].cut, ['self_reported'])
})

const REFS = ['refs/heads/main', 'refs/heads/feature', 'refs/pull/7/merge', 'refs/merge-requests/7/train', null]

const anyRun = fc.record({
  ref: fc.constantFrom(...REFS),
  pipeline: fc.constantFrom('ci', 'deploy'),
  trust: fc.constantFrom<TrustClass>('verified', 'self_reported'),
  is_request: fc.boolean(),
})
const anyReport = fc.record({
  run: fc.nat({ max: 3 }),
  attempt: fc.integer({ min: 1, max: 3 }),
  job: fc.constantFrom('test', 'lint'),
  key: fc.constantFrom(null, null, 'k1', 'k2'),
  retries: fc.nat({ max: 2 }),
  trust: fc.constantFrom(...TRUST_CLASSES),
  status: fc.constantFrom('pass', 'fail', 'warn', 'info'),
})

/** Up to four runs of a commit, the last of which deploys, with reports of each. */
const anyEvidence = fc
  .tuple(fc.array(anyRun, { minLength: 1, maxLength: 4 }), fc.array(anyReport, { maxLength: 16 }))
  .map(([runs, reports]) => {
    const known = runs.map((run, at) => toRun(at === runs.length - 1 ? OWN.run_id : `run_${at}`, run))
    const given = reports.map(({ run, status, ...report }, at): [ReportFacts, string] => {
      const { id } = known[run % known.length] as ScopeRun
      return [toReport(`r${at}`, id, { ...report, at: new Date(Date.UTC(2026, 2, 1, 0, at)).toISOString() }), status]
    })
    return find(known, given)
  })
const anyScope = fc.constantFrom<Scope>('commit', 'run', 'attempt')

test('the order in which evidence is read never changes what is selected', () => {
  const withOrder = anyEvidence.chain((found) =>
    fc.tuple(
      fc.constant(found),
      fc.shuffledSubarray(found.reports, { minLength: found.reports.length }),
      fc.shuffledSubarray(found.attestations, { minLength: found.attestations.length }),
    ),
  )
  fc.assert(
    fc.property(withOrder, anyScope, ([found, reports, attestations], scope) => {
      const { notes, views } = selectEvidence(found, scope, MAIN)
      const other = selectEvidence({ ...found, reports, attestations }, scope, MAIN)
      assert.deepEqual(other.views, views)
      assert.deepEqual(other.notes.toSorted(), notes.toSorted())
    }),
    { numRuns: 1000 },
  )
})

test('evidence of one lane never takes away evidence of another one', () => {
  fc.assert(
    fc.property(anyEvidence, anyScope, fc.constantFrom(...TRUST_CLASSES), (found, scope, lane) => {
      const isOfLane = ({ trust }: { trust: TrustClass }) => trust === lane
      const alone = {
        ...found,
        reports: found.reports.filter(isOfLane),
        attestations: found.attestations.filter(isOfLane),
      }
      const select = (evidence: FoundEvidence) =>
        selectEvidence(evidence, scope, MAIN)
          .views.flatMap(({ attestations }) => attestations.filter(isOfLane).map(({ id }) => id))
          .toSorted()
      assert.deepEqual([...new Set(select(found))], [...new Set(select(alone))])
    }),
    { numRuns: 1000 },
  )
})

test('a failure of the deploying run gives way only to a later try or attempt at its place', () => {
  let failures = 0
  fc.assert(
    fc.property(anyEvidence, (found) => {
      const seen = new Set(
        selectEvidence(found, 'commit', MAIN).views.flatMap(({ attestations }) => attestations.map(({ id }) => id)),
      )
      for (const { id, report_id, status } of found.attestations) {
        const report = found.reports.find((other) => other.id === report_id) as ReportFacts
        if (status !== 'fail' || report.run_id !== OWN.run_id || seen.has(id)) continue
        failures += 1
        const isLater = (other: ReportFacts) =>
          other.run_id === OWN.run_id &&
          other.job === report.job &&
          other.trust === report.trust &&
          (other.attempt > report.attempt || (other.key === report.key && other.retries > report.retries))
        assert.ok(found.reports.some(isLater), `${id} is gone`)
      }
    }),
    { numRuns: 1000 },
  )
  assert.ok(failures > 50, `only ${failures} failures gave way`)
})
