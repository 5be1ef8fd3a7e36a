import assert from 'node:assert/strict'
import { test } from 'node:test'
import { normalizeSubjectName, toSubjectRows } from './subject.ts'

const INDEX = 'application/vnd.oci.image.index.v1+json'
const SHA = 'a'.repeat(64)

for (const [name, mediaType, expected] of [
  ['GHCR.io/acme/Shop', null, 'ghcr.io/acme/Shop'],
  ['ghcr.io/acme/shop:1.2', null, 'ghcr.io/acme/shop'],
  ['ghcr.io/acme/shop:1.2@sha256:abc', null, 'ghcr.io/acme/shop'],
  ['registry:5000/shop', null, 'registry:5000/shop'],
  ['localhost/shop:dev', null, 'localhost/shop'],
  ['nginx', INDEX, 'docker.io/library/nginx'],
  ['acme/shop:1', INDEX, 'docker.io/acme/shop'],
  ['index.docker.io/nginx', null, 'docker.io/library/nginx'],
  ['docker.io/nginx', INDEX, 'docker.io/library/nginx'],
  ['dist/app.tar.gz', null, 'dist/app.tar.gz'],
  ['app:1', null, 'app:1'],
  ['Dist.D/app', 'application/gzip', 'Dist.D/app'],
] as const)
  test(`${name} as ${mediaType ?? 'anything'} is ${expected}`, () =>
    assert.equal(normalizeSubjectName(name, mediaType), expected))

test('a subject that is named twice is one; the manifests of platforms have its name', () => {
  const manifest = { sha256: 'b'.repeat(64), platform: 'linux/arm64' }
  const rows = toSubjectRows([
    { name: 'ghcr.io/acme/shop:1', sha256: SHA },
    { name: 'GHCR.io/acme/shop', sha256: SHA, platforms: [manifest] },
  ])
  const named = { position: 0, name: 'ghcr.io/acme/shop', media_type: null }
  assert.deepEqual(rows, [
    { ...named, part: 0, sha256: SHA, platform: null },
    { ...named, part: 1, ...manifest },
  ])
})
