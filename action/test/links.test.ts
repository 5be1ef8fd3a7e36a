// No second chance: it is about what strangers read from the machine of a job.
import assert from 'node:assert/strict'
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../server/test/support/api.ts'
import { githubClaims } from '../../server/test/support/oidc-claims.ts'
import { createTrust } from '../../server/test/support/oidc-issuer.ts'
import { runAction } from './ci/github-workflow.ts'
import { GITHUB } from './ci/variables.ts'
import { type Machine, startMachine } from './support/machine.ts'
import { startTokenEndpoint, type TokenEndpoint } from './support/token-endpoint.ts'

let api: TestApi
let caller: Caller
let tokens: TokenEndpoint
let machine: Machine
/** A directory beside the checkout, with what the job must not send. */
let home: string

before(async () => {
  api = await startTestApi()
  caller = await api.caller()
  tokens = await startTokenEndpoint(githubClaims, api.clock)
  await createTrust(api, caller.orgId, { issuer: tokens.issuer.url, audience: null })
  machine = startMachine()
  home = join(realpathSync(machine.temp), 'home')
  mkdirSync(home)
  writeFileSync(join(home, 'secret.txt'), 'secret')
  writeFileSync(join(home, 'list.json'), '[]')
  machine.addFile('out/app.txt', 'app')
  for (const [target, path] of [
    [join(home, 'secret.txt'), 'out/leak.txt'],
    [join(home, 'list.json'), 'list.json'],
    [home, 'out/home'],
    [join(machine.checkout, 'out/app.txt'), 'out/inside.txt'],
    [machine.checkout, 'out/loop'],
    [join(home, 'nowhere'), 'out/dangling.txt'],
  ] as const) {
    symlinkSync(target, join(machine.checkout, path))
  }
})
after(async () => {
  machine?.[Symbol.dispose]()
  await tokens?.close()
  await api?.close()
})

function step(inputs: Record<string, string>) {
  const variables = Object.entries({ url: api.url, ...inputs }).map(([name, value]) => [
    `INPUT_${name.toUpperCase()}`,
    value,
  ])
  return runAction(machine, {
    ...GITHUB,
    GITHUB_WORKSPACE: machine.checkout,
    ACTIONS_ID_TOKEN_REQUEST_URL: `${tokens.url}/token?api-version=2.0`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: tokens.secret,
    ...Object.fromEntries(variables),
  })
}

/** The paths of the files that the server has of the report with this name. */
async function sent(name: string, inputs: Record<string, string>): Promise<{ paths: string[]; stdout: string }> {
  const { code, stdout } = await step({ name, ...inputs })
  assert.equal(code, 0, stdout)
  const rows = await api.services.sql`
    select a.path
    from ci_artifacts a
    join ci_reports r on r.org_id = a.org_id and r.id = a.report_id
    where a.org_id = ${caller.orgId}
      and r.name = ${name}
      and a.status = 'uploaded'
    order by a.path collate "C"`
  return { paths: rows.map(({ path }) => path as string), stdout }
}

test('globs and directories send what lies in the checkout, and the log says what was left out', async () => {
  for (const artifacts of ['out/**', 'out']) {
    const { paths, stdout } = await sent(artifacts, { artifacts })
    assert.deepEqual(paths, ['out/app.txt', 'out/inside.txt'])
    assert.match(stdout, /^Left out, because links leave the working directory: out\/leak\.txt$/m)
  }
})

test('a file named by its real path is sent, and follow-links: true sends what is behind links', async () => {
  assert.deepEqual((await sent('real', { artifacts: join(home, 'secret.txt') })).paths, ['secret.txt'])
  const { paths } = await sent('follow', { artifacts: 'out/{leak,home/secret}.txt', 'follow-links': 'true' })
  assert.deepEqual(paths, ['out/home/secret.txt', 'out/leak.txt'])
})

const REFUSED: [input: string, value: () => string][] = [
  ['artifacts', () => 'out/leak.txt'],
  ['artifacts', () => 'out/home'],
  ['artifacts', () => 'out/home/*'],
  ['artifacts', () => '../temp/home/*'],
  ['artifacts', () => join(home, '*')],
  ['artifacts', () => 'out/le*'],
  ['ownership', () => 'out/leak.txt'],
  ['summary-file', () => 'out/leak.txt'],
  ['attestations', () => 'list.json'],
]
for (const [input, value] of REFUSED) {
  test(`the input ${input} with ${value.toString().slice(6)} fails the step, and names follow-links`, async () => {
    const { code, stdout } = await step({ [input]: value() })
    assert.equal(code, 1)
    const [error = ''] = /^::error::.*$/m.exec(stdout) ?? []
    assert.ok(error.startsWith(`::error::Input "${input}": `), stdout)
    assert.match(error, /leaves the working directory.*follow-links/)
  })
}
