import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import picomatch from 'picomatch/posix.js'
import { ALICE, BOB, reviewOf } from '../../../test/support/change-records.ts'
import { CODE_OWNERS_BYTES_MAX, parseCodeOwners } from '../../repositories/code-owners.parser.ts'
import { computeOwners } from './code-owners.ts'

/** The owners of one path by the last matching line, or null if no line matches. */
function ownersOfPath(text: string, path: string): string[] | null {
  const rules = parseCodeOwners(text) ?? assert.fail('The file is refused')
  const named = rules.map((rule) => ({ ...rule, owners: rule.owners.length === 0 ? ['@nobody'] : rule.owners }))
  const owners = computeOwners(named, [path], []) ?? assert.fail('Too many comparisons')
  return owners[0]?.owners ?? null
}

/**
 * The example of GitHub's documentation "About code owners", with its statements about each line.
 */
const DOCUMENTED = `
# This is a comment.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/*  docs@example.com
apps/ @octocat
/docs/ @doctocat
/scripts/ @doctocat @octocat
**/logs @octocat
/apps/ @octocat
/apps/github
/apps/ghost @doctocat
`

const EXAMPLES: [path: string, owners: string[]][] = [
  ['README', ['@global-owner1', '@global-owner2']],
  ['src/deep/README', ['@global-owner1', '@global-owner2']],
  ['src/main.js', ['@js-owner']],
  ['main.go', ['docs@example.com']],
  ['notes/a.txt', ['@octo-org/octocats']],
  ['build/logs/today', ['@octocat']],
  ['src/docs/getting-started.md', ['@global-owner1', '@global-owner2']],
  ['docs/getting-started.md', ['@doctocat']],
  ['docs/build-app/troubleshooting.md', ['@doctocat']],
  ['src/apps/main.c', ['@octocat']],
  ['scripts/run.sh', ['@doctocat', '@octocat']],
  ['deeply/nested/logs/x/y', ['@octocat']],
  ['apps/main.c', ['@octocat']],
  ['apps/github/main.c', ['@nobody']],
  ['apps/ghost/main.c', ['@doctocat']],
]

for (const [path, owners] of EXAMPLES) {
  test(`in the documented example, ${path} belongs to ${owners.join(' and ')}`, () => {
    assert.deepEqual(ownersOfPath(DOCUMENTED, path), owners)
  })
}

const PATTERNS: [pattern: string, matching: string[], other: string[]][] = [
  ['*', ['a', 'a/b/c', '.github/x'], []],
  ['/*', ['a', '.env'], ['a/b']],
  ['docs/*', ['docs/getting-started.md'], ['docs/build-app/troubleshooting.md', 'src/docs/a', 'docs']],
  ['apps/', ['apps/a', 'src/apps/a/b'], ['apps', 'src/apps', 'myapps/a']],
  ['/docs/', ['docs/a', 'docs/b/c'], ['src/docs/a', 'docs']],
  ['/docs/**', ['docs/a', 'docs/b/c'], ['src/docs/a', 'docs']],
  ['**/logs', ['logs', 'logs/a', 'build/logs', 'deeply/nested/logs/a/b'], ['mylogs', 'logs.txt']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b', 'a/x/b/z'], ['b', 'a/xb', 'x/a/b']],
  ['a/**/b/', ['a/b/c', 'a/x/b/c'], ['a/b', 'a/x/b']],
  ['src', ['src', 'src/a', 'lib/src/a'], ['srca', 'a-src/a']],
  ['/src', ['src', 'src/a/b'], ['lib/src']],
  ['*.js', ['a.js', 'b/c.js', 'x.js/y'], ['a.jsx', 'js', 'a.JS']],
  ['*.test.*', ['a.test.ts', 'a/b.test.x'], ['a.test', 'atest.ts']],
  ['a*b*c', ['abc', 'axbxc', 'abbcc'], ['ab', 'acb', 'a/b/c']],
  ['f?o', ['foo', 'fxo/y'], ['fo', 'f/o', 'fooo']],
  ['*?', ['a', 'ab'], []],
  ['a**b', ['ab', 'axb'], ['a/b']],
  ['/**/x', ['x', 'a/x', 'a/b/x/c'], ['ax']],
  ['/build/*/out', ['build/a/out', 'build/a/out/b'], ['build/out', 'build/a/b/out']],
  ['with\\ space/a', ['with space/a'], ['with', 'space/a']],
  ['\\*.md', ['*.md', 'a/*.md'], ['a.md']],
  ['app/\\[id\\]/page.tsx', ['app/[id]/page.tsx'], ['app/i/page.tsx']],
  ['c#/', ['c#/a'], ['c/a']],
  ['README.md', ['README.md', 'a/README.md'], ['readme.md']],
]

for (const [pattern, matching, other] of PATTERNS) {
  test(`${pattern} matches ${matching.join(', ')}${other.length > 0 ? `, not ${other.join(', ')}` : ''}`, () => {
    for (const path of matching) assert.deepEqual(ownersOfPath(`${pattern} @a`, path), ['@a'], path)
    for (const path of other) assert.deepEqual(ownersOfPath(`${pattern} @a`, path), null, path)
  })
}

test('lines that GitHub calls invalid are skipped, and the rules before them count', () => {
  for (const line of [
    '!a @b',
    '[ab] @b',
    'a[0-9] @b',
    '\\#a @b',
    '# a @b',
    'a b',
    'a @',
    'a @b c',
    'a\\',
    '/ @b',
    'x//a @b',
  ])
    assert.deepEqual(ownersOfPath(`* @first\n${line}`, 'a'), ['@first'], line)
})

test('lines can end with CRLF, be indented, have tabs, comments and no owners', () => {
  const text = '\uFEFF*\t@a  @A @a\t# all @c\r\n  /x @b#c\r\n\r\n/y # nobody'
  assert.deepEqual(parseCodeOwners(text), [
    { pattern: '*', owners: ['@a', '@A'] },
    { pattern: '/x', owners: ['@b'] },
    { pattern: '/y', owners: [] },
  ])
})

test('a file that is too large, or has too many rules, is refused', () => {
  const rule = '/a @b\n'
  assert.equal(parseCodeOwners(rule.repeat(10_000))?.length, 10_000)
  assert.equal(parseCodeOwners(rule.repeat(10_001)), null)
  assert.equal(parseCodeOwners(`#${'x'.repeat(CODE_OWNERS_BYTES_MAX)}`), null)
})

test('owners are satisfied by an approval of one of them, and counted by rule', () => {
  const rules =
    parseCodeOwners('* @carol @BOB\n/docs/ @acme/writers @bob\n/src/ @acme/devs\n/free/\n/none/ @carol') ?? []
  const paths = ['a', 'b', 'b', 'docs/a', 'src/a', 'free/a', 'none/a']
  assert.deepEqual(computeOwners(rules, paths, [reviewOf(BOB)]), [
    { pattern: '*', owners: ['@carol', '@BOB'], files: 2, approved_by: ['bob'], satisfied: true },
    { pattern: '/docs/', owners: ['@acme/writers', '@bob'], files: 1, approved_by: ['bob'], satisfied: true },
    { pattern: '/src/', owners: ['@acme/devs'], files: 1, approved_by: [], satisfied: null },
    { pattern: '/none/', owners: ['@carol'], files: 1, approved_by: [], satisfied: false },
  ])
})

test('without an approval, no owner is satisfied; an unknown approver can be in a team or have an address', () => {
  const rules = parseCodeOwners('a @acme/devs\nb dev@example.com @carol\nc @carol') ?? []
  const satisfied = (approvals: Parameters<typeof computeOwners>[2]) =>
    computeOwners(rules, ['a', 'b', 'c'], approvals)?.map((rule) => rule.satisfied)
  assert.deepEqual(satisfied([]), [false, false, false])
  assert.deepEqual(satisfied([reviewOf(ALICE)]), [null, null, false])
  assert.deepEqual(satisfied([reviewOf(null)]), [null, null, false])
})

test('globs match as in picomatch', () => {
  const glob = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?', '.'), minLength: 1, maxLength: 8 })
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 8 })
  const isPlain = (text: string) => /[^.*]/.test(text) && !text.includes('**')
  fc.assert(
    fc.property(glob.filter(isPlain), name.filter(isPlain), (pattern, path) => {
      const expected = picomatch.isMatch(path, pattern, { dot: true, nonegate: true, noextglob: true })
      assert.equal(ownersOfPath(`/${pattern} @a`, path) !== null, expected, `${pattern} ${path}`)
    }),
    { numRuns: 2000 },
  )
})

const HOSTILE: [title: string, pattern: (index: number) => string][] = [
  ['directories', (index) => `/src/dir-${index % 100}/module-${index}/`],
  ['names', (index) => `**/file-${index}.ts`],
  ['suffixes', (index) => `*.ext-${index}`],
  ['texts inside names', (index) => `*a*b*${index}x*`],
  ['directories at any depth', (index) => `**/*a*/**/*b${index}*/**/c*`],
]

/** The processor time of `work` in ms. */
function measure(work: () => void): number {
  const start = process.cpuUsage()
  work()
  return process.cpuUsage(start).user / 1000
}

for (const [title, pattern] of HOSTILE) {
  test(`10,000 rules for ${title} are matched with 3,000 paths in the time of three searches per pair`, () => {
    const texts = Array.from({ length: 10_000 }, (_, index) => pattern(index))
    const rules = parseCodeOwners(texts.map((text) => `${text} @a`).join('\n')) ?? assert.fail()
    const paths = Array.from({ length: 3000 }, (_, i) => `src/dir-${i % 100}/module-${i}/ab/ababab-${i}/file-${i}.ts`)
    const tenth = measure(() => {
      const pairs = paths.slice(0, 300).flatMap((path) => texts.filter((text) => path.includes(text)))
      assert.deepEqual(pairs, [])
    })
    const own = measure(() => assert.notEqual(computeOwners(rules, paths, []), null))
    assert.ok(own < 30 * tenth, `${Math.round(own)} ms, and ${Math.round(30 * tenth)} ms for the searches`)
  })
}

test('patterns and paths that need too many comparisons are given up', () => {
  const text = Array.from({ length: 10_000 }, (_, index) => `**/*a${'?'.repeat(index % 50)}*a/**/*${index} @a`).join(
    '\n',
  )
  const rules = parseCodeOwners(text) ?? assert.fail()
  const paths = Array.from({ length: 3000 }, (_, index) => `${'aaaaaaaa/'.repeat(400)}${index}`)
  const start = process.cpuUsage()
  assert.equal(computeOwners(rules, paths, []), null)
  const ms = process.cpuUsage(start).user / 1000
  assert.ok(ms < 10_000, `${Math.round(ms)} ms`)
})
