import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StatedDismissal } from './stated-triage.store.ts'
import {
  getKeys,
  getPackageKey,
  hasStated,
  isAbout,
  isAmbiguous,
  matchProduct,
  type OwnRepository,
  parseStatedPackage,
  toComparedIds,
} from './statement-match.ts'
import { Judge } from './verdict.ts'

const REPOSITORY: OwnRepository = { name: 'acme/app', provider: 'github', host: null }

test('the repository is recognized in package URLs and addresses', () => {
  const whatIs = (product: string, repository = REPOSITORY) => matchProduct(product, repository)
  for (const product of [
    'pkg:github/acme/app',
    'pkg:github/Acme/App',
    'pkg:golang/github.com/acme/app',
    'pkg:golang/github.com/acme/app/v2/cmd',
    'https://github.com/acme/app',
    'https://github.com/acme/app.git/',
    'git+https://user@github.com/acme/app.git#main',
    'ssh://git@github.com/acme/app',
    'git@github.com:acme/app.git',
    'acme/app',
  ])
    assert.deepEqual(whatIs(product), { is: 'repository', version: null }, product)
  assert.deepEqual(whatIs('pkg:github/acme/app@v1'), { is: 'repository', version: 'v1' })
  const release = whatIs('https://github.com/acme/app/releases/tag/v1')
  assert.deepEqual(release, { is: 'repository', version: 'releases/tag/v1' })
  for (const product of [
    'pkg:github/acme/apps',
    'pkg:gitlab/acme/app',
    'pkg:golang/github.com/acme/application',
    'https://gitlab.com/acme/app',
  ]) {
    assert.deepEqual(whatIs(product), { is: 'other repository' }, product)
  }
  for (const product of ['pkg:npm/app', 'pkg:oci/app', 'https://acme.example/acme/app', 'app', 'urn:uuid:1', '']) {
    assert.deepEqual(whatIs(product), { is: 'unknown' }, product)
  }
  const enterprise = { name: 'acme/app', provider: 'github', host: 'git.acme.example' }
  assert.equal(whatIs('https://git.acme.example/acme/app', enterprise).is, 'repository')
  assert.equal(whatIs('https://github.com/acme/app', enterprise).is, 'other repository')
})

test('a package of a statement matches the same package only', () => {
  const matches = (stated: string, purl: string | null, name: string | null = null, version: string | null = null) => {
    const parsed = parseStatedPackage(stated)
    const found = { purl, package_name: name, package_version: version }
    const isMatch = parsed !== null && isAbout(parsed, found)
    assert.ok(!isMatch || getKeys(parsed).includes(getPackageKey(found)), 'found by its key')
    return isMatch
  }
  const yes: [string, string][] = [
    ['pkg:npm/a', 'pkg:npm/a@1'],
    ['pkg:npm/a@1', 'pkg:npm/a@1'],
    ['pkg:npm/%40x/a@1', 'pkg:npm/@x/a@1'],
    ['pkg:pypi/Foo_Bar@1', 'pkg:pypi/foo-bar@1'],
    ['pkg:golang/x/y@v1.0.0', 'pkg:golang/x/y@1.0.0'],
    ['pkg:maven/g/a@1?type=jar', 'pkg:maven/g/a@1'],
    ['pkg:deb/debian/a@1', 'pkg:deb/debian/a@1?arch=amd64&distro=debian-12'],
    ['pkg:deb/debian/a@1?arch=amd64', 'pkg:deb/debian/a@1?distro=debian-12&arch=amd64'],
  ]
  const no: [string, string][] = [
    ['pkg:npm/a@1', 'pkg:npm/a'],
    ['pkg:npm/a@1', 'pkg:npm/a@1.0'],
    ['pkg:npm/a@v1', 'pkg:npm/a@1'],
    ['pkg:npm/a', 'pkg:npm/b'],
    ['pkg:npm/a', 'pkg:pypi/a'],
    ['pkg:deb/debian/a', 'pkg:deb/ubuntu/a'],
    ['pkg:deb/debian/a?arch=arm64', 'pkg:deb/debian/a@1?arch=amd64'],
    ['pkg:deb/debian/a?arch=arm64', 'pkg:deb/debian/a@1'],
  ]
  for (const [stated, found] of yes) assert.ok(matches(stated, found), `${stated} ${found}`)
  for (const [stated, found] of no) assert.ok(!matches(stated, found), `${stated} ${found}`)
  assert.ok(matches('pkg:maven/g/a@1', null, 'g:a', '1'), 'a scanner that writes no package URL')
  assert.ok(!matches('pkg:maven/g/a@1', null, 'g:a', '2'))
  assert.ok(!matches('pkg:npm/a', null, null))
})

test('a finding about several vulnerabilities is covered only if all are stated', () => {
  const isCovered = (stated: string[], found: string[]) =>
    hasStated(new Set(toComparedIds(stated)), toComparedIds(found))
  assert.ok(isCovered(['CVE-1'], ['CVE-1']))
  assert.ok(isCovered(['CVE-1'], ['GHSA-1', 'CVE-1']))
  assert.ok(isCovered(['CVE-1'], ['DEBIAN-CVE-2020-1000', 'CVE-1', 'DSA-1']) === false)
  assert.ok(isCovered(['CVE-2020-1000'], ['DEBIAN-CVE-2020-1000']))
  assert.ok(!isCovered(['CVE-1'], ['CVE-1', 'CVE-2']))
  assert.ok(isCovered(['CVE-1', 'CVE-2'], ['CVE-1', 'CVE-2']))
  assert.ok(!isCovered(['RHSA-1:1'], ['CVE-1', 'RHSA-1:1']), 'an advisory covers more than the finding')
  assert.ok(!isCovered(['CVE-1', 'RHSA-1:1'], ['RHSA-1:1']), 'an advisory as alias')
  assert.ok(isAmbiguous(['CVE-1', 'CVE-2']) && !isAmbiguous(['CVE-1', 'GHSA-1']))
})

const AT = new Date('2024-05-01T00:00:00Z')
const DOCUMENT = {
  id: 'd',
  format: 'openvex',
  tracked: true,
  ref: 'main',
  issued_at: AT,
  reported_at: AT,
  stated_by_name: 'Kim',
} as const
const FACTS = {
  package_name: null,
  package_version: null,
  ref: 'main',
  commit_sha: null,
  subject: null,
  digests: null,
  stated: null,
}

/** Whether a statement about a package in a product decides about a finding. */
function decides(product: string, fields: { subject?: string; digests?: string[]; stated?: StatedDismissal }): boolean {
  const names = ['CVE-1']
  const finding = { ...FACTS, id: 'f', names, vuln_ids: names, purl: 'pkg:npm/a@1', ...fields }
  const judge = new Judge({ ...REPOSITORY, subjects: ['billing', 'acme/app'] }, new Set(), [finding])
  const texts = { justification: 'component_not_present', comment: null, stated_at: null }
  const statement = {
    document_id: 'd',
    status: 'not_affected',
    names,
    package: 'pkg:npm/a',
    product,
    ...texts,
  } as const
  judge.hear(statement, DOCUMENT)
  return judge.verdicts.has('f')
}

test('a statement about what another report is about decides nothing here, whichever came last', () => {
  assert.ok(decides('billing', { subject: 'billing' }))
  assert.ok(!decides('billing', { subject: 'checkout' }))
  assert.ok(decides('acme/app', { subject: 'checkout' }), 'the repository of the same name')
})

test('a statement about one digest of an image decides nothing about another one, and by name where one side states none', () => {
  const [one, other] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string]
  const [subject, image] = ['acme/app', '?repository_url=acme/app']
  assert.ok(decides(`pkg:oci/app@${one}${image}`, { subject, digests: [other, one] }))
  assert.ok(decides(`pkg:oci/app@${one.replace(':', '%3A')}${image}`, { subject, digests: [one] }))
  assert.ok(decides(`pkg:oci/app@${one}${image}`, { subject }))
  assert.ok(decides(`pkg:oci/app${image}`, { subject, digests: [other] }))
  assert.ok(!decides(`pkg:oci/app@${one}${image}`, { subject, digests: [other] }))
  assert.ok(!decides(`pkg:oci/app@${one}${image}`, { subject, digests: [] }), 'several platforms have none in common')
})

test('a dismissal of a finding of before subjects were stored stays in effect', () => {
  const stated = { source: 'openvex', reason: 'component_not_present', comment: null, by: null } as const
  const image = 'pkg:oci/web?repository_url=ghcr.io/acme/web'
  assert.ok(decides(image, { stated }))
  assert.ok(decides(image, { stated: { ...stated, by: 'Kim' } }))
  assert.ok(!decides(image, {}))
  assert.ok(!decides(image, { stated, subject: 'acme/pay' }))
  for (const other of [{ source: 'csaf' }, { reason: 'fixed' }, { comment: 'No.' }, { by: 'Mo' }] as const)
    assert.ok(!decides(image, { stated: { ...stated, ...other } }))
})

test('20,000 statements about 20,000 findings of one vulnerability are not compared in pairs', {
  timeout: 20_000,
}, () => {
  const purls = Array.from({ length: 20_000 }, (_, index) => `pkg:npm/p${index}@1`)
  const [names, texts] = [['CVE-1'], { justification: null, comment: null, stated_at: null }]
  const facts = { ...FACTS, names, vuln_ids: names }
  const findings = purls.map((purl) => ({ id: purl, purl, ...facts }))
  const judge = new Judge({ ...REPOSITORY, subjects: [] }, new Set(), findings)
  for (const purl of purls.slice(1))
    judge.hear({ document_id: 'd', status: 'not_affected', names, package: purl, product: purl, ...texts }, DOCUMENT)
  const repository = { document_id: 'd', status: 'fixed', names, package: null, ...texts } as const
  assert.deepEqual([judge.verdicts.size, judge.verdicts.has('pkg:npm/p0@1')], [19_999, false])
  judge.hear({ ...repository, product: 'pkg:github/acme/app' }, DOCUMENT)
  assert.deepEqual([judge.verdicts.size, judge.verdicts.get('pkg:npm/p0@1')?.status], [20_000, 'fixed'])
})
