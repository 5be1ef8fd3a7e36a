import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runProgram } from '../support/program.ts'
import { requireS3, s3Environment } from '../support/s3-under-test.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'shiplock-doctor-s3-'))
after(() => rmSync(dataDir, { recursive: true, force: true }))

async function doctorOnObjects(bucket: string) {
  const env = { ...s3Environment(requireS3()), SHIPLOCK_S3_BUCKET: bucket }
  const { json, stdout, stderr } = await runProgram(dataDir, ['doctor', '--json'], env)
  assert.ok(!(stdout + stderr).includes(requireS3().secretAccessKey))
  return json.find(({ check }: { check: string }) => check === 'objects')
}

test('doctor reports that the bucket can be written to', async () => {
  const { ok, detail } = await doctorOnObjects(requireS3().bucket)
  assert.deepEqual([ok, detail], [true, `the bucket ${requireS3().bucket} can be written to`])
})

test('doctor reports why the bucket cannot be written to', async () => {
  const { ok, detail } = await doctorOnObjects('no-such-bucket')
  assert.equal(ok, false)
  assert.match(detail, /NoSuchBucket/)
})
