import assert from 'node:assert/strict'
import { test } from 'node:test'
import { factsOf, packageFacts } from '../../../../test/support/grouping-members.ts'
import { RULES } from '../../../../test/support/rule-names.ts'
import { computeBucket as bucketBy, splitByBucket } from './bucket.ts'
import type { GroupingFacts, Member } from './grouping-facts.ts'

const computeBucket = (facts: GroupingFacts) => bucketBy(facts, RULES)

test('versions and manifests of a package share a bucket; another package and the license have other buckets', () => {
  const lodash = packageFacts(['CVE-2024-1000'], { purl: 'pkg:npm/lodash@4.17.20', path: 'package-lock.json' })
  assert.equal(computeBucket(lodash), computeBucket(packageFacts(['GHSA-1'], { purl: 'pkg:npm/Lodash@3.0.0' })))
  assert.notEqual(computeBucket(lodash), computeBucket(packageFacts([], { package_name: 'underscore' })))
  assert.notEqual(computeBucket(lodash), computeBucket(packageFacts([], { kind: 'license' })))
})

test('all secrets of a repository share a bucket, also those that a rule for code finds', () => {
  const secret = computeBucket(factsOf({ kind: 'secret', path: 'a.env' }))
  assert.equal(secret, computeBucket(factsOf({ kind: 'secret', path: 'b.env', context: 'bb' })))
  assert.equal(secret, computeBucket(factsOf({ tool: 'Bandit', rule_id: 'B105', cwes: ['CWE-259'] })))
  assert.equal(secret, computeBucket(factsOf({ tool: 'Gosec', rule_id: 'G101', cwes: ['CWE-798'] })))
  assert.notEqual(secret, computeBucket(factsOf({ path: 'a.env', cwes: ['CWE-312'] })))
})

test('a file and a resource of the same name have two buckets; code, infrastructure and containers share one', () => {
  const iac = factsOf({ kind: 'iac', path: 'Dockerfile' })
  assert.equal(computeBucket(iac), computeBucket(factsOf({ kind: 'container', path: 'Dockerfile' })))
  assert.notEqual(computeBucket(iac), computeBucket(factsOf({ kind: 'iac', path: null, resource_name: 'Dockerfile' })))
  assert.equal(computeBucket(iac), computeBucket(factsOf({ kind: 'code', path: 'Dockerfile' })))
})

function member(bucket: number, id: string | null = null): Member {
  return { bucket: String(bucket), id } as Member
}

test('no bucket is split, no finding is lost, and batches do not grow with the report', () => {
  const members = Array.from({ length: 100_000 }, (_, index) => member((index * 7919) % 5000))
  const batches = splitByBucket(members)
  assert.equal(batches.flat().length, members.length)
  const buckets = batches.map((batch) => new Set(batch.map(({ bucket }) => bucket)))
  assert.equal(
    buckets.reduce((sum, { size }) => sum + size, 0),
    5000,
  )
  assert.ok(Math.max(...batches.map(({ length }) => length)) < 20_100)
})

test('all buckets with stored findings are in the first batch', () => {
  const fresh = Array.from({ length: 30_000 }, (_, index) => member(index))
  const [first = []] = splitByBucket([...fresh, member(3, 'a'), member(29_000, 'b')])
  assert.deepEqual(new Set(first.map(({ bucket }) => bucket)), new Set(['3', '29000']))
  assert.equal(first.length, 4)
})

test('a report without findings has no batch', () => {
  assert.deepEqual(splitByBucket([]), [])
})
