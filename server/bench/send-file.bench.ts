import { execFile } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hashSource, putSlot } from '@shiplock/sdk'
import { fileSource } from '@shiplock/sdk/node'
import { type Benchmark, interleave } from './benchmark.ts'
import type { Setting } from './setting.ts'

const ROUNDS = 7
const MIB = 2 ** 20
const SIZE_MIB = 100
const REPOSITORY = 'github.com/acme/files'
const SHIPLOCK = fileURLToPath(new URL('../../cli/bin/shiplock.mjs', import.meta.url))
const run = promisify(execFile)

type Slot = { url: string; headers: Record<string, string> }
/** Sends a file to the server. Returns the seconds that it took. */
type Sending = (ours: Setting['ours'], file: string) => Promise<number>

/** A file of a client on its way to the server, beside curl. */
export const sendFile: Benchmark<Setting>[] = [
  {
    name: 'PUT of 100 MiB by the SDK',
    about: 'putSlot to a slot of the file store, beside curl -T to another slot',
    unit: 'MiB/s',
    bar: { of: 'ratio', atLeast: 0.8 },
    measure: (setting) => compare(setting, putBySdk, putByCurl),
  },
  {
    name: 'shiplock upload of 100 MiB',
    about: 'the whole command without waiting for the findings, beside sha256sum, two requests and curl -T',
    unit: 'MiB/s',
    bar: { of: 'ratio', atLeast: 0.8 },
    measure: (setting) => compare(setting, uploadByCommand, uploadByCurl),
  },
]

async function compare({ ours, directory }: Setting, client: Sending, bare: Sending) {
  const file = join(directory, 'report.sarif')
  const bytes = randomFillSync(Buffer.alloc(SIZE_MIB * MIB))
  let sent = 0
  const speedOf = (send: Sending) => async () => {
    bytes.writeUInt32LE(sent++)
    await writeFile(file, bytes)
    return SIZE_MIB / (await send(ours, file))
  }
  await interleave(1, speedOf(client), speedOf(bare))
  return interleave(ROUNDS, speedOf(client), speedOf(bare))
}

async function putBySdk(ours: Setting['ours'], file: string): Promise<number> {
  const source = fileSource(file)
  const { put } = await createUpload(ours, await hashSource(source))
  return seconds(() => putSlot(put, source))
}

async function putByCurl(ours: Setting['ours'], file: string): Promise<number> {
  const { put } = await createUpload(ours, await hashSource(fileSource(file)))
  return seconds(() => curl(put, file))
}

function uploadByCommand({ url, key }: Setting['ours'], file: string): Promise<number> {
  const env = { ...process.env, SHIPLOCK_URL: url, SHIPLOCK_KEY: key }
  const args = [SHIPLOCK, 'upload', file, '--repository', REPOSITORY, '--no-wait', '--quiet']
  return seconds(() => run(process.execPath, args, { env }))
}

function uploadByCurl(ours: Setting['ours'], file: string): Promise<number> {
  return seconds(async () => {
    const { stdout } = await run('sha256sum', [file])
    const { upload, put } = await createUpload(ours, { size: SIZE_MIB * MIB, sha256: stdout.slice(0, 64) })
    await curl(put, file)
    await post(ours, `/v1/security/uploads/${upload.id}/complete`)
  })
}

async function curl({ url, headers }: Slot, file: string): Promise<void> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  await run('curl', ['-sS', '--fail', '-T', file, url, ...fields])
}

function createUpload(ours: Setting['ours'], file: { size: number; sha256: string }) {
  return post(ours, '/v1/security/uploads', { filename: 'report.sarif', repository: REPOSITORY, ...file })
}

async function post({ url, key }: Setting['ours'], path: string, body?: object) {
  const headers = { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) }
  const response = await fetch(url + path, { method: 'POST', headers, body: body ? JSON.stringify(body) : null })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return ((await response.json()) as { data: { upload: { id: string }; put: Slot } }).data
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}
