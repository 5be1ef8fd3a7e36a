import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { factsOf, packageFacts } from '../../../../test/support/grouping-members.ts'
import type { GroupingFacts } from './grouping-facts.ts'
import { linkBucket } from './link-bucket.ts'

const ALIASES = new Map([
  ['GHSA-1', 'CVE-2024-1000'],
  ['PYSEC-1', 'CVE-2024-1000'],
  ['GHSA-2', 'CVE-2024-2000'],
])
const canonicalId = (id: string) => ALIASES.get(id) ?? id
const groupsOf = (members: GroupingFacts[]) => linkBucket(members, canonicalId).groups()
const reasonOf = (members: GroupingFacts[], at = 0) => linkBucket(members, canonicalId).reasonOf(at)
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

test('an advisory about several vulnerabilities does not join them', () => {
  const advisory = packageFacts(['RHSA-2024:1', 'CVE-2024-1000', 'CVE-2024-2000'])
  const [first, second] = [packageFacts(['CVE-2024-1000']), packageFacts(['CVE-2024-2000'])]
  assert.deepEqual(groupsOf([advisory, first, second]), [[0, 1], [2]])
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

test('findings of one weakness are one issue if the flagged text is the same or the lines overlap', () => {
  const at = (from: number, to: number, fields = {}) =>
    factsOf({ cwes: ['CWE-89'], start_line: from, end_line: to, ...fields })
  assert.ok(isOne(at(10, 14), at(14, 20)))
  assert.ok(!isOne(at(10, 14), at(15, 20)))
  assert.ok(isOne(at(10, 10, { context: 'aa' }), at(90, 90, { context: 'aa' })))
  assert.ok(!isOne(at(10, 14), at(10, 14, { cwes: ['CWE-79'] })))
  assert.equal(reasonOf([at(10, 14), at(14, 20)]).detail, 'CWE-89 at overlapping lines of src/db.ts.')
  assert.equal(reasonOf([at(1, 1, { context: 'aa' }), at(1, 1, { context: 'aa' })]).code, 'same_fingerprint')
})

test('rules of one family are one weakness, whatever the prefixes of their ids', () => {
  const by = (rule: string) => factsOf({ rule_id: rule, start_line: 3 })
  assert.ok(isOne(by('python.lang.security.exec-detected'), by('security/exec-detected')))
  assert.ok(isOne(by('S102'), by('B102')))
  assert.ok(isOne(by('AVD-AWS-0088'), by('AWS-0088')))
  assert.ok(!isOne(by('exec-detected'), by('eval-detected')))
})

test('findings without lines and text are joined only if one scanner reports the same finding twice', () => {
  const somewhere = (fields = {}) => factsOf({ cwes: ['CWE-89'], ...fields })
  assert.ok(!isOne(somewhere(), somewhere()))
  assert.ok(isOne(somewhere({ fingerprint: 'f' }), somewhere({ fingerprint: 'f' })))
})

test('a secret is one issue in all files; without the text of the secret, type and location count', () => {
  const secret = (fields = {}) => factsOf({ kind: 'secret', secret_type: 'aws-key', ...fields })
  assert.equal(reasonOf([secret({ context: 'aa' }), secret({ context: 'aa', path: 'b.env' })]).code, 'same_secret')
  assert.ok(isOne(secret({ start_line: 4 }), secret({ start_line: 4 })))
  assert.ok(!isOne(secret({ start_line: 4 }), secret({ start_line: 5 })))
  assert.ok(!isOne(secret({ start_line: 4 }), secret({ start_line: 4, secret_type: 'slack-token' })))
})

test('findings of infrastructure and containers are joined by resource and rule', () => {
  const of = (resource: string, rule: string, kind: GroupingFacts['kind'] = 'iac') =>
    factsOf({ kind, path: null, resource_name: resource, rule_id: rule })
  assert.ok(isOne(of('aws_s3_bucket.logs', 'AVD-AWS-0086'), of('aws_s3_bucket.logs', 'AVD-AWS-0086', 'container')))
  assert.ok(!isOne(of('aws_s3_bucket.logs', 'AVD-AWS-0086'), of('aws_s3_bucket.logs', 'AVD-AWS-0087')))
  assert.ok(!isOne(of('aws_s3_bucket.logs', 'AVD-AWS-0086'), of('aws_s3_bucket.data', 'AVD-AWS-0086')))
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

const some = <Value>(...values: Value[]) => fc.constantFrom(...values)
const ids = fc.subarray(['CVE-2024-1000', 'CVE-2024-2000', 'GHSA-1', 'GHSA-2', 'RHSA-2024:1', 'UBUNTU-CVE-2024-1000'])
const fingerprint = some('f1', 'f2', 'f3', 'f4', 'f5', 'f6')

const inPackage = (purl: fc.Arbitrary<string | null>) =>
  fc
    .record({ vuln_ids: ids, purl, rule_id: some('R1', 'R2', null), fingerprint })
    .map((fields) => packageFacts(fields.vuln_ids, fields))
const inFile = fc
  .record({
    cwes: fc.subarray(['CWE-89', 'CWE-79']),
    rule_id: some('a/sqli', 'b/sqli', 'xss', null),
    context: some('aa', 'bb', null),
    start_line: some(1, 5, 9, 30, null),
    fingerprint,
  })
  .chain((fields) =>
    fc.nat(6).map((length) => factsOf({ ...fields, end_line: (fields.start_line ?? 0) + length, ...lineless(fields) })),
  )
const lineless = ({ start_line }: { start_line: number | null }) => (start_line === null ? { end_line: null } : {})

const anyPurl = some('pkg:npm/lodash@1', 'pkg:pypi/lodash@2', 'pkg:golang/lodash', null)
const BUCKETS = {
  'of a package': fc.array(inPackage(anyPurl), { maxLength: 12 }),
  'of a file': fc.array(inFile, { maxLength: 12 }),
}

/** Each member's group, as the members in it, and its reason: by the member itself. */
function outcome(members: GroupingFacts[]): Map<GroupingFacts, { group: Set<GroupingFacts>; reason: unknown }> {
  const links = linkBucket(members, canonicalId)
  const groups = links.groups().map((numbers) => new Set(numbers.map((at) => members[at] as GroupingFacts)))
  return new Map(
    members.map((member, at) => [
      member,
      { group: groups.find((group) => group.has(member)) as Set<GroupingFacts>, reason: links.reasonOf(at) },
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

test('another finding never splits an issue, if all findings are of one ecosystem', () => {
  const oneEcosystem = fc.array(inPackage(some('pkg:npm/lodash@1', null)), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(fc.oneof(oneEcosystem, fc.array(inFile, { minLength: 1, maxLength: 12 })), (members) => {
      const [fewer, all] = [outcome(members.slice(0, -1)), outcome(members)]
      for (const [member, { group }] of fewer) {
        for (const other of group) assert.ok(all.get(member)?.group.has(other))
      }
    }),
  )
})
