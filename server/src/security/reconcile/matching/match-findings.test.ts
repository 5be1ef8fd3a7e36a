import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { computeSketch } from '../../vocabulary/text-sketch.ts'
import { matchFindings } from './match-findings.ts'
import type { Pair, TrackedFinding } from './matching.ts'

/** A flagged line of a file. The id tells which line it is after an edit. */
type Line = { id: number; text: string; isFlagged: boolean }
type Files = ReadonlyMap<string, readonly Line[]>

/** A tool with snippets, and one that reports messages only. */
type Tool = 'snippets' | 'messages'

type Finding = TrackedFinding & { id: number }

function report(files: Files, tool: Tool): Finding[] {
  return [...files].flatMap(([path, lines]) =>
    lines.flatMap((line, index) => (line.isFlagged ? [findingAt(path, line, index + 1, tool)] : [])),
  )
}

function findingAt(path: string, { id, text }: Line, line: number, tool: Tool): Finding {
  const content = tool === 'snippets' ? text.replace(/\s+/g, '') : 'message'
  return {
    id,
    path,
    start_line: line,
    end_line: line,
    start_column: text.length - text.trimStart().length + 1,
    end_column: text.length + 1,
    rule_id: 'R1',
    kind: 'code',
    resource_name: null,
    fingerprint: hash('sha256', path + content),
    fingerprint_method: tool === 'snippets' ? 'snippet' : 'message',
    relocation: hash('sha256', content),
    similarity: tool === 'snippets' ? computeSketch(text, null) : null,
    context: tool === 'snippets' ? hash('sha256', content) : null,
    message: 'Message',
    places: null,
    title: 'Title',
  }
}

/** The pairs that are certain: one finding on each side with the same path and fingerprint. */
function certain(stored: Finding[], reported: Finding[]): Pair[] {
  return stored.flatMap(({ fingerprint }, from) => {
    const equal = stored.filter((other) => other.fingerprint === fingerprint)
    const to = reported.findIndex((other) => other.fingerprint === fingerprint)
    const isOne = equal.length === 1 && reported.filter((other) => other.fingerprint === fingerprint).length === 1
    return isOne ? [[from, to] as const] : []
  })
}

/** The ids of the lines that kept their identity, and of those that got another one. */
function compare(before: Files, after: Files, tool: Tool): { kept: number[]; wrong: number[] } {
  const [stored, reported] = [report(before, tool), report(after, tool)]
  const anchors = certain(stored, reported)
  const matches = matchFindings(stored, reported, anchors)
  const pairs = [...anchors, ...matches.map(({ stored: from, reported: to }) => [from, to] as const)]
  const kept = pairs.filter(([from, to]) => stored[from]?.id === reported[to]?.id)
  const wrong = pairs.filter(([from, to]) => stored[from]?.id !== reported[to]?.id)
  return { kept: kept.map(([from]) => stored[from]?.id ?? 0), wrong: wrong.map(([from]) => stored[from]?.id ?? 0) }
}

function flagged(files: Files): number[] {
  return [...files.values()].flat().flatMap(({ id, isFlagged }) => (isFlagged ? [id] : []))
}

const TEXTS = [
  'assert is_ready',
  '  assert count == 1',
  'run(command, shell=True)',
  '    password = "secret"',
  'eval(text)',
]

const anyLine = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom(...TEXTS) },
)

/** A file with a few findings, many of which are equal. */
const anyFile = fc
  .array(anyLine, { minLength: 10, maxLength: 80 })
  .map((texts): Line[] => texts.map((text, id) => ({ id, text: text ?? `line ${id}`, isFlagged: text !== null })))
const anyTool = fc.constantFrom<Tool>('snippets', 'messages')
const RUNS = { numRuns: 300, seed: 11 }

function oneFile(lines: readonly Line[], path = 'src/a.py'): Files {
  return new Map([[path, lines]])
}

const plainLines = (count: number): Line[] =>
  Array.from({ length: count }, (_, index) => ({ id: 10_000 + index, text: 'plain', isFlagged: false }))

test('lines that are inserted anywhere move no identity', () => {
  fc.assert(
    fc.property(anyFile, anyTool, fc.nat(80), fc.integer({ min: 1, max: 30 }), (lines, tool, at, count) => {
      const after = oneFile([...lines.slice(0, at), ...plainLines(count), ...lines.slice(at)])
      const { kept, wrong } = compare(oneFile(lines), after, tool)
      assert.deepEqual([kept.sort(byNumber), wrong], [flagged(oneFile(lines)), []])
    }),
    RUNS,
  )
})

test('lines without findings that are deleted move no identity', () => {
  fc.assert(
    fc.property(anyFile, anyTool, fc.nat(80), fc.integer({ min: 1, max: 10 }), (lines, tool, at, count) => {
      const after = lines.filter(({ isFlagged }, index) => isFlagged || index < at || index >= at + count)
      const { kept, wrong } = compare(oneFile(lines), oneFile(after), tool)
      assert.deepEqual([kept.sort(byNumber), wrong], [flagged(oneFile(lines)), []])
    }),
    RUNS,
  )
})

test('a finding whose line is deleted moves no other identity', () => {
  fc.assert(
    fc.property(anyFile, fc.nat(80), (lines, at) => {
      // What is left at the place of an equal neighbour cannot be told from it.
      const isAlone = lines[at]?.text !== lines[at - 1]?.text && lines[at]?.text !== lines[at + 1]?.text
      fc.pre(isAlone)
      const after = lines.filter((_, index) => index !== at)
      const { kept, wrong } = compare(oneFile(lines), oneFile(after), 'snippets')
      assert.deepEqual([kept.sort(byNumber), wrong], [flagged(oneFile(after)), []])
    }),
    RUNS,
  )
})

test('a file that is formatted with another indentation keeps all identities', () => {
  fc.assert(
    fc.property(anyFile, anyTool, fc.integer({ min: 1, max: 8 }), (lines, tool, indent) => {
      const after = lines.map((line) => ({ ...line, text: `${' '.repeat(indent)}${line.text}` }))
      const { kept, wrong } = compare(oneFile(lines), oneFile(after), tool)
      assert.deepEqual([kept.sort(byNumber), wrong], [flagged(oneFile(lines)), []])
    }),
    RUNS,
  )
})

test('a file that is formatted with other quotes and spaces keeps all identities', () => {
  fc.assert(
    fc.property(anyFile, (lines) => {
      const after = lines.map((line) => ({ ...line, text: line.text.replaceAll('"', "'").replaceAll(', ', ' , ') }))
      const { kept, wrong } = compare(oneFile(lines), oneFile(after), 'snippets')
      assert.deepEqual([kept.sort(byNumber), wrong], [flagged(oneFile(lines)), []])
    }),
    RUNS,
  )
})

test('the order of the results in a report does not matter', () => {
  fc.assert(
    fc.property(anyFile, anyTool, fc.nat(80), (lines, tool, at) => {
      const [stored, reported] = [report(oneFile(lines), tool), report(oneFile(lines.toSpliced(at, 1)), tool)]
      const pairsOf = (after: Finding[]) =>
        matchFindings(stored, after, [])
          .map((match) => [match.stored, after[match.reported]?.id] as const)
          .sort(([a], [b]) => a - b)
      assert.deepEqual(pairsOf(reported.toReversed()), pairsOf(reported))
    }),
    RUNS,
  )
})

const anyFiles = fc.array(anyFile, { minLength: 2, maxLength: 6 }).map((files): Files => {
  const renumbered = files.map((lines, file) => lines.map((line) => ({ ...line, id: 1000 * file + line.id })))
  return new Map(renumbered.map((lines, file) => [`src/old/${file}/index.js`, lines]))
})

test('a renamed folder keeps all identities', () => {
  fc.assert(
    fc.property(anyFiles, anyTool, (files, tool) => {
      const after = new Map([...files].map(([path, lines]) => [path.replace('src/old/', 'lib/new/'), lines]))
      const { kept, wrong } = compare(files, after, tool)
      assert.deepEqual([kept.sort(byNumber), wrong], [flagged(files).sort(byNumber), []])
    }),
    RUNS,
  )
})

test('a renamed file keeps its identities while it is edited', () => {
  const lines = TEXTS.map((text, id) => ({ id, text: `${text} # ${id} of the file`, isFlagged: true }))
  const edited = lines.map((line) => (line.id === 2 ? { ...line, text: line.text.replace('command', 'order') } : line))
  const after = oneFile([...plainLines(4), ...edited], 'src/b.py')
  assert.deepEqual(compare(oneFile(lines), after, 'snippets'), { kept: [0, 1, 3, 4, 2], wrong: [] })
})

test('a renamed file of edited resources keeps all identities, in whichever order they are given', () => {
  const resources = ['logs', 'data', 'web', 'cdn'].map((name, index) => ({
    ...findingAt('main.tf', { id: index, text: name, isFlagged: true }, 4 * index + 1, 'snippets'),
    resource_name: `aws_s3_bucket.${name}`,
  }))
  const edited = resources.map((finding, index) => ({
    ...finding,
    path: 'infra/main.tf',
    start_line: 9 * index + 1,
    fingerprint: `e${index}`,
    relocation: `f${index}`,
  }))
  const matches = matchFindings(resources.toReversed(), edited, [])
  assert.deepEqual(
    matches.map(({ stored, reported }) => stored + reported),
    [3, 3, 3, 3],
  )
})

test('findings that were stored with the path of a checkout are recognized at their lines', () => {
  const reported = ['src/a.py', 'src/b.py'].flatMap((path) =>
    [3, 9].map((line) => findingAt(path, { id: line, text: 'x', isFlagged: true }, line, 'messages')),
  )
  const stored = reported.map((finding, index) => ({
    ...finding,
    path: `/srv/checkout/${finding.path}`,
    start_column: null,
    end_column: null,
    fingerprint: `e${index}`,
    relocation: null,
  }))
  const matches = matchFindings(stored.toReversed(), reported, [])
  assert.deepEqual(
    matches.map((match) => match.stored + match.reported),
    [3, 3, 3, 3],
  )
})

test('a copied file leaves the identities where they were', () => {
  const lines = TEXTS.map((text, id) => ({ id, text, isFlagged: true }))
  const copy = lines.map((line) => ({ ...line, id: line.id + 100 }))
  const after = new Map([
    ['src/a.py', lines],
    ['src/b.py', copy],
  ])
  assert.deepEqual(compare(oneFile(lines), after, 'snippets').wrong, [])
})

test('a function that moves to another file takes its unmistakable findings along', () => {
  const [stays, moves] = ['eval(request.args["expression"])', 'subprocess.run(build_command(job), shell=True)']
  const line = (id: number, text: string): Line => ({ id, text, isFlagged: true })
  const before = new Map([
    ['a.py', [line(1, stays), line(2, moves)]],
    ['b.py', [line(3, 'assert ready')]],
  ])
  const after = new Map([
    ['a.py', [line(1, stays)]],
    ['b.py', [line(3, 'assert ready'), line(2, moves)]],
  ])
  assert.deepEqual(compare(before, after, 'snippets'), { kept: [1, 3, 2], wrong: [] })
})

/** Findings of a tool that reports messages and lines without columns. */
function messagesAt(lines: readonly number[], rules: readonly string[]): TrackedFinding[] {
  return lines.flatMap((line) =>
    rules.map((rule) => ({
      ...findingAt('release.yaml', { id: 0, text: '', isFlagged: true }, line, 'messages'),
      start_column: null,
      end_column: null,
      rule_id: rule,
      fingerprint: hash('sha256', rule),
      relocation: hash('sha256', rule),
    })),
  )
}

const RULES = ['no-limits', 'no-probe', 'no-policy', 'root-user', 'no-replicas', 'no-budget', 'writable-files']

test('resources in another order do not exchange their messages', () => {
  const stored = messagesAt([1, 74, 142, 201, 294, 343], RULES)
  const reported = messagesAt([1, 74, 114, 210, 243, 330], RULES)
  const lines = matchFindings(stored, reported, []).map((match) => stored[match.stored]?.start_line)
  assert.deepEqual([...new Set(lines)], [1, 74])
})

test('many messages of one line do not make a new file a deleted one', () => {
  const inFile = (path: string) => messagesAt([1], RULES).map((finding) => ({ ...finding, path }))
  const [deleted, renamed] = [inFile('tomcat/javaweb-2.yaml'), inFile('web/redis-slave.yaml')]
  assert.deepEqual(matchFindings(deleted, inFile('volumes/azure-2.yaml'), []), [])
  assert.equal(matchFindings(renamed, inFile('web/redis-replica.yaml'), []).length, RULES.length)
})

test('equal messages are matched before other messages of their rule at the line', () => {
  const at = (lines: number[], rules: string[]) =>
    messagesAt(lines, rules).map((finding) => ({ ...finding, rule_id: 'storage' }))
  const stored = at([21, 90, 150, 260, 300, 380], ['limit', 'request'])
  const reported = at([21, 160, 320, 380, 520, 560], ['request', 'limit'])
  const pairs = matchFindings(stored, reported, []).filter((match) => match.stored < 2)
  assert.deepEqual(new Set(pairs.map((pair) => `${pair.stored} ${pair.reported}`)), new Set(['0 1', '1 0']))
})

test('resources that all got longer keep their messages', () => {
  const [stored, reported] = [
    messagesAt([1, 61, 131, 221, 290, 350], RULES),
    messagesAt([1, 73, 151, 250, 328, 399], RULES),
  ]
  const order = [...stored.keys()].map((index) => [index, index])
  const pairs = matchFindings(stored, reported, []).map((match) => [match.stored, match.reported])
  assert.deepEqual(
    pairs.sort(([a = 0], [b = 0]) => a - b),
    order,
  )
})

test('code that is indented differently is recognized by its length if lines are added around it', () => {
  const line = (id: number, length: number, indent: number): Line => {
    return { id, text: ' '.repeat(indent) + 'x'.repeat(length), isFlagged: true }
  }
  const lengths = [8, 15, 22, 31]
  const before = lengths.flatMap((length, id) => [...plainLines(3), line(id, length, 8)])
  const after = lengths.flatMap((length, id) => [...plainLines(3 + 2 * id), line(id, length, 4)])
  assert.deepEqual(compare(oneFile(before), oneFile(after), 'messages'), { kept: [0, 1, 2, 3], wrong: [] })
})

const DEPENDENCY = {
  ...findingAt('package-lock.json', { id: 1, text: 'lodash', isFlagged: true }, 1, 'messages'),
  kind: 'dependency' as const,
  fingerprint_method: 'dependency',
}

test('a dependency is never taken for another one at its line', () => {
  const other = { ...DEPENDENCY, fingerprint: 'aa', relocation: 'aa' }
  assert.deepEqual(matchFindings([DEPENDENCY], [other], []), [])
})

test('a finding that is read as one about a package stays, if it is alone with its rule at its place', () => {
  const reread = { ...DEPENDENCY, fingerprint: 'aa', relocation: 'aa' }
  const same = [{ stored: 0, reported: 0, method: 'same_place' }]
  const asCode = { ...DEPENDENCY, kind: 'code' as const, fingerprint_method: 'message' }
  const unnamed = { ...DEPENDENCY, fingerprint_method: 'message' }
  for (const stored of [asCode, unnamed]) {
    assert.deepEqual(matchFindings([stored], [reread], []), same)
    assert.deepEqual(matchFindings([stored], [reread, { ...reread, fingerprint: 'bb', relocation: 'bb' }], []), [])
    assert.deepEqual(matchFindings([stored], [{ ...reread, start_line: 2, end_line: 2 }], []), [])
  }
})

test('a finding whose package is spelled in another way stays, if its message names it and is alone at its place', () => {
  const stored = { ...DEPENDENCY, message: 'org.acme:lib@1.0 is vulnerable' }
  const reread = { ...stored, fingerprint: 'aa', relocation: 'aa' }
  const others = ['bb', 'cc'].map((hex) => ({
    ...reread,
    message: `lib-${hex} 2.0`,
    fingerprint: hex,
    relocation: hex,
  }))
  const same = [{ stored: 0, reported: 0, method: 'same_place' }]
  assert.deepEqual(matchFindings([stored], [reread, ...others], []), same)
  assert.deepEqual(matchFindings([stored], others, []), [])
  assert.deepEqual(matchFindings([stored], [reread, { ...reread, fingerprint: 'dd', relocation: 'dd' }], []), [])
})

test('a new wording that three findings get at once is no other problem, unless it names something else', () => {
  const says = (message: string, fingerprint: string, line: number) => ({
    ...findingAt('a.js', { id: line, text: 'x', isFlagged: true }, line, 'messages'),
    message,
    fingerprint,
    relocation: fingerprint,
  })
  const lines = [10, 20, 30]
  const stored = lines.map((line) => says(`Open port ${line}`, `a${line}`, line))
  const reported = (offset: number) => lines.map((line) => says(`The port ${line + offset} is open`, `b${line}`, line))
  assert.equal(matchFindings(stored, reported(0), []).length, 3)
  assert.equal(matchFindings(stored, reported(1), []).length, 0)
})

test('a dependency is recognized in a renamed manifest', () => {
  const moved = { ...DEPENDENCY, path: 'web/package-lock.json', fingerprint: 'aa' }
  assert.deepEqual(matchFindings([DEPENDENCY], [moved], []), [{ stored: 0, reported: 0, method: 'file_renamed' }])
})

/** Equal findings at one line, as in a minified file. */
const atOneLine = (columns: readonly (number | null)[], line: number): Finding[] =>
  columns.map((column) => ({
    ...findingAt('a.js', { id: column ?? 0, text: 'x', isFlagged: true }, line, 'snippets'),
    start_column: column,
    end_column: column === null ? null : column + 4,
  }))

test('of many equal findings at one line, the others stay when one is removed', () => {
  const columns = Array.from({ length: 1000 }, (_, index) => 1 + 10 * index)
  const stored = atOneLine(columns.toReversed(), 6)
  const reported = atOneLine(columns.toSpliced(400, 1), 7)
  const matches = matchFindings(stored, reported, [])
  const moved = matches.filter((match) => stored[match.stored]?.id !== reported[match.reported]?.id)
  assert.deepEqual([matches.length, moved], [999, []])
})

test('many equal findings at one line without columns are kept when their number changes', () => {
  const nowhere = Array.from({ length: 1000 }, () => null)
  assert.equal(matchFindings(atOneLine(nowhere, 6), atOneLine(nowhere.slice(1), 7), []).length, 999)
})

test('many equal findings are matched in bounded time', () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, id) => findingAt('a.py', { id, text: 'x', isFlagged: true }, 3 * id, 'messages'))
  const start = performance.now()
  const matches = matchFindings(lines(20_000), lines(19_990), [])
  assert.ok(performance.now() - start < 20_000)
  assert.ok(matches.length > 19_900)
})

function byNumber(a: number, b: number): number {
  return a - b
}
