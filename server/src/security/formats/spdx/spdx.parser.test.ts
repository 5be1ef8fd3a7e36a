import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readReport } from '../read-report.ts'
import type { ParsedFinding } from '../report/parsed-report.ts'

async function read(document: unknown) {
  const bytes = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
  const findings: ParsedFinding[] = []
  const open = async function* () {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
  }
  const summary = await readReport({ open }, 'auto', async (batch) => {
    findings.push(...batch)
  })
  return { ...summary, count: summary.findings, findings }
}

const fingerprints = (findings: ParsedFinding[]) => findings.map(({ fingerprint }) => fingerprint).sort()

const PURL = { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: 'pkg:npm/lodash@4.17.1' }
const reference = (referenceType: string, referenceLocator: string) => ({
  referenceCategory: 'SECURITY',
  referenceType,
  referenceLocator,
})

function spdx2(externalRefs: unknown[], members: object = {}) {
  const packages = [{ SPDXID: 'SPDXRef-1', name: 'lodash', versionInfo: '4.17.1', externalRefs }]
  return { packages, creationInfo: { creators: ['Person: x', 'Tool: scan-v1.2'] }, spdxVersion: 'SPDX-2.3', ...members }
}

test('each security reference of SPDX 2 that names a vulnerability is a finding, whatever its type', async () => {
  const { findings, components, tools } = await read(
    spdx2([
      reference('advisory', 'https://x.example/CVE-2021-23337'),
      reference('http://spdx.org/rdf/references/url', 'https://x.example/GHSA-35jh-r3h4-6jhm'),
      reference('cve', 'CVE-2020-8203'),
      reference('advisory', 'https://x.example/CVE-2020-8203'),
      PURL,
    ]),
  )
  assert.deepEqual(
    findings.map(({ rule_id }) => rule_id),
    ['CVE-2021-23337', 'GHSA-35jh-r3h4-6jhm', 'CVE-2020-8203', 'CVE-2020-8203'],
  )
  assert.deepEqual([components, tools], [1, [{ name: 'scan', version: '1.2', rules: 3 }]])
  assert.deepEqual(
    [findings[0]?.purl, findings[0]?.severity, findings[0]?.kind],
    ['pkg:npm/lodash@4.17.1', 'medium', 'dependency'],
  )
  assert.equal(findings[0]?.native_url, 'https://x.example/CVE-2021-23337')
})

test('what identifies the package, a fix and another category are no findings', async () => {
  const { findings } = await read(
    spdx2([
      reference('cpe23Type', 'cpe:2.3:a:CVE-2021-23337:x'),
      reference('fix', 'https://x.example/CVE-2021-23337'),
      reference('advisory', 'https://x.example/nothing'),
      { ...reference('advisory', 'CVE-2021-23337'), referenceCategory: 'OTHER' },
      null,
      'CVE-2021-23337',
    ]),
  )
  assert.deepEqual(findings, [])
})

test('only a document that says anything of vulnerabilities speaks for its tool', async () => {
  const tools = async (...references: unknown[]) => (await read(spdx2(references))).tools.length
  assert.equal(await tools(PURL, reference('cpe23Type', 'cpe:2.3:a:x:x')), 0)
  assert.equal(await tools(reference('fix', 'https://x.example/CVE-2021-23337')), 1)
})

test('placeholders of SPDX are no names and no versions', async () => {
  const packages = [{ name: 'a', versionInfo: 'NOASSERTION', externalRefs: [reference('advisory', 'CVE-2021-23337')] }]
  assert.equal((await read(spdx2([], { packages }))).findings[0]?.package_version, null)
})

test('the version of SPDX 2 is checked, wherever it stands', async () => {
  const versioned = (spdxVersion: unknown) => read(spdx2([], { spdxVersion }))
  for (const version of ['SPDX-2.1', 'SPDX-1.2', 'SPDX-4.0'])
    await assert.rejects(versioned(version), {
      name: 'ReportError',
      format: 'spdx',
      message: new RegExp(`"${version}" is not read`),
    })
  await assert.rejects(read({ spdxVersion: 'SPDX-3.0' }), { name: 'ReportError', format: 'spdx' })
  assert.deepEqual((await versioned('SPDX-2.2')).warnings, [])
  assert.match((await versioned('SPDX-2.4')).warnings[0] ?? '', /newer than SPDX 2\.3/)
})

test('packages that are not a list fail the document, one that is no package is skipped', async () => {
  await assert.rejects(read(spdx2([], { packages: {} })), /`packages` are not an array/)
  await assert.rejects(read(spdx2([], { packages: [null, 1] })), /None of the document's 2 packages is an object/)
  const [good] = spdx2([reference('advisory', 'CVE-2021-23337')]).packages
  const { components, skipped, truncated, count } = await read(spdx2([], { packages: [null, good] }))
  assert.deepEqual([components, skipped, truncated, count], [1, 1, false, 1])
})

const CONTEXT = 'https://spdx.org/rdf/3.0.1/spdx-context.jsonld'
const graph = (...elements: unknown[]) => ({ '@context': CONTEXT, '@graph': elements })
const PACKAGE = {
  type: 'software_Package',
  spdxId: 'https://x.example/package/1',
  name: 'lodash',
  software_packageVersion: '4.17.1',
  software_packageUrl: 'pkg:npm/lodash@4.17.1',
}
const VULNERABILITY = {
  type: 'security_Vulnerability',
  spdxId: '_:v1',
  summary: 'Command injection',
  externalIdentifier: [
    { type: 'ExternalIdentifier', externalIdentifierType: 'securityOther', identifier: 'GHSA-35jh-r3h4-6jhm' },
    { type: 'ExternalIdentifier', externalIdentifierType: 'cve', identifier: 'CVE-2021-23337' },
  ],
}
const vex = (status: string, members: object = {}) => ({
  type: `security_Vex${status}VulnAssessmentRelationship`,
  from: VULNERABILITY.spdxId,
  to: [PACKAGE.spdxId],
  ...members,
})
const ASSOCIATION = {
  type: 'Relationship',
  relationshipType: 'hasAssociatedVulnerability',
  from: PACKAGE.spdxId,
  to: [VULNERABILITY.spdxId],
}

test('an affected package of SPDX 3 is a finding with ids, package and CVSS, in any order of the elements', async () => {
  const elements = [
    {
      type: 'security_CvssV3VulnAssessmentRelationship',
      from: '_:v1',
      to: [PACKAGE.spdxId],
      security_score: '7.2',
      security_severity: 'high',
      security_vectorString: 'CVSS:3.1/AV:N/AC:L/PR:H/UI:N/S:U/C:H/I:H/A:H',
    },
    { type: 'security_CvssV2VulnAssessmentRelationship', from: '_:v1', to: [PACKAGE.spdxId], security_score: 2.5 },
    { type: 'SpdxDocument', spdxId: 'd', creationInfo: '_:c' },
    { type: 'CreationInfo', '@id': '_:c', createdUsing: ['t2'] },
    { type: 'Tool', spdxId: 't1', name: 'another' },
    { type: 'Tool', spdxId: 't2', name: 'Tool: scan-3.1' },
    vex('Affected'),
    VULNERABILITY,
    PACKAGE,
  ]
  const first = await read(graph(...elements))
  const [finding] = first.findings
  assert.deepEqual([first.count, first.components, first.tools], [1, 1, [{ name: 'scan', version: '3.1', rules: 1 }]])
  assert.deepEqual(finding?.vuln_ids, ['CVE-2021-23337', 'GHSA-35jh-r3h4-6jhm'])
  assert.deepEqual([finding?.purl, finding?.package_version], ['pkg:npm/lodash@4.17.1', '4.17.1'])
  assert.deepEqual([finding?.severity, finding?.cvss_version, finding?.cvss_score], ['high', '3.1', 7.2])
  assert.equal(finding?.title, 'Command injection')
  assert.deepEqual((await read(graph(...elements.reverse()))).findings, first.findings)
})

test('VEX of SPDX 3: affected and under investigation are open, not affected is dismissed, fixed is no finding', async () => {
  const states = async (...statements: object[]) =>
    (await read(graph(PACKAGE, VULNERABILITY, ...statements))).findings.map(({ state }) => state)
  assert.deepEqual(await states(vex('Affected')), ['open'])
  assert.deepEqual(await states(vex('UnderInvestigation')), ['open'])
  assert.deepEqual(await states(vex('NotAffected')), ['dismissed'])
  assert.deepEqual(await states(vex('Fixed')), [])
  assert.deepEqual(await states(ASSOCIATION), ['open'])
  assert.deepEqual(await states(), [])
})

test('a dismissal keeps justification and impact', async () => {
  const statement = vex('NotAffected', {
    security_justificationType: 'componentNotPresent',
    security_impactStatement: 'Gone.',
  })
  const [finding] = (await read(graph(PACKAGE, VULNERABILITY, statement))).findings
  assert.deepEqual([finding?.dismiss_reason, finding?.dismiss_comment], ['not_affected', 'componentNotPresent\nGone.'])
})

test('of several statements VEX outweighs an association, the newer the older, and else the more cautious counts', async () => {
  const state = async (...statements: object[]) => {
    const inOrder = (await read(graph(PACKAGE, VULNERABILITY, ...statements))).findings.map(({ state }) => state)
    const reversed = (await read(graph(PACKAGE, VULNERABILITY, ...statements.reverse()))).findings.map(
      ({ state }) => state,
    )
    assert.deepEqual(inOrder, reversed)
    return inOrder[0] ?? 'none'
  }
  const version = (security_vexVersion: string) => ({ security_vexVersion })
  const time = (security_publishedTime: string) => ({ security_publishedTime })
  assert.equal(await state(ASSOCIATION, vex('Fixed')), 'none')
  assert.equal(await state(vex('Affected', version('1')), vex('Fixed', version('2'))), 'none')
  assert.equal(await state(vex('Affected', version('10')), vex('Fixed', version('9'))), 'open')
  assert.equal(
    await state(vex('Affected', time('2024-01-01T00:00:00Z')), vex('NotAffected', time('2024-02-01T00:00:00Z'))),
    'dismissed',
  )
  assert.equal(await state(vex('Affected'), vex('NotAffected')), 'open')
  assert.equal(
    await state(vex('Affected', { security_withdrawnTime: '2024-01-01T00:00:00Z' }), vex('NotAffected')),
    'dismissed',
  )
})

test('the assessed element is the vulnerable package, and the product that it is in is not', async () => {
  const statement = vex('Affected', { to: ['https://x.example/product'], security_assessedElement: PACKAGE.spdxId })
  const { findings } = await read(graph(PACKAGE, VULNERABILITY, statement))
  assert.deepEqual(
    findings.map(({ package_name }) => package_name),
    ['lodash'],
  )
})

test('a vulnerability of another document is told by its address, one that nothing tells is skipped with a warning', async () => {
  const elsewhere = vex('Affected', { from: 'https://x.example/vulnerability/CVE-2024-1234' })
  const { findings, skipped, warnings } = await read(
    graph(PACKAGE, elsewhere, vex('Affected', { from: 'https://x.example/1' })),
  )
  assert.deepEqual([findings.map(({ rule_id }) => rule_id), skipped], [['CVE-2024-1234'], 1])
  assert.match(warnings[0] ?? '', /do not name their vulnerability/)
})

test('a package URL may stand in identifiers, in place or as elements of their own', async () => {
  const { software_packageUrl: _, ...bare } = PACKAGE
  const inPlace = { ...bare, externalIdentifier: [{ externalIdentifierType: 'packageUrl', identifier: 'pkg:npm/x@1' }] }
  const apart = { ...bare, externalIdentifier: ['i1'] }
  const element = {
    type: 'ExternalIdentifier',
    spdxId: 'i1',
    externalIdentifierType: 'purl',
    identifier: 'pkg:npm/x@1',
  }
  for (const elements of [[inPlace], [apart, element], [element, apart]]) {
    const [finding] = (await read(graph(...elements, VULNERABILITY, vex('Affected')))).findings
    assert.equal(finding?.purl, 'pkg:npm/x@1')
  }
})

test('a package of SPDX 3 that itself refers to a vulnerability is a finding', async () => {
  const externalRef = [
    { type: 'ExternalRef', externalRefType: 'securityAdvisory', locator: ['https://x.example/CVE-2021-23337'] },
  ]
  const { findings } = await read(graph({ ...PACKAGE, externalRef }))
  assert.deepEqual(
    [findings[0]?.rule_id, findings[0]?.native_url],
    ['CVE-2021-23337', 'https://x.example/CVE-2021-23337'],
  )
})

test('a graph that says nothing of vulnerabilities does not speak for its tool', async () => {
  assert.deepEqual((await read(graph(PACKAGE))).tools, [])
  assert.equal((await read(graph(PACKAGE, VULNERABILITY, vex('Fixed')))).tools.length, 1)
})

test('the version of SPDX 3 is checked by its context', async () => {
  const versioned = (address: string) => read({ '@graph': [], '@context': [address] })
  await assert.rejects(versioned('https://spdx.org/rdf/4.0/spdx-context.jsonld'), /SPDX 4\.0 is not read/)
  assert.match((await versioned('https://spdx.org/rdf/3.1/spdx-context.jsonld')).warnings[0] ?? '', /3\.1 is newer/)
  assert.deepEqual((await versioned(CONTEXT)).warnings, [])
  await assert.rejects(read({ '@context': CONTEXT }), /no array `@graph`/)
})

test('a bad element is skipped with a warning, and nothing is taken for fixed', async () => {
  await assert.rejects(read(graph(null, 'x')), /None of the document's 2 elements could be read/)
  const { count, skipped, truncated } = await read(graph(null, PACKAGE, VULNERABILITY, vex('Affected'), 'x'))
  assert.deepEqual([count, skipped, truncated], [1, 2, false])
})

test('order and versions change no fingerprint', async () => {
  const entry = fc.record({
    name: fc.constantFrom('a', 'b', 'c'),
    id: fc.constantFrom('CVE-2021-1111', 'CVE-2021-2222'),
  })
  const packagesOf = (entries: { name: string; id: string }[], version: string) =>
    entries.map(({ name, id }) => ({
      name,
      externalRefs: [reference('advisory', id), { ...PURL, referenceLocator: `pkg:npm/${name}@${version}` }],
    }))
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 12 }), async (entries) => {
      const before = await read(spdx2([], { packages: packagesOf(entries, '1') }))
      const after = await read(spdx2([], { packages: packagesOf(entries.toReversed(), '2') }))
      assert.deepEqual(fingerprints(after.findings), fingerprints(before.findings))
    }),
    { numRuns: 100 },
  )
})

const DOCUMENTS = {
  'SPDX 2': spdx2([reference('advisory', 'https://x.example/CVE-2021-23337'), PURL]),
  'SPDX 3': graph(PACKAGE, VULNERABILITY, vex('NotAffected', { security_impactStatement: 'x' }), ASSOCIATION),
}

for (const [name, document] of Object.entries(DOCUMENTS)) {
  test(`${name} that is cut off anywhere is refused`, async () => {
    const text = JSON.stringify(document)
    for (let length = 0; length < text.length; length++)
      await assert.rejects(read(text.slice(0, length)), { name: 'ReportError' }, `cut off at ${length}`)
  })

  test(`whatever is broken in ${name}, it is read or refused with a reason`, async () => {
    const bytes = Buffer.from(JSON.stringify(document))
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(5), async (position, byte, cut) => {
        const mutated = Buffer.concat([
          bytes.subarray(0, position),
          Buffer.from([byte]),
          bytes.subarray(position + cut),
        ])
        await read(mutated.toString('latin1')).catch((error) => assert.equal(error.name, 'ReportError', error.stack))
      }),
      { numRuns: 1500 },
    )
  })
}

test('whatever stands in place of a member of an element, the graph is read', async () => {
  const members = [
    'from',
    'to',
    'type',
    'spdxId',
    'externalIdentifier',
    'externalRef',
    'name',
    'creationInfo',
    'createdUsing',
    'security_score',
    'security_vexVersion',
    'security_assessedElement',
  ]
  const bases = [PACKAGE, VULNERABILITY, vex('Affected'), ASSOCIATION, { type: 'CreationInfo' }]
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...bases),
      fc.constantFrom(...members),
      fc.jsonValue(),
      async (base, member, value) => {
        const { components } = await read(graph(PACKAGE, { ...base, [member]: value }, VULNERABILITY, vex('Affected')))
        assert.ok(components >= 1)
      },
    ),
    { numRuns: 500 },
  )
})
