import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../../support/api.ts'
import { assertError } from '../../../../support/assert-error.ts'
import { listFindings } from '../../../../support/findings.ts'
import { listIssues } from '../../../../support/issues.ts'
import type { Json } from '../../../../support/json.ts'
import { createPerson, type Person, requestAs } from '../../../../support/people.ts'
import { uploadReport } from '../../../../support/reports.ts'
import { sarif } from '../../../../support/sarif.ts'
import { vulnerable } from '../../../../support/vex.ts'

// A dismissal never reaches a problem that nobody looked at (decisions §7 and §8).

let api: TestApi
let caller: Caller
let ada: Person

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
  ada = await createPerson(api, { ...caller, role: 'security' })
})

let reports = 0
async function report(results: unknown[], { tool = 'Linter', rules, ...options }: Json = {}) {
  api.clock.advance(1000)
  const run = sarif(results, tool, { automationDetails: { guid: `${++reports}` } }) as Json
  if (rules) run.runs[0].tool.driver.rules = rules
  const upload = await uploadReport(api, caller, run, options)
  assert.equal(upload.status, 'finished', upload.error)
  return upload
}

/** A result at a line, with columns, text, fingerprint and message as the test says. */
function result(fields: Json = {}): Json {
  const {
    rule = 'R',
    path = 'src/a.js',
    line = 10,
    columns,
    text,
    hash,
    message = 'Bad',
    places = [],
    ...others
  } = fields
  const region = {
    startLine: line,
    ...(columns && { startColumn: columns[0], endColumn: columns[1] }),
    ...(text && { snippet: { text } }),
  }
  const at = (uri: string, of: Json) => ({ physicalLocation: { artifactLocation: { uri }, region: of } })
  return {
    ruleId: rule,
    level: 'error',
    message: { text: message },
    locations: [at(path, region), ...places.map((place: string) => at(place, { startLine: 1 }))],
    ...(hash && { partialFingerprints: { primaryLocationLineHash: hash } }),
    ...others,
  }
}

async function dismiss(fields: Json = {}): Promise<void> {
  const [issue] = await listIssues(api, caller)
  const body = { action: 'dismiss', reason: 'wont_fix', issue_ids: [issue.id], comment: 'Looked at', ...fields }
  const { status, text } = await requestAs(api, ada, 'POST', '/security/triage', body)
  assert.equal(status, 201, text)
}

/** The finding that reports still contain, or the newest one. */
async function states(): Promise<string[]> {
  return (await listFindings(api, caller)).map(({ state, description }) => `${description} ${state}`).sort()
}
const only = async () => {
  const findings = await listFindings(api, caller)
  assert.equal(findings.length, 1, findings.map(({ description }) => description).join())
  return findings[0] as Json
}

/** Dismisses what the first report contains, and returns the finding after the second. */
async function afterChange(first: Json, second: Json, fields: Json = {}, options: Json = {}): Promise<Json> {
  await report([result(first)], options)
  await dismiss(fields)
  await report([result(second)], options)
  return only()
}

test('other code of the same rule at the line of a dismissed finding is a new critical issue', async () => {
  const rules = [{ id: 'R', properties: { 'security-severity': '9.3' } }]
  await report([result({ columns: [5, 20], hash: 'aaaa:1', message: 'Eval of a constant' })], { tool: 'CodeQL', rules })
  await dismiss()
  const later = result({ columns: [9, 70], hash: 'cccc:1', message: 'Eval of a request parameter' })
  const { counts } = await report([later], { tool: 'CodeQL', rules })
  assert.equal(counts.newCritical, 1)
  assert.deepEqual(await states(), ['Eval of a constant dismissed', 'Eval of a request parameter open'])
})

test('another secret at the line of a dismissed one is open, also with the fingerprint of the same commit', async () => {
  for (const fingerprints of [{}, { partialFingerprints: { commitSha: 'c0ffee' } }]) {
    caller = await api.caller()
    ada = await createPerson(api, { ...caller, role: 'security' })
    const secret = (text: string) => result({ rule: 'aws-key', text, ...fingerprints })
    await report([secret('AKIAIOSFODNN7EXAMPLE')], { tool: 'gitleaks' })
    await dismiss()
    await report([secret('AKIAREALREALREALREAL')], { tool: 'gitleaks' })
    assert.deepEqual(await states(), ['Bad dismissed', 'Bad open'])
  }
})

/** A result of Gitleaks with `--redact`: in a shallow clone, all name the newest commit. */
function hidden(commit: string, fields: Json = {}): Json {
  const path = fields.path ?? 'src/a.js'
  const message = `aws-key has detected secret for file ${path} at commit ${commit}.`
  const partialFingerprints = {
    commitSha: commit,
    email: `${commit}@x`,
    author: commit,
    date: '',
    commitMessage: commit,
  }
  return result({ rule: 'aws-key', text: 'REDACTED', columns: [8, 28], message, partialFingerprints, ...fields })
}
const SHALLOW = ['c1', 'c2'].map((name) => name.repeat(20)) as [string, string]

test('a secret that a shallow clone does not show keeps its identity with the next commit', async () => {
  await report([hidden(SHALLOW[0]), hidden(SHALLOW[0], { line: 40 })], { tool: 'gitleaks' })
  const before = await listFindings(api, caller)
  const { counts } = await report([hidden(SHALLOW[1], { line: 40 }), hidden(SHALLOW[1])], { tool: 'gitleaks' })
  const after = await listFindings(api, caller)
  const ids = (findings: Json[]) => findings.map(({ id }) => id).sort()
  assert.deepEqual(ids(after), ids(before))
  assert.equal(counts.newIssues, 0)
})

test('the dismissal of a secret that is not shown ends with another commit: it may be another secret', async () => {
  for (const fields of [{}, { columns: [8, 48] }, { line: 12 }]) {
    caller = await api.caller()
    ada = await createPerson(api, { ...caller, role: 'security' })
    await report([hidden(SHALLOW[0])], { tool: 'gitleaks' })
    await dismiss()
    await report([hidden(SHALLOW[0])], { tool: 'gitleaks' })
    assert.equal((await only()).state, 'dismissed')
    await report([hidden(SHALLOW[1], fields)], { tool: 'gitleaks' })
    const { state, dismissal_ended } = await only()
    assert.deepEqual([state, dismissal_ended.changed.includes('fingerprint')], ['open', true])
  }
})

test('in a full clone, a secret that is not shown is another one if its commit is', async () => {
  await report([hidden(SHALLOW[0]), hidden('f'.repeat(40), { line: 90 })], { tool: 'gitleaks' })
  const before = (await listFindings(api, caller)).map(({ id }) => id)
  await report([hidden('e'.repeat(40)), hidden('f'.repeat(40), { line: 90 })], { tool: 'gitleaks' })
  const open = (await listFindings(api, caller)).filter(({ state }) => state === 'open').map(({ id }) => id)
  assert.equal(open.filter((id) => before.includes(id)).length, 1)
  assert.equal(open.length, 2)
})

test('a fingerprint that all results share carries no dismissal to other columns', async () => {
  const shared = (line: number, columns: number[]) =>
    result({ line, columns, message: `Bad ${line}`, fingerprints: { id: 'constant' } })
  await report([shared(10, [5, 9]), shared(20, [5, 9]), shared(30, [5, 9])])
  assert.equal((await listIssues(api, caller)).length, 3)
  const first = (await listFindings(api, caller)).find(({ description }) => description === 'Bad 10')
  await dismiss({ issue_ids: [first?.issue_id] })
  await report([shared(10, [30, 70]), shared(20, [5, 9]), shared(30, [5, 9])])
  const stayed = (await listFindings(api, caller)).filter(({ state }) => state === 'dismissed')
  assert.deepEqual(stayed, [])
})

test('of several packages in one message rule, only the dismissed one is dismissed', async () => {
  const about = (name: string, id: number) =>
    result({ path: 'package-lock.json', line: 1, message: `${name}@1.0.0 has CVE-2024-${id}` })
  await report([about('lib-a', 10_000), about('lib-b', 10_001)], { tool: 'SupplyGuard' })
  const [finding] = (await listFindings(api, caller)).filter(({ description }) => description.startsWith('lib-a'))
  await dismiss({ issue_ids: [finding.issue_id] })
  await report([about('lib-a', 10_000), about('lib-b', 10_001), about('lib-c', 10_002)], { tool: 'SupplyGuard' })
  assert.equal((await listIssues(api, caller)).length, 3)
  assert.deepEqual(
    (await states()).map((state) => state.replace(/@.* /, ' ')),
    ['lib-a dismissed', 'lib-b open', 'lib-c open'],
  )
  await report([about('lib-c', 10_002)], { tool: 'SupplyGuard' })
  assert.ok((await states()).some((state) => /^lib-c.* open$/.test(state)))
})

test('a decision stays while the text and the literals of the message stay, whatever lines and wording do', async () => {
  const text = 'eval(input)'
  const moved = await afterChange(
    { text, columns: [5, 9], message: "Call of 'eval'" },
    { text, line: 40, columns: [9, 13], message: "There is a call of 'eval'" },
  )
  assert.deepEqual([moved.state, moved.dismissal_ended], ['dismissed', null])
})

test('a decision ends with another text of the same sentence: the finding opens and says why', async () => {
  const ended = await afterChange({ text: 'eval(constant + 1)' }, { text: 'eval(constant + req.q)' })
  assert.deepEqual(
    [ended.state, ended.dismissal_ended],
    [
      'open',
      { at: api.clock.now().toISOString(), changed: ['text'], reason: 'wont_fix', comment: 'Looked at', by: ada.name },
    ],
  )
  const [issue] = await listIssues(api, caller)
  assert.deepEqual([issue.status, issue.dismissal_ended], ['open', ended.dismissal_ended])
  const { body } = await requestAs(api, ada, 'GET', '/security/triage')
  assert.deepEqual([body.data[0].status, body.data[0].finding_count], ['active', 0])
  await dismiss()
  assert.deepEqual([(await only()).state, (await only()).dismissal_ended], ['dismissed', null])
})

test('a decision ends with another literal, fingerprint, column, file or new location', async () => {
  const text = 'listen(port)'
  const places = ['src/b.js']
  for (const [first, second, changed] of [
    [{ text, message: 'Port 22 is open' }, { text, message: 'Port 80 is open' }, 'message'],
    [{ hash: 'aaaa:1' }, { hash: 'bbbb:1' }, 'fingerprint'],
    [{ columns: [5, 20] }, { columns: [30, 60] }, 'columns'],
    [{ text, places }, { text, places: ['src/b.js', 'src/c.js'] }, 'location'],
    [{ text, fingerprints: { id: '1' } }, { text, path: 'other/z.js', line: 90, fingerprints: { id: '1' } }, 'file'],
  ] as const) {
    caller = await api.caller()
    ada = await createPerson(api, { ...caller, role: 'security' })
    const { state, dismissal_ended } = await afterChange(first, second)
    assert.deepEqual([state, dismissal_ended?.changed], ['open', [changed]], changed)
  }
})

test('columns that one side lacks, and another list of as many locations that are not all listed, end no decision', async () => {
  const text = 'listen(port)'
  const places = Array.from({ length: 14 }, (_, index) => `src/${index}.js`)
  for (const [first, second, state] of [
    [{ columns: [5] }, { columns: [5, 20] }, 'dismissed'],
    [{ columns: [5, 20] }, { columns: [5, 40] }, 'open'],
    [{ text, places }, { text, places: places.toReversed() }, 'dismissed'],
    [{ text, places }, { text, places: [...places, 'src/z.js'] }, 'open'],
  ] as const) {
    caller = await api.caller()
    ada = await createPerson(api, { ...caller, role: 'security' })
    assert.equal((await afterChange(first, second)).state, state, JSON.stringify(second))
  }
})

test('a long text that is edited at its end ends a decision, also with a fingerprint of the tool', async () => {
  const at = (text: string) => ({ hash: 'aaaa:1', text: `call(\n${'first,\n'.repeat(800)}${text}\n)` })
  const { state, dismissal_ended } = await afterChange(at('safe'), at('request.query'))
  assert.deepEqual([state, dismissal_ended?.changed], ['open', ['text']])
  caller = await api.caller()
  ada = await createPerson(api, { ...caller, role: 'security' })
  const withheld = await afterChange({ hash: 'aaaa:1' }, at('safe'))
  assert.equal(withheld.state, 'dismissed')
})

test('three findings that name something else in a new wording at once open', async () => {
  const of = (sentence: string, ports: number[]) =>
    ports.map((port, index) => result({ hash: `a${index}:1`, line: 10 * index + 10, message: `${sentence} ${port}` }))
  await report(of('Open port', [22, 23, 24]))
  for (const { id } of await listIssues(api, caller)) await dismiss({ issue_ids: [id] })
  await report(of('There is an open port', [22, 23, 24]))
  assert.deepEqual(new Set((await listFindings(api, caller)).map(({ state }) => state)), new Set(['dismissed']))
  await report(of('Port is reachable:', [80, 81, 82]))
  assert.deepEqual(new Set((await listFindings(api, caller)).map(({ state }) => state)), new Set(['open']))
})

test('a new wording that three findings of a rule get at once, amounts and white space end no decision', async () => {
  const hashes = ['a', 'b', 'c']
  const at = (hash: string, index: number, message: string) =>
    result({ hash: `${hash}${hash}:1`, line: 10 * index + 10, message })
  await report(hashes.map((hash, index) => at(hash, index, 'Function has a complexity of 17')))
  for (const { id } of await listIssues(api, caller)) await dismiss({ issue_ids: [id] })
  await report(hashes.map((hash, index) => at(hash, index, 'Function  has a complexity of 19')))
  assert.ok((await listFindings(api, caller)).every(({ state }) => state === 'dismissed'))
  await report(hashes.map((hash, index) => at(hash, index, 'This function is too complex')))
  assert.ok((await listFindings(api, caller)).every(({ state }) => state === 'dismissed'))
  await report(
    hashes.map((hash, index) =>
      at(hash, index, index === 0 ? 'This method is hard to read' : 'This function is too complex'),
    ),
  )
  assert.deepEqual((await listFindings(api, caller)).map(({ state }) => state).sort(), [
    'dismissed',
    'dismissed',
    'open',
  ])
})

test('a renamed file keeps its decisions', async () => {
  const of = (path: string) =>
    ['one(x)', 'two(y)', 'three(z)'].map((text, index) => result({ path, text, line: index + 1 }))
  await report(of('src/old.js'))
  for (const { id } of await listIssues(api, caller)) await dismiss({ issue_ids: [id] })
  await report(of('src/new.js'))
  assert.deepEqual(new Set((await listFindings(api, caller)).map(({ state }) => state)), new Set(['dismissed']))
})

test('infrastructure with a resource keeps its decision whatever else of the block changes', async () => {
  const block = (more: string) =>
    result({ rule: 'CKV_AWS_1', path: 'main.tf', text: `resource "aws_s3_bucket" "logs" {\n${more}\n}` })
  await report([block('a = 1')], { tool: 'checkov' })
  await dismiss()
  await report([block('a = 2\n  b = "c"\n  tags = {}')], { tool: 'checkov' })
  assert.equal((await only()).state, 'dismissed')
})

const [FROM, TO] = ['pkg:npm/lodash@4.17.20', 'pkg:npm/lodash@4.17.21']
const CVE = 'CVE-2021-23337'

async function bom(purl: string, options: Json = {}): Promise<void> {
  api.clock.advance(1000)
  const file = { ...vulnerable({ [purl]: CVE }), version: ++reports }
  assert.equal((await uploadReport(api, caller, file, options)).status, 'finished')
}

test('another version ends a false positive; what is accepted holds for the next version too', async () => {
  for (const [reason, scope, state] of [
    ['false_positive', 'issue', 'open'],
    ['risk_accepted', 'issue', 'dismissed'],
    ['wont_fix', 'issue', 'dismissed'],
    ['used_in_tests', 'issue', 'dismissed'],
    ['mitigated', 'issue', 'dismissed'],
    ['false_positive', 'vulnerability', 'dismissed'],
  ]) {
    caller = await api.caller()
    ada = await createPerson(api, { ...caller, role: 'security' })
    await bom(FROM)
    await dismiss({ reason, scope })
    await bom(TO)
    assert.equal((await only()).state, state, `${reason} ${scope}`)
  }
})

test('another vulnerability of a package is open, also with the rule or fingerprint of a dismissed one', async () => {
  const about = (message: string, fields: Json = {}) => ({
    rule: 'vulnerable-package',
    path: 'package-lock.json',
    message,
    ...fields,
  })
  const stated = (id: string, message: string) =>
    about(message, {
      fingerprints: { id: 'lodash' },
      properties: { packageName: 'lodash', packageVersion: '4.17.20', cve: id },
    })
  for (const [first, second, state] of [
    [about('lodash@4.17.20: prototype pollution'), about('lodash@4.17.20: remote code execution'), 'open'],
    [stated(CVE, 'Vulnerable lodash'), stated('CVE-2020-8203', 'Vulnerable lodash'), 'open'],
    [stated(CVE, 'Vulnerable lodash'), stated(CVE, 'lodash is vulnerable'), 'dismissed'],
  ] as const) {
    caller = await api.caller()
    ada = await createPerson(api, { ...caller, role: 'security' })
    await report([result(first)], { tool: 'Grype' })
    await dismiss()
    await report([result(second)], { tool: 'Grype' })
    assert.deepEqual(await states(), [`${second.message} ${state}`])
  }
})

test('scope vulnerability reaches the same vulnerability of the package at other places and versions, and no others', async () => {
  await bom(FROM)
  await dismiss({ scope: 'vulnerability' })
  await bom(TO, { gitRef: 'release', category: 'image' })
  assert.deepEqual(
    (await listFindings(api, caller)).map(({ state }) => state),
    ['dismissed', 'dismissed'],
  )
  api.clock.advance(1000)
  await uploadReport(api, caller, vulnerable({ [TO]: 'CVE-2020-8203' }), { category: 'other' })
  assert.equal((await listFindings(api, caller)).filter(({ state }) => state === 'open').length, 1)
})

test('400 for the scope vulnerability of a reopening, and of what is no vulnerability of a package', async () => {
  await report([result()])
  const [issue] = await listIssues(api, caller)
  const body = { scope: 'vulnerability', issue_ids: [issue.id] }
  for (const fields of [{ action: 'reopen' }, { action: 'dismiss', reason: 'wont_fix' }])
    assertError(await requestAs(api, ada, 'POST', '/security/triage', { ...body, ...fields }), 400, 'invalid_request')
})

test('what another branch reports follows only with the marks of what was dismissed', async () => {
  await report([result({ hash: 'aaaa:1', columns: [5, 9] })])
  await dismiss()
  await report([result({ hash: 'aaaa:1', columns: [5, 9], line: 30 })], { gitRef: 'same' })
  await report([result({ hash: 'aaaa:1', columns: [50, 90] })], { gitRef: 'columns' })
  await report([result({ hash: 'aaaa:1', columns: [5, 9], message: 'Worse' })], { gitRef: 'message' })
  const shown = (await listFindings(api, caller)).map(({ git_ref, state }) => `${git_ref} ${state}`)
  assert.deepEqual(shown.sort(), ['columns open', 'message open', 'null dismissed', 'same dismissed'])
})

test('a rule that is renamed and names its old id keeps its findings and their decisions, edited or not', async () => {
  const rule = (id: string, deprecatedIds?: string[]) => [{ id, ...(deprecatedIds && { deprecatedIds }) }]
  const of = (id: string, more = '') => [
    result({ rule: id, text: `x()${more}` }),
    result({ rule: id, path: 'b.js', hash: 'aa:1' }),
  ]
  await report(of('OLD'), { rules: rule('OLD') })
  for (const { id } of await listIssues(api, caller)) await dismiss({ issue_ids: [id] })
  const ids = (await listFindings(api, caller)).map(({ id }) => id)
  await report(of('NEW'), { rules: rule('NEW', ['OLD']) })
  const renamed = await listFindings(api, caller)
  assert.deepEqual(
    renamed.map(({ id, rule_id, state }) => [id, rule_id, state]),
    ids.map((id) => [id, 'NEW', 'dismissed']),
  )
  await report(of('NEWEST', ' // y'), { rules: rule('NEWEST', ['NEW', 'OLD']) })
  const edited = await listFindings(api, caller)
  assert.deepEqual(
    edited.map(({ id }) => id),
    ids,
  )
  assert.deepEqual(edited.map(({ state }) => state).sort(), ['dismissed', 'open'])
})

test('a rule does not take the findings of another one that the report still has', async () => {
  const rules = [{ id: 'NEW', deprecatedIds: ['OLD'] }, { id: 'OLD' }]
  await report([result({ rule: 'OLD', text: 'x()' })])
  await dismiss()
  for (const text of ['x()', 'y()']) {
    await report([result({ rule: 'OLD', text: 'x()' }), result({ rule: 'NEW', text })], { rules })
    const shown = (await listFindings(api, caller)).filter(({ state }) => state !== 'fixed')
    assert.deepEqual(shown.map(({ rule_id, state }) => `${rule_id} ${state}`).sort(), ['NEW open', 'OLD dismissed'])
  }
})

test('a rule does not take an absent finding of another one of which the report still has others', async () => {
  const rules = [{ id: 'NEW', deprecatedIds: ['OLD'] }, { id: 'OLD' }]
  const old = result({ rule: 'OLD', text: 'x()' })
  await report([old, result({ rule: 'OLD', path: 'src/b.js', text: 'call(request.query)' })])
  const stored = await listFindings(api, caller)
  await report([old, result({ rule: 'NEW', path: 'src/b.js', text: 'call(request.query, 1)' })], { rules })
  const left = (await listFindings(api, caller)).filter(({ state }) => state !== 'fixed')
  const isNew = ({ id }: Json) => !stored.some((finding) => finding.id === id)
  assert.deepEqual(left.map((finding) => `${finding.rule_id} ${isNew(finding)}`).sort(), ['NEW true', 'OLD false'])
})

test('a result at several places whose first one is fixed is the same finding, and stays dismissed', async () => {
  const of = (path: string, ...places: string[]) => [result({ path, places, line: 1 })]
  await report(of('src/a.sol', 'src/b.sol', 'src/c.sol'))
  const { id } = await only()
  await dismiss({ reason: 'wont_fix' })
  await report(of('src/b.sol', 'src/c.sol'))
  const left = await only()
  assert.deepEqual([left.id, left.location.path, left.state], [id, 'src/b.sol', 'dismissed'])
  await report(of('src/b.sol', 'src/c.sol', 'src/d.sol'))
  assert.deepEqual((await only()).dismissal_ended?.changed, ['location'])
})

test('a base directory that stands in front of a path since an upgrade ends no dismissal', async () => {
  const texts = ['open(one)', 'close(two)']
  await report(texts.map((text, at) => result({ path: 'x.js', line: 10 + 50 * at, text, message: text })))
  const ids = (await listIssues(api, caller)).map(({ id }) => id)
  await dismiss({ issue_ids: ids })
  const prefixed = (...directories: string[]) =>
    texts.map((text, at) => result({ path: `${directories[at]}/x.js`, line: 10, text, message: text }))
  await api.services.sql`update finding_streams set reports = 0 where org_id = ${caller.orgId}`
  await report(prefixed('a', 'b'))
  assert.deepEqual(await states(), ['close(two) dismissed', 'open(one) dismissed'])
})
