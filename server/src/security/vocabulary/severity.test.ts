import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  classifyScore,
  computeCvssScore,
  parseCvssVector,
  parseScore,
  parseSeverity,
  type Rating,
  selectSeverity,
} from './severity.ts'

const NONE: Rating = { isOwn: false, severity: null, score: null, cvssVersion: null, vector: null }
const rating = (facts: Partial<Rating>): Rating => ({ ...NONE, ...facts })

test('the newest CVSS version is trusted most and other ratings least, in any order', () => {
  const ratings = [
    rating({ severity: 'info' }),
    rating({ cvssVersion: '2.0', severity: 'low' }),
    rating({ cvssVersion: '4.0', severity: 'critical', score: 9.3 }),
    rating({ cvssVersion: '3.1', severity: 'high' }),
  ]
  assert.equal(selectSeverity(ratings).severity, 'critical')
  assert.deepEqual(selectSeverity(ratings.toReversed()), selectSeverity(ratings))
  assert.equal(selectSeverity(ratings.slice(0, 2)).severity, 'low')
})

test('the severity by the finder counts first, and the CVSS score of others is kept', () => {
  const fields = selectSeverity([
    rating({ cvssVersion: '3.1', severity: 'critical', score: 9.8 }),
    rating({ isOwn: true, severity: 'low' }),
  ])
  assert.deepEqual(fields, {
    severity: 'low',
    scanner_score: 9.8,
    cvss_version: '3.1',
    cvss_score: 9.8,
    cvss_vector: null,
  })
})

test('a rating without a severity counts by its score, one without a score by its vector', () => {
  const vector = parseCvssVector('CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H', null)
  assert.equal(selectSeverity([rating({ cvssVersion: '3.1', score: 7.1 })]).severity, 'high')
  assert.equal(selectSeverity([rating({ cvssVersion: '3.1', score: 0 })]).severity, 'info')
  const byVector = selectSeverity([rating({ cvssVersion: '3.1', vector })])
  assert.deepEqual([byVector.severity, byVector.cvss_score], ['critical', 9.8])
})

test('a vulnerability without ratings has the severity medium', () => {
  assert.equal(selectSeverity([]).severity, 'medium')
  assert.equal(selectSeverity([NONE]).severity, 'medium')
})

test('severities and scores are read as tools write them', () => {
  assert.deepEqual(['Critical', 'moderate', 'none', 'unknown', 'constructor', null].map(parseSeverity), [
    'critical',
    'medium',
    'info',
    null,
    null,
    null,
  ])
  assert.deepEqual([9.8, '6.8', 0, '', 11, -1, null].map(parseScore), [9.8, 6.8, 0, null, null, null, null])
  assert.deepEqual(['0', '0.0', -0].map(parseScore), [0, 0, 0])
  assert.deepEqual([10, 9, 8.9, 7, 4, 3.9, 0.1, 0].map(classifyScore), [
    'critical',
    'critical',
    'high',
    'high',
    'medium',
    'low',
    'low',
    'info',
  ])
})

const V3 = 'AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H'
const V2 = 'AV:N/AC:L/Au:N/C:P/I:P/A:P'
const V4 = 'CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N'

function score(text: string) {
  const vector = parseCvssVector(text, null)
  return vector === null ? null : computeCvssScore(vector)
}

test('the version of a vector is in its prefix, else in its metrics, else the stated one', () => {
  assert.deepEqual(parseCvssVector(`CVSS:3.0/${V3}`, '3.1'), { version: '3.0', vector: `CVSS:3.0/${V3}` })
  assert.deepEqual(parseCvssVector(V3, '3.0'), { version: '3.0', vector: `CVSS:3.0/${V3}` })
  assert.deepEqual(parseCvssVector(`(${V2})`, '3.1'), { version: '2.0', vector: V2 })
  assert.equal(parseCvssVector(V4.slice('CVSS:4.0/'.length), null)?.version, '4.0')
})

test('a vector has the score of its standard', () => {
  assert.deepEqual([score(V3), score(V2), score(V4)], [9.8, 7.5, 9.3])
})

test('environmental metrics change the score, temporal metrics do not', () => {
  assert.equal(score(`CVSS:3.1/${V3}/E:P/RL:O`), 9.8)
  assert.equal(score(`CVSS:3.1/${V3}/MC:N/MI:N/MA:N`), 0)
})

test('the threat metrics of version 4 are part of its score', () => {
  assert.equal(score(`${V4}/E:U`), 8.1)
  assert.equal(
    selectSeverity([rating({ cvssVersion: '4.0', vector: parseCvssVector(`${V4}/E:U`, null) })]).severity,
    'high',
  )
})

test('an invalid or incomplete vector has no score', () => {
  const texts = ['', 'x', 'CVSS:3.1/', 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N', `CVSS:9.9/${V3}`, `${V3.slice(0, -1)}Q`]
  assert.deepEqual(
    texts.map(score),
    texts.map(() => null),
  )
  assert.equal(score('AV:N/'.repeat(100_000)), null)
})
