import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cvssScoreOf, cvssVectorOf } from './severity.ts'

const V3 = 'AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H'
const V2 = 'AV:N/AC:L/Au:N/C:P/I:P/A:P'
const V4 = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N'

function score(text: string) {
  const vector = cvssVectorOf(text, null)
  return vector === null ? null : cvssScoreOf(vector)
}

test('the version of a vector is in its prefix, else in its metrics, else the stated one', () => {
  assert.deepEqual(cvssVectorOf(`CVSS:3.0/${V3}`, '3.1'), { version: '3.0', vector: `CVSS:3.0/${V3}` })
  assert.deepEqual(cvssVectorOf(V3, '3.0'), { version: '3.0', vector: `CVSS:3.0/${V3}` })
  assert.deepEqual(cvssVectorOf(`(${V2})`, '3.1'), { version: '2.0', vector: V2 })
  assert.equal(cvssVectorOf(V4.slice('CVSS:4.0/'.length), null)?.version, '4.0')
})

test('a vector has the score of its standard', () => {
  assert.deepEqual([score(V3), score(V2), score(V4)], [9.8, 7.5, 9.3])
})

test('environmental metrics change the score, temporal metrics do not', () => {
  assert.equal(score(`CVSS:3.1/${V3}/E:P/RL:O`), 9.8)
  assert.equal(score(`CVSS:3.1/${V3}/MC:N/MI:N/MA:N`), 0)
})

test('an invalid or incomplete vector has no score', () => {
  const texts = ['', 'x', 'CVSS:3.1/', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N', `CVSS:9.9/${V3}`, `${V3.slice(0, -1)}Q`]
  assert.deepEqual(
    texts.map(score),
    texts.map(() => null),
  )
  assert.equal(score('AV:N/'.repeat(100_000)), null)
})
