import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { factsOf, packageFacts } from '../../../../test/support/grouping-members.ts'
import { RULES } from '../../../../test/support/rule-names.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { linkBucket } from './link-bucket.ts'

const ALIASES = new Map([
  ['GHSA-1', 'CVE-2024-1000'],
  ['PYSEC-1', 'CVE-2024-1000'],
  ['GHSA-2', 'CVE-2024-2000'],
])
const NAMES = { canonicalId: (id: string) => ALIASES.get(id) ?? id, rules: RULES }
const groupsOf = (members: GroupingFacts[]) => linkBucket(members, NAMES).groups()
const reasonOf = (members: GroupingFacts[], at = 0) => linkBucket(members, NAMES).getReason(at)
const isOne = (...members: GroupingFacts[]) => groupsOf(members).length === 1

test('findings of one vulnerability in a package are one issue, under any of its ids', () => {
  assert.ok(isOne(packageFacts(['CVE-2024-1000']), packageFacts(['GHSA-1']), packageFacts(['PYSEC-1'])))
  assert.ok(isOne(packageFacts(['CVE-2024-1000']), packageFacts(['DEBIAN-CVE-2024-1000'])))
  assert.ok(!isOne(packageFacts(['CVE-2024-1000']), packageFacts(['CVE-2024-2000'])))
  assert.deepEqual(reasonOf([packageFacts(['GHSA-1']), packageFacts(['CVE-2024-1000'])]), {
    code: 'same_vulnerability',
    detail: 'CVE-2024-1000 in the package lodash, reported as GHSA-1.',
  })
})

test('an advisory about several vulnerabilities joins none of them, and is one issue in all reports', () => {
  const advisory = packageFacts(['RHSA-2024:1', 'CVE-2024-1000', 'CVE-2024-2000'])
  const [first, second] = [packageFacts(['CVE-2024-1000']), packageFacts(['CVE-2024-2000'])]
  assert.deepEqual(groupsOf([advisory, first, second]), [[0], [1], [2]])
  assert.ok(isOne(advisory, packageFacts(['CVE-2024-2000', 'RHSA-2024:1', 'GHSA-1'])))
})

test('an advisory that names one vulnerability joins it; two findings with only the same advisory id are joined too', () => {
  assert.ok(isOne(packageFacts(['RHSA-2024:1', 'CVE-2024-1000']), packageFacts(['CVE-2024-1000'])))
  assert.ok(!isOne(packageFacts(['RHSA-2024:1', 'CVE-2024-1000']), packageFacts(['RHSA-2024:1', 'CVE-2024-2000'])))
  assert.ok(isOne(packageFacts(['RHSA-2024:1']), packageFacts(['RHSA-2024:1'])))
})

test('packages with one name in two ecosystems are apart; a finding without an ecosystem joins the only one', () => {
  const npm = packageFacts(['CVE-2024-1000'], { purl: 'pkg:npm/lodash@1' })
  const pypi = packageFacts(['CVE-2024-1000'], { purl: 'pkg:pypi/lodash@1' })
  const unknown = packageFacts(['CVE-2024-1000'])
  assert.ok(!isOne(npm, pypi))
  assert.ok(isOne(npm, unknown))
  assert.deepEqual(groupsOf([npm, unknown, pypi]).length, 3)
})

test('package findings without a vulnerability are joined by their rule', () => {
  const license = (rule: string) => packageFacts([], { kind: 'license', rule_id: rule })
  assert.ok(isOne(license('GPL-3.0'), license('GPL-3.0')))
  assert.ok(!isOne(license('GPL-3.0'), license('AGPL-3.0')))
  assert.equal(reasonOf([license('GPL-3.0'), license('GPL-3.0')]).detail, 'GPL-3.0 in the package lodash.')
})

/** A finding of a scanner at a line. */
const by = (tool: string, rule: string | null, from: number | null, fields: Partial<GroupingFacts> = {}) =>
  factsOf({ tool, rule_id: rule, start_line: from, end_line: from, ...fields })
const bandit = (rule: string, from: number, fields = {}) => by('Bandit', rule, from, { cwes: ['CWE-78'], ...fields })
const SHELL = 'python.lang.security.audit.subprocess-shell-true.subprocess-shell-true'

test('findings of one CWE by two scanners are one issue if their lines overlap', () => {
  const sqli = (tool: string, from: number, to: number) =>
    by(tool, null, from, { end_line: to, cwes: ['CWE-89'], context: 'aa' })
  assert.ok(isOne(sqli('One', 10, 14), sqli('Two', 14, 20)))
  assert.ok(!isOne(sqli('One', 10, 14), sqli('Two', 15, 20)))
  assert.ok(!isOne(sqli('One', 10, 14), { ...sqli('Two', 10, 14), cwes: ['CWE-79'] }))
  assert.deepEqual(reasonOf([sqli('One', 10, 14), sqli('Two', 14, 20)]), {
    code: 'same_location',
    detail: 'One and Two both report CWE-89, at overlapping lines of src/db.ts.',
  })
})

test('a CWE and its kinds are one weakness up to two steps, but never through a class', () => {
  const of = (tool: string, cwe: string) => by(tool, null, 3, { cwes: [cwe] })
  assert.ok(isOne(of('One', 'CWE-94'), of('Two', 'CWE-95')))
  assert.ok(isOne(of('One', 'CWE-22'), of('Two', 'CWE-24')))
  assert.ok(isOne(of('One', 'CWE-78'), of('Two', 'CWE-95')))
  assert.ok(!isOne(of('One', 'CWE-22'), of('Two', 'CWE-59')))
  for (const cwe of ['CWE-20', 'CWE-284', 'CWE-693', 'CWE-664', 'CWE-707', 'CWE-522']) {
    assert.ok(!isOne(of('One', cwe), of('Two', cwe)), cwe)
  }
  assert.equal(
    reasonOf([of('One', 'CWE-94'), of('Two', 'CWE-95')]).detail,
    'One and Two report CWE-94 and its more specific form CWE-95, at overlapping lines of src/db.ts.',
  )
})

test('rules that the rule map equates are one weakness, without any CWE', () => {
  const members = [bandit('B602', 7, { cwes: [] }), by('ruff', 'S602', 7), by('Semgrep OSS', SHELL, 7, { end_line: 9 })]
  assert.ok(isOne(...members))
  assert.match(reasonOf(members).detail ?? '', /^Bandit B602 and .* are one weakness by the rule map \(/)
})

test('the same text on other lines is another weakness, also of one scanner and rule', () => {
  const pip = (tool: string, from: number) => by(tool, 'pip-uninstall', from, { cwes: ['CWE-89'], context: 'aa' })
  assert.ok(!isOne(pip('One', 3), pip('Two', 9)))
  assert.ok(!isOne(pip('One', 3), pip('One', 9)))
  assert.ok(isOne(pip('One', 3), pip('One', 3)))
})

test('two rules of one scanner at one line are never one issue, also if another scanner reports their CWE', () => {
  const [shell, path] = [bandit('B602', 7), bandit('B605', 7)]
  const [semgrep, other] = [by('Semgrep', SHELL, 7, { cwes: ['CWE-78'] }), by('Other', null, 7, { cwes: ['CWE-78'] })]
  assert.ok(!isOne(shell, path))
  for (const order of [
    [shell, path, semgrep, other],
    [other, path, semgrep, shell],
  ]) {
    const groups = groupsOf(order).map((group) => group.map((index) => order[index]))
    assert.ok(groups.some((group) => group.includes(shell) && group.includes(semgrep)))
    assert.ok(groups.every((group) => !(group.includes(shell) && group.includes(path))))
  }
})

test("a CWE that a scanner states for a module's import is not compared", () => {
  assert.ok(!isOne(bandit('B404', 7), by('Other', null, 7, { cwes: ['CWE-78'] })))
})

test('editions of a scanner and scanners that run it are one scanner', () => {
  const at = { cwes: ['CWE-22'], context: 'aa' }
  assert.ok(isOne(by('Semgrep OSS', 'a.b', 4, at), by('semgrep', 'a.b', 4, at)))
  const wrapped = by('golangci-lint', 'gosec', 4, { ...at, message: 'G304: Potent' })
  assert.ok(isOne(by('gosec', 'G304', 4, at), wrapped))
  assert.ok(isOne(by('gosec', 'G304', 4, { ...at, context: 'bb' }), wrapped))
  assert.ok(!isOne(by('gosec', 'G305', 4, at), wrapped))
  assert.ok(isOne(by('Semgrep', 'bandit.B602-1', 4), bandit('B602', 4)))
  assert.ok(!isOne(by('Semgrep', 'bandit.B605-1', 4, { cwes: ['CWE-78'] }), bandit('B602', 4)))
})

test('a rule id means one rule on every machine', () => {
  const local = 'tmp.w.semgrep-rules.python.lang.security.deserialization.pickle.avoid-pickle'
  const of = (rule: string, from: number) => by('Semgrep OSS', rule, from, { context: 'aa' })
  assert.ok(isOne(of(local, 4), of('python.lang.security.deserialization.pickle.avoid-pickle', 4)))
})

test('rules with the same name of several words are one weakness, whatever the prefixes of their ids', () => {
  assert.ok(isOne(by('One', 'js/sql-injection', 3), by('Two', 'security/sql_injection', 3)))
  assert.ok(!isOne(by('One', 'js/xss', 3), by('Two', 'security/xss', 3)))
  assert.ok(!isOne(by('SonarQube', 'python:S101', 3), by('ruff', 'S101', 3)))
})

test('findings without lines are joined across scanners, and of one scanner only if it reports the same finding twice', () => {
  const somewhere = (tool: string, fields = {}) => factsOf({ tool, cwes: ['CWE-89'], ...fields })
  assert.ok(isOne(somewhere('One'), somewhere('Two')))
  assert.ok(!isOne(somewhere('One'), somewhere('One')))
  assert.ok(isOne(somewhere('One', { fingerprint: 'f' }), somewhere('One', { fingerprint: 'f' })))
  assert.ok(!isOne(somewhere('One'), somewhere('Two', { start_line: 3 })))
})

test('a secret is one issue in all files, and with every secret at overlapping lines', () => {
  const secret = (fields = {}) => factsOf({ kind: 'secret', secret_type: 'aws-key', ...fields })
  assert.equal(reasonOf([secret({ context: 'aa' }), secret({ context: 'aa', path: 'b.env' })]).code, 'same_secret')
  assert.ok(isOne(secret({ start_line: 4 }), secret({ start_line: 4, tool: 'Other', secret_type: 'slack-token' })))
  assert.ok(!isOne(secret({ start_line: 4 }), secret({ start_line: 5 })))
  assert.ok(!isOne(secret({ start_line: 4 }), secret({ start_line: 4, path: 'b.env' })))
  const password = by('Bandit', 'B105', 4, { cwes: ['CWE-259'], context: 'password=x' })
  assert.ok(isOne(secret({ start_line: 4, context: 'x' }), password))
  assert.ok(!isOne(password, { ...password, path: 'b.py', fingerprint: 'other' }))
})

const columns = (from: number, to: number) => ({ start_column: from, end_column: to })

test('secrets at one line are several issues if a report tells them apart by their columns', () => {
  const secret = (tool: string, fields = {}) =>
    factsOf({ kind: 'secret', tool, stream_id: tool === 'One' ? 1 : 2, start_line: 1, ...fields })
  const [first, second] = [secret('One', columns(5, 20)), secret('One', columns(40, 60))]
  assert.deepEqual(groupsOf([first, second, secret('Two', columns(45, 50))]), [[0], [1, 2]])
  assert.ok(isOne(first, secret('Two', columns(40, 60))))
  assert.ok(isOne(first, secret('Two')))
})

test('of several findings at one line, those at the same columns are one issue; far columns are apart', () => {
  const of = (tool: string, from: number) =>
    by(tool, `rule ${from}`, 1, { cwes: ['CWE-95'], ...columns(from, from + 9) })
  assert.deepEqual(groupsOf([of('One', 1), of('One', 30), of('Two', 30), of('Two', 1)]), [
    [0, 3],
    [1, 2],
  ])
  assert.ok(!isOne(of('One', 1), of('Two', 500)))
})

test('findings of infrastructure and containers are joined by resource and control', () => {
  const of = (tool: string, rule: string, resource: string | null, fields = {}) =>
    factsOf({ kind: 'iac', path: 'main.tf', tool, rule_id: rule, resource_name: resource, ...fields })
  const checkov = of('checkov', 'CKV_AWS_19', 'aws_s3_bucket.logs', { start_line: 1, end_line: 9 })
  const trivy = (resource: string | null, line: number) => of('Trivy', 'AVD-AWS-0088', resource, { start_line: line })
  assert.ok(isOne(checkov, trivy('module.a.aws_s3_bucket.logs[0]', 30)))
  assert.ok(!isOne(checkov, trivy('aws_s3_bucket.data', 3)))
  assert.ok(isOne(checkov, trivy(null, 3)))
  assert.ok(!isOne(checkov, trivy(null, 30)))
  assert.ok(isOne(checkov, of('defsec', 'aws-s3-enable-bucket-encryption', null, { start_line: 4 })))
  assert.ok(!isOne({ ...checkov, cwes: ['CWE-311'] }, of('Other', 'x', null, { start_line: 4, cwes: ['CWE-311'] })))
  assert.equal(
    reasonOf([checkov, trivy('aws_s3_bucket.logs', 30)]).detail,
    'Trivy AVD-AWS-0088 and checkov CKV_AWS_19 are one weakness by the rule map (aws-s3-encryption), in the resource aws_s3_bucket.logs.'.replace(
      /^Trivy (\S+) and checkov (\S+)/,
      'checkov $2 and Trivy $1',
    ),
  )
})

test('a control of the whole file is one issue, whatever the lines', () => {
  const at = (tool: string, rule: string, from: number) =>
    factsOf({ kind: 'iac', path: 'Dockerfile', tool, rule_id: rule, start_line: from, end_line: from })
  assert.ok(isOne(at('Trivy', 'DS-0002', 1), at('KICS', 'fd54f200-402c-4333-a5a4-36ef6709af2f', 33)))
  assert.ok(!isOne(at('hadolint', 'DL3020', 1), at('Trivy', 'DS-0005', 33)))
})

test('findings of one rule at several lines of a resource are one issue; the resource is known from any scanner', () => {
  const rule = (from: number, fields = {}) =>
    factsOf({ kind: 'iac', tool: 'defsec', rule_id: 'no-public-egress', start_line: from, end_line: from, ...fields })
  assert.ok(!isOne(rule(4), rule(8)))
  const block = factsOf({
    kind: 'iac',
    tool: 'checkov',
    rule_id: 'X',
    resource_name: 'aws_x.a',
    start_line: 1,
    end_line: 9,
  })
  assert.equal(groupsOf([rule(4), rule(8), block]).length, 2)
  assert.equal(groupsOf([rule(4), rule(12), block]).length, 3)
})

test('one weakness in several resources of a file is several issues; a finding without a resource joins the only one', () => {
  const at = (resource: string | null, line: number, fields = {}) =>
    factsOf({ kind: 'iac', rule_id: 'no-encryption', resource_name: resource, start_line: line, ...fields })
  assert.ok(isOne(at('aws_s3_bucket.logs', 1), at('aws_s3_bucket.logs', 9)))
  assert.ok(isOne(at('aws_s3_bucket.logs', 1), at(null, 1)))
  assert.ok(!isOne(at('aws_s3_bucket.logs', 1), at('aws_s3_bucket.data', 1)))
  assert.ok(!isOne(at('aws_s3_bucket.logs', 1, { context: 'aa' }), at('aws_s3_bucket.data', 9, { context: 'aa' })))
  assert.ok(
    !isOne(at('aws_s3_bucket.logs', 1, { fingerprint: 'f' }), at('aws_s3_bucket.data', 9, { fingerprint: 'f' })),
  )
})

test('20,000 findings at one line are grouped in linear time', () => {
  const members = Array.from({ length: 20_000 }, (_, at) =>
    by(`Tool ${at % 40}`, `rule ${at}`, 1, { cwes: ['CWE-89', 'CWE-79', 'CWE-95'] }),
  )
  const start = process.cpuUsage()
  const groups = groupsOf(members)
  assert.ok(process.cpuUsage(start).user < 10_000_000)
  assert.ok(groups.length < members.length)
})

const some = <Value>(...values: Value[]) => fc.constantFrom(...values)
const ids = fc.subarray(['CVE-2024-1000', 'CVE-2024-2000', 'GHSA-1', 'GHSA-2', 'RHSA-2024:1', 'UBUNTU-CVE-2024-1000'])
const fingerprint = some('f1', 'f2', 'f3', 'f4', 'f5', 'f6')

const inPackage = (purl: fc.Arbitrary<string | null>) =>
  fc
    .record({ vuln_ids: ids, purl, rule_id: some('R1', 'R2', null), fingerprint })
    .map((fields) => packageFacts(fields.vuln_ids, fields))
const inFile = fc
  .record({
    stream_id: some(1, 2, 3),
    tool: some('Bandit', 'Semgrep OSS', 'CodeQL', 'defsec'),
    kind: some<GroupingFacts['kind']>('code', 'code', 'iac'),
    cwes: fc.subarray(['CWE-89', 'CWE-79', 'CWE-94', 'CWE-95', 'CWE-693']),
    rule_id: some('B602', SHELL, 'js/sql-injection', 'aws/sql-injection', null),
    resource_name: some('aws_s3_bucket.a', 'aws_s3_bucket.b', null),
    context: some('aa', 'bb', null),
    start_line: some(1, 5, 9, 30, null),
    start_column: some(1, 200, null),
    fingerprint,
    told: some('11', '22', null),
  })
  .chain((fields) =>
    fc.nat(6).map((length) => factsOf({ ...fields, end_line: (fields.start_line ?? 0) + length, ...lineless(fields) })),
  )
/** Code of which every finding is by another scanner. */
const byOtherScanners = fc
  .array(inFile, { minLength: 1, maxLength: 12 })
  .map((members) => members.map((facts, at) => ({ ...facts, kind: 'code' as const, tool: `Tool ${at}` })))
const lineless = ({ start_line }: { start_line: number | null }) => (start_line === null ? { end_line: null } : {})

const anyPurl = some('pkg:npm/lodash@1', 'pkg:pypi/lodash@2', 'pkg:golang/lodash', null)
const BUCKETS = {
  'of a package': fc.array(inPackage(anyPurl), { maxLength: 12 }),
  'of a file': fc.array(inFile, { maxLength: 12 }),
  'of secrets': fc.array(
    inFile.map((facts) => ({ ...facts, kind: 'secret' as const })),
    { maxLength: 12 },
  ),
}

/** Each member's group, as the members in it, and its reason: by the member itself. */
function outcome(members: GroupingFacts[]): Map<GroupingFacts, { group: Set<GroupingFacts>; reason: unknown }> {
  const links = linkBucket(members, NAMES)
  const groups = links.groups().map((numbers) => new Set(numbers.map((at) => members[at] as GroupingFacts)))
  return new Map(
    members.map((member, at) => [
      member,
      { group: groups.find((group) => group.has(member)) as Set<GroupingFacts>, reason: links.getReason(at) },
    ]),
  )
}

for (const [which, bucket] of Object.entries(BUCKETS)) {
  test(`the order of findings ${which} changes no group and no reason`, () => {
    const shuffled = bucket.chain((members) =>
      fc.tuple(fc.constant(members), fc.shuffledSubarray(members, { minLength: members.length })),
    )
    fc.assert(
      fc.property(shuffled, ([members, others]) => {
        const [one, other] = [outcome(members), outcome(others)]
        for (const member of members) assert.deepEqual(one.get(member), other.get(member))
      }),
    )
  })

  test(`every finding ${which} is in exactly one group, and grouping again gives the same groups`, () => {
    fc.assert(
      fc.property(bucket, (members) => {
        const groups = groupsOf(members)
        assert.deepEqual(
          groups.flat().sort((a, b) => a - b),
          [...members.keys()],
        )
        assert.deepEqual(groupsOf(members), groups)
      }),
    )
  })

  test(`a finding ${which} is alone in its group if and only if its reason is single`, () => {
    fc.assert(
      fc.property(bucket, (members) => {
        for (const { group, reason } of outcome(members).values()) {
          assert.equal(group.size === 1, (reason as { code: string }).code === 'single')
        }
      }),
    )
  })
}

test('another finding never splits an issue, if all findings are of one ecosystem or each is of another scanner', () => {
  const oneEcosystem = fc.array(inPackage(some('pkg:npm/lodash@1', null)), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(fc.oneof(oneEcosystem, byOtherScanners), (members) => {
      const [fewer, all] = [outcome(members.slice(0, -1)), outcome(members)]
      for (const [member, { group }] of fewer) {
        for (const other of group) assert.ok(all.get(member)?.group.has(other))
      }
    }),
  )
})

test('findings that one report tells apart are never one issue by their rule, however they are joined', () => {
  const tellOf = ({ start_line, end_line, start_column, context, fingerprint, told, resource_name }: GroupingFacts) =>
    JSON.stringify([start_line, end_line, start_column, context, fingerprint, told, resource_name])
  fc.assert(
    fc.property(BUCKETS['of a file'], (members) => {
      for (const group of groupsOf(members)) {
        const ofRules = Map.groupBy(
          group.map((index) => members[index] as GroupingFacts),
          (facts) => `${facts.stream_id} ${RULES.of(facts).rule}`,
        )
        for (const equal of ofRules.values()) assert.equal(new Set(equal.map(tellOf)).size, 1)
      }
    }),
    { numRuns: 2000 },
  )
})

test('columns, messages, fingerprints and resources tell the results of a report apart at one line', () => {
  const stream = { stream_id: 1, tool: 'One', rule_id: 'R', start_line: 3, end_line: 3 }
  const same = factsOf({ ...stream, start_column: 5, end_column: 9, told: 'm', fingerprint: 'f', context: null })
  for (const other of [{ start_column: 60, end_column: 80 }, { told: 'n' }, { fingerprint: 'g' }, { context: 'aa' }])
    assert.ok(!isOne(same, { ...same, ...other }), JSON.stringify(other))
  const block = factsOf({ ...stream, kind: 'iac', resource_name: 'aws_s3_bucket.a', told: 'm' })
  assert.ok(!isOne(block, { ...block, told: 'n' }))
  assert.ok(isOne(same, { ...same, stream_id: 2 }))
  assert.ok(isOne(block, { ...block, stream_id: 2, start_line: 9, end_line: 9 }))
})

test('another secret of the same scanner and rule at the same place is another issue, also of another branch', () => {
  const key = (context: string, stream_id: number) =>
    factsOf({ kind: 'secret', tool: 'gitleaks', rule_id: 'aws', stream_id, start_line: 3, end_line: 3, context })
  assert.ok(!isOne(key('aa', 1), key('bb', 1)))
  assert.ok(!isOne(key('aa', 1), key('bb', 2)))
  assert.ok(isOne(key('aa', 1), key('aa', 2)))
  assert.ok(isOne(key('aa', 1), { ...key('bb', 2), tool: 'trufflehog', rule_id: 'AWS' }))
})
