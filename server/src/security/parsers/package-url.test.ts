import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePackageUrl } from './package-url.ts'

test('a package URL gives name, version and what is left without them', () => {
  assert.deepEqual(parsePackageUrl('pkg:npm/%40angular/core@12.1.0?a=b#c'), {
    name: '@angular/core',
    version: '12.1.0',
    withoutVersion: 'pkg:npm/%40angular/core',
  })
  assert.deepEqual(parsePackageUrl('pkg:npm/@angular/core')?.name, '@angular/core')
  assert.deepEqual(parsePackageUrl('pkg:golang/github.com/a/b@v1')?.version, 'v1')
  assert.equal(parsePackageUrl('lodash@4'), null)
})
