import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import { IssueSearch, isSameSearch, toIssueFilters } from './searches.ts'

const parse = (search: unknown) => v.parse(IssueSearch, search)

test('odd values of an address count as not given', () => {
  const search = parse({ severity: 'severe', status: 7, kev: 'yes', package: '', vulnerability: 2024, other: 'x' })
  assert.deepEqual(JSON.parse(JSON.stringify(search)), { kev: 'yes', vulnerability: '2024' })
})

test('an address becomes the query of the API', () => {
  const now = Date.parse('2026-03-09T10:20:30Z')
  const query = toIssueFilters(parse({ status: 'open', urgent: 'yes', kev: 'no', epss: 'over-10', age: '7d' }), now)
  assert.deepEqual(JSON.parse(JSON.stringify(query)), {
    ...{ status: 'open', urgent: true, kev: false, epss_min: 0.1 },
    created_since: '2026-03-02T10:00:00.000Z',
  })
})

test('searches are the same whatever their order, and what is not given does not count', () => {
  assert.ok(isSameSearch({ status: 'open', kind: undefined, kev: 'yes' }, { kev: 'yes', status: 'open' }))
  assert.ok(!isSameSearch({ status: 'open' }, { status: 'open', kev: 'yes' }))
  assert.ok(!isSameSearch({ status: 'open' }, { status: 'fixed' }))
})
