// No second chance: it is about what strangers read from the machine of a job.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { describeLeftOut, findFiles } from '../src/find-files.ts'
import type { FoundFile } from '../src/found-file.ts'
import { readJunit } from '../src/junit.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'shiplock-find-')))
after(() => rmSync(root, { recursive: true }))
const cwd = join(root, 'work')
const secret = join(root, 'secret.xml')

beforeEach(() => {
  rmSync(cwd, { recursive: true, force: true })
  mkdirSync(join(cwd, 'results'), { recursive: true })
  writeFileSync(join(cwd, 'results/a.xml'), '<testsuite/>')
  writeFileSync(secret, '<testsuite name="secret"/>')
})

const find = async (pattern: string, search: object = {}) => {
  const place = { cwd, allowMissing: false, followLinks: false, ...search }
  return (await findFiles({ option: 'junit', patterns: [pattern] }, place)).files
}
const pathsOf = (files: FoundFile[]) => files.map(({ path }) => path.slice(cwd.length + 1))

const SWAPS: [what: string, swap: () => void][] = [
  [
    'a link in its place',
    () => {
      rmSync(join(cwd, 'results/a.xml'))
      symlinkSync(secret, join(cwd, 'results/a.xml'))
    },
  ],
  [
    'a link in the place of its directory',
    () => {
      renameSync(join(cwd, 'results'), join(cwd, 'before'))
      symlinkSync(root, join(cwd, 'results'))
      writeFileSync(join(root, 'a.xml'), '<testsuite name="secret"/>')
    },
  ],
  ['another file in its place', () => renameSync(secret, join(cwd, 'results/a.xml'))],
  [
    'a pipe in its place, for which nobody waits',
    () => {
      rmSync(join(cwd, 'results/a.xml'))
      execFileSync('mkfifo', [join(cwd, 'results/a.xml')])
    },
  ],
]
for (const [what, swap] of SWAPS) {
  test(`a file is not read after it was found, with ${what}`, async () => {
    const files = await find('**/*.xml')
    swap()
    await assert.rejects(readJunit(files, 'stated', []), {
      message: `${cwd}/results/a.xml was replaced after it was found`,
    })
  })
}

const OUTSIDE: [what: string, pattern: string][] = [
  ['a link to a file', 'link.xml'],
  ['a file behind a link', 'elsewhere/b.xml'],
  ['a link to a directory', 'elsewhere'],
  ['a directory elsewhere', '../other'],
  ['a glob that begins elsewhere', '../other/*.xml'],
  ['a glob that goes elsewhere', '*/../../other/*.xml'],
  ['an absolute glob', join(root, 'other/*.xml')],
  ['a glob behind a link', 'elsewhere/*.xml'],
  ['a glob that matches only links', 'li*.xml'],
  ['a glob in braces', '{link,nothing}.xml'],
]
for (const [what, pattern] of OUTSIDE) {
  test(`${what} leaves the working directory, which followLinks allows`, async () => {
    makeOther()
    for (const allowMissing of [false, true]) {
      await assert.rejects(find(pattern, { allowMissing }), { name: 'OutsideError', option: 'junit' })
    }
    const [file] = await find(pattern, { followLinks: true })
    assert.equal(file?.real, join(root, 'other/b.xml'))
  })
}

/** A directory beside the working directory, and links to it and its file. */
function makeOther(): void {
  mkdirSync(join(root, 'other'), { recursive: true })
  writeFileSync(join(root, 'other/b.xml'), '<testsuite name="secret"/>')
  symlinkSync(join(root, 'other'), join(cwd, 'elsewhere'))
  symlinkSync(join(root, 'other/b.xml'), join(cwd, 'link.xml'))
}

test('a glob that can match elsewhere and here is what is here', async () => {
  makeOther()
  for (const pattern of ['{elsewhere,results}/*.xml', '*/*.xml', '**/{a,b}.xml']) {
    assert.deepEqual(pathsOf(await find(pattern)), ['results/a.xml'], pattern)
  }
  const { files, leftOut } = await findFiles(
    { option: 'junit', patterns: ['{link,results/a}.xml'] },
    { cwd, allowMissing: false, followLinks: false },
  )
  assert.deepEqual([pathsOf(files), leftOut], [['results/a.xml'], ['link.xml']])
})

test('links that stay inside are followed where they are named or matched by name', async () => {
  symlinkSync(join(cwd, 'results'), join(cwd, 'latest'))
  symlinkSync(join(cwd, 'results/a.xml'), join(cwd, 'newest.xml'))
  assert.deepEqual(pathsOf(await find('newest.xml')), ['newest.xml'])
  assert.deepEqual(pathsOf(await find('*.xml')), ['newest.xml'])
  assert.deepEqual(pathsOf(await find('latest')), ['latest/a.xml'])
  assert.deepEqual(pathsOf(await find('latest/*.xml')), ['latest/a.xml'])
  assert.deepEqual(pathsOf(await find('**/a.xml')), ['results/a.xml'])
  await assert.rejects(find('**/b.xml'), { name: 'MissingFileError', hasLinks: true })
  await assert.rejects(find('results/*.txt'), { name: 'MissingFileError', hasLinks: false })
})

test('links to one another, to nothing and to everything end the search', async () => {
  symlinkSync('b', join(cwd, 'a'))
  symlinkSync('a', join(cwd, 'b'))
  symlinkSync('nowhere', join(cwd, 'c.xml'))
  symlinkSync('/', join(cwd, 'everything'))
  assert.deepEqual(pathsOf(await find('**/*.xml')), ['results/a.xml'])
  assert.deepEqual(pathsOf(await find('**')), ['results/a.xml'])
})

test('a working directory that is a link itself is the directory behind it', async () => {
  symlinkSync(cwd, join(root, 'linked'))
  const linked = { cwd: join(root, 'linked') }
  assert.deepEqual(pathsOf(await find('results/*.xml', linked)), ['results/a.xml'])
  assert.deepEqual(pathsOf(await find('results/a.xml', linked)), ['results/a.xml'])
  rmSync(join(root, 'linked'))
})

test('`..` may stay inside, and names of files may have characters of globs', async () => {
  writeFileSync(join(cwd, '[a].xml'), '')
  mkdirSync(join(cwd, 'a(b)/sub'), { recursive: true })
  writeFileSync(join(cwd, 'a(b)/c.xml'), '')
  assert.deepEqual(pathsOf(await find('results/../*.xml')), ['[a].xml'])
  assert.deepEqual(pathsOf(await find('[a].xml')), ['[a].xml'])
  assert.deepEqual(pathsOf(await find('a(b)')), ['a(b)/c.xml'])
})

test('a missing file elsewhere is missing, and no link', async () => {
  assert.deepEqual(await find(join(root, 'none.xml'), { allowMissing: true }), [])
  await assert.rejects(find('../none.xml'), { name: 'MissingFileError', hasLinks: false })
})

test('what was left out is one line, however many files and whatever their names', () => {
  assert.equal(describeLeftOut([]), null)
  assert.match(describeLeftOut(['a\n::error::b']) ?? '', /: a\ufffd::error::b$/)
  assert.match(describeLeftOut(Array.from({ length: 12 }, (_, index) => `f${index}`)) ?? '', /, f9 and 2 more$/)
})
