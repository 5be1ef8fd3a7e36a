import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Node, parse } from 'acorn'
import { transformSync } from 'esbuild'
import { analyse } from 'scslre'

const ROOT = join(import.meta.dirname, '../..')
const SOURCES = ['server', 'console', 'cli', 'action', 'sdk', 'packages/*'].map(
  (folder) => `${folder}/src/**/*.{ts,tsx}`,
)

type Expression = { pattern: string; flags: string }

/** The literals of regular expressions in a file. */
function* readExpressions(path: string): Generator<Expression> {
  const source = readFileSync(join(ROOT, path), 'utf8')
  const { code } = transformSync(source, { loader: path.endsWith('x') ? 'tsx' : 'ts', target: 'esnext' })
  yield* findExpressions(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }))
}

function* findExpressions(node: Node | Node[] | null): Generator<Expression> {
  if (node === null || typeof node !== 'object') return
  if ('regex' in node) return yield node.regex as Expression
  for (const child of Object.values(node)) yield* findExpressions(child)
}

/** Why an expression takes more than linear time for some text. */
function explain({ pattern, flags }: Expression): string[] {
  const { reports } = analyse({ source: pattern, flags })
  return reports.map(({ type, exponential }) => `${exponential ? 'exponential' : 'polynomial'} (${type})`)
}

test('the check finds exponential and quadratic expressions', () => {
  for (const pattern of ['^(?:a+)+$', String.raw`^\s*(.*?)\s*<`, String.raw`\s+$`])
    assert.notDeepEqual(explain({ pattern, flags: 's' }), [], pattern)
  assert.deepEqual(explain({ pattern: String.raw`(?<!\s)\s+$`, flags: '' }), [])
})

// Foreign text is in every slice: rather no such expression at all than a list of harmless ones.
test('no regular expression takes more than linear time', () => {
  const files = globSync(SOURCES, { cwd: ROOT, exclude: ['**/*.test.ts', '**/*.test.tsx'] })
  assert.ok(files.length > 800)
  const slow = files.flatMap((path) =>
    [...readExpressions(path)].flatMap((expression) =>
      explain(expression).map((reason) => `${path}: /${expression.pattern}/${expression.flags} is ${reason}`),
    ),
  )
  assert.deepEqual(slow, [])
})
