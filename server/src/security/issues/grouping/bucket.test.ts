import assert from 'node:assert/strict'
import { test } from 'node:test'
import { factsOf, packageFacts } from '../../../../test/support/grouping-members.ts'
import { bucketBatches, bucketOf } from './bucket.ts'
import type { Member } from './grouping-facts.ts'

test('versions and manifests of a package share a bucket; another package and the license have other buckets', () => {
  const lodash = packageFacts(['CVE-2024-1000'], { purl: 'pkg:npm/lodash@4.17.20', path: 'package-lock.json' })
  assert.equal(bucketOf(lodash), bucketOf(packageFacts(['GHSA-1'], { purl: 'pkg:npm/Lodash@3.0.0' })))
  assert.notEqual(bucketOf(lodash), bucketOf(packageFacts([], { package_name: 'underscore' })))
  assert.notEqual(bucketOf(lodash), bucketOf(packageFacts([], { kind: 'license' })))
})

test('a secret whose text is reported has its own bucket, whatever the file', () => {
  const secret = (fields: object) => bucketOf(factsOf({ kind: 'secret', ...fields }))
  assert.equal(secret({ context: 'aa', path: 'a.env' }), secret({ context: 'aa', path: 'b.env' }))
  assert.notEqual(secret({ context: 'aa' }), secret({ context: 'bb' }))
  assert.notEqual(secret({ path: 'a.env' }), secret({ path: 'b.env' }))
})

test('a file and a resource of the same name have two buckets; infrastructure and containers share one', () => {
  const iac = factsOf({ kind: 'iac', path: 'Dockerfile' })
  assert.equal(bucketOf(iac), bucketOf(factsOf({ kind: 'container', path: 'Dockerfile' })))
  assert.notEqual(bucketOf(iac), bucketOf(factsOf({ kind: 'iac', path: null, resource_name: 'Dockerfile' })))
  assert.notEqual(bucketOf(iac), bucketOf(factsOf({ kind: 'code', path: 'Dockerfile' })))
})

function member(bucket: number, id: string | null = null): Member {
  return { bucket: String(bucket), id } as Member
}

test('no bucket is split, no finding is lost, and batches do not grow with the report', () => {
  const members = Array.from({ length: 100_000 }, (_, index) => member((index * 7919) % 5000))
  const batches = bucketBatches(members)
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
  const [first = []] = bucketBatches([...fresh, member(3, 'a'), member(29_000, 'b')])
  assert.deepEqual(new Set(first.map(({ bucket }) => bucket)), new Set(['3', '29000']))
  assert.equal(first.length, 4)
})

test('a report without findings has no batch', () => {
  assert.deepEqual(bucketBatches([]), [])
})
