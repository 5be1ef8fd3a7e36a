import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ListedComponents } from '../formats/report/listed-components.ts'
import type { ReportedScope, ReportTool } from '../formats/report/parsed-report.ts'
import { decideAtOnce, decideByContent, type StreamToJudge, withAncestors } from './judge-streams.ts'
import type { Missing } from './paired.store.ts'

const TOOL: ReportTool = { name: 'Lint', version: null }
const FACTS = { failures: [], files: 0, rules: 0, components: [] }
const WHOLE = { skipped: 0, truncated: false }
const REPORT = { complete: null, confirmed: false, summary: WHOLE }

const lacking = (count: number, fields: Partial<Missing> = {}): Missing[] =>
  Array.from({ length: count }, (_, at) => ({
    finding_id: `${at}`,
    was_open: true,
    was_missing: false,
    was_in_part: false,
    fingerprint: `f${at}`,
    path: `src/${at}.ts`,
    rule_id: `r${at}`,
    purl: null,
    package_name: null,
    package_version: null,
    ...fields,
  }))

function judge(open: number, missing: readonly Missing[], fields: Partial<StreamToJudge> = {}) {
  const judged = {
    stream: { facts: FACTS },
    tool: TOOL,
    report: REPORT,
    open,
    absent: missing.length,
    missing: missing.filter(({ was_open }) => was_open).length,
    mayAgree: false,
    isPart: false,
    isOlder: false,
    directories: withAncestors([]),
  }
  const facts = { ...judged, reported: open - missing.length, ...fields }
  const { kept, reasons, hint } = decideAtOnce(facts) ?? decideByContent(facts, missing)
  return { kept: kept === 'all' ? missing.length : kept.length, reasons, hint }
}
const reporting = (fields: object) => ({ report: { ...REPORT, ...fields } })
const stating = (fields: Partial<ReportTool>) => ({ tool: { ...TOOL, ...fields } })

test('more than half of 20 findings stay, half of them and most of fewer close', () => {
  assert.deepEqual(judge(20, lacking(11)), {
    kept: 11,
    reasons: ['11 of 20 open findings are missing from the report.'],
    hint: [],
  })
  assert.equal(judge(20, lacking(10)).kept, 0)
  assert.equal(judge(19, lacking(19)).kept, 0)
})

test('most of five findings close with a warning, most of four without', () => {
  assert.deepEqual(judge(5, lacking(3)).hint, [
    'Lint: 3 of 5 open findings are missing from the report. They were closed.',
  ])
  assert.deepEqual(judge(4, lacking(4)).hint, [])
})

test('what the report before lacked too is not counted, where this one has results', () => {
  const before = [...lacking(95, { was_missing: true })]
  const agreeing = { mayAgree: true, directories: withAncestors(['src']) }
  assert.equal(judge(100, before, agreeing).kept, 0)
  assert.equal(judge(100, before).kept, 95)
  assert.equal(judge(100, before, { mayAgree: true, directories: withAncestors(['other']) }).kept, 95)
  assert.equal(judge(100, before, { mayAgree: true, directories: withAncestors(['src/deeper']) }).kept, 0)
})

test('the directories of results are those with their parents, the top one only by itself', () => {
  assert.deepEqual([...withAncestors(['a/b/c', '/d/e', 'a'])].sort(), ['/d', '/d/e', 'a', 'a/b', 'a/b/c'])
  assert.deepEqual([...withAncestors([''])], [''])
})

test('a cut report closes nothing, whoever states that it is complete', () => {
  for (const summary of [
    { skipped: 1, truncated: false },
    { skipped: 0, truncated: true },
  ])
    assert.equal(judge(1, lacking(1), reporting({ summary, complete: true, confirmed: true })).kept, 1)
  assert.equal(judge(1, lacking(1), stating({ incomplete: 'It was cut.' })).kept, 1)
})

test('a part of a scan closes nothing unless it is stated to be complete', () => {
  const part = judge(40, lacking(39), { isPart: true })
  assert.deepEqual([part.kept, part.reasons, part.hint.length], [39, [], 1])
  assert.equal(judge(2, lacking(1), { isPart: true, ...reporting({ complete: true }) }).kept, 0)
  const older = { isPart: true, isOlder: true, ...reporting({ complete: true, confirmed: true }) }
  assert.deepEqual(judge(40, lacking(39), older), part)
})

test('what another part of the commit before had stays with a hint, and is not counted', () => {
  const other = lacking(60, { was_in_part: true }).map((finding, at) => ({ ...finding, finding_id: `other ${at}` }))
  const { kept, reasons, hint } = judge(100, [...other, ...lacking(10)])
  assert.deepEqual([kept, reasons], [60, []])
  assert.match(hint.join(), /^Lint: 60 findings of other reports of the commit before stay open/)
  assert.equal(judge(100, [...other, ...lacking(30)]).kept, 90)
  assert.equal(judge(100, [...other, ...lacking(30)], reporting({ complete: true })).kept, 0)
})

test('more missing findings than can be compared stay, unless the sender or somebody states that they are fixed', () => {
  const many = { absent: 200_001, missing: 200_001 }
  assert.deepEqual(judge(200_001, [], many).reasons, [
    'The report lacks 200001 findings, too many to be compared with it.',
  ])
  assert.deepEqual(judge(200_001, [], { ...many, ...reporting({ complete: true }) }).reasons, [])
  assert.deepEqual(judge(200_001, [], { ...many, ...reporting({ confirmed: true }) }).reasons, [])
})

test('a stated failure holds what is missing, unless it is normal or somebody confirms', () => {
  const failed = stating({ failures: ['the exit code is 2'] })
  assert.deepEqual(judge(2, lacking(1), failed), {
    kept: 1,
    reasons: ['The report states that the tool did not finish successfully: the exit code is 2.'],
    hint: [],
  })
  const normal = { stream: { facts: { ...FACTS, failures: ['the exit code is 2'] } } }
  assert.equal(judge(2, lacking(1), { ...failed, ...normal }).kept, 0)
  assert.equal(judge(2, lacking(1), { ...failed, ...reporting({ complete: true }) }).kept, 1)
  assert.equal(judge(2, lacking(1), { ...failed, ...reporting({ confirmed: true }) }).kept, 0)
})

test('rules that could not be run keep their findings, and only these', () => {
  assert.equal(judge(3, lacking(3), stating({ unrunRules: ['r1'] })).kept, 1)
})

test('complete: true stands against what the report looks like, complete: false closes nothing', () => {
  assert.equal(judge(40, lacking(39), reporting({ complete: true })).kept, 0)
  assert.equal(judge(2, lacking(1), reporting({ complete: false })).kept, 1)
})

const scope = (files: number, rules: number): ReportedScope => ({
  files,
  rules,
  hasFile: (path) => path === 'src/0.ts',
  hasRule: (id) => id === 'r1',
})

test('under nine tenths of the files or rules without results: findings of those that are not listed stay', () => {
  const before = { stream: { facts: { ...FACTS, files: 10, rules: 10 } } }
  assert.equal(judge(3, lacking(3), { ...before, ...stating({ scope: scope(9, 9) }) }).kept, 0)
  assert.equal(judge(3, lacking(3), { ...before, ...stating({ scope: scope(8, 10) }) }).kept, 2)
  assert.equal(judge(3, lacking(3), { ...before, ...stating({ scope: scope(8, 8) }) }).kept, 3)
  assert.equal(judge(3, lacking(3), before).kept, 3)
})

function documentOf(...names: string[]): ListedComponents {
  const components = new ListedComponents()
  for (const name of names) components.add({ purl: null, name, version: '1' })
  return components
}
const about = (name: string, version = '1') => ({ package_name: name, package_version: version })

test('an empty list closes the findings of components that are gone or changed', () => {
  const empty = { reported: 0, ...stating({ components: documentOf('a', 'b') }) }
  assert.equal(judge(2, lacking(2, about('a')), empty).kept, 2)
  assert.equal(judge(2, lacking(2, about('a', '0')), empty).kept, 0)
  assert.equal(judge(2, lacking(2, about('c')), empty).kept, 0)
})

test('findings of components that are gone or changed are not counted: an image on another base', () => {
  const components = documentOf('a', 'b')
  assert.equal(judge(40, lacking(39, about('c')), stating({ components })).kept, 0)
  assert.equal(judge(40, lacking(39, about('a')), stating({ components })).kept, 39)
})

test('findings that the tool states to be gone are not counted', () => {
  const gone = stating({ gone: new Set(lacking(39).map(({ fingerprint }) => fingerprint)) })
  assert.equal(judge(40, lacking(39), gone).kept, 0)
  assert.equal(judge(40, lacking(39), stating({ gone: new Set(['f0']) })).kept, 39)
})

test('a document without tool and subject must have half of the components of the one before', () => {
  const before = { stream: { facts: { ...FACTS, components: documentOf('a', 'b').sample() } } }
  const nameless = (...names: string[]) => stating({ isUnnamed: true, components: documentOf(...names) })
  assert.equal(judge(2, lacking(1, about('a')), { ...before, ...nameless('a', 'x') }).kept, 0)
  assert.equal(judge(2, lacking(1, about('b')), { ...before, ...nameless('x') }).kept, 1)
  const named = stating({ isUnnamed: true, subject: 'shop', components: documentOf('x') })
  assert.equal(judge(2, lacking(1, about('b')), { ...before, ...named }).kept, 0)
})
