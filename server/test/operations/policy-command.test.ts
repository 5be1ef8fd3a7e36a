import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runProgram } from '../support/program.ts'

const EXAMPLES = new URL('../../../docs/policies/', import.meta.url).pathname
const INPUT = join(EXAMPLES, 'input.json')
const TESTS_PASSED = join(EXAMPLES, 'tests-passed.yaml')

let directory: string
let dataDir: string

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'shiplock-policy-'))
  dataDir = join(directory, 'data')
  const created = await runProgram(dataDir, ['org', 'create', 'acme', '--json'])
  assert.equal(created.code, 0, created.stderr)
})
after(() => rmSync(directory, { recursive: true, force: true }))

function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content)
  return path
}

const run = (...args: string[]) => runProgram(dataDir, ['policy', ...args])
const applyFile = (path: string) => run('apply', '--org', 'acme', '--file', path, '--json')

test('policy apply creates version 1, keeps it for the same content, and creates version 2 for other content', async () => {
  const first = await applyFile(TESTS_PASSED)
  assert.equal(first.code, 0, first.stderr)
  assert.deepEqual(Object.keys(first.json), ['id', 'name', 'version', 'mode'])
  assert.deepEqual([first.json.name, first.json.version, first.json.mode], ['tests-passed', 1, 'enforce'])
  const yaml = readFileSync(TESTS_PASSED, 'utf8')
  const commented = await applyFile(file('same.yaml', `# another comment\n${yaml}`))
  assert.deepEqual(commented.json, first.json)
  const changed = await applyFile(file('changed.yaml', yaml.replace('mode: enforce', 'mode: monitor')))
  assert.deepEqual(changed.json, { ...first.json, version: 2, mode: 'monitor' })
  const list = await run('list', '--org', 'acme', '--json')
  assert.deepEqual(list.json, [changed.json])
})

test('policy apply prints what the version changes', async () => {
  const yaml = readFileSync(TESTS_PASSED, 'utf8').replace('name: tests-passed', 'name: changing')
  await run('apply', '--org', 'acme', '--file', file('changing.yaml', yaml))
  const next = yaml.replace('mode: enforce', 'mode: monitor').replace('    trust: any', '    trust: verified')
  const { stdout } = await run('apply', '--org', 'acme', '--file', file('changing.yaml', next))
  const [first, ...changes] = stdout.trimEnd().split('\n')
  assert.equal(first, 'Applied changing: version 2, monitor')
  assert.deepEqual(changes, ['  mode: "enforce" -> "monitor"', '  rules.tests-ran.trust: "any" -> "verified"'])
})

test('policy apply stores the bundle of a policy', async () => {
  const bundle = new URL('../fixtures/policies/release.tar.gz', import.meta.url).pathname
  const path = file(
    'w.yaml',
    `name: w\nmode: enforce\nengine: wasm\nbundle: ${bundle}\nentrypoint: shiplock/release/rules\n`,
  )
  const applied = await applyFile(path)
  assert.equal(applied.code, 0, applied.stderr)
  assert.equal(applied.json.version, 1)
  assert.deepEqual((await applyFile(path)).json, applied.json)
})

test('policy apply prints every mistake with its position and applies nothing', async () => {
  const path = file('wrong.yaml', 'name: wrong\nmode: sometimes\nrules:\n  - rule: a\n    expression: run.brnch == 1\n')
  const { code, stdout, stderr } = await applyFile(path)
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, new RegExp(`${path}:2:7: mode: must be monitor or enforce`))
  assert.match(stderr, new RegExp(`${path}:5:17: rules\\[0\\].expression: No such key: brnch`))
  assert.match(stderr, /wrong\.yaml has 2 mistakes/)
  const { json } = await run('list', '--org', 'acme', '--json')
  assert.ok(!json.some(({ name }: { name: string }) => name === 'wrong'))
})

test('policy apply fails for a missing file and an unknown organization', async () => {
  const gone = await applyFile(join(directory, 'gone.yaml'))
  assert.equal(gone.code, 1)
  assert.match(gone.stderr, /gone\.yaml/)
  const { code, stderr } = await run('apply', '--org', 'nobody', '--file', TESTS_PASSED)
  assert.equal(code, 1)
  assert.match(stderr, /Organization "nobody" does not exist/)
  assert.equal((await run('apply', '--org', 'acme')).code, 2)
})

test('policy test prints the verdict of each rule and exits with 0 if nothing blocks', async () => {
  const { code, json } = await run('test', '--file', TESTS_PASSED, '--input', INPUT, '--json')
  assert.equal(code, 0)
  assert.equal(json.decision, 'approve')
  assert.deepEqual(
    json.rules.map(({ rule, status }: Record<string, string>) => [rule, status]),
    [
      ['tests-ran', 'pass'],
      ['tests-passed', 'pass'],
    ],
  )
})

test('policy test exits with 1 and the reason if the policy would block', async () => {
  const input = { ...JSON.parse(readFileSync(INPUT, 'utf8')), attestations: [] }
  const path = file('input.json', JSON.stringify(input))
  const blocked = await run('test', '--file', TESTS_PASSED, '--input', path)
  assert.equal(blocked.code, 1)
  assert.match(blocked.stdout, /fail {2}tests-ran {5}No job of this run has reported test results/)
  assert.match(blocked.stderr, /tests-passed blocks/)
  const json = await run('test', '--file', TESTS_PASSED, '--input', path, '--json')
  assert.deepEqual([json.code, json.json.decision], [1, 'block'])
})

test('policy dry-run compares a policy with what its file would become, and says if it has none', async () => {
  const yaml = readFileSync(TESTS_PASSED, 'utf8').replace('name: tests-passed', 'name: compared')
  await applyFile(file('compared.yaml', yaml))
  const compared = await run('dry-run', '--org', 'acme', '--name', 'compared', '--json')
  assert.deepEqual([compared.code, compared.json], [0, { deployments: [], is_complete: true }])
  const unknown = await run('dry-run', '--org', 'acme', '--name', 'nothing')
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /no policy nothing/)
})

test('policy test refuses an input that does not match the schema', async () => {
  const path = file('other.json', '{"now": "today"}')
  const { code, stderr } = await run('test', '--file', TESTS_PASSED, '--input', path)
  assert.equal(code, 1)
  assert.match(stderr, /does not match docs\/policy-input\.schema\.json/)
})

for (const [command, file] of [
  ['schema', 'policies/policy.schema.json'],
  ['input-schema', 'policy-input.schema.json'],
]) {
  test(`policy ${command} prints docs/${file}`, async () => {
    const { code, json } = await run(command as string, '--json')
    assert.equal(code, 0)
    assert.deepEqual(json, JSON.parse(readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8')))
    assert.deepEqual(JSON.parse((await run(command as string)).stdout), json)
  })
}
