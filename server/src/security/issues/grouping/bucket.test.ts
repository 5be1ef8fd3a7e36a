import assert from 'node:assert/strict'
import { test } from 'node:test'
import { factsOf, packageFacts } from '../../../../test/support/grouping-members.ts'
import { bucketOf } from './bucket.ts'
import { ecosystemOf, sharedPackageName } from './package-name.ts'

const nameOf = (purl: string | null, name: string | null = null) => sharedPackageName({ purl, package_name: name })

test('a package has one name in all of its spellings', () => {
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

test("a distribution's package is called without the distribution", () => {
  for (const purl of [
    'pkg:deb/debian/openssl@3.0?distro=debian-12',
    'pkg:rpm/redhat/openssl@3.0',
    'pkg:apk/alpine/openssl',
  ]) {
    assert.equal(nameOf(purl), 'openssl', purl)
  }
})

test('other names are other packages', () => {
  assert.notEqual(nameOf('pkg:npm/%40angular/core'), nameOf('pkg:npm/core'))
  assert.notEqual(nameOf('pkg:maven/org.one/core'), nameOf('pkg:maven/org.two/core'))
  assert.equal(nameOf(null), null)
})

test('the ecosystem is what the package URL says, in lower case', () => {
  assert.equal(ecosystemOf({ purl: 'pkg:NPM/lodash' }), 'npm')
  assert.equal(ecosystemOf({ purl: 'pkg://npm/lodash' }), 'npm')
  assert.equal(ecosystemOf({ purl: null }), null)
})

test('versions and manifests of a package share a bucket; another package, and its license, have others', () => {
  const lodash = packageFacts(['CVE-2024-1000'], { purl: 'pkg:npm/lodash@4.17.20', path: 'package-lock.json' })
  assert.equal(bucketOf(lodash), bucketOf(packageFacts(['GHSA-1'], { purl: 'pkg:npm/Lodash@3.0.0' })))
  assert.notEqual(bucketOf(lodash), bucketOf(packageFacts([], { package_name: 'underscore' })))
  assert.notEqual(bucketOf(lodash), bucketOf(packageFacts([], { kind: 'license' })))
})

test('a secret that the scanner gives is its own bucket, in whatever file', () => {
  const secret = (fields: object) => bucketOf(factsOf({ kind: 'secret', ...fields }))
  assert.equal(secret({ context: 'aa', path: 'a.env' }), secret({ context: 'aa', path: 'b.env' }))
  assert.notEqual(secret({ context: 'aa' }), secret({ context: 'bb' }))
  assert.notEqual(secret({ path: 'a.env' }), secret({ path: 'b.env' }))
})

test('a file and a resource of one name are two places; infrastructure and container are one family', () => {
  const iac = factsOf({ kind: 'iac', path: 'Dockerfile' })
  assert.equal(bucketOf(iac), bucketOf(factsOf({ kind: 'container', path: 'Dockerfile' })))
  assert.notEqual(bucketOf(iac), bucketOf(factsOf({ kind: 'iac', path: null, resource_name: 'Dockerfile' })))
  assert.notEqual(bucketOf(iac), bucketOf(factsOf({ kind: 'code', path: 'Dockerfile' })))
})
