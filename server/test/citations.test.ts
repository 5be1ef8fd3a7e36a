import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const ROOT = new URL('../../', import.meta.url).pathname
const SOURCES = ['server/src/', 'cli/src/', 'sdk/src/', 'action/src/', 'console/src/', 'packages/*/src/']
const TESTS = '{server,cli,sdk,action,console,packages/*}/test/**/*.ts'
/** The citations of this file are examples. */
const EXCLUDED = ['**/{node_modules,fixtures}/**', '**/citations.test.ts']

const files = globSync([...SOURCES.map((folder) => `${folder}**/*.{ts,tsx}`), TESTS], { cwd: ROOT, exclude: EXCLUDED })
const comments = files.flatMap((path) =>
  commentsOf(readFileSync(ROOT + path, 'utf8')).map((comment) => ({ path, comment })),
)

test('every citation in a comment names a section that exists', () => {
  assert.ok(comments.flatMap(({ comment }) => citationsOf(comment)).length > 100)
  const broken = comments.flatMap(({ path, comment }) =>
    brokenCitations(comment).map((citation) => `${path} cites ${citation}`),
  )
  assert.deepEqual(broken, [])
})

const BROKEN: [citation: string, comment: string][] = [
  ['a section that does not exist', '/** By another rule (decisions §99). */'],
  ['a section in the middle of a sentence', '// The rule of provenance.md §99.'],
  ['a heading that does not exist', '/** (specification, "Limit") */'],
  ['a rule that its section does not have', '/** (specification, "Approve and reject rules" 9) */'],
  ['the second of two rules', '/** (specification, "Approve and reject rules" 1 and 9) */'],
  ['a row that its section does not have', '/** (provenance.md §3, row 9) */'],
  ['a page without a section', '/** (operating guide) */'],
  ['a section that is only described', '/** (specification: about 60 s) */'],
  ['a page that does not exist', '/** (nowhere.md §1) */'],
  ['over two lines', '/**\n * As decided (specification,\n * "Limit").\n */'],
  ['over two lines of another kind', '// As decided (decisions\n// §99).'],
  ['a heading of the documentation', '/** (docs/runs.md, "Distrust") */'],
  ['a page of the documentation', '/** (docs/walks.md) */'],
]

for (const [citation, text] of BROKEN) {
  test(`a broken citation is found: ${citation}`, () => {
    assert.equal(commentsOf(text).flatMap(brokenCitations).length, 1)
  })
}

test('a citation that resolves is not reported', () => {
  const text = `
    // (specification, "Limits"; RFC 9110), decisions §7, (provenance.md §3, row 3)
    /** (specification, "Approve and
     * reject rules" 1 and 3). (age specification, "Header"). (docs/runs.md, "Trust") */
    const text = '(decisions §99)'`
  assert.deepEqual(commentsOf(text).flatMap(brokenCitations), [])
  assert.equal(commentsOf(text).flatMap(citationsOf).length, 5)
})

/** `target` is null for what has the form of a citation, but no section. */
type Citation = { text: string; target: { page: string; has: (page: string) => boolean } | null }

function brokenCitations(comment: string): string[] {
  return citationsOf(comment).flatMap(({ text, target }) => {
    const page = target && readPage(target.page)
    return page && target.has(page) ? [] : [text]
  })
}

/**
 * The forms are `(specification, "Heading" 3)`, `decisions §7`, `page.md §3`, `docs/page.md` and
 * `page.md, "Heading"`.
 */
function citationsOf(comment: string): Citation[] {
  const cited = (pattern: RegExp, toTarget: (match: string[]) => Citation['target']): Citation[] =>
    [...comment.matchAll(pattern)].map((match) => ({ text: match[0], target: toTarget(match) }))
  return [
    ...cited(/\((specification|operating guide)\b(?:, "([^"]+)")?(?: (\d+)(?: and (\d+))?)?/g, ([, page, ...within]) =>
      toHeading(page === 'specification' ? 'docs/spec/specification.md' : 'docs/spec/operating.md', within),
    ),
    ...cited(/\b[Dd]ecisions §(\d+)/g, ([, number]) => toSection('decisions', number)),
    ...cited(/(?<![\w/])([a-z-]+)\.md §(\d+)(?:, row (\d+))?/g, ([, page, ...within]) => toSection(page, ...within)),
    ...cited(
      /(?<![\w/.`])((?:docs\/(?:[\w-]+\/)*)[\w-]+\.md|[A-Z]+\.md)(?:, "([^"]+)")?/g,
      ([, page = '', ...within]) => (within[0] === undefined ? { page, has: () => true } : toHeading(page, within)),
    ),
  ]
}

function toHeading(page: string, [heading, ...rules]: (string | undefined)[]): Citation['target'] {
  if (heading === undefined) return null
  const numbers = rules.filter((rule) => rule !== undefined)
  const has = (text: string) => {
    const section = sectionsOf(text).find(({ title }) => title === heading)
    return section !== undefined && numbers.every((number) => section.lines.some((it) => it.startsWith(`${number}. `)))
  }
  return { page, has }
}

function toSection(page = '', number = '', row?: string): Citation['target'] {
  const has = (text: string) => {
    const section = sectionsOf(text).find(({ title }) => title.startsWith(`${number}. `))
    return section !== undefined && (row === undefined || section.lines.some((line) => line.startsWith(`| ${row} |`)))
  }
  return { page: `docs/spec/${page}.md`, has }
}

function sectionsOf(page: string): { title: string; lines: string[] }[] {
  return page.split(/^#+ /m).map((section) => {
    const [title = '', ...lines] = section.split('\n')
    return { title, lines }
  })
}

function readPage(path: string): string | null {
  return existsSync(ROOT + path) ? readFileSync(ROOT + path, 'utf8') : null
}

/** Each comment as one line. Lines of `//` that follow each other are one comment. */
function commentsOf(text: string): string[] {
  const found = text.matchAll(/(?<!\S)(?:\/\*[\s\S]*?\*\/|\/\/.*(?:\n\s*\/\/.*)*)/g)
  return [...found].map(([comment]) => comment.replace(/\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' '))
}
