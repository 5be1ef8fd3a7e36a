import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeImageName, normalizeSubject, normalizeToolName } from './stream-name.ts'

test('a tool keeps its name without version, edition and spelling', () => {
  for (const [tool, family] of [
    ['Semgrep OSS', 'semgrep'],
    ['semgrep', 'semgrep'],
    ['Semgrep PRO', 'semgrep'],
    ['SecObserve / 1.52.0', 'secobserve'],
    ['SecObserve / 1.53.0', 'secobserve'],
    ['OSV-Scanner', 'osv scanner'],
    ['osv scanner v2.0.1', 'osv scanner'],
    ['pylint-3.1', 'pylint'],
    ['SonarQube Community Edition', 'sonarqube'],
    ['CodeQL command-line toolchain', 'codeql'],
    ['Fortify (24.2)', 'fortify'],
    ['1.2.3', '1.2.3'],
  ] as const)
    assert.equal(normalizeToolName(tool), family, tool)
})

test('products of one vendor stay apart', () => {
  const names = ['Snyk Open Source', 'Snyk Code', 'Snyk Container', 'Semgrep Supply Chain', 'Semgrep', 'Log4Shell 2']
  assert.equal(new Set(names.map(normalizeToolName)).size, names.length)
})

test('an image keeps its name and the words of its tag, not its version, digest and default registry', () => {
  for (const [image, name] of [
    ['acme/pay:1', 'acme/pay'],
    ['acme/pay:sha-4f2d1c9', 'acme/pay'],
    ['acme/pay:v1.2.3-rc1', 'acme/pay'],
    ['acme/pay:latest', 'acme/pay'],
    ['acme/pay@sha256:0123', 'acme/pay'],
    ['docker.io/library/nginx:1.25-alpine3.19@sha256:0123', 'nginx:alpine'],
    ['nginx:alpine', 'nginx:alpine'],
    ['localhost:5000/a/b', 'localhost:5000/a/b'],
    ['node:20-bookworm-slim', 'node:bookworm-slim'],
    ['sha256:0123', null],
  ] as const)
    assert.equal(normalizeImageName(image), name, image)
})

test('the subject is the image or the named project, and no path', () => {
  const of = (name: string | null, fields: object = {}) =>
    normalizeSubject({ isImage: false, name, purl: null, ...fields })
  assert.equal(of('shop'), 'shop')
  assert.equal(of('@acme/shop'), '@acme/shop')
  for (const path of ['.', './web', '/home/ci/web', 'C:\\web', '~/web', null]) assert.equal(of(path), null)
  assert.equal(of('acme/pay:1', { isImage: true }), 'acme/pay')
  const purl = 'pkg:oci/pay@sha256%3A01?repository_url=index.docker.io%2Facme%2Fpay&tag=2-alpine'
  assert.equal(of('sha256:01', { isImage: true, purl }), 'acme/pay:alpine')
  assert.equal(of('pay', { purl }), 'acme/pay:alpine')
})
