import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePackageUrl } from './package-url.ts'

const withoutVersion = (text: string) => parsePackageUrl(text)?.withoutVersion

test('a package URL is parsed into name, version and the URL without version', () => {
  assert.deepEqual(parsePackageUrl('pkg:npm/%40angular/core@12.1.0?a=b#c'), {
    name: '@angular/core',
    version: '12.1.0',
    withoutVersion: 'pkg:npm/%40angular/core',
  })
  assert.deepEqual(parsePackageUrl('pkg:npm/@angular/core')?.name, '@angular/core')
  assert.deepEqual(parsePackageUrl('pkg:golang/github.com/a/b@v1')?.version, 'v1')
  assert.equal(parsePackageUrl('lodash@4'), null)
})

test('a distribution is not part of the package name', () => {
  assert.equal(parsePackageUrl('pkg:apk/alpine/libcrypto1.1@1.1.1c-r0?arch=x86_64')?.name, 'libcrypto1.1')
  assert.equal(parsePackageUrl('pkg:maven/org.apache/log4j@1')?.name, 'org.apache/log4j')
})

test('all spellings of a package have the same canonical form', () => {
  assert.equal(withoutVersion('pkg:npm/@angular/core@1'), withoutVersion('pkg:npm/%40angular/core'))
  assert.equal(withoutVersion('pkg:pypi/Foo_Bar@1'), withoutVersion('PKG:pypi/foo-bar@2'))
  assert.equal(withoutVersion('pkg://deb/debian/curl@7?arch=x'), 'pkg:deb/debian/curl')
  assert.equal(withoutVersion('pkg:golang/github.com%2Fa%2Fb@v1'), 'pkg:golang/github.com/a/b')
})

test('the version does not change the package, even if its type does not allow that version', () => {
  for (const name of ['pkg:golang/github.com/a/b', 'pkg:cran/x', 'pkg:swift/github.com/a/b', 'pkg:conan/x/y'])
    for (const version of ['', '@v1', '@1.2.3', '@%zz']) assert.equal(withoutVersion(name + version), name)
})
