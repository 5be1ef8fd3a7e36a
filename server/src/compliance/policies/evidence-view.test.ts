import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attestationOf, POLICY_TIME, policyInput } from '../../../test/support/policies.ts'
import { filterEvidence } from './evidence-view.ts'

const NOW = Date.parse(POLICY_TIME)
const at = (ageMs: number) => new Date(NOW - ageMs).toISOString()
const makeScan = (trust: string, ageMs = 0) => ({
  tool: 'semgrep',
  category: null,
  ref: 'main',
  commit_sha: null,
  at: at(ageMs),
  trust,
})
const figures = { open: { critical: 2, high: 0, medium: 0, low: 0, info: 0 }, known_exploited: 1, max_epss: 0.9 }

test('self-reported and untrusted evidence is removed unless the rule has trust: any', () => {
  const input = policyInput({
    attempts: [{ number: 1, status: 'success', started_at: POLICY_TIME, completed_at: null, trust: 'self_reported' }],
    attestations: [attestationOf(), ...['verified', 'untrusted'].map((trust) => attestationOf({ trust, name: trust }))],
    scans: [makeScan('self_reported'), makeScan('uploaded')],
  })
  const strict = filterEvidence(input, { trust: null, max_age_ms: null })
  assert.deepEqual(
    strict.attestations.map(({ name }) => name),
    ['verified'],
  )
  assert.deepEqual(
    strict.scans.map(({ trust }) => trust),
    ['uploaded'],
  )
  assert.deepEqual(strict.attempts, [])
  assert.deepEqual(filterEvidence(input, { trust: 'any', max_age_ms: null }), input)
})

test('evidence exactly as old as max_age counts; older evidence does not', () => {
  const input = policyInput({ scans: [makeScan('uploaded', 1000), makeScan('uploaded', 1001)] })
  assert.equal(filterEvidence(input, { trust: null, max_age_ms: 1000 }).scans.length, 1)
  assert.equal(filterEvidence(input, { trust: null, max_age_ms: 1001 }).scans.length, 2)
})

test('open findings and issues always count', () => {
  const input = policyInput({ findings: figures, issues: figures })
  const { findings, issues } = filterEvidence(input, { trust: null, max_age_ms: 1 })
  assert.deepEqual([findings, issues], [figures, figures])
})
