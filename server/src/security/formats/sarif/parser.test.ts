import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseReport } from '../../../../test/support/parse-report.ts'
import type { ParsedFinding } from '../report/parsed-report.ts'
import { parseSarif } from './parser.ts'

function report(...runs: object[]) {
  return { runs: runs.map((run) => ({ tool: { driver: { name: 'Lint' } }, ...run })), version: '2.1.0' }
}

function result(fields: object = {}) {
  return { ruleId: 'R1', message: { text: 'Something is wrong' }, ...fields }
}

async function readOne(fields: object, run: object = {}): Promise<ParsedFinding> {
  const { findings } = await parseReport(report({ results: [result(fields)], ...run }))
  assert.equal(findings.length, 1)
  return findings[0] as ParsedFinding
}

const at = (uri: string, region: object = {}) => ({
  locations: [{ physicalLocation: { artifactLocation: { uri }, region } }],
})

test('rules are found even if they come after the results', async () => {
  const finding = await readOne(
    {},
    {
      tool: {
        driver: {
          name: 'Lint',
          version: '3',
          rules: [
            {
              id: 'R1',
              helpUri: 'https://lint.example/R1',
              properties: { 'security-severity': '9.1', tags: ['external/cwe/cwe-079'] },
            },
          ],
        },
      },
    },
  )
  assert.equal(finding.severity, 'critical')
  assert.equal(finding.native_url, 'https://lint.example/R1')
  assert.deepEqual([finding.tool, finding.tool_version, finding.cwes], ['Lint', '3', ['CWE-79']])
})

test('a security-severity of 0 makes a finding of severity info with the score 0', async () => {
  const finding = await readOne({ level: 'error', properties: { 'security-severity': '0.0' } })
  assert.deepEqual([finding.severity, finding.scanner_score], ['info', 0])
})

test('a result without a problem or with a fixed one is not a finding; an open or reviewed one is', async () => {
  const kinds = ['pass', 'notApplicable', 'informational', 'open', 'review', 'fail']
  const results = [...kinds.map((kind) => result({ kind })), result({ baselineState: 'absent' })]
  const { count, skipped } = await parseReport(report({ results }))
  assert.deepEqual([count, skipped], [3, 0])
})

test('an accepted suppression or one without status dismisses a finding, any other does not', async () => {
  const suppressed = async (...suppressions: object[]) => (await readOne({ suppressions })).state
  assert.equal(await suppressed(), 'open')
  assert.equal(await suppressed({ kind: 'inSource' }), 'dismissed')
  assert.equal(await suppressed({ kind: 'external', status: 'accepted' }), 'dismissed')
  assert.equal(await suppressed({ kind: 'external' }, { kind: 'external', status: 'rejected' }), 'open')
  assert.equal(await suppressed({ kind: 'external', status: 'underReview' }), 'open')
})

test('a dismissal includes the justification', async () => {
  const finding = await readOne({ suppressions: [{ kind: 'inSource', justification: 'test data' }] })
  assert.deepEqual([finding.dismiss_reason, finding.dismiss_comment], ['suppressed_in_source', 'test data'])
})

test('the description lists at most ten other locations', async () => {
  const locations = Array.from({ length: 13 }, (_, line) => at(`src/${line}.ts`, { startLine: line + 1 }).locations[0])
  const finding = await readOne({ locations })
  assert.deepEqual([finding.path, finding.start_line, finding.end_line], ['src/0.ts', 1, 1])
  assert.match(finding.description ?? '', /Also at:\n- src\/1\.ts:2\n/)
  assert.match(finding.description ?? '', /src\/10\.ts:11\n- and 2 more$/)
})

test('a location that is not a file becomes the resource name', async () => {
  const logical = await readOne({ locations: [{ logicalLocations: [{ fullyQualifiedName: 'app::main' }] }] })
  assert.deepEqual([logical.path, logical.resource_name], [null, 'app::main'])
  assert.equal((await readOne(at('https://shop.example/login'))).resource_name, 'https://shop.example/login')
  assert.equal((await readOne({})).path, null)
})

test('without a line, a finding is at the line of the context that kube-score writes', async () => {
  const artifactLocation = { uri: 'app.yaml' }
  const physicalLocation = { artifactLocation, region: { snippet: {} }, contextRegion: { snippet: {}, startLine: 605 } }
  const { start_line, end_line } = await readOne({ locations: [{ physicalLocation }] })
  assert.deepEqual([start_line, end_line], [605, 605])
})

test('a finding in infrastructure has a file and a resource, a finding in code only a file', async () => {
  const location = { ...at('main.tf').locations[0], logicalLocations: [{ fullyQualifiedName: 'aws_s3_bucket.logs' }] }
  const iac = await readOne({ locations: [location] }, { tool: { driver: { name: 'checkov' } } })
  assert.deepEqual([iac.path, iac.resource_name], ['main.tf', 'aws_s3_bucket.logs'])
  assert.equal((await readOne({ locations: [location] })).resource_name, null)
})

const other = (fields: object) => ({ tool: { driver: { name: 'Other', semanticVersion: '1.2' } }, ...fields })

test('two runs of a tool are listed once, and a tool without results is listed, too', async () => {
  const { tools, count } = await parseReport(report({ results: [] }, { results: [] }, other({ results: [] })))
  assert.deepEqual(tools, [
    { name: 'Lint', version: null },
    { name: 'Other', version: '1.2' },
  ])
  assert.equal(count, 0)
})

test('a tool whose runs have no results, null or absent, did not scan', async () => {
  const { tools } = await parseReport(report({ results: null }, {}, other({ results: [] })))
  assert.deepEqual(
    tools.map(({ name, isUnscanned }) => [name, isUnscanned]),
    [
      ['Lint', true],
      ['Other', undefined],
    ],
  )
})

test('a tool is incomplete if one of its runs did not scan, and has failed if one of them states it', async () => {
  const tools = async (...runs: object[]) => (await parseReport(report(...runs))).tools
  const invocations = (...successes: unknown[]) => ({
    invocations: successes.map((executionSuccessful) => ({ executionSuccessful })),
  })
  const [cut] = await tools({ results: [] }, { results: null })
  assert.equal(cut?.incomplete, 'A run of the tool has no results, so it did not scan.')
  const [failed] = await tools({ results: [], ...invocations(true, false) })
  assert.deepEqual([failed?.incomplete, failed?.failures], [undefined, ['executionSuccessful is false']])
  const [text] = await tools({ results: [], ...invocations(true, undefined, 'false') })
  assert.equal(text?.failures, undefined)
  const [, whole] = await tools({ results: [], ...invocations(false) }, other({ results: [] }))
  assert.equal(whole?.failures, undefined)
})

const failuresOf = async (invocation: object, { tool = 'Lint', results = [result()] as object[] } = {}) =>
  (await parseReport(report({ tool: { driver: { name: tool } }, results, invocations: [invocation] }))).tools[0]
    ?.failures

test('an exit code is a failure unless it means "found", and "found" is one without results', async () => {
  assert.equal(await failuresOf({ exitCode: 0 }, { results: [] }), undefined)
  assert.equal(await failuresOf({ exitCode: 1 }), undefined)
  assert.deepEqual(await failuresOf({ exitCode: 1 }, { results: [] }), ['the exit code is 1 without results'])
  assert.deepEqual(await failuresOf({ exitCode: 2 }), ['the exit code is 2'])
  assert.equal(await failuresOf({ exitCode: 50 }, { tool: 'KICS' }), undefined)
  assert.equal(await failuresOf({ exitCode: 3 }, { tool: 'Brakeman' }), undefined)
  assert.deepEqual(await failuresOf({ exitCode: 3 }, { tool: 'Checkov' }), ['the exit code is 3'])
  assert.deepEqual(await failuresOf({ exitSignalName: 'SIGKILL' }), ['a signal ended it'])
  assert.deepEqual(await failuresOf({ processStartFailureMessage: 'spawn lint ENOENT' }), [
    'it states the error "spawn lint ENOENT"',
  ])
})

test('an error is a failure by its kind or its text without numbers, and one about a file or rule is none', async () => {
  const failures = (notification: object, fields: object = {}) =>
    failuresOf({ executionSuccessful: true, toolExecutionNotifications: [notification], ...fields })
  const error = { level: 'error', message: { text: 'Failed after 12 s' } }
  assert.deepEqual(await failures(error), ['it states the error "Failed after # s"'])
  assert.deepEqual(await failures({ ...error, descriptor: { id: 'NET' } }), ['it states the error "NET"'])
  assert.equal(await failures({ ...error, level: 'warning' }), undefined)
  assert.equal(await failures({ ...error, associatedRule: { id: 'R1' } }, { exitCode: 2 }), undefined)
  const locations = [{ physicalLocation: { artifactLocation: { uri: 'a.py' } } }]
  assert.equal(await failures({ ...error, locations }, { executionSuccessful: false }), undefined)
})

test('rules that could not be run are named, by reference to the rules of the run', async () => {
  const notification = { level: 'error', message: { text: 'x' }, associatedRule: { index: 1 } }
  const run = {
    tool: { driver: { name: 'Lint', rules: [{ id: 'R0' }, { id: 'R1' }] } },
    results: [result()],
    invocations: [{ executionSuccessful: true, toolConfigurationNotifications: [notification] }],
  }
  assert.deepEqual((await parseReport(report(run))).tools[0]?.unrunRules, ['R1'])
})

test('every tool is incomplete if a run cannot be read', async () => {
  for (const runs of [
    [{ results: [] }, null],
    [7, { results: [] }],
  ]) {
    const file = JSON.stringify({ version: '2.1.0', runs })
    assert.equal((await parseReport(file)).tools[0]?.incomplete, 'A run of the report could not be read.')
  }
})

test('a report lists files and rules, those without results are counted', async () => {
  const tool = {
    driver: { name: 'Lint', rules: ['a', 'b', 'c'].map((id) => ({ id })) },
    extensions: [{ rules: [{ id: 'p' }] }],
  }
  const artifacts = ['src/a.ts', 'src/b.ts', 'src/c.ts'].map((uri) => ({ location: { uri } }))
  const results = [result({ ruleId: 'a', ...at('src/a.ts') }), result({ ruleId: 'x', kind: 'pass' })]
  const { scope } = (await parseReport(report({ tool, artifacts, results }))).tools[0] ?? {}
  assert.deepEqual([scope?.files, scope?.rules], [2, 3])
  assert.deepEqual(
    ['a', 'p', 'x', 'y'].map((id) => scope?.hasRule(id)),
    [true, true, true, false],
  )
  assert.deepEqual(
    ['src/a.ts', 'src/b.ts', 'src/d.ts'].map((path) => scope?.hasFile(path)),
    [true, true, false],
  )
  assert.equal((await parseReport(report({ results }))).tools[0]?.scope, undefined)
})

test('an invalid result is skipped with a warning, and valid ones are kept', async () => {
  const { count, skipped, warnings } = await parseReport(report({ results: [null, result(), {}, 'text', result()] }))
  assert.deepEqual([count, skipped, warnings.length], [2, 3, 3])
  assert.equal(warnings[0], 'Result 1 of run 1 is not an object; it was skipped.')
  assert.equal(warnings[1], 'Result 3 of run 1 has neither a message nor a rule; it was skipped.')
})

test('a report without any valid result is refused', async () => {
  await assert.rejects(parseReport(report({ results: [null, {}] })), {
    name: 'ReportError',
    message: 'None of the results could be read (2 skipped). Result 1 of run 1 is not an object.',
  })
})

test('a report whose results cannot be read is refused', async () => {
  await assert.rejects(parseReport(report({ results: {} })), {
    message: 'The results of run 1 are not an array.',
  })
  const externalPropertyFileReferences = { results: [{ location: { uri: 'more.sarif-external-properties' } }] }
  await assert.rejects(parseReport(report({ externalPropertyFileReferences })), {
    message: 'Run 1 has its results in other files; configure the tool to write a single file.',
  })
})

test('a report that repeats `results` or `runs` is refused', async () => {
  const run = (members: string) => `{"tool":{"driver":{"name":"t"}},${members}}`
  const twice = `"results":[${JSON.stringify(result())}],"results":[]`
  await assert.rejects(parseReport(`{"version":"2.1.0","runs":[${run(twice)}]}`), {
    message: 'Run 1 has the member `results` twice.',
  })
  await assert.rejects(parseReport(`{"version":"2.1.0","runs":[${run('"results":[]')}],"runs":[]}`), {
    message: 'The report has the member `runs` twice.',
  })
})

test('at most 50 warnings are listed, and the others are counted', async () => {
  const { warnings } = await parseReport(report({ results: [result(), ...Array(80).fill(null)] }))
  assert.equal(warnings.length, 51)
  assert.equal(warnings[50], 'Further warnings that are not listed: 30.')
})

test('only the first 100,000 findings are kept, in batches, and the report is marked as truncated', async () => {
  const results = Array(100_001).fill('{"ruleId":"a","message":{"text":"b"}}')
  const { count, truncated, findings, batches } = await parseReport(
    `{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"results":[${results.join(',')}]}]}`,
  )
  assert.deepEqual([count, truncated, findings.length], [100_000, true, 100_000])
  assert.equal(Math.max(...batches), 500)
})

test('a report with exactly 100,000 findings is not truncated', async () => {
  const results = Array(100_000).fill('{"ruleId":"a","message":{"text":"b"}}')
  const { truncated } = await parseReport(`{"version":"2.1.0","runs":[{"results":[${results.join(',')}]}]}`)
  assert.equal(truncated, false)
})

test('the texts of a finding are bounded, without NUL and lone surrogates', async () => {
  const bad = `\u0000a\ud800${'x'.repeat(20_000)}`
  const finding = await readOne({
    ruleId: bad,
    message: { text: bad },
    ...at(`src/${bad}%00.ts`),
    suppressions: [{ justification: bad }],
  })
  for (const text of Object.values(finding).flat()) {
    if (typeof text === 'string') assert.ok(!text.includes('\u0000') && text.isWellFormed() && text.length <= 16_384)
  }
  assert.ok(finding.title.length <= 500)
  assert.ok((finding.path ?? '').length <= 1000)
})

test('only http and https URLs are kept', async () => {
  assert.equal((await readOne({ hostedViewerUri: 'javascript:alert(1)' })).native_url, null)
  assert.equal((await readOne({ hostedViewerUri: 'https://x.example/1' })).native_url, 'https://x.example/1')
})

test('the category is the automation id without its last part, if the runs agree', async () => {
  const category = async (...ids: string[]) =>
    (await parseReport(report(...ids.map((id) => ({ automationDetails: { id } }))))).category
  assert.equal(await category('my analysis/tool/2021-02-01'), 'my-analysis/tool')
  assert.equal(await category('a/'), 'a')
  assert.equal(await category('no part'), null)
  assert.equal(await category('a/1', 'b/1'), null)
})

const PLUGIN = {
  name: 'Plugin',
  guid: 'AAAA0000-0000-0000-0000-000000000001',
  globalMessageStrings: { shared: { text: 'Found {0} in {1}' } },
  rules: [
    { id: 'P1', defaultConfiguration: { level: 'note' }, messageStrings: { own: { text: 'P1 found {0}' } } },
    { id: 'P2', properties: { tags: ['CWE-89'] } },
  ],
}
const WITH_PLUGIN = { tool: { driver: { name: 'Lint', rules: [{ id: 'R1' }] }, extensions: [PLUGIN] } }

test('a result with a rule of an extension has the message, level and weakness of the rule', async () => {
  for (const toolComponent of [{ index: 0 }, { guid: PLUGIN.guid.toLowerCase() }, { name: 'Plugin' }]) {
    const of = (index: number, message: object) =>
      readOne({ ruleId: undefined, rule: { index, toolComponent }, message }, WITH_PLUGIN)
    const first = await of(0, { id: 'own', arguments: ['x'] })
    assert.deepEqual([first.rule_id, first.severity, first.description], ['P1', 'low', 'P1 found x'])
    const second = await of(1, { id: 'shared', arguments: ['x', 'y'] })
    assert.deepEqual([second.rule_id, second.severity, second.description], ['P2', 'medium', 'Found x in y'])
    assert.deepEqual(second.cwes, ['CWE-89'])
  }
})

test('an invocation overrides the level of a rule by id or index, for its own results', async () => {
  const override = (descriptor: object, level: string) => ({
    ruleConfigurationOverrides: [{ descriptor, configuration: { level } }],
  })
  const invocations = [
    override({ id: 'R1' }, 'error'),
    override({ index: 0, toolComponent: { index: 0 } }, 'none'),
    override({ id: 'R1' }, 'deafening'),
  ]
  const severity = async (ruleId: string, provenance: object | undefined, fields: object = {}) =>
    (await readOne({ ruleId, provenance, ...fields }, { ...WITH_PLUGIN, invocations })).severity
  assert.equal(await severity('R1', { invocationIndex: 0 }), 'high')
  assert.equal(await severity('P1', { invocationIndex: 1 }), 'info')
  assert.equal(await severity('P1', { invocationIndex: 0 }), 'low')
  assert.equal(await severity('R1', undefined), 'medium')
  assert.equal(await severity('R1', { invocationIndex: 2 }), 'medium')
  assert.equal(await severity('R1', { invocationIndex: 0 }, { level: 'note' }), 'low')
  assert.equal(await severity('R1', { invocationIndex: 0 }, { kind: 'review' }), 'info')
})

test('a path is relative to the base that is the top of the repository', async () => {
  const path = async (uri: string, uriBaseId: string, run: object) =>
    (await readOne({ locations: [{ physicalLocation: { artifactLocation: { uri, uriBaseId } } }] }, { ...run })).path
  const chain = {
    originalUriBaseIds: {
      TOP: { uri: 'file:///home/me/app/' },
      LIB: { uri: 'lib%20a/', uriBaseId: 'TOP' },
      DEEP: { uri: 'b/', uriBaseId: 'LIB' },
    },
    versionControlProvenance: [{ repositoryUri: 'https://x.example/app', mappedTo: { uriBaseId: 'TOP' } }],
  }
  assert.equal(await path('c%23.ts', 'DEEP', chain), 'lib a/b/c#.ts')
  assert.equal(await path('c.ts', 'TOP', chain), 'c.ts')
  assert.equal(await path('c.ts', '%SRCROOT%', {}), 'c.ts')
})

test('results outside the runs are not read, and the tools are incomplete', async () => {
  const inline = { runGuid: 'AAAA0000-0000-0000-0000-000000000001', results: [result()] }
  const outside = async (properties: object) =>
    parseReport({ ...report({ results: [] }), inlineExternalProperties: [properties] })
  const { count, tools, warnings } = await outside(inline)
  assert.deepEqual([count, tools[0]?.incomplete], [0, 'The report has results outside its runs.'])
  assert.deepEqual(warnings, ['The report has results outside its runs; they were not read.'])
  assert.equal((await outside({ ...inline, results: [] })).tools[0]?.incomplete, undefined)
})

test('UTF-8 and UTF-16 with byte order marks are supported', async () => {
  const text = JSON.stringify(report({ results: [result({ message: { text: 'Größe 中文 😀' } })] }))
  const little = Buffer.from(`\ufeff${text}`, 'utf16le')
  const encoded = [Buffer.from(text), Buffer.from(`\ufeff${text}`), little, Buffer.from(little).swap16()]
  for (const bytes of encoded) assert.equal((await parseReport(bytes)).findings[0]?.title, 'Größe 中文 😀')
})

test('fingerprints do not depend on lines, order and repetition of results', async () => {
  const location = fc.record({
    rule: fc.constantFrom('A', 'B'),
    file: fc.constantFrom('x.ts', 'y.ts'),
    text: fc.constantFrom('p()', 'q( )'),
    line: fc.nat(50),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(location, { minLength: 1 }), fc.nat(100), async (locations, shift) => {
      const shown = (offset: number) =>
        locations.map(({ rule, file, text, line }) =>
          result({ ruleId: rule, ...at(file, { startLine: 1 + line + offset, snippet: { text } }) }),
        )
      const before = await parseReport(report({ results: shown(0) }))
      const after = await parseReport(report({ results: shown(shift).reverse() }))
      assert.deepEqual(fingerprints(after.findings), fingerprints(before.findings))
    }),
    { numRuns: 50 },
  )
})

function fingerprints(findings: ParsedFinding[]): string[] {
  return findings.map(({ fingerprint }) => fingerprint).sort()
}

test('a report with any damage is read or refused with a ReportError', async () => {
  const document = Buffer.from(
    JSON.stringify(
      report({
        results: [result({ ...at('a/b.c', { startLine: 1 }), suppressions: [{}], fingerprints: { a: 'b' } })],
        artifacts: [{ location: { uri: 'x' } }],
        originalUriBaseIds: { S: { uri: 'y/' } },
      }),
    ),
  )
  await fc.assert(
    fc.asyncProperty(fc.nat(document.length - 1), fc.nat(255), fc.nat(5), async (position, byte, cut) => {
      const mutated = Buffer.concat([
        document.subarray(0, position),
        Buffer.from([byte]),
        document.subarray(position + cut),
      ])
      await parseReport(mutated.toString('latin1')).catch((error) =>
        assert.equal(error.name, 'ReportError', error.stack),
      )
    }),
    { numRuns: 2000 },
  )
})

test("any value of a result's member leaves the other results readable", async () => {
  const members = [
    'ruleId',
    'ruleIndex',
    'rule',
    'message',
    'level',
    'kind',
    'locations',
    'suppressions',
    'fingerprints',
    'partialFingerprints',
    'properties',
    'taxa',
    'provenance',
    'hostedViewerUri',
  ]
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...members), fc.jsonValue(), async (member, value) => {
      const { count, skipped } = await parseReport(report({ results: [result(), result({ [member]: value })] }))
      assert.ok(count + skipped >= 1)
    }),
    { numRuns: 500 },
  )
})

test('the repository is looked up once, and only for absolute paths that the report does not explain', async () => {
  const parse = async (...runs: object[]) => {
    const bytes = Buffer.from(JSON.stringify(report(...runs)))
    const paths: (string | null)[] = []
    let calls = 0
    const open = async function* () {
      yield bytes
    }
    const onFindings = async (findings: ParsedFinding[]) => {
      paths.push(...findings.map(({ path }) => path))
    }
    const { skipped } = await parseSarif({ open }, onFindings, async () => {
      calls++
      return { name: 'acme/app', paths: [] }
    })
    return { paths, calls, skipped }
  }
  const root = { originalUriBaseIds: { SRCROOT: { uri: 'file:///stated/' } } }
  const explained = { results: [result(at('file:///stated/a.ts')), result(at('b.ts')), 7], ...root }
  assert.deepEqual(await parse(explained), { paths: ['a.ts', 'b.ts'], calls: 0, skipped: 1 })
  const absolute = { results: [result(at('/ci/app/c.ts')), result(at('/ci/app/d.ts')), 7] }
  const both = await parse(explained, absolute, absolute)
  assert.deepEqual(both, { paths: ['a.ts', 'b.ts', 'c.ts', 'd.ts', 'c.ts', 'd.ts'], calls: 1, skipped: 3 })
})

test('the working directory of a tool is removed from absolute paths', async () => {
  const workingDirectory = { uri: 'file:///ci/ws/packages/web/' }
  const invocations = [{ executionSuccessful: true, workingDirectory }]
  assert.equal((await readOne(at('/ci/ws/packages/web/a.ts'), { invocations })).path, 'a.ts')
  assert.equal((await readOne(at('../shared/a.ts'), { invocations })).path, 'shared/a.ts')
})
