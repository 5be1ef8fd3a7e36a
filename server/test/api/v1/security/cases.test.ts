import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { type Caller, startTestApi, type TestApi } from '../../../support/api.ts'
import { listFindings } from '../../../support/findings.ts'
import { listIssues } from '../../../support/issues.ts'
import type { Json } from '../../../support/json.ts'
import { createPerson, requestAs } from '../../../support/people.ts'
import { uploadReport } from '../../../support/reports.ts'

/** An upload of a file of `fixtures/cases`, or a dismissal of the first issue by a person. */
type Step = { upload: string; fields?: Json } | { dismiss: 'first issue' }
/** What a repository has after all steps. Uploads are in the order of the steps. */
type Outcome = { uploads: Json[]; findings: Json[]; issues: Json[] }
type Case = { id: string; rule: string; steps: Step[]; check: (outcome: Outcome) => void }

const upload = (file: string, fields: Json = {}): Step => ({ upload: `${file}.json`, fields })

/** Real situations that went wrong once, by their ids. */
const CASES: Case[] = [
  {
    id: 'F07',
    rule: 'two packages of one rule in one file are two issues',
    steps: [upload('F07-1')],
    check: ({ findings, issues }) => {
      assert.deepEqual(values(findings, 'package_name'), ['evil-a', 'evil-b'])
      assert.equal(issues.length, 2)
    },
  },
  {
    id: 'F21',
    rule: "the package of a finding is the module at the end of its flow, so that another scanner's finding joins",
    steps: [upload('F21-1'), upload('F21-2'), upload('F21-3')],
    check: ({ findings, issues }) => {
      assert.deepEqual(values(findings, 'package_name'), ['github.com/tidwall/gjson', 'github.com/tidwall/gjson'])
      assert.deepEqual(values(findings, 'state'), ['dismissed', 'dismissed'])
      assert.deepEqual([issues.length, issues[0].member_count], [1, 2])
    },
  },
  {
    id: 'F23',
    rule: 'the package is in a sentence of the message, and the vulnerability in the help of the rule',
    steps: [upload('F23-1')],
    check: ({ findings: [finding] }) => {
      const { kind, package_name: name, vuln_ids: ids } = finding
      assert.deepEqual([kind, name], ['dependency', 'golang.org/x/crypto'])
      assert.deepEqual(ids.toSorted(), ['CVE-2023-48795', 'GHSA-45x7-px36-x8w8'])
    },
  },
  {
    id: 'F24',
    rule: 'ids inside a rule id, a fingerprint or a message make dependency findings of any tool',
    steps: [upload('F24-1'), upload('F24-2')],
    check: ({ findings }) => {
      assert.deepEqual(values(findings, 'kind'), ['dependency', 'dependency', 'dependency'])
      assert.deepEqual(values(findings, 'vuln_ids'), ['CVE-2016-10033', 'CVE-2021-44228', 'RUSTSEC-2023-0071'])
    },
  },
  {
    id: 'F25',
    rule: 'a rule of SNYK-CC- is about infrastructure, and is no vulnerability',
    steps: [upload('F25-1')],
    check: ({ findings: [{ kind, vuln_ids: ids }] }) => assert.deepEqual([kind, ids], ['iac', []]),
  },
  {
    id: 'F27',
    rule: 'a statement about an image without components is about the reports of that image',
    steps: [upload('F27-1'), upload('F27-2')],
    check: ({ uploads, findings: [finding] }) => {
      assert.deepEqual([finding.state, uploads[1].warnings], ['dismissed', []])
    },
  },
  {
    id: 'F29',
    rule: 'documents of one author with different ids are kept beside each other',
    steps: [upload('F29-1'), upload('F29-2'), upload('F29-3')],
    check: ({ findings }) => assert.deepEqual(values(findings, 'state'), ['dismissed', 'dismissed']),
  },
  {
    id: 'F30',
    rule: "a statement about another's image dismisses nothing of the application that has the same package",
    steps: [upload('F30-1', { category: 'base-image' }), upload('F30-2', { category: 'app' }), upload('F30-3')],
    check: ({ findings }) => {
      const states = findings.map(({ scanner, state }) => `${scanner} ${state}`)
      assert.deepEqual(states.sort(), ['osv-scanner open', 'trivy dismissed'])
    },
  },
  {
    id: 'F32',
    rule: 'words such as None and won’t fix are no fix',
    steps: [upload('F32-1')],
    check: ({ findings }) => {
      assert.equal(findings.length, 4)
      for (const { fixed_version: fix, intel } of findings) assert.deepEqual([fix, intel.fix_available], [null, false])
    },
  },
  {
    id: 'F34a',
    rule: 'a title is never a heading, filler or Key: value, but names the vulnerability and package',
    steps: [upload('F34a-1')],
    check: ({ findings }) => {
      assert.deepEqual(
        values(findings, 'title'),
        [0, 1, 2, 3, 4].map((n) => `CVE-2024-080${n} in a`),
      )
    },
  },
  {
    id: 'F34b',
    rule: 'a rule without a description gives its name, and "/" is no path: the target is the resource',
    steps: [upload('F34b-1')],
    check: ({ findings: [{ title, location, resource_name: resource }] }) => {
      assert.deepEqual([title, location, resource], ['TLS Version', null, 'https://host.test'])
    },
  },
  {
    id: 'F36',
    rule: 'the severity may be a word in the properties, and the CWE at the start of a description',
    steps: [upload('F36-1'), upload('F36-2')],
    check: ({ findings }) => {
      const [appScan, veracode] = findings.toSorted((a, b) => (a.scanner < b.scanner ? -1 : 1))
      assert.equal(appScan?.severity, 'high')
      assert.deepEqual(veracode?.cwes, ['CWE-89'])
    },
  },
  {
    id: 'F38',
    rule: 'a vulnerability without an id is skipped with a warning, and the components are read',
    steps: [upload('F38-1')],
    check: ({ uploads: [read], findings }) => {
      assert.deepEqual([read.status, read.counts.components, findings.length], ['finished', 1, 0])
      assert.match(read.warnings[0], /^Vulnerability 1 has neither an id nor a description/)
    },
  },
  {
    id: 'F40',
    rule: 'without locations a finding is at the end of its flow, a related location or the analysis target',
    steps: [upload('F40-1')],
    check: ({ findings }) => {
      const places = findings.map(({ location: { path, start_line: line } }) => `${path}:${line}`)
      assert.deepEqual(places.sort(), ['a.py:3', 'sink.py:9', 't.py:null'])
    },
  },
  {
    id: 'F42',
    rule: 'text before the JSON is refused as such',
    steps: [upload('F42-1')],
    check: ({ uploads: [refused] }) => {
      assert.equal(refused.status, 'failed')
      assert.match(refused.error, /text before the JSON/)
      assert.doesNotMatch(refused.error, /YAML/)
    },
  },
]

/** The values of a member of all findings, sorted. A list of one is its element. */
function values(findings: Json[], member: string): Json[] {
  return findings.flatMap((finding) => finding[member]).sort()
}

let api: TestApi

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())

for (const { id, rule, steps, check } of CASES) {
  test(`${id}: ${rule}`, async () => check(await play(steps)))
}

async function play(steps: Step[]): Promise<Outcome> {
  const caller = await api.caller()
  const uploads: Json[] = []
  for (const step of steps) {
    api.clock.advance(60_000)
    if ('upload' in step) uploads.push(await uploadFile(caller, step))
    else await dismissFirst(caller)
  }
  return { uploads, findings: await listFindings(api, caller), issues: await listIssues(api, caller) }
}

/** The key has all scopes, so VEX documents speak at once. */
async function uploadFile(caller: Caller, { upload: file, fields }: { upload: string; fields?: Json }): Promise<Json> {
  const bytes = readFileSync(new URL(`../../../fixtures/cases/${file}`, import.meta.url))
  return uploadReport(api, caller, bytes, { gitRef: 'main', filename: file, ...fields })
}

async function dismissFirst(caller: Caller): Promise<void> {
  const person = await createPerson(api, { ...caller, role: 'security' })
  const issue = (await listIssues(api, caller)).at(-1) ?? assert.fail('There is no issue.')
  const body = { action: 'dismiss', reason: 'false_positive', issue_ids: [issue.id] }
  const answer = await requestAs(api, person, 'POST', '/security/triage', body)
  assert.equal(answer.status, 201, answer.text)
}
