import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attestationOf, POLICY_TIME, policyInput } from '../../../test/support/policies.ts'
import { filterEvidence, filterInput } from './evidence-view.ts'
import type { EvidenceTerms } from './policy.schema.ts'
import type { PolicyInput } from './policy-input.schema.ts'

const NOW = new Date(POLICY_TIME)

const makeScan = (trust: string, ageMs = 0, fields: Partial<PolicyInput['scans'][number]> = {}) => ({
  tracked: true,
  tool: 'Linter',
  category: null,
  ref: 'main',
  commit_sha: null,
  at: new Date(NOW.getTime() - ageMs).toISOString(),
  trust,
  ...fields,
})

const STORED_BEFORE: EvidenceTerms = { trust: null, max_age_ms: null }
const termsOf = (fields: Partial<EvidenceTerms> = {}): EvidenceTerms => ({
  ...{ trust: 'default', max_age_ms: null, absent_evidence: 'error' },
  ...fields,
})

test('self-reported and untrusted evidence is removed unless the rule has trust: any', () => {
  const input = policyInput({
    attempts: [{ number: 1, status: 'success', started_at: POLICY_TIME, completed_at: null, trust: 'self_reported' }],
    attestations: [attestationOf(), ...['verified', 'untrusted'].map((trust) => attestationOf({ trust, name: trust }))],
    scans: [makeScan('self_reported'), makeScan('uploaded')],
  })
  const strict = filterEvidence(input, STORED_BEFORE)
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

test('each trust admits its lanes, and a hand upload is in none', () => {
  const trusts = ['verified', 'uploaded', 'self_reported', 'ui', 'untrusted']
  const input = policyInput({ scans: trusts.map((trust) => makeScan(trust)) })
  const seen = (trust: EvidenceTerms['trust']) =>
    filterEvidence(input, termsOf({ trust })).scans.map((scan) => scan.trust)
  assert.deepEqual(seen('verified'), trusts.slice(0, 1))
  assert.deepEqual(seen('uploaded'), trusts.slice(0, 2))
  assert.deepEqual(seen('default'), trusts.slice(0, 2))
  assert.deepEqual(seen('any'), trusts.slice(0, 3))
})

test('evidence of exactly the maximum age counts, and older evidence does not', () => {
  const input = policyInput({ scans: [makeScan('uploaded', 1000), makeScan('uploaded', 1001)] })
  assert.equal(filterEvidence(input, termsOf({ max_age_ms: 1000 })).scans.length, 1)
  assert.equal(filterEvidence(input, termsOf({ max_age_ms: 1001 })).scans.length, 2)
})

test('counts of open findings and issues do not depend on the trust', () => {
  const input = policyInput()
  const { findings, issues } = filterEvidence(input, { ...STORED_BEFORE, max_age_ms: 1 })
  assert.deepEqual([findings, issues], [input.findings, input.issues])
})

test('where nobody has looked, modules see what is known to be open, and not that nothing is', () => {
  const input = policyInput()
  const { findings } = input
  assert.ok(findings)
  const open = { ...findings, open: { ...findings.open, critical: 1 } }
  assert.deepEqual(filterInput({ ...input, findings: open }, termsOf()).findings, open)
  assert.equal(filterInput(input, termsOf()).findings, undefined)
  assert.equal(filterEvidence({ ...input, findings: open }, termsOf()).findings, undefined)
})

/** Whether a scan is evidence for what is deployed. */
function isEvidence(
  deployed: string | null,
  scan: Partial<PolicyInput['scans'][number]>,
  tracked: string | null,
  onTracked = false,
) {
  const { evidence } = policyInput()
  const input = policyInput({
    scans: [makeScan('verified', 0, scan)],
    evidence: { ...evidence, ref: deployed, tracked_branch: tracked, on_tracked_branch: onTracked },
  })
  return filterEvidence(input, termsOf()).findings !== undefined
}

test('a report of what is deployed is evidence; that of the tracked branch is for a tag, for itself, or for no ref', () => {
  const main = { ref: 'refs/heads/main', tracked: true }
  const topic = { ref: 'topic', tracked: false }
  for (const deployed of ['main', 'refs/heads/main', 'refs/tags/v1', null])
    assert.ok(isEvidence(deployed, main, 'main'))
  for (const deployed of ['topic', 'refs/pull/7/merge']) assert.ok(!isEvidence(deployed, main, 'main'), deployed)
  assert.ok(isEvidence('topic', topic, 'main'))
  assert.ok(isEvidence('release/1', main, 'main', true))
  assert.ok(!isEvidence('release/1', { ...topic, tracked: true }, 'main', true))
  for (const deployed of ['main', 'refs/tags/v1', null]) assert.ok(!isEvidence(deployed, topic, 'main'))
  assert.ok(isEvidence('refs/tags/v1', { ref: 'refs/tags/v1', tracked: false }, 'main'))
  // A job may say that its branch is tracked: it is still another one.
  for (const deployed of ['main', 'refs/tags/v1', null])
    assert.ok(!isEvidence(deployed, { ...topic, tracked: true }, 'main'), String(deployed))
})

test('where the tracked branch is not known, a report without a ref is about the deployed branch', () => {
  assert.ok(isEvidence('main', { ref: null }, null))
  assert.ok(!isEvidence('main', { ref: 'topic' }, null))
  assert.ok(isEvidence('refs/tags/v1', { ref: 'topic' }, null))
  assert.ok(!isEvidence('refs/tags/v1', { ref: 'refs/pull/7/merge' }, null))
})

test('an untrusted report is no evidence that nothing is open, because what it finds is not counted', () => {
  const run = { trust: 'untrusted', ref: 'refs/pull/7/merge' } as PolicyInput['run']
  const scans = [makeScan('untrusted', 0, { ref: 'refs/pull/7/merge', tracked: false })]
  const { evidence } = policyInput()
  const input = policyInput({ run, scans, evidence: { ...evidence, ref: 'refs/pull/7/merge' } })
  const view = filterEvidence(input, termsOf({ trust: 'any' }))
  assert.deepEqual([view.scans.length, view.findings], [1, undefined])
})

test('alerts of the connected host are evidence, but for no commit', () => {
  const { evidence } = policyInput()
  const input = policyInput({ evidence: { ...evidence, ref: 'main', alerts: true } })
  assert.equal(filterEvidence(input, termsOf()).evidence.missing, null)
  assert.match(filterEvidence(input, termsOf({ evidence: 'commit' })).evidence.missing ?? '', /the commit/)
})
