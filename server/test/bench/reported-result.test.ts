import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readResults, relativePath } from '../../bench/tracking/reported-result.ts'

test('paths are relative to the checkout directory, however the scanner writes them', () => {
  const written = ['a/b.py', './a/b.py', '/srv/app/a/b.py', 'file:///srv/app/a/b.py']
  assert.deepEqual(
    written.map((uri) => relativePath(uri, '/srv/app')),
    written.map(() => 'a/b.py'),
  )
  assert.equal(relativePath('file:///C:/srv/app/a/b.py', 'C:/srv/app'), 'a/b.py')
  assert.equal(relativePath('a/%5Bid%5D.ts', ''), 'a/[id].ts')
  assert.equal(relativePath('100%.ts', ''), '100%.ts')
  assert.equal(relativePath('/srv/apples/a.py', '/srv/app'), '/srv/apples/a.py')
})

test('results of all runs are read in order, with the rule by id or by index', () => {
  const driver = { name: 'T', rules: [{ id: 'by-index' }] }
  const sarif = {
    runs: [
      { tool: { driver }, results: [{ ruleId: 'by-id', ruleIndex: 0 }, { ruleIndex: 0 }] },
      { tool: { driver }, results: null },
      { tool: { driver }, results: [{ rule: { id: 'by-reference' } }] },
    ],
  }
  assert.deepEqual(
    readResults(sarif, '').map(({ rule }) => rule),
    ['by-id', 'by-index', 'by-reference'],
  )
})

test('results that are not problems are left out', () => {
  const kinds = ['pass', 'fail', 'informational', 'notApplicable', 'open', 'review']
  const results = [...kinds.map((kind) => ({ ruleId: kind, kind })), { ruleId: 'gone', baselineState: 'absent' }]
  assert.deepEqual(
    readResults({ runs: [{ tool: { driver: { name: 'T' } }, results }] }, '').map(({ rule }) => rule),
    ['fail', 'open', 'review'],
  )
})

test('the line is that of the region, else that of its context', () => {
  const region = { startLine: 3, endLine: 4, startColumn: 5, endColumn: 6 }
  const lines = (physicalLocation: object) => {
    const results = [{ locations: [{ physicalLocation }] }]
    const [result] = readResults({ runs: [{ tool: { driver: { name: 'T' } }, results }] }, '')
    return [result?.startLine, result?.endLine, result?.startColumn]
  }
  assert.deepEqual(lines({ region, contextRegion: { startLine: 1 } }), [3, 4, 5])
  assert.deepEqual(lines({ region: {}, contextRegion: { startLine: 9 } }), [9, 9, null])
  assert.deepEqual(lines({ region: {} }), [null, null, null])
})
