import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { type Benchmark, interleave } from './benchmark.ts'
import { newRun } from './ci-runs.ts'
import { residentMib } from './resident-memory.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 3
const MIB = 2 ** 20
const SIZE_MIB = 500
const run = promisify(execFile)

export const putObject: Benchmark<Setting> = {
  name: 'PUT of 500 MiB',
  about: 'curl to a slot of the file store, checked and on disk, beside cat into a file and sha256sum of it',
  unit: 'MiB/s',
  bar: { of: 'ratio', atLeast: 0.85 },
  async measure({ ours, directory }) {
    const file = join(directory, 'artifact')
    await writeRandomFile(file)
    const sha256 = await hashFile(file)
    const put = (round: number) => putToSlot(ours, file, sha256, round)
    const copy = () => seconds(run('sh', ['-c', 'cat "$0" > "$0.copy" && sha256sum "$0.copy"', file]))
    await put(ROUNDS)
    const before = await residentMib(ours.url)
    const rounds = await interleave(ROUNDS, put, async () => SIZE_MIB / (await copy()))
    const after = await residentMib(ours.url)
    process.stderr.write(`resident memory ${Math.round(before)} MiB before, ${Math.round(after)} MiB after\n`)
    return rounds
  },
}

/** MiB a second, from the first byte until the answer. */
async function putToSlot(ours: Setting['ours'], file: string, sha256: string, round: number): Promise<number> {
  const { url, headers } = await openSlot(ours, sha256, round)
  const args = [
    '-sS',
    '--fail',
    '-T',
    file,
    url,
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
  ]
  return SIZE_MIB / (await seconds(run('curl', args)))
}

async function openSlot(ours: Setting['ours'], sha256: string, round: number) {
  const { id } = await post(ours, '/v1/ci/runs', newRun())
  const artifacts = [{ path: `artifact-${round}`, size: SIZE_MIB * MIB, sha256 }]
  const report = await post(ours, `/v1/ci/runs/${id}/reports`, { job: {}, artifacts })
  return report.uploads[0]
}

async function post({ url, key }: Setting['ours'], path: string, body: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { data: Answer }).data
}

type Answer = { id: string; uploads: [{ url: string; headers: Record<string, string> }] }

async function seconds(work: Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work
  return (performance.now() - startedAt) / 1000
}

/** Bytes that differ, without the cost of drawing them all. */
async function writeRandomFile(path: string): Promise<void> {
  await using file = await open(path, 'w')
  const block = Buffer.alloc(MIB)
  for (let at = 0; at < SIZE_MIB; at += 1) {
    block.writeUInt32LE(at, at * 4)
    await file.write(block)
  }
}

async function hashFile(path: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(path), digest)
  return digest.digest('hex')
}
