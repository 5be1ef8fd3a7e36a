import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runAction } from './ci/github-workflow.ts'
import { type Env, type Machine, startMachine } from './support/machine.ts'

/** Nothing listens there: an input that is refused is refused before anything is sent. */
const URL = 'http://127.0.0.1:9'
const ID_TOKEN = { ACTIONS_ID_TOKEN_REQUEST_URL: `${URL}/?x=1`, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 't' }

let machine: Machine
before(() => {
  machine = startMachine()
  const files = {
    'broken.xml': '<testsuite',
    'trivy.json': '{"SchemaVersion": 2}',
    'list.json': '[{"kind": "custom"}]',
  }
  for (const [name, text] of Object.entries(files)) machine.addFile(name, text)
})
after(() => machine[Symbol.dispose]())

function runWith(inputs: Record<string, string>, env: Env = ID_TOKEN) {
  const variables = Object.entries({ url: URL, ...inputs }).map(([name, value]) => [
    `INPUT_${name.toUpperCase()}`,
    value,
  ])
  return runAction(machine, { ...env, ...Object.fromEntries(variables) })
}

const WRONG: [input: string, value: string, message: RegExp][] = [
  ['url', '', /URL of your Shiplock server is missing/],
  ['url', 'shiplock.example.com', /is not an http or https URL/],
  ['url', 'https://ada:secret@example.com', /must not contain a user or a password/],
  ['prodgator-url', 'ftp://example.com', /is not an http or https URL/],
  ['junit', 'none/*.xml', /no file matches "none\/\*\.xml"/],
  ['junit', 'broken.xml', /broken\.xml/],
  ['coverage', 'package.json', /package\.json/],
  ['sbom', 'prepared/scan.sarif', /found SARIF/],
  ['scan', 'trivy.json', /Trivy's own JSON; run it with `--format sarif`/],
  ['artifacts', 'package.json\nnone', /no file matches "none"/],
  ['ownership', 'CODEOWNERS', /no file matches "CODEOWNERS"/],
  ['attestations', '[{]', /not valid JSON/],
  ['attestations', '{}', /not a JSON list/],
  ['attestations', '[{"kind": "custom", "name": "a", "data": {}}, {"kind": 1}]', /item 2 has no "kind"/],
  ['attestations', '[{"kind": "custom", "name": "a", "data": []}]', /item 1 has no "data"/],
  ['attestations', 'list.json', /item 1 has no "name"/],
  ['attestations', 'none.json', /"none\.json" cannot be read \(ENOENT\)/],
  ['summary-file', 'none.md', /"none\.md" cannot be read/],
  ['matrix', '{os: linux}', /not valid JSON/],
  ['fail-on-error', 'never', /neither true nor false/],
  ['retries', 'never', /neither true nor false/],
  ['job-instance', 'x'.repeat(201), /more than 200 characters/],
]

for (const [input, value, message] of WRONG) {
  test(`the input ${input} with ${JSON.stringify(value)} fails the step with an error that names it`, async () => {
    const { code, stdout } = await runWith({ ...(input === 'prodgator-url' && { url: '' }), [input]: value })
    assert.equal(code, 1)
    const [error = ''] = /^::error::.*$/m.exec(stdout) ?? []
    assert.ok(error.startsWith(`::error::Input "${input}": `), stdout)
    assert.match(decodeURIComponent(error), message)
  })
}

test('retries and count-retries together are an error', async () => {
  const { stdout } = await runWith({ retries: 'true', 'count-retries': 'true' })
  assert.match(stdout, /^::error::Input "retries": it cannot be combined with the input "count-retries"/m)
})

test('summary and summary-file together are an error', async () => {
  const { stdout } = await runWith({ summary: 'a', 'summary-file': 'package.json' })
  assert.match(stdout, /^::error::Input "summary-file": it cannot be combined with the input "summary"/m)
})

test('fail-on-error: false turns an error into a warning, and the step succeeds', async () => {
  const { code, stdout } = await runWith({ junit: 'none', 'fail-on-error': 'false' })
  assert.equal(code, 0)
  assert.match(stdout, /^::warning::Input "junit": no file matches/m)
  assert.doesNotMatch(stdout, /::error/)
})

test('a job without OIDC tokens gets the line to add to the workflow', async () => {
  const { code, stdout } = await runWith({}, {})
  assert.equal(code, 1)
  assert.match(stdout, /^::error::.*Add "permissions: id-token: write" to the workflow/m)
  assert.match(stdout, /permissions:%0A {2}contents: read%0A {2}id-token: write/)
})
