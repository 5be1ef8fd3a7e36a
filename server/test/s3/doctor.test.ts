import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { PutBucketCorsCommand } from '@aws-sdk/client-s3'
import { createS3Client } from '../../src/platform/objects/s3-object-store.ts'
import { runAsProcess } from '../support/program.ts'
import { requireS3, s3Environment } from '../support/s3-under-test.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-doctor-s3-'))
after(() => rmSync(dataDir, { recursive: true, force: true }))

async function doctorOn(check: string, bucket: string) {
  const env = { ...s3Environment(requireS3()), SHIPLOCK_S3_BUCKET: bucket }
  const { json, stdout, stderr } = await runAsProcess(dataDir, ['doctor', '--json'], env)
  assert.ok(!(stdout + stderr).includes(requireS3().secretAccessKey))
  return json.find((finding: { check: string }) => finding.check === check)
}
const doctorOnObjects = (bucket: string) => doctorOn('objects', bucket)

test('doctor reports that the bucket can be written to', async () => {
  const { ok, detail } = await doctorOnObjects(requireS3().bucket)
  assert.deepEqual([ok, detail], [true, `the bucket ${requireS3().bucket} can be written to`])
})

test('doctor reports why the bucket cannot be written to', async () => {
  const { ok, detail } = await doctorOnObjects('no-such-bucket')
  assert.equal(ok, false)
  assert.match(detail, /NoSuchBucket/)
})

test('doctor reports whether the bucket accepts files from the pages of the console', async () => {
  const { bucket } = requireS3()
  const before = await doctorOn('uploads from browsers', bucket)
  assert.match(before.detail, /accepts no files from the pages of http:\/\/127\.0\.0\.1.*CORS rule/)
  const rule = {
    AllowedOrigins: ['*'],
    AllowedMethods: ['PUT'],
    AllowedHeaders: ['content-type', 'x-amz-checksum-sha256'],
  }
  const s3 = createS3Client(requireS3())
  await s3.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: { CORSRules: [rule] } }))
  const after = await doctorOn('uploads from browsers', bucket)
  assert.match(after.detail, /accepts files from the pages of/)
})
