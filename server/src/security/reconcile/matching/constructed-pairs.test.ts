import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { parseReport } from '../../../../test/support/parse-report.ts'
import type { ParsedFinding } from '../../formats/report/parsed-report.ts'
import { OTHER_LOCATIONS } from '../../vocabulary/message-marks.ts'
import { matchFindings } from './match-findings.ts'
import type { Pair, TrackedFinding } from './matching.ts'

// Kinds of pairs of results, each for several scanners: whether the second is the first, reported
// again (decisions §7, "Finding"). They are read by the parser, as reports are.

/** A problem as a scanner reports it, and what stands near it in its repository. */
type Problem = {
  tool: string
  rule: string
  otherRule: string
  path: string
  text: string
  /** The text with a small change, and one of the same rule that has nothing in common. */
  edited: string
  unrelated: string
  message: string
  /** The same sentence with another name, and another sentence. */
  renamed: string
  otherMessage: string
}

const PROBLEMS: Problem[] = [
  {
    tool: 'CodeQL',
    rule: 'js/code-injection',
    otherRule: 'js/sql-injection',
    path: 'services/shop/src/render.js',
    text: 'const shown = eval(request.query.template)',
    edited: 'const shown = eval(request.query.template, scope)',
    unrelated: 'new Function(body.callback.toString())()',
    message: "This code execution depends on a user-provided value 'template'.",
    renamed: "This code execution depends on a user-provided value 'callback'.",
    otherMessage: 'A constant is evaluated.',
  },
  {
    tool: 'Bandit',
    rule: 'B602',
    otherRule: 'B608',
    path: 'tools/deploy/run_command.py',
    text: 'subprocess.run(f"tar -xf {archive}", shell=True, check=True)',
    edited: 'subprocess.run(f"tar -xzf {archive}", shell=True, check=True)',
    unrelated: 'os.popen(user_input)',
    message: 'subprocess call with shell=True identified in `unpack`, security issue.',
    renamed: 'subprocess call with shell=True identified in `fetch`, security issue.',
    otherMessage: 'Starting a process with a partial executable path.',
  },
  {
    tool: 'gosec',
    rule: 'G201',
    otherRule: 'G304',
    path: 'internal/store/orders.go',
    text: 'rows, err := db.Query(fmt.Sprintf("select * from orders where id = %s", id))',
    edited: 'rows, err := tx.Query(fmt.Sprintf("select * from orders where id = %s", id))',
    unrelated: 'exec.Exec(strings.Join(parts, where))',
    message: 'SQL string formatting in `FindOrder`',
    renamed: 'SQL string formatting in `ListOrders`',
    otherMessage: 'The error of the call is ignored.',
  },
  {
    tool: 'Semgrep OSS',
    rule: 'java.lang.security.audit.unsafe-reflection',
    otherRule: 'java.lang.security.audit.object-deserialization',
    path: 'app/src/main/java/com/acme/Loader.java',
    text: 'Class<?> type = Class.forName(settings.getProperty("handler"));',
    edited: 'Class<?> type = Class.forName(settings.getProperty("handler").trim());',
    unrelated: 'loader.loadClass(new String(bytes))',
    message: 'If an attacker can supply values that `getProperty` uses to select a class, any class may run.',
    renamed: 'If an attacker can supply values that `readObject` uses to select a class, any class may run.',
    otherMessage: 'Objects are deserialized without a filter.',
  },
  {
    tool: 'PHPStan',
    rule: 'argument.type',
    otherRule: 'return.missing',
    path: 'module/Cart/Total.php',
    text: '$total = intdiv($cart->sum(), $request->get("parts"));',
    edited: '$total = intdiv($cart->sumOf(), $request->get("parts"));',
    unrelated: 'array_map($callback, $rows)',
    message: 'Parameter of function `intdiv` expects int, mixed given.',
    renamed: 'Parameter of function `range` expects int, mixed given.',
    otherMessage: 'Method should return a string but return statement is missing.',
  },
]

type Fields = {
  line?: number
  columns?: [number, number]
  path?: string
  rule?: string
  text?: string | null
  message?: string
  places?: string[]
  hash?: string
  others?: object
}
type Result = {
  ruleId: string
  message: object
  locations: { physicalLocation: { region: { startLine: number } } }[]
}

/** A result with its text, unless the fields say otherwise. */
function result(problem: Problem, fields: Fields = {}): Result {
  const { line = 40, columns, path = problem.path, rule = problem.rule, text = problem.text, places = [] } = fields
  const region = {
    startLine: line,
    ...(columns && { startColumn: columns[0], endColumn: columns[1] }),
    ...(text !== null && { snippet: { text } }),
  }
  const at = (uri: string, of: { startLine: number }) => ({
    physicalLocation: { artifactLocation: { uri }, region: of },
  })
  return {
    ruleId: rule,
    message: { text: fields.message ?? problem.message },
    locations: [at(path, region), ...places.map((place) => at(place, { startLine: 3 }))],
    ...(fields.hash && { partialFingerprints: { primaryLocationLineHash: fields.hash } }),
    ...fields.others,
  }
}

/** Other findings of the file before and after the one at line 40, which stay. */
function around(problem: Problem, offset = 0): Result[] {
  const texts = ['first(alpha, beta)', 'second[gamma] = delta', 'third.epsilon().zeta', 'fourth(eta => theta)']
  return texts
    .map((text, at) =>
      result(problem, {
        rule: problem.otherRule,
        text,
        line: [10, 25, 60, 90][at] as number,
        message: `About ${text}`,
      }),
    )
    .map((each) => moved(each, offset))
}

function moved(each: Result, offset: number): Result {
  const copy = structuredClone(each)
  for (const { physicalLocation } of copy.locations) physicalLocation.region.startLine += offset
  return copy
}

const untold = { text: null }
const secret = (value: string, fields: Fields = {}, fingerprint?: string, name = 'commitSha') => ({
  rule: 'generic-api-key',
  text: value,
  message: 'generic-api-key has detected a secret.',
  ...fields,
  ...(fingerprint && { others: { partialFingerprints: { [name]: fingerprint } } }),
})
const BY_GITLEAKS = () => ({ name: 'gitleaks' })
const vulnerable = (name: string, version: string, id: string, fields: Fields = {}) => ({
  text: null,
  line: 1,
  path: 'package-lock.json',
  rule: id,
  message: `${name} ${version} is affected by ${id}`,
  ...fields,
  others: { properties: { purl: `pkg:npm/${name}@${version}` } },
})
const bucket = (name: string, acl: string) => `resource "aws_s3_bucket" "${name}" {\n  acl = "${acl}"\n}`
const control = (text: string, fields: Fields = {}) => ({
  rule: 'CKV_AWS_20',
  path: 'infra/storage.tf',
  message: 'S3 Bucket has an ACL defined which allows public READ access.',
  text,
  ...fields,
})

type Make = (problem: Problem) => Result[]
/** The pair is the first result of each report. */
type Kind = [title: string, before: Make, after: Make, run?: (problem: Problem) => object]
const only =
  (...fields: Fields[]): Make =>
  (problem) =>
    fields.map((each) => result(problem, each))
const one =
  (fieldsOf: (problem: Problem) => Fields): Make =>
  (problem) => [result(problem, fieldsOf(problem))]
const amid =
  (fieldsOf: (problem: Problem) => Fields, offset = 0): Make =>
  (problem) => [result(problem, fieldsOf(problem)), ...around(problem, offset)]

const SAME: Kind[] = [
  ['nothing changed', only({}), only({})],
  ['lines were added above', only({}), only({ line: 57 })],
  ['lines were removed above', amid(() => ({})), amid(() => ({ line: 31 }), -9)],
  ['it was indented', only({ columns: [3, 40] }), one(({ text }) => ({ columns: [7, 44], text: `    ${text}` }))],
  ['it was broken into lines', only({}), one(({ text }) => ({ text: text.replaceAll(' ', '\n  ') }))],
  ['another line hash, the same text', only({ hash: 'aaaa:1' }), only({ hash: 'bbbb:1' })],
  ['another rank of the same line hash', only({ hash: 'aaaa:1', ...untold }), only({ hash: 'aaaa:2', ...untold })],
  [
    'another fingerprint, the same text',
    only({ others: { partialFingerprints: { own: 'a' } } }),
    only({ others: { partialFingerprints: { own: 'b' } } }),
  ],
  [
    'a new version of the fingerprint beside the old one',
    only({ ...untold, others: { fingerprints: { 'own/v1': 'a' } } }),
    only({ ...untold, others: { fingerprints: { 'own/v1': 'a', 'own/v2': 'x' } } }),
  ],
  ['another sentence, the same text', only({}), one(({ otherMessage }) => ({ message: otherMessage }))],
  [
    'another sentence, the same line hash, no text',
    only({ hash: 'aaaa:1', ...untold }),
    one(({ otherMessage }) => ({ hash: 'aaaa:1', ...untold, message: otherMessage })),
  ],
  ['another level', only({ others: { level: 'note' } }), only({ others: { level: 'error' } })],
  ['another guid', only({ others: { guid: 'a' } }), only({ others: { guid: 'b' } })],
  ['it is suppressed now', only({}), only({ others: { suppressions: [{ kind: 'inSource' }] } })],
  ['its file was renamed', only({}), one(({ path }) => ({ path: path.replace(/(\w+)\.(\w+)$/, 'new-$1.$2') }))],
  [
    'its file moved to another folder',
    amid(() => ({})),
    (problem) => amid(() => ({}))({ ...problem, path: `elsewhere/${problem.path}` }),
  ],
  ['it moved to another file, with its text', only({}), only({ path: 'lib/helpers.x', line: 7 })],
  [
    'it moved to a file that has other findings',
    (problem) => [result(problem), ...around({ ...problem, path: 'lib/old.x' })],
    (problem) => [result(problem, { path: 'lib/old.x', line: 33 }), ...around({ ...problem, path: 'lib/old.x' })],
  ],
  ['it moved far down in its file', amid(() => ({})), amid(() => ({ line: 400 }))],
  ['its text was edited in place', amid(() => ({})), amid(({ edited }) => ({ text: edited }))],
  [
    'its text was edited, and lines were added above',
    amid(() => ({})),
    amid(({ edited }) => ({ text: edited, line: 52 }), 12),
  ],
  [
    'its text and the names of its message were edited in place',
    amid(() => ({})),
    amid(({ edited, renamed }) => ({ text: edited, message: renamed })),
  ],
  [
    'it was rewritten at its line, under the same sentence',
    amid(() => ({})),
    amid(({ unrelated }) => ({ text: unrelated })),
  ],
  [
    'a measured amount changed, without text',
    only({ ...untold, message: 'Cognitive complexity of 17 exceeds 15' }),
    only({ ...untold, message: 'Cognitive complexity of 23 exceeds 15' }),
  ],
  [
    'a line that the message names changed, without text',
    only({ ...untold, message: 'The value of line 12 is never read' }),
    only({ ...untold, line: 44, message: 'The value of line 16 is never read' }),
  ],
  ['the same message without text, lines added above', amid(() => untold), amid(() => ({ ...untold, line: 52 }), 12)],
  [
    'the names in the message changed in place, without text',
    amid(() => untold),
    amid(({ renamed }) => ({ ...untold, message: renamed })),
  ],
  ['the text is not reported any more', only({ hash: 'aaaa:1' }), only({ hash: 'aaaa:1', ...untold })],
  ['the text is reported now', only({ hash: 'aaaa:1', ...untold }), only({ hash: 'aaaa:1' })],
  ['the columns are not reported any more', only({ columns: [3, 40] }), only({})],
  ['the columns are reported now', only({}), only({ columns: [3, 40] })],
  ['the fingerprint is not reported any more', only({ hash: 'aaaa:1' }), only({})],
  ['a fingerprint is reported now', only({}), only({ hash: 'aaaa:1' })],
  [
    'its rule has another id, and names the one before',
    only({}),
    only({ rule: 'renamed-rule' }),
    ({ rule }) => ({ rules: [{ id: 'renamed-rule', deprecatedIds: [rule] }] }),
  ],
  [
    'the first of its locations was fixed',
    only({ ...untold, places: ['lib/b.x', 'lib/c.x'] }),
    only({ ...untold, path: 'lib/b.x', line: 3, places: ['lib/c.x'] }),
  ],
  [
    'a later one of its locations was fixed',
    only({ ...untold, places: ['lib/b.x', 'lib/c.x'] }),
    only({ ...untold, places: ['lib/b.x'] }),
  ],
  ['a location came', only({ ...untold, places: ['lib/b.x'] }), only({ ...untold, places: ['lib/b.x', 'lib/c.x'] })],
  [
    'a new wording of three findings, without text',
    ({ ...problem }) =>
      [40, 60, 80].map((line) => result(problem, { ...untold, line, message: 'Do not use this call.' })),
    ({ ...problem }) =>
      [40, 60, 80].map((line) => result(problem, { ...untold, line, message: 'Avoid that function.' })),
  ],
  [
    'a new wording and other hashes of three findings',
    (problem) =>
      [40, 60, 80].map((line) =>
        result(problem, { ...untold, line, hash: `a${line}:1`, message: 'Do not use this call.' }),
      ),
    (problem) =>
      [40, 60, 80].map((line) =>
        result(problem, { ...untold, line, hash: `b${line}:1`, message: 'Avoid that function.' }),
      ),
  ],
  ['an equal statement was added below', only({}), only({}, { line: 80 })],
  ['an equal statement below was removed', only({}, { line: 80 }), only({})],
  ['the findings around it were fixed', amid(() => ({})), only({})],
  ['findings came around it', only({}), amid(() => ({}))],
  ['its path has backslashes', only({}), one(({ path }) => ({ path: path.replaceAll('/', '\\') }))],
  ['its path is escaped', only({ path: 'src/a b.x' }), only({ path: 'src/a%20b.x' })],
  ['its path begins with a dot', only({}), one(({ path }) => ({ path: `./${path}` }))],
  [
    'a package has another version',
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-1000')),
    only(vulnerable('lib-a', '1.0.1', 'CVE-2024-1000')),
  ],
  [
    'the manifest of a package was renamed',
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-1000')),
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-1000', { path: 'web/package-lock.json' })),
  ],
  [
    'a vulnerability of a package in other words',
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-1000')),
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-1000', { message: 'Upgrade lib-a' })),
  ],
  [
    'a package beside others that came',
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-1000')),
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-1000'), vulnerable('lib-b', '1.0.0', 'CVE-2024-1001')),
  ],
  [
    'a resource whose block changed',
    only(control(bucket('logs', 'public-read'))),
    only(control(bucket('logs', 'public-read-write').replace('}', '  tags = {}\n}'))),
  ],
  [
    'a resource that moved in its file',
    only(control(bucket('logs', 'public-read'))),
    only(control(bucket('logs', 'public-read'), { line: 300 })),
  ],
  [
    'a secret at another line',
    only(secret('key = "zhgJ7dLwQ29xPfK4"')),
    only(secret('key = "zhgJ7dLwQ29xPfK4"', { line: 90 })),
    BY_GITLEAKS,
  ],
  [
    'a secret in a renamed file',
    only(secret('key = "zhgJ7dLwQ29xPfK4"')),
    only(secret('key = "zhgJ7dLwQ29xPfK4"', { path: 'settings/keys.env' })),
    BY_GITLEAKS,
  ],
  [
    'a secret whose fingerprint is another commit',
    only(secret('key = "zhgJ7dLwQ29xPfK4"', {}, 'aaaa')),
    only(secret('key = "zhgJ7dLwQ29xPfK4"', {}, 'bbbb')),
    BY_GITLEAKS,
  ],
  [
    'a secret that is not shown, with the same fingerprint',
    only(secret('REDACTED', {}, 'aaaa')),
    only(secret('REDACTED', { line: 44 }, 'aaaa')),
    BY_GITLEAKS,
  ],
]

const DIFFERENT: Kind[] = [
  [
    'another text and another sentence at the line',
    only({}),
    one(({ unrelated, otherMessage }) => ({ text: unrelated, message: otherMessage })),
  ],
  [
    'another text and another sentence amid findings that stay',
    amid(() => ({})),
    amid(({ edited, otherMessage }) => ({ text: edited, message: otherMessage })),
  ],
  [
    'another hash, other columns and another sentence at the line, without text',
    only({ ...untold, hash: 'aaaa:1', columns: [3, 20] }),
    one(({ otherMessage }) => ({ ...untold, hash: 'cccc:1', columns: [9, 33], message: otherMessage })),
  ],
  [
    'another hash and another sentence amid findings that stay',
    amid(() => ({ ...untold, hash: 'aaaa:1' })),
    amid(({ otherMessage }) => ({ ...untold, hash: 'cccc:1', message: otherMessage })),
  ],
  [
    'another fingerprint and another sentence at the lines (Slither)',
    only({ ...untold, others: { fingerprints: { id: 'a' } } }),
    one(({ otherMessage }) => ({ ...untold, message: otherMessage, others: { fingerprints: { id: 'b' } } })),
  ],
  [
    'another sentence at the line, without text and fingerprint',
    only(untold),
    one(({ otherMessage }) => ({ ...untold, message: otherMessage })),
  ],
  [
    'another wording of two findings only',
    (problem) => [40, 60].map((line) => result(problem, { ...untold, line, message: 'Do not use this call.' })),
    (problem) => [40, 60].map((line) => result(problem, { ...untold, line, message: 'Avoid that function.' })),
  ],
  [
    'another wording of three findings with other names',
    (problem) => [40, 60, 80].map((line) => result(problem, { ...untold, line, message: `Do not call 'old${line}'.` })),
    (problem) =>
      [40, 60, 80].map((line) => result(problem, { ...untold, line, message: `Avoid the function 'new${line}'.` })),
  ],
  ['another rule at the line, the same text', only({}), one(({ otherRule }) => ({ rule: otherRule }))],
  [
    'an unrelated text far away in the file',
    amid(() => ({})),
    amid(({ unrelated }) => ({ text: unrelated, line: 500 })),
  ],
  ['an unrelated text in another file', only({}), one(({ unrelated }) => ({ text: unrelated, path: 'other/place.x' }))],
  [
    'a message alone in another file',
    (problem) => [result(problem, untold), ...around(problem)],
    (problem) => [result(problem, { ...untold, path: 'other/place.x', line: 7 }), ...around(problem)],
  ],
  ['an equal text in another file, while the first stays', only({}), only({ path: 'other/place.x' }, {})],
  ['an equal text below, while the first stays', only({}), only({ line: 90 }, {})],
  [
    'a file of the same name in another folder, with another text',
    only({}),
    one(({ path, unrelated }) => ({ path: `vendor/${path.split('/').at(-1)}`, text: unrelated })),
  ],
  [
    'another secret at the line',
    only(secret('key = "zhgJ7dLwQ29xPfK4"')),
    only(secret('key = "mN3vB8qT6yRw1sXe"')),
    BY_GITLEAKS,
  ],
  [
    'another secret with the same fingerprint',
    only(secret('key = "zhgJ7dLwQ29xPfK4"', {}, 'aaaa')),
    only(secret('key = "mN3vB8qT6yRw1sXe"', {}, 'aaaa')),
    BY_GITLEAKS,
  ],
  [
    'another secret amid findings that stay',
    (problem) => [result(problem, secret('key = "zhgJ7dLwQ29xPfK4"')), ...around(problem)],
    (problem) => [result(problem, secret('key = "mN3vB8qT6yRw1sXe"')), ...around(problem)],
    BY_GITLEAKS,
  ],
  [
    'a secret that is not shown, with another fingerprint',
    only(secret('REDACTED', {}, 'aaaa', 'secretHash')),
    only(secret('REDACTED', {}, 'bbbb', 'secretHash')),
    BY_GITLEAKS,
  ],
  [
    'another package at the line of the manifest',
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-1000')),
    only(vulnerable('lib-b', '1.0.0', 'CVE-2024-1000')),
  ],
  [
    'another vulnerability of the package',
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-1000')),
    only(vulnerable('lib-a', '1.0.0', 'CVE-2024-2000')),
  ],
  [
    'another package by one rule for all',
    only({
      ...untold,
      rule: 'vulnerable-dependency',
      path: 'go.mod',
      line: 1,
      message: 'lib-a has a known vulnerability: the parser is not bounded',
    }),
    only({
      ...untold,
      rule: 'vulnerable-dependency',
      path: 'go.mod',
      line: 1,
      message: 'lib-b may run commands of a server',
    }),
  ],
  [
    'another resource at the lines',
    only(control(bucket('logs', 'public-read'))),
    only(control(bucket('backups', 'private'), { message: 'The bucket has no lifecycle.' })),
  ],
]

/** A finding of a report, as it is stored. Reports have a keyed hash of the text. */
function toTracked(finding: ParsedFinding): TrackedFinding {
  const { description } = finding
  return {
    ...finding,
    fingerprint: finding.fingerprint.slice(0, 32),
    relocation: finding.relocation?.slice(0, 32) ?? null,
    context: finding.context === null ? null : hash('sha256', finding.context),
    message: description?.slice(0, 300) ?? null,
    places: description?.split(OTHER_LOCATIONS)[1] ?? null,
  }
}

async function read({ tool }: Problem, results: Result[], driver: object): Promise<TrackedFinding[]> {
  const run = { tool: { driver: { name: tool, ...driver } }, results }
  const { findings } = await parseReport({ version: '2.1.0', runs: [run] })
  assert.equal(findings.length, results.length)
  const ids = (driver as { rules?: { id: string; deprecatedIds: string[] }[] }).rules ?? []
  const renamed = new Map(ids.flatMap(({ id, deprecatedIds }) => deprecatedIds.map((before) => [before, id])))
  return findings.map((finding) => {
    const rule_id = renamed.get(finding.rule_id ?? '') ?? finding.rule_id
    return { ...toTracked(finding), rule_id }
  })
}

/** What the database pairs before: one finding on each side with the path, fingerprint and secret. */
function listCertain(stored: TrackedFinding[], reported: TrackedFinding[]): Pair[] {
  const key = ({ path, fingerprint, kind, context }: TrackedFinding) =>
    JSON.stringify([path, fingerprint, kind === 'secret' ? context : null])
  const [before, after] = [
    Map.groupBy(stored.keys(), (at) => key(stored[at] as TrackedFinding)),
    Map.groupBy(reported.keys(), (at) => key(reported[at] as TrackedFinding)),
  ]
  return [...before].flatMap(([value, [from, ...more]]) => {
    const [to, ...others] = after.get(value) ?? []
    return to === undefined || more.length > 0 || others.length > 0 ? [] : [[from as number, to] as const]
  })
}

async function isSame([, before, after, run = () => ({})]: Kind, problem: Problem): Promise<boolean> {
  const stored = await read(problem, before(problem), run(problem))
  const reported = await read(problem, after(problem), run(problem))
  const certain = listCertain(stored, reported)
  const matches = matchFindings(stored, reported, certain).map(({ stored: from, reported: to }) => [from, to] as const)
  return [...certain, ...matches].some(([from, to]) => from === 0 && to === 0)
}

for (const [verdict, kinds] of [
  ['the same finding', SAME],
  ['another finding', DIFFERENT],
] as const)
  for (const kind of kinds)
    test(`${kind[0]}: ${verdict}`, async () => {
      for (const problem of PROBLEMS)
        assert.equal(await isSame(kind, problem), verdict === 'the same finding', `${problem.tool}`)
    })

test('the table has at least 60 kinds and 300 pairs', () => {
  const kinds = SAME.length + DIFFERENT.length
  assert.ok(kinds >= 60 && kinds * PROBLEMS.length >= 300, `${kinds}`)
})
