import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError, assertInvalid } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif, sarifResult } from '../../../../support/sarif.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

const get = (query: string) => api.request('GET', `/v1/security/findings?${query}`, { key: caller.key })
const rules = async (query: Record<string, string>) =>
  (await listFindings(api, caller, query)).map(({ rule_id }) => rule_id).sort()

/** A result in this file, by default with the file as its rule. */
const inFile = (path: string, rule = path) =>
  sarifResult(rule, 1, { locations: [{ physicalLocation: { artifactLocation: { uri: encodeURI(path) } } }] })
const rated = (rule: string, score: string) => sarifResult(rule, 1, { properties: { 'security-severity': score } })
const suppressed = (rule: string) => sarifResult(rule, 1, { suppressions: [{ kind: 'inSource' }] })

test('state, severity and kind select findings, alone and combined', async () => {
  await uploadReport(api, caller, sarif([rated('gone', '9.5'), rated('kept', '9.5')], 'Linter'))
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif([rated('kept', '9.5'), rated('mild', '2'), suppressed('waived')], 'Linter'))
  assert.deepEqual(await rules({ state: 'open' }), ['kept', 'mild'])
  assert.deepEqual(await rules({ state: 'fixed' }), ['gone'])
  assert.deepEqual(await rules({ state: 'dismissed' }), ['waived'])
  assert.deepEqual(await rules({ severity: 'critical' }), ['gone', 'kept'])
  assert.deepEqual(await rules({ severity: 'critical', state: 'open', kind: 'code' }), ['kept'])
  assert.deepEqual(await rules({ kind: 'code' }), ['gone', 'kept', 'mild', 'waived'])
  assert.deepEqual(await rules({ kind: 'secret' }), [])
})

test('scanner, category and git_ref select findings by their report, and combine with all other filters', async () => {
  await uploadReport(api, caller, sarif([rated('a', '9.5')], 'One'), { category: 'x', gitRef: 'main' })
  await uploadReport(api, caller, sarif([rated('b', '2')], 'One'), { category: 'y', gitRef: 'refs/heads/main' })
  await uploadReport(api, caller, sarif([rated('c', '9.5')], 'Two'), { repository: 'acme/two', gitRef: 'refs/tags/v1' })
  assert.deepEqual(await rules({ scanner: 'One' }), ['a', 'b'])
  assert.deepEqual(await rules({ scanner: 'one' }), [])
  assert.deepEqual(await rules({ category: 'x' }), ['a'])
  assert.deepEqual(await rules({ git_ref: 'main' }), ['a', 'b'])
  assert.deepEqual(await rules({ git_ref: 'refs/heads/main' }), ['a', 'b'])
  assert.deepEqual(await rules({ git_ref: 'refs/tags/v1' }), ['c'])
  assert.deepEqual(await rules({ scanner: 'One', severity: 'critical' }), ['a'])
  assert.deepEqual(await rules({ repository: 'acme/two', severity: 'critical' }), ['c'])
  assert.deepEqual(await rules({ repository: 'acme/two', scanner: 'One' }), [])
  assert.deepEqual(await rules({ path: 'src', severity: 'critical', scanner: 'Two', state: 'open' }), ['c'])
})

const PATHS = [
  'src/a.py',
  'src/a.pyc',
  'src/deep/b.py',
  'src2/c.py',
  'src',
  'a%b/x_y.py',
  'a-b/x-y.py',
  'ä/ö.py',
  'Src/d.py',
]

const BY_PATH: [path: string, found: string[]][] = [
  ['src/', ['src/a.py', 'src/a.pyc', 'src/deep/b.py']],
  ['src//', []],
  ['src', ['src', 'src/a.py', 'src/a.pyc', 'src/deep/b.py', 'src2/c.py']],
  ['src/a.py', ['src/a.py', 'src/a.pyc']],
  ['src/a.pyc', ['src/a.pyc']],
  ['src/de', ['src/deep/b.py']],
  ['src/a%', []],
  ['a_b', []],
  ['a%', ['a%b/x_y.py']],
  ['a%b/x_y.py', ['a%b/x_y.py']],
  ['%', []],
  ['ä', ['ä/ö.py']],
  ['/', []],
  ["'; drop table findings; --", []],
]

test('path selects what begins with this text, without wildcards', async () => {
  await uploadReport(api, caller, sarif(PATHS.map((path) => inFile(path))))
  for (const [path, found] of BY_PATH) assert.deepEqual(await rules({ path }), found, path)
})

test('pages of every filter show each finding once, frequent or rare', async () => {
  const files = Array.from({ length: 60 }, (_, index) => inFile(`${index % 10 === 0 ? 'old' : 'new'}/${index}.ts`))
  await uploadReport(api, caller, sarif(files, 'One'))
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif(files, 'Two'), { category: 'y' })
  const all = await listFindings(api, caller)
  const filters: [query: string, expected: number][] = [
    ['state=open', 120],
    ['scanner=One', 60],
    ['path=new', 108],
    ['path=old', 12],
    ['path=old&kind=code', 12],
    ['path=new&scanner=One&state=open', 54],
    ['repository=acme/app&severity=medium', 120],
  ]
  for (const [query, expected] of filters) {
    for (const limit of [1, 7, 50]) {
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await get(`${query}&limit=${limit}${cursor}`)
        seen.push(...body.data.map(({ id }: { id: string }) => id))
        if (body.next_cursor === null) break
        cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
      }
      assert.equal(seen.length, expected, query)
      const wanted = new Set(seen)
      assert.deepEqual(
        seen,
        all.flatMap(({ id }) => (wanted.has(id) ? id : [])),
        query,
      )
    }
  }
})

test('issue_id selects the findings of an issue, and combines with other filters', async () => {
  await uploadReport(api, caller, sarif([sarifResult('a'), sarifResult('b')], 'One'))
  const [first] = await listFindings(api, caller, { path: 'src/a.ts' })
  const issue_id = first.issue_id
  assert.deepEqual(await rules({ issue_id }), ['a'])
  assert.deepEqual(await rules({ issue_id, state: 'open', scanner: 'One', path: 'src' }), ['a'])
  for (const other of [{ state: 'fixed' }, { scanner: 'Two' }, { path: 'src/b.ts' }]) {
    assert.deepEqual(await rules({ issue_id, ...other }), [])
  }
})

test('first_seen_since is inclusive and counts from the first report, also after a finding was reopened', async () => {
  await uploadReport(api, caller, sarif([sarifResult('old')]))
  api.clock.advance(1000)
  const since = api.clock.now()
  await uploadReport(api, caller, sarif([sarifResult('new')]))
  api.clock.advance(1000)
  await uploadReport(api, caller, sarif([sarifResult('old'), sarifResult('new')], undefined, { guid: 'again' }))
  assert.deepEqual(await rules({ first_seen_since: since.toISOString() }), ['new'])
  assert.deepEqual(await rules({ first_seen_since: since.toISOString(), state: 'open' }), ['new'])
  assert.deepEqual(await rules({ first_seen_since: new Date(since.getTime() + 1).toISOString() }), [])
  assert.deepEqual(await rules({ first_seen_since: '1970-01-01T00:00:00+01:00' }), ['new', 'old'])
})

const INVALID: [name: string, value: string][] = [
  ['state', 'closed'],
  ['state', 'Open'],
  ['severity', 'none'],
  ['kind', 'sast'],
  ['issue_id', '1'],
  ['issue_id', 'urn:uuid:00000000-0000-7000-8000-000000000000'],
  ['issue_id', '00000000-0000-7000-8000-00000000000G'],
  ['first_seen_since', '2026-03-04'],
  ['first_seen_since', 'yesterday'],
  ['path', 'a'.repeat(1001)],
  ['git_ref', 'a'.repeat(256)],
  ['scanner', 'a'.repeat(301)],
  ['category', 'a'.repeat(301)],
  ['limit', '1e1'],
]

test('400 that names the parameter for a value that is invalid, empty, repeated or has U+0000', async () => {
  for (const [name, value] of INVALID)
    assertInvalid(await get(`${name}=${encodeURIComponent(value)}`), `/query/${name}`)
  const names = ['state', 'severity', 'kind', 'scanner', 'category', 'git_ref', 'path', 'issue_id', 'first_seen_since']
  for (const name of names) {
    assertInvalid(await get(`${name}=`), `/query/${name}`)
    assertInvalid(await get(`${name}=open&${name}=fixed`), `/query/${name}`)
    assertInvalid(await get(`${name}=a%00b`), `/query/${name}`)
  }
})

test('400 invalid_cursor if a filter is added, changed or left out after the first page', async () => {
  await uploadReport(api, caller, sarif([sarifResult('a'), sarifResult('b')]))
  const cursor = (await get('state=open&limit=1')).body.next_cursor
  assert.equal((await get(`state=open&cursor=${cursor}`)).body.data.length, 1)
  for (const query of [
    '',
    'state=fixed&',
    'state=open&path=src&',
    'state=open&first_seen_since=2026-01-01T00:00:00Z&',
  ]) {
    assertError(await get(`${query}cursor=${cursor}`), 400, 'invalid_cursor')
  }
})

test("no filter finds another organization's findings", async () => {
  const other = await api.caller()
  await uploadReport(api, other, sarif([sarifResult('theirs')], 'Theirs'), { category: 'x', gitRef: 'main' })
  const [theirs] = await listFindings(api, other)
  const filters = [
    ...[{ issue_id: theirs.issue_id }, { scanner: 'Theirs' }, { category: 'x' }, { git_ref: 'main' }],
    ...[{ path: theirs.location.path }, { state: 'open' }, { scanner: 'Theirs', state: 'open' }],
  ]
  for (const filter of filters) {
    assert.equal((await listFindings(api, other, filter)).length, 1)
    assert.deepEqual(await listFindings(api, caller, filter), [])
  }
})
