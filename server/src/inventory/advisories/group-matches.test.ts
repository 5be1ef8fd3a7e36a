import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AffectedPackage } from './affected.ts'
import { collectAffected } from './affected.ts'
import { ECOSYSTEMS, findEcosystem, parseEcosystem, selectReleases } from './ecosystems.ts'
import { decideSeverity, evaluateAdvisories, type PackageAdvisory, type VulnerabilityMatch } from './group-matches.ts'

const packages = (ecosystem: string, name: string, ...events: Record<string, string>[]): AffectedPackage[] =>
  collectAffected({ affected: [{ package: { ecosystem, name }, ranges: [{ type: 'ECOSYSTEM', events }] }] })
const advisory = (id: string, affected: AffectedPackage[], fields: Partial<PackageAdvisory> = {}): PackageAdvisory => ({
  id,
  withdrawn: false,
  upstream: [],
  packages: affected,
  ...fields,
})
const upTo = (fixed: string) => [{ introduced: '0' }, { fixed }]
const groupsOf = (...groups: string[][]) =>
  new Map(groups.flatMap((ids) => ids.map((id) => [id, { canonical_id: ids[0] as string, ids }] as const)))

function matches(
  purl: { type: string; namespace?: string; version: string; distro?: string },
  advisories: PackageAdvisory[],
  groups = groupsOf(),
): VulnerabilityMatch[] {
  const ecosystem = findEcosystem(purl.type, purl.namespace ?? null)
  assert.ok(ecosystem)
  const releases = selectReleases(ecosystem, { distro: purl.distro ?? null, version: purl.version })
  return evaluateAdvisories({ ecosystem, version: purl.version, releases }, advisories, groups)
}
const short = (found: VulnerabilityMatch[]) =>
  found.map(({ vuln_ids, verdict, fixed_version }) => [vuln_ids[0], verdict, fixed_version])

const NPM = { type: 'npm', version: '1.0.0' }

test('records of one vulnerability are one match: affected if one says so, fixed where none does', () => {
  const groups = groupsOf(['CVE-2024-1', 'GHSA-1', 'SNYK-1'])
  const [found, ...others] = matches(
    NPM,
    [
      advisory('GHSA-1', packages('npm', 'a', ...upTo('1.2.0'))),
      advisory('SNYK-1', packages('npm', 'a', ...upTo('0.9.0'), { introduced: '1.2.0' }, { fixed: '1.3.0' })),
    ],
    groups,
  )
  assert.deepEqual(others, [])
  assert.deepEqual(found, {
    verdict: 'affected',
    vuln_ids: ['CVE-2024-1', 'GHSA-1', 'SNYK-1'],
    advisory_ids: ['GHSA-1', 'SNYK-1'],
    fixed_version: '1.3.0',
    type: 'vulnerability',
    informational: null,
  })
})

test('a withdrawn record does not count', () => {
  const all = packages('npm', 'a', { introduced: '0' })
  assert.deepEqual(matches(NPM, [advisory('GHSA-1', all, { withdrawn: true })]), [])
  const [found] = matches(
    NPM,
    [advisory('GHSA-1', all, { withdrawn: true }), advisory('GO-1', packages('npm', 'a', ...upTo('0.5.0')))],
    groupsOf(['CVE-2024-1', 'GHSA-1', 'GO-1']),
  )
  assert.equal(found?.verdict, 'unaffected')
})

const DEBIAN = { type: 'deb', namespace: 'debian', version: '1.0-1', distro: 'debian-12.5' }

test('an advisory of a distribution counts for each vulnerability that it lists', () => {
  const dsa = advisory('DSA-1', packages('Debian:12', 'curl', ...upTo('1.0-2')), {
    upstream: ['CVE-2024-1', 'CVE-2024-2'],
  })
  const found = matches(DEBIAN, [dsa])
  assert.deepEqual(short(found), [
    ['CVE-2024-1', 'affected', '1.0-2'],
    ['CVE-2024-2', 'affected', '1.0-2'],
  ])
  assert.deepEqual(found[0]?.vuln_ids, ['CVE-2024-1'])
  assert.deepEqual(found[0]?.advisory_ids, ['DSA-1'])
})

test('records by vulnerability decide, and advisories only add the fix', () => {
  const dsa = advisory('DSA-1', packages('Debian:12', 'curl', ...upTo('1.0-2')), {
    upstream: ['CVE-2024-1', 'CVE-2024-2'],
  })
  const own = (id: string, ...events: Record<string, string>[]) =>
    advisory(id, packages('Debian:12', 'curl', ...events), { upstream: [] })
  const groups = groupsOf(['CVE-2024-1', 'DEBIAN-CVE-2024-1'], ['CVE-2024-2', 'DEBIAN-CVE-2024-2'])
  const found = matches(
    DEBIAN,
    [
      dsa,
      own('DEBIAN-CVE-2024-1', ...upTo('1.0-1')),
      own('DEBIAN-CVE-2024-2', { introduced: '0' }, { last_affected: '1.0-1' }),
    ],
    groups,
  )
  assert.deepEqual(short(found), [
    ['CVE-2024-1', 'unaffected', null],
    ['CVE-2024-2', 'affected', '1.0-2'],
  ])
})

test('only the release of the component counts, and none without one', () => {
  const records = [
    advisory('A-1', packages('Debian:12', 'curl', ...upTo('1.0-2'))),
    advisory('A-2', packages('Debian:11', 'curl', { introduced: '0' })),
  ]
  assert.deepEqual(short(matches(DEBIAN, records)), [['A-1', 'affected', '1.0-2']])
  const { distro, ...withoutRelease } = DEBIAN
  assert.deepEqual(matches(withoutRelease, records), [])
  assert.equal(distro, 'debian-12.5')
})

test('records of Ubuntu Pro count for its packages only, and then before the others', () => {
  const record = advisory('UBUNTU-CVE-2024-1', [
    ...packages('Ubuntu:18.04:LTS', 'curl', { introduced: '0' }),
    ...packages('Ubuntu:Pro:18.04:LTS', 'curl', ...upTo('7.58-2ubuntu3.24+esm2')),
  ])
  const ubuntu = (version: string) =>
    short(matches({ type: 'deb', namespace: 'ubuntu', version, distro: 'ubuntu-18.04' }, [record]))
  assert.deepEqual(ubuntu('7.58-2ubuntu3.24'), [['UBUNTU-CVE-2024-1', 'affected', null]])
  assert.deepEqual(ubuntu('7.58-2ubuntu3.24+esm1'), [['UBUNTU-CVE-2024-1', 'affected', '7.58-2ubuntu3.24+esm2']])
  assert.deepEqual(ubuntu('7.58-2ubuntu3.24+esm2'), [['UBUNTU-CVE-2024-1', 'unaffected', null]])
})

test('a malicious package is critical, and what is only informational is info', () => {
  const [malicious] = matches(NPM, [advisory('MAL-2024-1', packages('npm', 'a', { introduced: '0' }))])
  assert.deepEqual(
    [malicious?.type, malicious && decideSeverity(malicious, 'low').severity],
    ['malicious-package', 'critical'],
  )
  const rust = (informational?: string) =>
    collectAffected({
      affected: [
        {
          package: { ecosystem: 'crates.io', name: 'a' },
          ranges: [{ type: 'SEMVER', events: [{ introduced: '0.0.0-0' }] }],
          database_specific: { informational },
        },
      ],
    })
  const asked = { type: 'cargo', version: '1.0.0' }
  const [unmaintained] = matches(asked, [advisory('RUSTSEC-1', rust('unmaintained'))])
  assert.deepEqual([unmaintained?.type, unmaintained?.informational], ['informational', 'unmaintained'])
  const [both] = matches(
    asked,
    [advisory('RUSTSEC-1', rust('unsound')), advisory('GHSA-1', rust())],
    groupsOf(['GHSA-1', 'RUSTSEC-1']),
  )
  assert.equal(both?.type, 'vulnerability')
  assert.deepEqual(decideSeverity({ type: 'informational' }, 'high'), { severity: 'info', severity_source: 'type' })
  assert.deepEqual(decideSeverity({ type: 'vulnerability' }, 'high'), { severity: 'high', severity_source: 'advisory' })
  assert.deepEqual(decideSeverity({ type: 'vulnerability' }, null), { severity: 'medium', severity_source: 'default' })
})

test('the table knows each kind of package once, and what records and components call its releases', () => {
  assert.equal(new Set(ECOSYSTEMS.map(({ name }) => name)).size, ECOSYSTEMS.length)
  const rows: [type: string, namespace: string | null, distro: string | null, ecosystem: string, releases: string[]][] =
    [
      ['npm', '@angular', null, 'npm', ['']],
      ['apk', 'alpine', 'alpine-3.18.4', 'Alpine', ['v3.18']],
      ['apk', 'alpine', 'alpine-3', 'Alpine', []],
      ['apk', 'wolfi', 'wolfi-20230201', 'Wolfi', ['']],
      ['apk', 'chainguard', null, 'Chainguard', ['']],
      ['deb', 'debian', 'debian-12', 'Debian', ['12']],
      ['deb', 'debian', 'bookworm', 'Debian', ['12']],
      ['deb', 'debian', 'sid', 'Debian', []],
      ['deb', 'debian', null, 'Debian', []],
      ['deb', 'ubuntu', 'ubuntu-22.04', 'Ubuntu', ['22.04:LTS']],
      ['deb', 'ubuntu', 'jammy', 'Ubuntu', ['22.04:LTS']],
      ['deb', 'ubuntu', 'ubuntu-23.10', 'Ubuntu', ['23.10']],
      ['rpm', 'rocky', 'rocky-9.3', 'Rocky Linux', ['9']],
      ['rpm', 'almalinux', 'almalinux-8.9', 'AlmaLinux', ['8']],
      ['rpm', 'redhat', 'rhel-9.2', 'Red Hat', ['9']],
    ]
  for (const [type, namespace, distro, name, releases] of rows) {
    const ecosystem = findEcosystem(type, namespace)
    assert.equal(ecosystem?.name, name)
    assert.deepEqual(ecosystem && selectReleases(ecosystem, { distro, version: '1.0' }), releases, `${name} ${distro}`)
  }
  for (const [type, namespace] of [
    ['rpm', 'fedora'],
    ['deb', 'raspbian'],
    ['conan', null],
  ] as const) {
    assert.equal(findEcosystem(type, namespace), null)
  }
})

test('the ecosystems of records: registries are left out, releases of Red Hat are major versions', () => {
  const of = (text: string) => {
    const found = parseEcosystem(text)
    return found && [found.ecosystem.name, found.release]
  }
  assert.deepEqual(of('Maven:https://maven.google.com'), ['Maven', ''])
  assert.deepEqual(of('Ubuntu:Pro:18.04:LTS'), ['Ubuntu', 'Pro:18.04:LTS'])
  assert.deepEqual(of('Alpine:v3.18'), ['Alpine', 'v3.18'])
  assert.deepEqual(of('Red Hat:enterprise_linux:9::appstream'), ['Red Hat', '9'])
  assert.deepEqual(of('Red Hat:rhel_eus:9.2::baseos'), ['Red Hat', 'rhel_eus:9.2::baseos'])
  assert.deepEqual(of('Red Hat:enterprise_linux_ai:1.2::el9'), ['Red Hat', 'enterprise_linux_ai:1.2::el9'])
  assert.equal(of('OSS-Fuzz'), null)
  assert.equal(of('constructor'), null)
})

test('what a record says of packages is read with bounds, and what is left out is marked', () => {
  const read = (fields: object) =>
    collectAffected({ affected: [{ package: { ecosystem: 'PyPI', name: 'Foo_Bar' }, ...fields }] })
  const [found] = read({
    ranges: [
      { type: 'GIT', repo: 'https://example.org', events: [{ introduced: '0' }, { fixed: 'abc' }] },
      { type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed: 7 }, { fixed: '2.0' }, 'x'] },
    ],
    versions: ['1.0', '1.0', null, '', '1\u0000', '2\ud800'],
    ecosystem_specific: { urgency: 'Low' },
  })
  assert.deepEqual(found, {
    ecosystem: 'PyPI',
    release: '',
    package_key: 'foo-bar',
    name: 'Foo_Bar',
    ranges: [{ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed: '2.0' }] }],
    versions: ['1.0'],
    urgency: 'low',
    informational: null,
    is_truncated: false,
  })
  const many = Array.from({ length: 20_001 }, (_, at) => `1.${at}`)
  const [long] = read({ versions: many })
  assert.deepEqual([long?.versions.length, long?.is_truncated], [20_000, true])
  const [wide] = read({
    ranges: many.slice(0, 1001).map((fixed) => ({ type: 'ECOSYSTEM', events: [{ introduced: '0' }, { fixed }] })),
  })
  assert.deepEqual([wide?.ranges.length, wide?.is_truncated], [1000, true])
  assert.deepEqual(collectAffected({ affected: [{ package: { ecosystem: 'Linux', name: 'Kernel' } }, {}, null] }), [])
})
