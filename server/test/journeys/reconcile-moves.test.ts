import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { countStates, listFindings, rowVersions } from '../support/findings.ts'
import type { Json } from '../support/json.ts'
import { uploadReport } from '../support/reports.ts'
import { type Placed, sarif, placedResult as shown } from '../support/sarif.ts'
import { dismissAll } from '../support/triage.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

let reports = 0
/** What a report did. It comes a second after the one before; no two are the same file. */
async function report(results: unknown[]) {
  api.clock.advance(1000)
  const upload = await uploadReport(api, caller, { ...sarif(results), properties: { number: ++reports } })
  assert.equal(upload.status, 'finished', upload.error)
  const { findings, created, updated, unchanged, resolved } = upload.counts
  assert.equal(created + updated + unchanged, findings)
  return { created, updated, unchanged, resolved }
}

const openOnes = async () => (await listFindings(api, caller)).filter(({ state }) => state === 'open')
const byPath = (findings: Json[]) => findings.map(({ location }) => location.path).sort()
const NOTHING = { created: 0, updated: 0, unchanged: 0, resolved: 0 }

const identified: [string, Placed][] = [
  ['a snippet', { snippet: 'eval(x)' }],
  ['a line hash', { fields: { partialFingerprints: { primaryLocationLineHash: 'h:1' } } }],
  ['a partial fingerprint', { fields: { partialFingerprints: { 'own/v1': 'p' } } }],
  ['a fingerprint', { fields: { fingerprints: { 'own/v1': 'f' } } }],
]
for (const [what, identity] of identified) {
  test(`a moved file keeps a finding with ${what}: the same one, updated`, async () => {
    await report([shown(identity)])
    const [before] = await openOnes()
    assert.deepEqual(await report([shown({ ...identity, file: 'lib/b.ts', line: 9 })]), { ...NOTHING, updated: 1 })
    const [after, ...others] = await openOnes()
    assert.equal(others.length, 0)
    assert.deepEqual([after.id, after.first_seen_at], [before.id, before.first_seen_at])
    assert.deepEqual(after.location, { path: 'lib/b.ts', start_line: 9, end_line: 9 })
    assert.equal(after.last_seen_at, api.clock.now().toISOString())
    assert.deepEqual(await report([shown({ ...identity, file: 'lib/b.ts', line: 9 })]), { ...NOTHING, unchanged: 1 })
  })
}

test('a directory that is renamed keeps all its findings', async () => {
  const files = (directory: string) =>
    Array.from({ length: 30 }, (_, at) => shown({ file: `${directory}/${at}.ts`, snippet: `call(${at})` }))
  await report(files('old'))
  const ids = (await openOnes()).map(({ id }) => id).sort()
  assert.deepEqual(await report(files('new')), { ...NOTHING, updated: 30 })
  assert.deepEqual((await openOnes()).map(({ id }) => id).sort(), ids)
})

test('if it is ambiguous which finding moved where, none is treated as moved', async () => {
  const at = (...files: string[]) => files.map((file) => shown({ file, snippet: 'eval(x)' }))
  await report(at('a.ts', 'b.ts'))
  assert.deepEqual(await report(at('c.ts', 'd.ts')), { ...NOTHING, created: 2, resolved: 2 })
  assert.deepEqual(await report(at('c.ts', 'd.ts', 'e.ts')), { ...NOTHING, created: 1, unchanged: 2 })
  assert.deepEqual(await report(at('c.ts', 'x.ts', 'y.ts')), { ...NOTHING, created: 2, unchanged: 1, resolved: 2 })
})

test('another rule, another snippet or another tool is no moved finding', async () => {
  await report([shown({ snippet: 'eval(x)' })])
  const others = [
    shown({ file: 'b.ts', snippet: 'eval(x)', rule: 'S' }),
    shown({ file: 'b.ts', snippet: 'eval(y)' }),
    shown({ file: 'b.ts', message: 'Bad' }),
  ]
  assert.deepEqual(await report(others), { ...NOTHING, created: 3, resolved: 1 })
})

test('a fixed finding is not what appears elsewhere later', async () => {
  await report([shown({ snippet: 'eval(x)' })])
  await report([])
  assert.deepEqual(await report([shown({ file: 'b.ts', snippet: 'eval(x)' })]), { ...NOTHING, created: 1 })
  assert.deepEqual(await countStates(api, caller), { fixed: 1, open: 1 })
})

test('of two equal findings in a file, one can move and the other stay', async () => {
  const twin = shown({ snippet: 'eval(x)' })
  await report([twin, twin])
  assert.deepEqual(await report([twin, shown({ file: 'b.ts', snippet: 'eval(x)' })]), {
    ...NOTHING,
    updated: 1,
    unchanged: 1,
  })
  assert.deepEqual(byPath(await openOnes()), ['b.ts', 'src/a.ts'])
  assert.deepEqual(await report([twin, twin]), { ...NOTHING, updated: 1, unchanged: 1 })
  assert.deepEqual(byPath(await openOnes()), ['src/a.ts', 'src/a.ts'])
})

test("a person's dismissal moves with a renamed file, and ends where the code moved to another one", async () => {
  await report([shown({ snippet: 'eval(x)' })])
  await dismissAll(api, caller.orgId)
  assert.deepEqual(await report([shown({ file: 'lib/a.ts', snippet: 'eval(x)' })]), { ...NOTHING, updated: 1 })
  assert.deepEqual(await countStates(api, caller), { dismissed: 1 })
  assert.deepEqual(await report([shown({ file: 'b.ts', snippet: 'eval(x)' })]), { ...NOTHING, updated: 1 })
  const [finding] = await openOnes()
  assert.deepEqual(finding.dismissal_ended.changed, ['file'])
})

test('changed lines and times in messages create no new findings, if a file has as many as before', async () => {
  const longLines = (offset: number, day: string) =>
    [10, 20, 30].map((line) =>
      shown({ line: line + offset, message: `Line ${line + offset} is too long (checked at ${day}T10:00:00Z)` }),
    )
  await report(longLines(0, '2026-01-01'))
  const before = (await openOnes()).map(({ id, location }) => [location.start_line, id]).sort()
  assert.deepEqual(await report(longLines(7, '2026-02-03').reverse()), { ...NOTHING, updated: 3 })
  const after = (await openOnes()).map(({ id, location }) => [location.start_line - 7, id]).sort()
  assert.deepEqual(after, before)
})

test('if only the message identifies findings, a new wording of three creates no new findings, another message does', async () => {
  const say = (word: string) => [
    ...[3, 6, 9].map((line) => shown({ line, message: `${word} input` })),
    { ruleId: 'R', message: { text: 'An image without a digest' } },
  ]
  await report(say('Bad'))
  assert.deepEqual(await report(say('Unsafe')), { ...NOTHING, updated: 3, unchanged: 1 })
  const elsewhere = shown({ line: 40, message: 'Wrong' })
  assert.deepEqual(await report([...say('Unsafe').slice(0, 3), elsewhere]), {
    ...NOTHING,
    created: 1,
    unchanged: 3,
    resolved: 1,
  })
})

test('messages that differ in a number are different findings', async () => {
  const port = (number: number) => shown({ line: number, message: `Port ${number} is open` })
  await report([port(22), port(80)])
  const [ssh] = (await openOnes()).filter(({ description }) => description === 'Port 22 is open')
  assert.deepEqual(await report([port(80)]), { ...NOTHING, unchanged: 1, resolved: 1 })
  const fixed = (await listFindings(api, caller)).find(({ state }) => state === 'fixed')
  assert.equal(fixed.id, ssh.id)
})

const placed = fc.record({
  rule: fc.constantFrom('R', 'S'),
  file: fc.constantFrom('a.ts', 'b.ts'),
  line: fc.integer({ min: 1, max: 30 }),
  snippet: fc.constantFrom('p()', 'q()', undefined),
})
const source = fc.array(placed, { minLength: 1, maxLength: 12 })

test('property: blank lines above, in any order, with other messages beside a snippet: no finding is created or closed', async () => {
  await fc.assert(
    fc.asyncProperty(source, fc.nat(200), fc.boolean(), async (places, blankLines, isReversed) => {
      caller = await api.caller()
      await report(places.map((place) => shown(place)))
      const before = (await openOnes()).map(({ id }) => id).sort()
      const shifted = places.map((place) =>
        shown({
          ...place,
          line: place.line + blankLines,
          message: place.snippet === undefined ? 'Bad' : `Bad, said otherwise after ${blankLines}`,
        }),
      )
      const done = await report(isReversed ? shifted.reverse() : shifted)
      assert.deepEqual([done.created, done.resolved], [0, 0])
      assert.deepEqual((await openOnes()).map(({ id }) => id).sort(), before)
      const rows = await rowVersions(api, caller)
      const again = await report(shifted)
      assert.equal(again.unchanged, places.length)
      assert.deepEqual(await rowVersions(api, caller), rows)
    }),
    { numRuns: 15 },
  )
})

test('property: a part of a report keeps exactly its findings open, and the complete report reopens the others', async () => {
  await fc.assert(
    fc.asyncProperty(source, fc.infiniteStream(fc.boolean()), async (places, kept) => {
      caller = await api.caller()
      const whole = places.map((place) => shown(place))
      await report(whole)
      const part = whole.filter(() => kept.next().value)
      const done = await report(part)
      assert.deepEqual([done.created, done.resolved], [0, whole.length - part.length])
      assert.equal((await openOnes()).length, part.length)
      const back = await report(whole)
      assert.deepEqual([back.created, back.resolved], [0, 0])
      assert.equal((await openOnes()).length, whole.length)
    }),
    { numRuns: 15 },
  )
})
