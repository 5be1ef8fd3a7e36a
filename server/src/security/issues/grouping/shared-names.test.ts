import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getEcosystem, normalizeSharedPackageName, selectVulnerabilityNames } from './shared-names.ts'

const canonicalId = (id: string) => (id === 'GHSA-1' ? 'CVE-2024-1000' : id)
const namesOf = (...ids: string[]) => selectVulnerabilityNames(ids, canonicalId)

test('ids of one vulnerability have one name', () => {
  assert.deepEqual(namesOf('GHSA-1', 'CVE-2024-1000', 'UBUNTU-CVE-2024-1000'), ['CVE-2024-1000'])
})

test('an advisory with one CVE id is an alias of it; with several, it is a vulnerability of its own', () => {
  assert.deepEqual(namesOf('RHSA-2024:1'), ['RHSA-2024:1'])
  assert.deepEqual(namesOf('RHSA-2024:1', 'GHSA-2'), ['GHSA-2'])
  assert.deepEqual(namesOf('RHSA-2024:1', 'CVE-2024-1000'), ['CVE-2024-1000'])
  assert.deepEqual(namesOf('RHSA-2024:1', 'CVE-2024-2000', 'CVE-2024-1000'), ['RHSA-2024:1'])
  assert.deepEqual(namesOf('CVE-2024-2000', 'CVE-2024-1000'), ['CVE-2024-1000 and CVE-2024-2000'])
})

const nameOf = (purl: string | null, name: string | null = null) =>
  normalizeSharedPackageName({ purl, package_name: name })

test('all spellings of a package have one name', () => {
  const spellings: [string, string][] = [
    ['pkg:pypi/foo-bar@1.0', 'Foo_Bar'],
    ['pkg:pypi/foo-bar', 'foo.bar'],
    ['pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1?type=jar', 'org.apache.logging.log4j:log4j-core'],
    ['pkg:npm/%40angular/core@1.0.0', '@angular/core'],
    ['pkg:golang/github.com/Masterminds/goutils@1.1.0', 'github.com/masterminds/goutils'],
    ['pkg:nuget/Newtonsoft.Json@9.0.1', 'Newtonsoft.Json'],
  ]
  for (const [purl, name] of spellings) assert.equal(nameOf(purl), nameOf(null, name), purl)
})

test("the name of a distribution's package does not contain the distribution", () => {
  for (const purl of [
    'pkg:deb/debian/openssl@3.0?distro=debian-12',
    'pkg:rpm/redhat/openssl@3.0',
    'pkg:apk/alpine/openssl',
  ]) {
    assert.equal(nameOf(purl), 'openssl', purl)
  }
})

test('different packages have different names', () => {
  assert.notEqual(nameOf('pkg:npm/%40angular/core'), nameOf('pkg:npm/core'))
  assert.notEqual(nameOf('pkg:maven/org.one/core'), nameOf('pkg:maven/org.two/core'))
  assert.equal(nameOf(null), null)
})

test('the ecosystem is the type in the package URL, in lower case', () => {
  assert.equal(getEcosystem({ purl: 'pkg:NPM/lodash' }), 'npm')
  assert.equal(getEcosystem({ purl: 'pkg://npm/lodash' }), 'npm')
  assert.equal(getEcosystem({ purl: null }), null)
})
