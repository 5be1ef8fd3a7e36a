import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { hasNoSecondChance } from './support/second-chance.ts'
import { testFilesOf, writePrograms } from './support/test-processes.ts'

const RUNNER = new URL('support/second-chance.ts', import.meta.url).href
const PASSES = `import { test } from 'node:test'
test('passes', () => {})
`
/** Fails until its marker is there. */
const FAILS_ONCE = `import { existsSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
test('fails once', () => {
  if (existsSync('MARKER')) return
  writeFileSync('MARKER', '')
  throw new Error('The machine was busy.')
})
`
const FAILS = `import { test } from 'node:test'
test('a defect', () => {
  throw new Error('It is broken.')
})
`

/** Loads a module first, so that the other file could be loaded in between. */
const HOOKS = `import 'node:zlib'
import { after, before, test } from 'node:test'
await new Promise(setImmediate)
before(() => console.log('said before NAME'))
after(() => console.log('said after NAME'))
test('says NAME', () => console.log('said NAME'))
`

let directory: string

before(() => {
  directory = mkdtempSync(join(tmpdir(), 'shiplock-second-chance-'))
})
after(() => rmSync(directory, { recursive: true, force: true }))

/** Runs test files of these contents with the runner, in a process of its own. */
function run(contents: Record<string, string>) {
  const files = Object.entries(contents).map(([name, text]) => {
    const path = join(directory, name)
    writeFileSync(path, text.replaceAll('MARKER', `${path}.marker`))
    return path
  })
  const options = '{ flags: [], env: {}, stopped: new AbortController().signal }'
  const program = `import { runWithSecondChance } from '${RUNNER}'
    const { code, notes } = await runWithSecondChance(${JSON.stringify(files)}, ${options})
    for (const note of notes) console.log(note)
    process.exitCode = code`
  // With this variable, node takes the run for a part of this one, and runs nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env,
  })
  return { status, stdout }
}

test('a file that fails once is run again, alone, is named as flaky, and does not fail the run', () => {
  const { status, stdout } = run({ 'passes.test.mjs': PASSES, 'once.test.mjs': FAILS_ONCE })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /The machine was busy\./)
  assert.match(stdout, /^flaky: \S*once\.test\.mjs \(1 of at most 2 second chances/m)
  assert.match(stdout.trimEnd().split('\n').at(-1) ?? '', /^flaky: /)
  assert.deepEqual(stdout.match(/^ℹ (?:tests|fail) \d+$/gm), ['ℹ tests 2', 'ℹ fail 1', 'ℹ tests 1', 'ℹ fail 0'])
  assert.doesNotMatch(stdout, /failed twice/)
})

test('a file that fails twice fails the run', () => {
  const { status, stdout } = run({ 'fails.test.mjs': FAILS, 'other-once.test.mjs': FAILS_ONCE })
  assert.equal(status, 1, stdout)
  assert.match(stdout, /^failed twice: \S*fails\.test\.mjs$/m)
  assert.match(stdout, /^flaky: \S*other-once\.test\.mjs \(/m)
})

test('three files that fail are not run again', () => {
  const names = ['one', 'two', 'three'].map((name) => `${name}-once.test.mjs`)
  const { status, stdout } = run(Object.fromEntries(names.map((name) => [name, FAILS_ONCE])))
  assert.equal(status, 1, stdout)
  assert.match(stdout, /^failed: .*\(no second chance: 3 files, and at most 2 get one\)$/m)
  assert.deepEqual(stdout.match(/^ℹ tests \d+$/gm), ['ℹ tests 3'])
})

test('a file about tenancy, and one that says so, are not run again', () => {
  const marked = `// No second chance: two writers meet here.\n${FAILS_ONCE}`
  for (const [name, text] of Object.entries({ 'tenancy-once.test.mjs': FAILS_ONCE, 'marked.test.mjs': marked })) {
    const { status, stdout } = run({ [name]: text })
    assert.equal(status, 1, stdout)
    assert.match(stdout, new RegExp(`^failed: .*${name} \\(no second chance, for what .*${name} is about\\)$`, 'm'))
    assert.doesNotMatch(stdout, /flaky/)
  }
})

test('files about authorization, tenancy, trust, concurrency and crashes have no second chance', () => {
  const never = [
    'authorization.test.ts',
    'tenancy.test.ts',
    'journeys/killed-worker.test.ts',
    'oidc/rejected-tokens.test.ts',
    'sign-in/totp.test.ts',
    'provenance/tampering.test.ts',
    'queue/lost-jobs.test.ts',
    'lost-connections.test.ts',
  ]
  assert.deepEqual(
    never.filter((file) => !hasNoSecondChance(`server/test/${file}`)),
    [],
  )
  assert.equal(hasNoSecondChance('server/test/rfc3339.test.ts'), false)
})

test('a file that cannot be run at all fails the run', () => {
  const { status, stdout } = run({ 'broken.test.mjs': 'process.exit(3)', 'passing.test.mjs': PASSES })
  assert.equal(status, 1, stdout)
  assert.match(stdout, /^failed twice: \S*broken\.test\.mjs$/m)
})

test('files that pass are run once', () => {
  const { status, stdout } = run({ 'passes.test.mjs': PASSES })
  assert.equal(status, 0, stdout)
  assert.deepEqual(stdout.match(/^ℹ tests \d+$/gm), ['ℹ tests 1'])
  assert.doesNotMatch(stdout, /flaky|failed twice/)
})

test('files of a folder can share a process, unless one changes it, and a failure is that of its file', async () => {
  const paths = ['api/http/cursors', 'api/v1/runs/get', 'api/storage/objects/put', 'tenancy']
  const files = paths.map((path) => new URL(`${path}.test.ts`, import.meta.url).pathname)
  const [cursors = '', getRun = '', putObject = '', tenancy = ''] = files
  const processes = await writePrograms(files, directory)
  assert.deepEqual(
    processes.map((process) => process.files),
    [[putObject], [cursors, getRun], [tenancy]],
  )
  const { program = '' } = processes[1] ?? {}
  assert.deepEqual(testFilesOf({ file: getRun, name: 'a test' }, processes), [getRun])
  assert.deepEqual(testFilesOf({ file: program, name: 'server/test/api/http/cursors.test.ts' }, processes), [cursors])
  assert.deepEqual(testFilesOf({ file: program, name: program }, processes), [cursors, getRun])
  assert.equal((await writePrograms(files, directory, () => null)).length, 4)
})

test('a file that shares a process is a suite with hooks of its own', async () => {
  const files = ['one', 'two'].map((name) => {
    const path = join(directory, `${name}.test.mjs`)
    writeFileSync(path, HOOKS.replaceAll('NAME', name))
    return path
  })
  const [shared] = await writePrograms(files, directory, () => 'one folder')
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = spawnSync(process.execPath, [shared?.program ?? ''], { encoding: 'utf8', env })
  const said = stdout.split('\n').filter((line) => line.startsWith('said '))
  assert.deepEqual(
    said,
    ['one', 'two'].flatMap((name) => [`said before ${name}`, `said ${name}`, `said after ${name}`]),
  )
  assert.match(stdout, /^ℹ tests 2$/m)
})
