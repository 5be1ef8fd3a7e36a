import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Caller, TestApi } from '../../../server/test/support/api.ts'
import { answer, configureGate } from '../../../server/test/support/gates.ts'
import { sarif, sarifResult } from '../../../server/test/support/sarif.ts'
import { startApiWithWorker } from '../support/api-with-worker.ts'
import { documentedPrograms } from '../support/documented.ts'
import { published } from '../support/published.ts'
import type { Runtime } from '../support/runtimes.ts'

const { consumer, runtimes } = published()
const PROGRAMS = documentedPrograms('js')

let api: TestApi
before(async () => {
  api = await startApiWithWorker()
  await writeFile(join(consumer, 'results.sarif'), JSON.stringify(sarif([sarifResult('a'), sarifResult('b')])))
})
after(() => api?.close())

/** Runs a program in the directory where the package is installed. Returns what it printed. */
async function run(
  { command, args }: Runtime,
  program: string,
  { key, onOutput = () => {} }: Pick<Caller, 'key'> & { onOutput?: () => void },
): Promise<string> {
  const file = join(consumer, 'program.mjs')
  await writeFile(file, program)
  const env = { SHIPLOCK_URL: `${api.url}/`, SHIPLOCK_KEY: key }
  const running = promisify(execFile)(command, [...args, file], { cwd: consumer, env })
  running.child.stdout?.once('data', onOutput)
  const { stdout, stderr } = await running
  assert.equal(stderr, '')
  return stdout
}

/** What each documented program prints. */
const PRINTS: Record<string, RegExp> = {
  'Call the API': /^$/,
  Errors: /^404 not_found The run does not exist\. \S+\n$/,
  Lists: /^run_\w+ acme\/shop\n$/,
  'Upload a security report': /^0 of (\d+) bytes\n\1 of \1 bytes\n2 findings\n$/,
  'Send the report of a job': /^results.sarif 0\nresults.sarif \d+\nhttp:\S+\nresults.sarif uploaded\n$/,
  'Wait for a deployment gate': /^waiting null\ndecided Release 1.2 was announced for today.\n$/,
  'Files, Blobs and streams': /^5 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\n$/,
}

for (const runtime of runtimes) {
  test(`the programs of docs/sdk.md run on ${runtime.name}`, async (t) => {
    assert.deepEqual(
      PROGRAMS.map(({ heading }) => heading),
      Object.keys(PRINTS),
    )
    const caller = await api.caller()
    const { key } = caller
    await configureGate(api, caller)
    for (const { heading, program } of PROGRAMS) {
      await t.test(heading, async () => {
        const isGate = heading === 'Wait for a deployment gate'
        const printed = await run(runtime, program, { key, ...(isGate && { onOutput: () => void approve(caller) }) })
        assert.match(printed, PRINTS[heading] as RegExp)
      })
    }
  })

  test(`a file, a Blob and a stream of 3 MB are uploaded on ${runtime.name}`, async () => {
    await writeFile(join(consumer, 'large.bin'), new Uint8Array(3_000_000))
    const printed = await run(runtime, UPLOADS, await api.caller())
    assert.equal(printed, 'file uploaded 3000000\nBlob uploaded 3000000\nstream uploaded 3000000\n')
  })
}

/** Approves the only deployment of the caller's organization. */
async function approve(caller: Caller): Promise<void> {
  const { body } = await api.request('GET', '/v1/deployments', { key: caller.key })
  await answer(api, caller, body.data[0].id, 'approve')
}

const UPLOADS = `
import { blobSource, createClient, hashSource, streamSource } from '@shiplock/sdk'
import { fileSource } from '@shiplock/sdk/node'

const client = createClient({ url: process.env.SHIPLOCK_URL, token: process.env.SHIPLOCK_KEY })
const run = await client.api.POST('/v1/ci/runs', {
  body: { ci_system: 'jenkins', external_run_id: '1', repository: 'git.example.com/acme/shop', commit_sha: 'a'.repeat(40), pipeline_name: 'build' },
})
const blob = new Blob([new Uint8Array(3_000_000)])
const known = await hashSource(blobSource(blob, 'b'))
const files = [
  { path: 'file', source: fileSource('large.bin') },
  { path: 'Blob', source: blobSource(blob, 'large.bin') },
  { path: 'stream', source: streamSource(blob.stream(), { name: 'large.bin', ...known }) },
]
const sent = {}
const onProgress = (path, bytes) => { sent[path] = bytes }
const { results } = await client.sendReport(run.data.data.id, { job: {} }, files, { onProgress })
for (const { path } of files) console.log(path, results.find((result) => result.path === path).status, sent[path])
`
