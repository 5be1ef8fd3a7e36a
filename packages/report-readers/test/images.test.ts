import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { ImageError, parseImage, parseIndex, readImages } from '../src/images.ts'

const SHA = 'a'.repeat(64)

test('an image is named by its digest, with or without a tag', () => {
  assert.deepEqual(parseImage(`ghcr.io/acme/shop@sha256:${SHA}`), { name: 'ghcr.io/acme/shop', sha256: SHA })
  assert.deepEqual(parseImage(` registry:5000/shop:1@sha256:${SHA.toUpperCase()} `), {
    name: 'registry:5000/shop:1',
    sha256: SHA,
  })
})

for (const text of [
  'ghcr.io/acme/shop:1',
  `@sha256:${SHA}`,
  `--raw@sha256:${SHA}`,
  'shop@sha256:abc',
  `a b@sha256:${SHA}`,
  '',
])
  test(`"${text}" is refused`, () => assert.throws(() => parseImage(text), ImageError))

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const index = (fields: object) =>
  Buffer.from(JSON.stringify({ mediaType: 'application/vnd.oci.image.index.v1+json', ...fields }))

test('an index names the manifests of its platforms, and not those of attestations', () => {
  const bytes = index({
    manifests: [
      { digest: `sha256:${SHA}`, platform: { os: 'linux', architecture: 'arm', variant: 'v7' } },
      { digest: `sha256:${SHA}`, platform: { os: 'unknown', architecture: 'unknown' } },
      { digest: 'sha512:1', platform: { os: 'linux', architecture: 'amd64' } },
      { digest: `sha256:${SHA}` },
    ],
  })
  assert.deepEqual(parseIndex(bytes, hashOf(bytes)), {
    media_type: 'application/vnd.oci.image.index.v1+json',
    platforms: [{ sha256: SHA, platform: 'linux/arm/v7' }],
  })
})

test('bytes with another digest say nothing', () => {
  assert.deepEqual(parseIndex(index({ manifests: [] }), SHA), {})
})

test('without Docker, an image has no platforms', async () => {
  const path = process.env.PATH
  process.env.PATH = '/nowhere'
  try {
    assert.deepEqual(await readImages([`shop@sha256:${SHA}`]), [{ name: 'shop', sha256: SHA }])
  } finally {
    process.env.PATH = path
  }
})
