import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import { bom, codeResult, packageResult } from '../support/issues.ts'
import { type UploadOptions, uploadReport } from '../support/reports.ts'
import { sarif } from '../support/sarif.ts'

const RUNS = 12
const LODASH = 'pkg:npm/lodash@4.17.20'
const SECRET = 'AKIAIOSFODNN7EXAMPLE'

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

/** Reports of four tools on one repository, and a second, changed report of two of them. */
const REPORTS: [report: object, options?: UploadOptions][] = [
  [bom('Trivy', LODASH, [{ id: 'CVE-2024-1000' }, { id: 'CVE-2024-2000' }])],
  [sarif([packageResult('CVE-2024-1000', LODASH), packageResult('GHSA-2222-2222-2222', LODASH)], 'Grype')],
  [sarif([packageResult('CVE-2024-1000', 'pkg:pypi/lodash@1.0'), packageResult('CVE-2024-2000', LODASH)], 'Snyk')],
  [
    sarif(
      [
        codeResult('js/sql-injection', 'src/db.ts', [10, 14], 'query(input)'),
        codeResult('js/xss', 'src/db.ts', [11, 12]),
        codeResult('js/sql-injection', 'src/db.ts', [50, 52]),
      ],
      'CodeQL',
    ),
  ],
  [
    sarif(
      [
        codeResult('security/sql-injection', 'src/db.ts', [14, 20]),
        codeResult('security/sql-injection', 'src/db.ts', [70, 70], 'query( input )'),
      ],
      'Semgrep',
    ),
  ],
  // Overlaps the lines of two findings of CodeQL, and is joined with only one of them.
  [sarif([codeResult('other/sql-injection', 'src/db.ts', [16, 50])], 'Sonar')],
  [sarif([codeResult('sql-injection', 'src/db.ts', [12, 12])], 'Fluid')],
  [
    sarif(
      ['B602', 'B607', 'B603'].map((rule) => ({
        ...codeResult(rule, 'run.py', [7, 7]),
        properties: { cwe: 'CWE-78' },
      })),
      'Bandit',
    ),
  ],
  [sarif([{ ...codeResult('py/command-line-injection', 'run.py', [7, 8]), properties: { cwe: 'CWE-78' } }], 'CodeQL')],
  [sarif([codeResult('S602', 'run.py', [7, 7])], 'ruff')],
  [sarif([codeResult('aws-key', 'a.env', [1, 1], SECRET)], 'gitleaks')],
  [sarif([codeResult('AWS', 'b.env', [7, 7], SECRET), codeResult('AWS', 'b.env', [9, 9])], 'trufflehog')],
  [sarif([codeResult('js/xss', 'src/db.ts', [11, 12])], 'CodeQL'), { category: 'nightly' }],
]

type Finding = Awaited<ReturnType<typeof listFindings>>[number]

/** The groups of findings and their reasons, by the content of the findings. */
async function partition(caller: Caller): Promise<string[]> {
  const findings: Finding[] = await listFindings(api, caller)
  return [...Map.groupBy(findings, ({ issue_id }) => issue_id).values()]
    .map((members) => members.map(describe).sort().join('\n'))
    .sort()
}

function describe({ scanner, title, category, purl, location, grouping_reason }: Finding): string {
  const { code, detail } = grouping_reason
  return JSON.stringify([scanner, category, title, purl, location, code, detail])
}

async function uploadAll(reports: typeof REPORTS): Promise<Caller> {
  const caller = await api.caller()
  for (const [report, options = {}] of reports) {
    await uploadReport(api, caller, report, options)
    api.clock.advance(1)
  }
  return caller
}

test('reports of several tools end in the same issues for the same reasons, in whatever order they arrive', async () => {
  const wanted = await partition(await uploadAll(REPORTS))
  assert.ok(wanted.some((issue) => issue.split('\n').length >= 4))
  const order = fc.shuffledSubarray(REPORTS, { minLength: REPORTS.length })
  await fc.assert(
    fc.asyncProperty(order, async (reports) => {
      assert.deepEqual(await partition(await uploadAll(reports)), wanted)
    }),
    { numRuns: RUNS },
  )
})

test('reports that arrive at the same moment end in the same issues', async () => {
  const wanted = await partition(await uploadAll(REPORTS))
  const caller = await api.caller()
  await Promise.all(REPORTS.map(([report, options]) => uploadReport(api, caller, report, options)))
  assert.deepEqual(await partition(caller), wanted)
})

test('a finding that its tool no longer groups with others has no reference to them', async () => {
  const between = REPORTS[5] as (typeof REPORTS)[number]
  const without = await partition(await uploadAll(REPORTS.filter((report) => report !== between)))
  const caller = await uploadAll(REPORTS)
  const elsewhere = sarif([codeResult('other/sql-injection', 'src/db.ts', [900, 901])], 'Sonar')
  await uploadReport(api, caller, elsewhere)
  const now = await partition(caller)
  assert.deepEqual(
    now.filter((issue) => !issue.includes('Sonar')),
    without,
  )
})
