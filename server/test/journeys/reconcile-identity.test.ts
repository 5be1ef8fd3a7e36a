import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings, rowVersions } from '../support/findings.ts'
import { onlyIssue } from '../support/issues.ts'
import type { Json } from '../support/json.ts'
import { uploadReport } from '../support/reports.ts'
import { type Placed, placedResult, sarif } from '../support/sarif.ts'

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
/** Uploads a report a second after the one before, and returns its counts. No file repeats. */
async function report(results: readonly Placed[]) {
  api.clock.advance(1000)
  const file = { ...sarif(results.map(placedResult)), properties: { number: ++reports } }
  const upload = await uploadReport(api, caller, file)
  assert.equal(upload.status, 'finished', upload.error)
  const { created, updated, unchanged, resolved } = upload.counts
  return { created, updated, unchanged, resolved }
}

const NOTHING = { created: 0, updated: 0, unchanged: 0, resolved: 0 }

async function openOnes(): Promise<Json[]> {
  return (await listFindings(api, caller)).filter(({ state }) => state === 'open')
}

/** The ids of the open findings by `path:line`. */
async function idsByPlace(): Promise<Record<string, string>> {
  const places = (await openOnes()).map(({ id, location }) => [`${location.path}:${location.start_line}`, id])
  return Object.fromEntries(places.sort())
}

/** Equal findings of src/a.ts, each between two findings that differ from all others. */
const equalAt = (...lines: number[]): Placed[] => lines.map((line) => ({ line, snippet: 'eval(x)' }))
const marks = (...lines: [name: string, line: number][]): Placed[] =>
  lines.map(([name, line]) => ({ rule: 'M', line, snippet: `mark(${name})` }))

test('equal findings keep their ids if the first of five is deleted and the others move up', async () => {
  const between = (offset: number) =>
    marks(['a', 15 + offset], ['b', 25 + offset], ['c', 35 + offset], ['d', 45 + offset])
  await report([...equalAt(10, 20, 30, 40, 50), ...between(0)])
  const before = await idsByPlace()
  assert.deepEqual(await report([...equalAt(17, 27, 37, 47), ...between(-3)]), { ...NOTHING, updated: 8, resolved: 1 })
  const after = await idsByPlace()
  for (const line of [20, 30, 40, 50]) assert.equal(after[`src/a.ts:${line - 3}`], before[`src/a.ts:${line}`])
  const { identity } = (await openOnes()).find(({ id }) => id === before['src/a.ts:30'])
  assert.deepEqual(identity, {
    method: 'same_place',
    matched_from: { path: 'src/a.ts', start_line: 30 },
    at: api.clock.now().toISOString(),
  })
})

test('if one of several equal findings is deleted and another added elsewhere, the others keep their ids', async () => {
  const between = marks(['a', 15], ['b', 25], ['c', 35], ['d', 45])
  await report([...equalAt(10, 20, 30), ...between])
  const before = await idsByPlace()
  await report([...equalAt(20, 30, 40), ...between])
  const after = await idsByPlace()
  assert.deepEqual([after['src/a.ts:20'], after['src/a.ts:30']], [before['src/a.ts:20'], before['src/a.ts:30']])
})

test('equal findings without any neighbours keep their lines', async () => {
  await report(equalAt(10, 20, 30, 40, 50))
  const before = await idsByPlace()
  assert.deepEqual(await report(equalAt(10, 20, 40, 50)), { ...NOTHING, unchanged: 4, resolved: 1 })
  const { 'src/a.ts:30': closed, ...kept } = before
  assert.deepEqual(await idsByPlace(), kept)
  assert.deepEqual(await report(equalAt(10, 20, 30, 40, 50)), { ...NOTHING, unchanged: 4, updated: 1 })
  assert.deepEqual(await idsByPlace(), { ...kept, 'src/a.ts:30': closed })
})

test('fingerprints without a path stay in their files', async () => {
  const inFiles = (...files: string[]): Placed[] =>
    files.map((file) => ({ file, fields: { fingerprints: { 'own/v1': 'f' } } }))
  await report(inFiles('a.ts', 'b.ts', 'c.ts'))
  const before = await idsByPlace()
  assert.deepEqual(await report(inFiles('b.ts', 'c.ts', 'd.ts')), { ...NOTHING, updated: 1, unchanged: 2 })
  const after = await idsByPlace()
  assert.deepEqual([after['b.ts:1'], after['c.ts:1']], [before['b.ts:1'], before['c.ts:1']])
})

test('a stored finding with such a fingerprint in another file is not taken for a deleted one', async () => {
  const inFiles = (...files: string[]): Placed[] =>
    files.map((file) => ({ file, fields: { fingerprints: { 'own/v1': 'f' } } }))
  await report(inFiles('a.ts', 'b.ts', 'c.ts'))
  const before = await idsByPlace()
  assert.deepEqual(await report(inFiles('c.ts')), { ...NOTHING, unchanged: 1, resolved: 2 })
  assert.deepEqual(await idsByPlace(), { 'c.ts:1': before['c.ts:1'] })
  assert.deepEqual(await report(inFiles('b.ts', 'c.ts')), { ...NOTHING, updated: 1, unchanged: 1 })
  assert.deepEqual(await idsByPlace(), { 'b.ts:1': before['b.ts:1'], 'c.ts:1': before['c.ts:1'] })
})

const TOOLS: [what: string, fields: (index: number) => Partial<Placed>][] = [
  ['snippets', (index) => ({ snippet: `call(${index})` })],
  ['messages only', (index) => ({ message: `The name value${index} is not used` })],
]
for (const [what, fields] of TOOLS) {
  test(`a renamed file keeps its findings, from a tool with ${what}`, async () => {
    const file = (name: string): Placed[] =>
      Array.from({ length: 8 }, (_, index) => ({ file: name, line: 3 + 10 * index, ...fields(index % 5) }))
    await report([...file('src/old.ts'), ...file('src/other.ts')])
    const before = await idsByPlace()
    assert.deepEqual(await report([...file('src/new.ts'), ...file('src/other.ts')]), {
      ...NOTHING,
      updated: 8,
      unchanged: 8,
    })
    const after = await idsByPlace()
    for (const [place, id] of Object.entries(before)) assert.equal(after[place.replace('old', 'new')], id)
    const [renamed] = (await openOnes()).filter(({ location }) => location.path === 'src/new.ts')
    assert.equal(renamed.identity.method, 'file_renamed')
    assert.equal(renamed.identity.matched_from.path, 'src/old.ts')
  })

  test(`a renamed folder keeps its findings, from a tool with ${what}`, async () => {
    const folder = (name: string): Placed[] =>
      Array.from({ length: 12 }, (_, index) => ({
        file: `${name}/${index % 4}.ts`,
        line: 3 + 10 * index,
        ...fields(index % 3),
      }))
    await report(folder('lib/old'))
    const before = await idsByPlace()
    assert.deepEqual(await report(folder('packages/new')), { ...NOTHING, updated: 12 })
    const after = await idsByPlace()
    for (const [place, id] of Object.entries(before)) assert.equal(after[place.replace('lib/old', 'packages/new')], id)
  })
}

test('a finding whose code is edited in place keeps its id, and a second edit is the one that is shown', async () => {
  const file = (call: string): Placed[] => [
    ...marks(['a', 5], ['b', 15]),
    { line: 10, snippet: `const row = await database.query(${call})` },
  ]
  await report(file('sql'))
  const { 'src/a.ts:10': id } = await idsByPlace()
  assert.deepEqual(await report(file('sql, id')), { ...NOTHING, updated: 1, unchanged: 2 })
  assert.equal((await idsByPlace())['src/a.ts:10'], id)
  const first = api.clock.now().toISOString()
  await report([...file('sql, id'), { file: 'b.ts', snippet: 'f()' }])
  const shown = async () => (await openOnes()).find((finding) => finding.id === id).identity
  assert.deepEqual(await shown(), {
    method: 'edited_in_place',
    matched_from: { path: 'src/a.ts', start_line: 10 },
    at: first,
  })
  await report(file('sql, id, name'))
  assert.equal((await shown()).at, api.clock.now().toISOString())
})

test('an exact match at another line leaves the identity as it is', async () => {
  const [a, b] = marks(['a', 5], ['b', 15]) as [Placed, Placed]
  await report([a, b])
  assert.equal((await report([a, { ...b, line: 16 }])).updated, 1)
  for (const { identity, first_seen_at } of await openOnes()) {
    assert.deepEqual(identity, { method: 'new', matched_from: null, at: first_seen_at })
  }
  const moved = { ...b, file: 'lib/b.ts' }
  await report([a, moved])
  const [recognized] = (await openOnes()).filter(({ location }) => location.path === 'lib/b.ts')
  await report([a, { ...moved, line: 40 }])
  const [later] = (await openOnes()).filter(({ location }) => location.path === 'lib/b.ts')
  assert.deepEqual(recognized.identity.matched_from, { path: 'src/a.ts', start_line: 16 })
  assert.deepEqual(later.identity, recognized.identity)
})

test('a closed finding that returns is the same one, wherever it is in its file', async () => {
  await report(equalAt(10, 20))
  const before = await openOnes()
  const ids = await idsByPlace()
  await report([])
  assert.deepEqual(await report(equalAt(20)), { ...NOTHING, updated: 1 })
  assert.deepEqual(await idsByPlace(), { 'src/a.ts:20': ids['src/a.ts:20'] })
  assert.deepEqual(await report(equalAt(20, 90)), { ...NOTHING, updated: 1, unchanged: 1 })
  assert.deepEqual(await idsByPlace(), { 'src/a.ts:20': ids['src/a.ts:20'], 'src/a.ts:90': ids['src/a.ts:10'] })
  const [back] = (await openOnes()).filter(({ location }) => location.start_line === 90)
  assert.equal(back.first_seen_at, before[0].first_seen_at)
  assert.deepEqual(back.identity, {
    method: 'same_fingerprint',
    matched_from: { path: 'src/a.ts', start_line: 10 },
    at: api.clock.now().toISOString(),
  })
})

test('results in any order write nothing, equal ones at one line included', async () => {
  const results = [
    ...equalAt(10, 20, 20, 30),
    ...marks(['a', 5], ['b', 15]),
    { file: 'b.ts', line: 4, message: 'Bad' },
    { file: 'b.ts', line: 4, message: 'Bad' },
    ...['c.ts', 'd.ts'].map((file) => ({ file, fields: { fingerprints: { 'own/v1': 'f' } } })),
  ]
  await report(results)
  const before = await rowVersions(api, caller)
  for (const order of [results.toReversed(), [...results.slice(4), ...results.slice(0, 4)]]) {
    assert.deepEqual(await report(order), { ...NOTHING, unchanged: results.length })
  }
  assert.deepEqual(await rowVersions(api, caller), before)
})

test('findings that take over the fingerprints of others do not conflict', async () => {
  const calls = (...names: string[]): Placed[] =>
    names.map((name, index) => ({ line: 10 * (index + 1), snippet: `database.query(${name})` }))
  await report(calls('a', 'b', 'c'))
  const before = await idsByPlace()
  const counts = await report(calls('b', 'c', 'a'))
  assert.deepEqual([counts.created, counts.resolved], [0, 0])
  await report(calls('b', 'b', 'b'))
  await report(calls('a', 'b', 'a', 'b'))
  assert.equal((await openOnes()).length, 4)
  assert.equal(Object.keys(before).length, 3)
})

test('explain shows how each finding of an issue was recognized', async () => {
  await report([{ snippet: 'eval(x)' }])
  await report([{ snippet: 'eval(x)', file: 'lib/b.ts', line: 9 }])
  const [finding] = await openOnes()
  assert.equal(finding.identity.matched_from.path, 'src/a.ts')
  const { id } = await onlyIssue(api, caller)
  const { body } = await api.request('GET', `/v1/security/issues/${id}/explain`, { key: caller.key })
  assert.deepEqual(body.data.members[0].identity, finding.identity)
})
