import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computeIdentity, type IdentifyingFacts } from './subject.ts'

const FACTS: IdentifyingFacts = {
  ruleId: 'R',
  path: 'a.ts',
  context: 'f(x)',
  message: 'm',
  line: 7,
  dependency: null,
  isSecret: false,
  shared: new Set(),
}
const PACKAGE = { name: 'lodash', version: '4.17.1', fixedVersion: null, purl: 'pkg:npm/lodash@4.17.1?arch=x' }
const DEPENDENCY = { package: PACKAGE, vulnerabilityId: 'CVE-2021-1' }

const identity = (result: object, facts: Partial<IdentifyingFacts> = {}) =>
  computeIdentity(result as Record<string, unknown>, { ...FACTS, ...facts })
const method = (...args: Parameters<typeof identity>) => identity(...args).fingerprint_method
const fingerprint = (...args: Parameters<typeof identity>) => identity(...args).fingerprint

test('the method by decreasing trust: fingerprints, line hash, other partial fingerprints, snippet, message', () => {
  const partialFingerprints = { other: 'p', 'primaryLocationLineHash/v1': 'h:1' }
  assert.equal(method({ fingerprints: { a: 'b' }, partialFingerprints }), 'fingerprints')
  assert.equal(method({ partialFingerprints }), 'primaryLocationLineHash')
  assert.equal(method({ partialFingerprints: { other: 'p' } }), 'partialFingerprints')
  assert.equal(method({}), 'snippet')
  assert.equal(method({}, { context: null }), 'message')
})

test('a fingerprint has a bounded length', () => {
  assert.match(fingerprint({ fingerprints: { a: 'x'.repeat(100_000) } }), /^[0-9a-f]{64}$/)
})

test('other partial fingerprints beside a line hash do not matter', () => {
  const withHash = (others: object) =>
    fingerprint({ partialFingerprints: { ...others, primaryLocationLineHash: 'h:1' } })
  assert.equal(withHash({}), withHash({ primaryLocationStartColumnFingerprint: '7' }))
})

test('equal partial fingerprints of different rules or files are different findings', () => {
  const partial = { partialFingerprints: { primaryLocationLineHash: 'h' } }
  assert.notEqual(fingerprint(partial), fingerprint(partial, { path: 'b.ts' }))
  assert.notEqual(fingerprint(partial), fingerprint(partial, { ruleId: 'S' }))
})

test('a full fingerprint identifies a finding in a moved file', () => {
  const full = { fingerprints: { a: 'b' } }
  assert.equal(fingerprint(full), fingerprint(full, { path: 'moved.ts', message: 'other' }))
})

test('with a snippet, the message is not part of the identity', () => {
  assert.equal(fingerprint({}), fingerprint({}, { message: 'other' }))
  assert.notEqual(fingerprint({}), fingerprint({}, { context: 'g(x)' }))
})

const relocation = (...args: Parameters<typeof identity>) => identity(...args).relocation

test('a finding that is identified within its file has a relocation for other files', () => {
  const results = [
    {},
    { partialFingerprints: { primaryLocationLineHash: 'h' } },
    { partialFingerprints: { other: 'p' } },
    { properties: {} },
  ]
  for (const result of results) {
    assert.ok(relocation(result))
    assert.equal(relocation(result), relocation(result, { path: 'moved.ts' }))
    assert.notEqual(relocation(result), relocation(result, { ruleId: 'S' }))
  }
  assert.equal(relocation({}, { path: null }), null)
  assert.equal(relocation({}, { dependency: DEPENDENCY }), relocation({}, { dependency: DEPENDENCY, path: 'b.json' }))
})

test('a full fingerprint that contains the path is recognized in another file by the flagged code', () => {
  const before = { fingerprints: { 'matchBasedId/v1': 'of a.ts' } }
  const after = { fingerprints: { 'matchBasedId/v1': 'of moved.ts' } }
  assert.equal(relocation(before), relocation(after, { path: 'moved.ts' }))
  assert.notEqual(relocation(before), relocation(after, { context: 'g(x)' }))
  assert.notEqual(relocation(before, { context: null }), relocation(after, { context: null }))
})

test('a message with other numbers or in another file is recognized, a message with other words is not', () => {
  const message = (text: string, path = 'a.ts') => relocation({}, { context: null, message: text, path })
  assert.equal(message('Line 12 of 2026-01-01T10:00:00Z'), message('Line 7 of 2026-01-02T09:30:00Z'))
  assert.equal(message('Secret in a.ts'), message('Secret in b.ts', 'b.ts'))
  assert.notEqual(message('Line 12'), message('Lines 12'))
  assert.notEqual(
    fingerprint({}, { context: null, message: 'Port 22' }),
    fingerprint({}, { context: null, message: 'Port 80' }),
  )
})

test('the number of an equal result in its file is not part of its identity', () => {
  const lineHash = (value: string) => fingerprint({ partialFingerprints: { primaryLocationLineHash: value } })
  assert.equal(lineHash('a1b2:1'), lineHash('a1b2:7'))
  assert.notEqual(lineHash('a1b2:1'), lineHash('a1b3:1'))
  const semgrep = (value: string) => fingerprint({ fingerprints: { 'matchBasedId/v1': value } })
  assert.equal(semgrep(`${'ab'.repeat(64)}_0`), semgrep(`${'ab'.repeat(64)}_12`))
  assert.notEqual(semgrep('rule_0'), semgrep('rule_12'))
})

test('the placeholder that Semgrep writes without a login is not a fingerprint', () => {
  assert.equal(method({ fingerprints: { 'matchBasedId/v1': 'requires login' } }), 'snippet')
})

test('the order of the fingerprints does not matter', () => {
  const ordered = (fingerprints: object) => fingerprint({ fingerprints })
  assert.equal(ordered({ a: '1', b: '2' }), ordered({ b: '2', a: '1' }))
  assert.notEqual(ordered({ a: '1', b: '2' }), ordered({ a: '2', b: '1' }))
})

test('a vulnerable package is the same finding in another version', () => {
  const upgraded = { ...PACKAGE, version: '4.17.2', purl: 'pkg:npm/lodash@4.17.2' }
  const before = identity({}, { dependency: DEPENDENCY })
  assert.equal(before.fingerprint_method, 'dependency')
  assert.deepEqual(identity({}, { dependency: { ...DEPENDENCY, package: upgraded }, message: 'other' }), before)
  assert.notDeepEqual(identity({}, { dependency: DEPENDENCY, path: 'other/package.json' }), before)
  assert.notDeepEqual(identity({}, { dependency: { ...DEPENDENCY, vulnerabilityId: 'CVE-2021-2' } }), before)
})

test('a fingerprint that contains the line is recognized on another line, but not with another number', () => {
  for (const member of ['fingerprints', 'partialFingerprints']) {
    const own = (value: string, line: number | null) =>
      relocation({ [member]: { 'cargo-deny/fingerprint': value } }, { context: null, line })
    assert.equal(own('unmaintained:Cargo.lock:35', 35), own('unmaintained:Cargo.lock:350', 350))
    assert.notEqual(own('unmaintained:Cargo.lock:35', 35), own('unmaintained:Cargo.lock:36', 35))
    assert.notEqual(own('rejected:Cargo.lock:35', 35), own('unmaintained:Cargo.lock:35', 35))
    assert.notEqual(own('35', null), own('36', null))
  }
})

test('of several versions of a fingerprint the newest identifies the finding', () => {
  for (const member of ['fingerprints', 'partialFingerprints']) {
    const newest = (fingerprints: object) => fingerprint({ [member]: fingerprints })
    const before = newest({ 'hash/v1': 'a', 'hash/v2': 'b' })
    assert.equal(newest({ 'hash/v2': 'b' }), before)
    assert.equal(newest({ 'hash/v10': 'b', 'hash/v2': 'c' }), before)
    assert.notEqual(newest({ 'hash/v1': 'a', 'hash/v2': 'c' }), before)
  }
})

test('a finding is recognized by the oldest version of its fingerprint after the tool adds a new version', () => {
  const old = { 'hash/v1': 'a' }
  const both = { 'hash/v2': 'b', 'hash/v1': 'a' }
  const facts = { context: null }
  for (const member of ['fingerprints', 'partialFingerprints']) {
    assert.ok(relocation({ [member]: old }, facts))
    assert.equal(relocation({ [member]: both }, facts), relocation({ [member]: old }, facts))
    assert.notEqual(relocation({ [member]: { 'hash/v1': 'c' } }, facts), relocation({ [member]: old }, facts))
  }
})
