import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aliasesOf } from './alias.ts'

const advisories = (...urls: string[]) => ({ advisories: urls.map((url) => ({ url })) })

test('references are aliases, in any order the same list, after the own id', () => {
  const references = [{ id: 'ghsa-6HGM-866r-3cjv' }, { id: 'CVE-2018-7489' }, { id: 'VENDOR-7' }]
  const ids = ['SNYK-JAVA-X-1', 'CVE-2018-7489', 'GHSA-6hgm-866r-3cjv', 'VENDOR-7']
  assert.deepEqual(aliasesOf('SNYK-JAVA-X-1', { references }), ids)
  assert.deepEqual(aliasesOf('SNYK-JAVA-X-1', { references: references.toReversed() }), ids)
})

test('an advisory gives an alias only where it is the only one of its database', () => {
  const one = advisories(
    'https://github.com/advisories/GHSA-6c3j-c64m-qhgq',
    'https://nvd.nist.gov/vuln/detail/CVE-2020-1111',
  )
  assert.deepEqual(aliasesOf('CVE-2019-11358', one), ['CVE-2019-11358', 'GHSA-6c3j-c64m-qhgq'])
  const two = advisories('https://github.com/advisories/GHSA-6c3j-c64m-qhgq', 'https://x.example/GHSA-6hgm-866r-3cjv')
  assert.deepEqual(aliasesOf('CVE-2019-11358', two), ['CVE-2019-11358'])
})

test("a distribution's advisory, which is about many vulnerabilities, is no alias of one", () => {
  const links = advisories(
    'https://access.redhat.com/errata/RHSA-2019:1456',
    'https://www.debian.org/security/2019/dsa-4434',
  )
  assert.deepEqual(aliasesOf('CVE-2019-11358', links), ['CVE-2019-11358'])
})
