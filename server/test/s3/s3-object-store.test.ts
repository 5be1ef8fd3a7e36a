import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import { ApiError } from '../../src/platform/http/api-error.ts'
import { createS3Client, S3ObjectStore, type S3StoreOptions } from '../../src/platform/objects/s3-object-store.ts'
import { findMismatch } from '../../src/platform/objects/verify-object.ts'
import { expectationOf, objectStoreContract, send, sha256 } from '../support/object-store-contract.ts'
import { requireS3 } from '../support/s3-under-test.ts'

const options = requireS3()
const store = new S3ObjectStore(options)
const FILE = Buffer.from('a file')

objectStoreContract('S3', async () => ({ store, close: async () => {} }))

const slotFor = (key: string) => store.presignPut(key, expectationOf(FILE), new Date())

test("the checksum has S3's header name, and length, type and checksum are signed headers", async () => {
  const { url, headers } = await slotFor('s3/headers')
  assert.deepEqual(headers, {
    'Content-Type': 'application/octet-stream',
    'x-amz-checksum-sha256': Buffer.from(sha256(FILE), 'hex').toString('base64'),
  })
  const { searchParams } = new URL(url)
  const signed = searchParams.get('X-Amz-SignedHeaders')
  assert.equal(signed, 'content-length;content-type;host;x-amz-checksum-sha256')
  assert.equal(searchParams.get('X-Amz-Expires'), '900')
})

test('S3 does not accept the checksum header of the file store', async () => {
  const slot = await slotFor('s3/neutral-header')
  const { 'x-amz-checksum-sha256': checksum, ...others } = slot.headers
  const headers = { ...others, 'x-storage-checksum-sha256': checksum as string }
  assert.equal((await send({ ...slot, headers }, FILE)).status, 403)
})

test('the URL of one object does not give access to another', async () => {
  const slot = await slotFor('s3/mine')
  const url = slot.url.replace('/s3/mine?', '/s3/yours?')
  assert.notEqual(url, slot.url)
  assert.equal((await send({ ...slot, url }, FILE)).status, 403)
  assert.equal(await store.stat('s3/yours'), null)
})

test('a longer or shorter body is refused by its length, a different one by its checksum', async () => {
  const slot = await slotFor('s3/refused')
  assert.equal((await send(slot, Buffer.from('a longer file'))).status, 403)
  assert.equal((await send(slot, Buffer.from('short'))).status, 403)
  const different = await send(slot, Buffer.from('A FILE'))
  assert.equal(different.status, 400)
  assert.match(await different.text(), /<Code>(BadDigest|XAmzContentChecksumMismatch)<\/Code>/)
})

test('an object for which S3 has no checksum is read completely', async () => {
  const put = new PutObjectCommand({
    Bucket: options.bucket,
    Key: 's3/unchecked',
    Body: FILE,
    ChecksumAlgorithm: 'CRC32',
  })
  await createS3Client(options).send(put)
  assert.deepEqual(await store.stat('s3/unchecked'), { sizeBytes: FILE.length, sha256: null })
  assert.equal(await findMismatch(store, 's3/unchecked', expectationOf(FILE)), null)
  const other = { ...expectationOf(FILE), sha256: sha256(Buffer.from('A FILE')) }
  assert.equal(await findMismatch(store, 's3/unchecked', other), 'checksum_mismatch')
})

/**
 * What every method of a store with these options says, and whether a secret of it is told anywhere
 * inside.
 */
async function assertUnavailable(changed: Partial<S3StoreOptions>, reason: RegExp): Promise<void> {
  const wrong = new S3ObjectStore({ ...options, ...changed })
  const error = await wrong.check().then(
    () => assert.fail('the check passed'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ApiError)
  assert.deepEqual([error.status, error.code], [503, 'unavailable'])
  const told = inspect(error, { depth: 20, showHidden: true })
  assert.match(told, reason)
  for (const secret of [options.secretAccessKey, changed.secretAccessKey ?? options.secretAccessKey, 'Signature='])
    assert.ok(!told.includes(secret), told)
}

test('wrong credentials are a 503 without secrets, also in the log', async () => {
  await assertUnavailable({ secretAccessKey: 'hunter2-hunter2' }, /SignatureDoesNotMatch/)
  await assertUnavailable({ accessKeyId: 'nobody' }, /InvalidAccessKeyId|XAdminUserNotFound/)
})

test('a bucket that does not exist is a 503, not a missing object', async () => {
  await assertUnavailable({ bucket: 'no-such-bucket' }, /NoSuchBucket/)
  const read = new S3ObjectStore({ ...options, bucket: 'no-such-bucket' }).read('s3/any')[Symbol.asyncIterator]()
  await assert.rejects(read.next(), { status: 503 })
})
