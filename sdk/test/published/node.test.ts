import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Caller, TestApi } from '../../../server/test/support/api.ts'
import { configureGate } from '../../../server/test/support/gates.ts'
import { sarif, sarifResult } from '../../../server/test/support/sarif.ts'
import { startApiWithWorker } from '../support/api-with-worker.ts'
import { documentedPrograms } from '../support/documented.ts'
import { published } from '../support/published.ts'

const { consumer, node20, node24 } = published()
const PROGRAMS = documentedPrograms('js')

let api: TestApi
before(async () => {
  api = await startApiWithWorker()
  await writeFile(join(consumer, 'results.sarif'), JSON.stringify(sarif([sarifResult('a'), sarifResult('b')])))
})
after(() => api?.close())

/** Runs a program in the directory where the package is installed. Returns what it printed. */
async function run(node: string, program: string, { key }: Caller): Promise<string> {
  const file = join(consumer, 'program.mjs')
  await writeFile(file, program)
  const env = { SHIPLOCK_URL: `${api.url}/`, SHIPLOCK_KEY: key }
  const { stdout, stderr } = await promisify(execFile)(node, [file], { cwd: consumer, env })
  assert.equal(stderr, '')
  return stdout
}

/** What each documented program prints. */
const PRINTS: Record<string, RegExp> = {
  'Call the API': /^$/,
  Errors: /^404 not_found The run does not exist\. \S+\n$/,
  Lists: /^run_\w+ acme\/shop\n$/,
  'Upload a security report': /^0 of (\d+) bytes\n\1 of \1 bytes\n2 findings\n$/,
  'Send the report of a job':
    /^results.sarif 0\nresults.sarif \d+\nhttp:\S+ \[\] \[\s+\{[^}]*status: 'uploaded'[^}]*\}\s+\]\n$/,
  'Wait for a deployment gate': /^waiting null\ndecided .*announced.*\n$/,
  'Files, Blobs and streams':
    /^\{\s+size: 5,\s+sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'\s+\}\n$/,
}

for (const [version, node] of Object.entries({ 20: node20, 24: node24 })) {
  test(`the programs of docs/sdk.md run on Node ${version}`, async (t) => {
    assert.deepEqual(
      PROGRAMS.map(({ heading }) => heading),
      Object.keys(PRINTS),
    )
    const { stdout } = await promisify(execFile)(node, ['--version'])
    assert.ok(stdout.startsWith(`v${version}.`))
    const caller = await api.caller()
    await configureGate(api, caller)
    for (const { heading, program } of PROGRAMS) {
      await t.test(heading, async () => {
        const running = run(node, program, caller)
        if (heading === 'Wait for a deployment gate') await approve(caller)
        assert.match(await running, PRINTS[heading] as RegExp)
      })
    }
  })
}

/** Approves the deployment of the caller as soon as there is one. */
async function approve({ key }: Caller): Promise<void> {
  for (;;) {
    const { body } = await api.request('GET', '/v1/deployments', { key })
    const path = `/v1/deployments/${body.data[0]?.id}/approve`
    const reason = 'Release 1.2 was announced for today.'
    if (body.data.length > 0) return void (await api.request('POST', path, { key, body: { reason } }))
  }
}
