import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseReport } from '../../../../test/support/parse-report.ts'
import type { ListedComponents } from '../report/listed-components.ts'
import type { ParsedFinding } from '../report/parsed-report.ts'
import { isUnaffected, listAffected, parseFixedVersion } from './parser.ts'
import { collectIds } from './vulnerability.ts'

const SERIAL = '3e671687-395b-41f5-a30f-a58921a69b79'

function bom(members: object = {}) {
  return { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: `urn:uuid:${SERIAL}`, ...members }
}

const COMPONENT = { type: 'library', 'bom-ref': 'a', name: 'log4j', version: '2.14', purl: 'pkg:maven/org/log4j@2.14' }
const VULNERABILITY = { id: 'CVE-2021-44228', affects: [{ ref: 'a' }] }

async function readOne(vulnerability: object = {}, component: object = {}): Promise<ParsedFinding> {
  const document = bom({
    components: [{ ...COMPONENT, ...component }],
    vulnerabilities: [{ ...VULNERABILITY, ...vulnerability }],
  })
  const { findings } = await parseReport(document, undefined, { name: 'acme/app', paths: [] })
  assert.equal(findings.length, 1)
  return findings[0] as ParsedFinding
}

const fingerprints = (findings: ParsedFinding[]) => findings.map(({ fingerprint }) => fingerprint).sort()

test('components at any depth are counted; the subject, tools and services are not', async () => {
  const nested = { name: 'x', components: [{ name: 'y', components: [{ name: 'z' }] }, { name: 'w' }] }
  const { components } = await parseReport(
    bom({
      metadata: { component: nested, tools: { components: [{ name: 't' }] } },
      components: [nested, { name: 'v' }],
      services: [{ name: 's', services: [{ name: 'r' }] }],
    }),
  )
  assert.equal(components, 5)
})

test('affected components can be nested components, the subject, parts of the subject and services', async () => {
  const inner = { components: [{ 'bom-ref': 'inner', name: 'inner' }], 'bom-ref': 'outer', name: 'outer' }
  const refs = ['inner', 'outer', 'subject', 'part', 'service']
  const { findings } = await parseReport(
    bom({
      vulnerabilities: [{ id: 'CVE-2021-44228', affects: refs.map((ref) => ({ ref })) }],
      components: [{ ...inner, version: '1' }],
      services: [{ name: 'api', 'bom-ref': 'service' }],
      metadata: { component: { 'bom-ref': 'subject', components: [{ 'bom-ref': 'part', name: 'p' }], name: 'app' } },
    }),
  )
  assert.deepEqual(
    findings.map(({ package_name }) => package_name),
    ['inner', 'outer', 'app', 'p', 'api'],
  )
  assert.equal(findings[1]?.package_version, '1')
})

test('a vulnerability becomes one finding per affected component, or one without a component', async () => {
  const affects = [{ ref: 'a' }, { ref: 'a', versions: [] }, { ref: 'b' }, {}]
  const { findings } = await parseReport(
    bom({ components: [COMPONENT], vulnerabilities: [{ id: 'V-1', affects }, { id: 'V-2' }] }),
  )
  assert.deepEqual(
    findings.map(({ rule_id, package_name }) => [rule_id, package_name]),
    [
      ['V-1', 'org/log4j'],
      ['V-1', 'b'],
      ['V-2', null],
    ],
  )
})

test('a BOM-Link is resolved in its own document; in another document only its name is known', async () => {
  const { findings } = await parseReport(
    bom({
      components: [COMPONENT],
      vulnerabilities: [
        { id: 'V-1', affects: [{ ref: `urn:cdx:${SERIAL}/1#a` }] },
        { id: 'V-1', affects: [{ ref: `urn:cdx:${SERIAL.replace('3', '4')}/1#a` }] },
        { id: 'V-1', affects: [{ ref: 'pkg:npm/%40angular/core@12' }] },
      ],
    }),
  )
  assert.deepEqual(
    findings.map(({ package_name }) => package_name),
    ['org/log4j', 'a', '@angular/core'],
  )
})

test('the VEX states that settle a vulnerability dismiss the finding; all other states leave it open', async () => {
  const state = async (analysis: unknown) => {
    const { state, dismiss_reason } = await readOne({ analysis })
    return [state, dismiss_reason]
  }
  for (const settled of ['not_affected', 'false_positive', 'resolved', 'resolved_with_pedigree'])
    assert.deepEqual(await state({ state: settled }), ['dismissed', settled])
  for (const open of ['in_triage', 'exploitable', 'unknown', null])
    assert.deepEqual(await state({ state: open }), ['open', null])
  assert.deepEqual(await state(undefined), ['open', null])
})

test('a dismissal includes the justification, detail and response', async () => {
  const analysis = { state: 'not_affected', justification: 'code_not_present', detail: 'Gone.', response: ['update'] }
  assert.equal((await readOne({ analysis })).dismiss_comment, 'code_not_present\nGone.\nResponse: update')
})

test('a component whose own version is listed as unaffected is dismissed', async () => {
  const versions = [{ version: '2.14', status: 'unaffected' }]
  const finding = await readOne({ affects: [{ ref: 'a', versions }] })
  assert.deepEqual([finding.state, finding.dismiss_reason], ['dismissed', 'not_affected'])
})

test('the path comes from the properties of known tools, else from the evidence, without lines', async () => {
  const path = async (component: object) => (await readOne({}, component)).path
  const property = (name: string, value: string) => ({
    properties: [
      { name: 'x', value: 'y' },
      { name, value },
    ],
  })
  assert.equal(await path(property('aquasecurity:trivy:FilePath', 'app/package-lock.json')), 'app/package-lock.json')
  assert.equal(await path(property('SrcFile', '/builds/acme/app/pom.xml')), 'pom.xml')
  assert.equal(await path(property('syft:location:0:path', '/lib/apk/db/installed')), 'lib/apk/db/installed')
  assert.equal(await path(property('syft:location:0:path', '/srv/x/package.json')), 'srv/x/package.json')
  const occurrences = [{ location: './src/b.java#12' }, { location: 'src/a.java#7' }]
  assert.equal(await path({ evidence: { occurrences } }), 'src/a.java')
  assert.equal(await path({}), null)
})

test('an absolute path is kept in the document of an image', async () => {
  for (const [type, expected] of [
    ['container', '/lib/apk/db/installed'],
    ['application', 'lib/apk/db/installed'],
  ]) {
    const components = [
      { 'bom-ref': 'a', name: 'a', properties: [{ name: 'syft:location:0:path', value: '/lib/apk/db/installed' }] },
    ]
    const vulnerabilities = [{ id: 'CVE-2020-1000', affects: [{ ref: 'a' }] }]
    const { findings } = await parseReport({
      bomFormat: 'CycloneDX',
      specVersion: '1.5',
      metadata: { component: { type, name: 'acme/web' } },
      components,
      vulnerabilities,
    })
    assert.equal(findings[0]?.path, expected)
  }
})

test('unreadable vulnerabilities beside components close nothing, and without components fail the document', async () => {
  const document = (components: object[]) => ({
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    components,
    vulnerabilities: [{ source: { name: 'VulnDB' } }],
  })
  const { components, tools, skipped } = await parseReport(document([{ name: 'a' }]))
  assert.deepEqual([components, tools, skipped], [1, [], 1])
  await assert.rejects(parseReport(document([])), /None of the vulnerabilities could be read/)
})

test('a document without a list of vulnerabilities states nothing about findings, one with an empty list does', async () => {
  const metadata = { tools: [{ vendor: 'a', name: 'scanner', version: '1' }] }
  assert.deepEqual((await parseReport(bom({ metadata }))).tools, [])
  assert.deepEqual((await parseReport(bom({ metadata, vulnerabilities: null }))).tools, [])
  const { tools } = await parseReport(bom({ metadata, vulnerabilities: [] }))
  assert.deepEqual(
    tools.map(({ name, version }) => [name, version]),
    [['scanner', '1']],
  )
})

test('the tool is the first one with a name, in both forms of `metadata.tools`', async () => {
  const tool = async (tools: unknown) =>
    (await parseReport(bom({ metadata: { tools }, vulnerabilities: [] }))).tools[0]?.name
  assert.equal(await tool([{ vendor: 'a' }, { name: 'b' }, { name: 'c' }]), 'b')
  assert.equal(await tool({ services: [{ name: 's' }], components: [{ group: 'g', name: 'c' }] }), 'c')
  assert.equal(await tool({ services: [{ name: 's' }] }), 's')
  assert.equal(await tool('t'), 'CycloneDX')
})

test('an unsupported version is refused, a newer minor version is read with a warning', async () => {
  for (const version of ['1.1', '2.0', '1', 'x'])
    await assert.rejects(parseReport(bom({ specVersion: version })), {
      name: 'ReportError',
      format: 'cyclonedx',
      message: `The CycloneDX version "${version}" is not supported; use version 1.2 to 1.7.`,
    })
  await assert.rejects(parseReport({ bomFormat: 'CycloneDX' }), {
    message: 'The CycloneDX document has no `specVersion`.',
  })
  assert.deepEqual((await parseReport(bom({ specVersion: '1.8' }))).warnings, [
    'The document is CycloneDX 1.8, which is newer than CycloneDX 1.7; it was read as CycloneDX 1.7.',
  ])
  for (const version of ['1.2', '1.7'])
    assert.deepEqual((await parseReport(bom({ specVersion: version }))).warnings, [])
})

test('a document whose components or vulnerabilities cannot be read is refused', async () => {
  await assert.rejects(parseReport(bom({ vulnerabilities: {} })), {
    message: 'The member `vulnerabilities` is not an array.',
  })
  await assert.rejects(parseReport(bom({ components: 'x' })), { message: 'The member `components` is not an array.' })
  await assert.rejects(parseReport(bom({ vulnerabilities: [null, {}] })), {
    message: 'None of the vulnerabilities could be read (2 skipped). Vulnerability 1 is not an object.',
  })
})

test('an invalid vulnerability is skipped with a warning, and valid ones are kept', async () => {
  const { count, skipped, warnings } = await parseReport(bom({ vulnerabilities: [null, VULNERABILITY, {}, 'x'] }))
  assert.deepEqual([count, skipped], [1, 3])
  assert.deepEqual(warnings, [
    'Vulnerability 1 is not an object; it was skipped.',
    'Vulnerability 3 has neither an id nor a description; it was skipped.',
    'Vulnerability 4 is not an object; it was skipped.',
  ])
})

test('a vulnerability that is too large is skipped with a warning', async () => {
  const huge = { id: 'V-1', description: 'x'.repeat(9_000_000) }
  const { count, skipped, truncated, warnings } = await parseReport(bom({ vulnerabilities: [huge, VULNERABILITY] }))
  assert.deepEqual([count, skipped, truncated], [1, 1, false])
  assert.deepEqual(warnings, ['Vulnerability 1 is too large; it was skipped.'])
})

test('the lists of a repeated member are all read', async () => {
  const json = `{"bomFormat":"CycloneDX","specVersion":"1.5","vulnerabilities":[{"id":"V-1"}],"vulnerabilities":[{"id":"V-2"}],"vulnerabilities":null}`
  const { count, tools } = await parseReport(json)
  assert.deepEqual([count, tools.length], [2, 1])
})

test('only the first 100,000 findings are kept', async () => {
  const affects = Array.from({ length: 1000 }, (_, index) => ({ ref: `r${index}` }))
  const vulnerabilities = Array.from({ length: 101 }, (_, index) => ({ id: `V-${index}`, affects }))
  const { count, truncated, findings } = await parseReport(bom({ vulnerabilities }))
  assert.deepEqual([count, truncated, findings.length], [100_000, true, 100_000])
})

test('deep nesting is refused, and a very long name is not kept in memory', async () => {
  const deep = `{"bomFormat":"CycloneDX","specVersion":"1.6","components":[${'{"components":['.repeat(100_000)}`
  await assert.rejects(parseReport(deep), { name: 'ReportError', message: /nested too deeply/ })
  const long = `{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{"name":"${'x'.repeat(20_000_000)}"}]}`
  assert.equal((await parseReport(long)).components, 1)
})

test('the texts of a finding are bounded, without NUL and lone surrogates', async () => {
  const bad = `\u0000a\ud800${'x'.repeat(20_000)}`
  const finding = await readOne(
    {
      id: bad,
      description: bad,
      recommendation: bad,
      source: { url: bad },
      references: [{ id: bad }],
      analysis: { state: 'not_affected', detail: bad },
      ratings: [{ vector: bad, severity: bad }],
    },
    { name: bad, version: bad, purl: `pkg:npm/${bad}`, group: bad, properties: [{ name: 'SrcFile', value: bad }] },
  )
  for (const text of Object.values(finding).flat())
    if (typeof text === 'string') assert.ok(!text.includes('\u0000') && text.isWellFormed() && text.length <= 16_384)
  assert.ok((finding.package_name ?? '').length <= 300 && (finding.path ?? '').length <= 1000)
})

type Vulnerable = { name: string; version: string; id: string; isNested: boolean }

const vulnerable = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  version: fc.constantFrom('1', '2'),
  id: fc.constantFrom('CVE-2021-1111', 'CVE-2021-2222'),
  isNested: fc.boolean(),
})

/** A document with these vulnerabilities, and with new references and a new serial number. */
function documentOf(entries: Vulnerable[], refs: string[], version: string | null) {
  const component = ({ name, version: own }: { name: string; version: string }, ref: string) => ({
    'bom-ref': ref,
    name,
    version: version ?? own,
    purl: `pkg:npm/${name}@${version ?? own}`,
  })
  return bom({
    serialNumber: `urn:uuid:${refs.at(-1)}`,
    metadata: { timestamp: refs[0] },
    vulnerabilities: entries.map(({ id }, index) => ({ 'bom-ref': refs[index], id, affects: [{ ref: refs[index] }] })),
    components: entries.map((entry, index) =>
      entry.isNested
        ? { name: 'parent', components: [component(entry, refs[index] as string)] }
        : component(entry, refs[index] as string),
    ),
  })
}

test('fingerprints do not depend on order, nesting, versions, references and serial numbers', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(vulnerable, { minLength: 1, maxLength: 12 }),
      fc.uniqueArray(fc.uuid(), { minLength: 26, maxLength: 26 }),
      async (entries, refs) => {
        const before = await parseReport(documentOf(entries, refs.slice(0, 13), null))
        const shuffled = entries.map((entry) => ({ ...entry, isNested: !entry.isNested })).reverse()
        const after = await parseReport(documentOf(shuffled, refs.slice(13), '3'))
        assert.deepEqual(fingerprints(after.findings), fingerprints(before.findings))
        assert.equal(
          new Set(fingerprints(before.findings)).size,
          new Set(entries.map(({ name, id }) => name + id)).size,
        )
      },
    ),
    { numRuns: 100 },
  )
})

test('a component that moves to another manifest keeps its relocation; another package or vulnerability has another one', async () => {
  const relocation = async (path: string | null, vulnerability: object = {}, component: object = {}) => {
    const properties = path === null ? [] : [{ name: 'SrcFile', value: path }]
    return (await readOne(vulnerability, { ...component, properties })).relocation
  }
  const before = await relocation('app/pom.xml')
  assert.ok(before)
  assert.equal(await relocation('service/pom.xml', {}, { version: '3', purl: 'pkg:maven/org/log4j@3' }), before)
  assert.notEqual(await relocation('app/pom.xml', { id: 'CVE-2021-45046' }), before)
  assert.notEqual(await relocation('app/pom.xml', {}, { purl: 'pkg:maven/org/other@2.14' }), before)
  assert.equal(await relocation(null), null)
})

test('the components of a document tell what is gone or changed, and whether it is about the same', async () => {
  const listed = async (...components: object[]) => {
    const { tools } = await parseReport(bom({ components, vulnerabilities: [] }))
    return tools[0]?.components as ListedComponents
  }
  const a = { purl: 'pkg:npm/a@1?x=y', name: 'a', version: '1' }
  const nested = { name: 'b', group: 'g', version: '2', components: [{ purl: 'pkg:npm/%40s/c@3' }] }
  const document = await listed(a, nested)
  for (const known of [
    a,
    { purl: null, name: 'g/b', version: '2' },
    { purl: 'pkg:npm/%40s/c@3', name: 'c', version: '3' },
  ])
    assert.equal(document.has(known), true)
  assert.equal(document.has({ purl: 'pkg:npm/a@2', name: 'a', version: '2' }), false)
  assert.equal(document.has({ purl: 'pkg:npm/d@1', name: 'd', version: '1' }), false)
  assert.equal((await listed()).has(a), true)
  assert.equal((await listed({ purl: 'pkg:npm/a@9' }, { purl: 'pkg:npm/%40s/c@9' })).hasHalf(document.sample()), true)
  assert.equal((await listed({ purl: 'pkg:npm/a@9' })).hasHalf(document.sample()), false)
})

test('the subject is the image or project that the document is about', async () => {
  const subject = async (component: object) =>
    (await parseReport(bom({ metadata: { component }, vulnerabilities: [] }))).tools[0]?.subject
  assert.equal(await subject({ type: 'container', name: 'ghcr.io/acme/pay:1.2' }), 'ghcr.io/acme/pay')
  assert.equal(await subject({ type: 'application', name: 'shop', version: '1' }), 'shop')
  assert.equal(await subject({ type: 'application', name: '/builds/shop' }), undefined)
  assert.equal(await subject({ type: 'file', name: 'web' }), undefined)
})

const RICH = bom({
  metadata: { tools: { components: [{ name: 't' }] } },
  components: [{ ...COMPONENT, components: [{ name: 'x', evidence: { occurrences: [{ location: 'y' }] } }] }],
  vulnerabilities: [
    {
      ...VULNERABILITY,
      ratings: [{ source: { name: 'nvd' }, score: 9.8, method: 'CVSSv31', vector: 'CVSS:3.1/AV:N/AC:L' }],
      cwes: [79],
      analysis: { state: 'in_triage' },
      references: [{ id: 'GHSA-6hgm-866r-3cjv' }],
    },
  ],
})

test('a document that is truncated anywhere is refused', async () => {
  const text = JSON.stringify(RICH)
  for (let length = 0; length < text.length; length++)
    await assert.rejects(parseReport(text.slice(0, length)), { name: 'ReportError' }, `cut off at ${length}`)
})

test('a document with any damage is read or refused with a ReportError', async () => {
  const bytes = Buffer.from(JSON.stringify(RICH))
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(5), async (position, byte, cut) => {
      const mutated = Buffer.concat([bytes.subarray(0, position), Buffer.from([byte]), bytes.subarray(position + cut)])
      await parseReport(mutated.toString('latin1')).catch((error) =>
        assert.equal(error.name, 'ReportError', error.stack),
      )
    }),
    { numRuns: 2000 },
  )
})

test("any value of a vulnerability's member leaves the other vulnerabilities readable", async () => {
  const members = [
    'id',
    'affects',
    'ratings',
    'cwes',
    'analysis',
    'references',
    'recommendation',
    'description',
    'advisories',
    'source',
  ]
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...members), fc.jsonValue(), fc.jsonValue(), async (member, value, other) => {
      const vulnerabilities = [VULNERABILITY, { id: 'V', [member]: value }]
      const components = [{ ...COMPONENT, properties: other, evidence: other, purl: other }]
      const { count, skipped } = await parseReport(bom({ components, vulnerabilities }))
      assert.ok(count + skipped >= 2)
    }),
    { numRuns: 500 },
  )
})

const unaffected = (version: string | null, ...versions: Record<string, string>[]) =>
  isUnaffected({ ref: 'a', versions }, version)

test('a component is listed once, with the versions of all its entries', () => {
  const affects = [
    { ref: 'a', versions: [{ version: '1' }] },
    { ref: 'b' },
    { ref: 'a', versions: [{ version: '2' }] },
    {},
    null,
  ]
  assert.deepEqual(listAffected({ affects }), [
    { ref: 'a', versions: [{ version: '1' }, { version: '2' }] },
    { ref: 'b', versions: [] },
  ])
})

test('a component is unaffected if its own version is, whatever the status of other versions', () => {
  const own = { version: '2.5', status: 'unaffected' }
  assert.equal(unaffected('2.5', own, { version: '2.4', status: 'affected' }), true)
  assert.equal(unaffected('2.5', own, { version: '2.5', status: 'affected' }), false)
})

test('an unaffected other version or range does not dismiss the finding', () => {
  assert.equal(unaffected('2.3', { version: '2.4.9', status: 'unaffected' }), false)
  assert.equal(unaffected('2.3', { range: 'vers:semver/>=2.4.9', status: 'unaffected' }), false)
})

test('a component of unknown version is unaffected if all listed versions are', () => {
  assert.equal(unaffected(null, { range: 'vers:generic/>=1.0|<=4.4', status: 'unaffected' }), true)
  assert.equal(unaffected(null, { version: '1', status: 'unaffected' }, { version: '2' }), false)
  assert.equal(unaffected(null), false)
})

test('the version that a recommendation names is the fixed version', () => {
  const fixed: Record<string, string> = {
    'Upgrade jquery to version 3.4.0': '3.4.0',
    'Update to 2.4.9 or later': '2.4.9',
    'Upgrade com.a:b to version 2.6.7.5, 2.8.11.1, 2.9.5 or higher.': '2.6.7.5, 2.8.11.1, 2.9.5',
    'Fixed in v1.8.2.': '1.8.2',
    'Upgrade openssl to version 1:3.0.2-0ubuntu1.12+esm1': '1:3.0.2-0ubuntu1.12+esm1',
    'Upgrade to version 7': '7',
    'v1.2.3': '1.2.3',
  }
  for (const [text, version] of Object.entries(fixed)) assert.equal(parseFixedVersion(text, null), version)
})

test('in a recommendation for several packages, the clause that names the package counts', () => {
  const text = 'Upgrade a to version 1.2.3; Upgrade @scope/b to version 2.0-r1'
  assert.equal(parseFixedVersion(text, '@scope/b'), '2.0-r1')
  assert.equal(parseFixedVersion(text, 'c'), null)
})

test('a recommendation without a version has no fixed version', () => {
  for (const text of [null, '', 'Upgrade to 64-bit', 'See https://x.example/1.2', 'to '.repeat(100_000)])
    assert.equal(parseFixedVersion(text, null), null)
})

const advisories = (...urls: string[]) => ({ advisories: urls.map((url) => ({ url })) })

test('references are aliases, listed after the own id and independent of their order', () => {
  const references = [{ id: 'ghsa-6HGM-866r-3cjv' }, { id: 'CVE-2018-7489' }, { id: 'VENDOR-7' }]
  const ids = ['SNYK-JAVA-X-1', 'CVE-2018-7489', 'GHSA-6hgm-866r-3cjv', 'VENDOR-7']
  assert.deepEqual(collectIds('SNYK-JAVA-X-1', { references }), ids)
  assert.deepEqual(collectIds('SNYK-JAVA-X-1', { references: references.toReversed() }), ids)
})

test('an id in advisory URLs is an alias only if it is the only one of its database', () => {
  const one = advisories(
    'https://github.com/advisories/GHSA-6c3j-c64m-qhgq',
    'https://nvd.nist.gov/vuln/detail/CVE-2020-1111',
  )
  assert.deepEqual(collectIds('CVE-2019-11358', one), ['CVE-2019-11358', 'GHSA-6c3j-c64m-qhgq'])
  const two = advisories('https://github.com/advisories/GHSA-6c3j-c64m-qhgq', 'https://x.example/GHSA-6hgm-866r-3cjv')
  assert.deepEqual(collectIds('CVE-2019-11358', two), ['CVE-2019-11358'])
})

test('the advisory of a distribution is not an alias', () => {
  const links = advisories(
    'https://access.redhat.com/errata/RHSA-2019:1456',
    'https://www.debian.org/security/2019/dsa-4434',
  )
  assert.deepEqual(collectIds('CVE-2019-11358', links), ['CVE-2019-11358'])
})
