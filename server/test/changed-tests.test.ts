import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { before, test } from 'node:test'
import { filesFor } from './support/changed-tests.ts'
import { type Mentions, mentionedIn, readMentions } from './support/mentioned-files.ts'
import { ROOT } from './support/run-test-files.ts'

const TESTS = globSync('{server,sdk,cli,action,console,packages/*}/{src,test}/**/*.test.ts', { cwd: ROOT })
let mentions: Mentions

before(() => {
  mentions = readMentions(ROOT)
})

const selectedFor = (...changed: string[]) => filesFor(TESTS, changed, mentions)

test('a test file that changed is selected, and what reads all files, and nothing else', () => {
  const { files } = selectedFor('server/test/tenancy.test.ts')
  assert.ok(files.includes('server/test/tenancy.test.ts'))
  assert.ok(files.includes('server/test/architecture.test.ts'))
  assert.ok(files.length < 10, files.join(', '))
})

test('a source selects the tests that import it, also through other files and by package name', () => {
  const { files, because } = selectedFor('sdk/src/index.ts')
  assert.equal(because, null)
  assert.ok(files.includes('sdk/test/sha256.test.ts'), 'by name')
  assert.ok(files.includes('cli/test/upload.test.ts'), 'through a folder that the test starts as a program')
  assert.ok(!files.includes('server/test/rfc3339.test.ts'))
  assert.ok(files.length < TESTS.length / 2, `${files.length} of ${TESTS.length}`)
})

test('a migration selects the tests that start a database', () => {
  const { files, because } = selectedFor('server/migrations/9999_new.sql')
  assert.equal(because, null)
  assert.ok(files.includes('server/test/tenancy.test.ts'))
  assert.ok(!files.includes('cli/test/table.test.ts'))
})

test('a fixture selects the tests that read it', () => {
  const { files, because } = selectedFor('server/test/fixtures/sarif/gosec.sarif')
  assert.equal(because, null)
  assert.ok(files.includes('server/test/journeys/sarif-to-findings.test.ts'))
  assert.ok(!files.includes('cli/test/table.test.ts'))
})

test('packages, the schema and what nobody names select everything, and say so', () => {
  for (const path of ['package-lock.json', 'cli/package.json', 'server/schema.sql', 'unknown/file.bin']) {
    assert.deepEqual(selectedFor('cli/test/table.test.ts', path), { files: TESTS, because: path })
  }
})

test('a page that no test reads selects nothing', () => {
  assert.deepEqual(selectedFor('docs/adr/9999-new.md').files.includes('cli/test/table.test.ts'), false)
  assert.deepEqual(selectedFor('server/bench/new.md').because, null)
})

test('mentions are imports, addresses of files, and folders of paths that are put together', () => {
  const text = `import { a } from '../src/a.ts'
    import { b } from '@shiplock/b'
    const c = new URL('../fixtures/c.json', import.meta.url)
    const d = (name: string) => new URL(\`../fixtures/d/\${name}.json\`, import.meta.url)
    const e = \`\${ROOT}docs/e.md\``
  const found = mentionedIn('server/test/x.test.ts', text, new Map([['@shiplock/b', 'packages/b/src/index.ts']]))
  assert.deepEqual([...found].sort(), [
    'docs/e.md',
    'packages/b/src/index.ts',
    'server/fixtures/c.json',
    'server/fixtures/d/',
    'server/src/a.ts',
  ])
})
