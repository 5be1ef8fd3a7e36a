import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseReport } from '../../../../test/support/parse-report.ts'
import type { ParsedFinding } from '../report/parsed-report.ts'

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

test('each security reference of SPDX 2 that names a vulnerability becomes a finding, whatever its type', async () => {
  const { findings, components, tools } = await parseReport(
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
  const [{ name, version, subject } = tools[0] as never] = tools
  assert.deepEqual([components, tools.length, name, version, subject], [1, 1, 'scan', '1.2', undefined])
  assert.deepEqual(
    [findings[0]?.purl, findings[0]?.severity, findings[0]?.kind],
    ['pkg:npm/lodash@4.17.1', 'medium', 'dependency'],
  )
  assert.equal(findings[0]?.native_url, 'https://x.example/CVE-2021-23337')
})

test('references that identify a package, refer to a fix or are in another category are not findings', async () => {
  const { findings } = await parseReport(
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

test('the tool is listed only if the document refers to vulnerabilities', async () => {
  const tools = async (...references: unknown[]) => (await parseReport(spdx2(references))).tools.length
  assert.equal(await tools(PURL, reference('cpe23Type', 'cpe:2.3:a:x:x')), 0)
  assert.equal(await tools(reference('fix', 'https://x.example/CVE-2021-23337')), 1)
})

test('NOASSERTION is not a version', async () => {
  const packages = [{ name: 'a', versionInfo: 'NOASSERTION', externalRefs: [reference('advisory', 'CVE-2021-23337')] }]
  assert.equal((await parseReport(spdx2([], { packages }))).findings[0]?.package_version, null)
})

test('an unsupported version of SPDX 2 is refused, a newer minor version is read with a warning', async () => {
  const versioned = (spdxVersion: unknown) => parseReport(spdx2([], { spdxVersion }))
  for (const version of ['SPDX-2.1', 'SPDX-1.2', 'SPDX-4.0'])
    await assert.rejects(versioned(version), {
      name: 'ReportError',
      format: 'spdx',
      message: `The SPDX version "${version}" is not supported; use SPDX 2.2, 2.3 or 3.0.`,
    })
  await assert.rejects(parseReport({ spdxVersion: 'SPDX-3.0' }), { name: 'ReportError', format: 'spdx' })
  assert.deepEqual((await versioned('SPDX-2.2')).warnings, [])
  assert.deepEqual((await versioned('SPDX-2.4')).warnings, [
    'The document is SPDX-2.4, which is newer than SPDX 2.3; it was read as SPDX 2.3.',
  ])
})

test('a document whose packages are not a list is refused, an invalid package is skipped', async () => {
  await assert.rejects(parseReport(spdx2([], { packages: {} })), {
    message: 'The member `packages` of the SPDX document is not an array.',
  })
  await assert.rejects(parseReport(spdx2([], { packages: [null, 1] })), {
    message: 'The member `packages` contains no objects.',
  })
  const [good] = spdx2([reference('advisory', 'CVE-2021-23337')]).packages
  const { components, skipped, truncated, count } = await parseReport(spdx2([], { packages: [null, good] }))
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

test('an affected package of SPDX 3 becomes a finding, in any order of the elements', async () => {
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
  const first = await parseReport(graph(...elements))
  const [finding] = first.findings
  assert.deepEqual([first.count, first.components, first.tools], [1, 1, [{ name: 'scan', version: '3.1' }]])
  assert.deepEqual(finding?.vuln_ids, ['CVE-2021-23337', 'GHSA-35jh-r3h4-6jhm'])
  assert.deepEqual([finding?.purl, finding?.package_version], ['pkg:npm/lodash@4.17.1', '4.17.1'])
  assert.deepEqual([finding?.severity, finding?.cvss_version, finding?.cvss_score], ['high', '3.1', 7.2])
  assert.equal(finding?.title, 'Command injection')
  assert.deepEqual((await parseReport(graph(...elements.reverse()))).findings, first.findings)
})

test('the root package of an SPDX 3 document, or of its bill of materials, is its subject', async () => {
  const image = {
    type: 'software_Package',
    spdxId: 'https://x.example/image',
    name: 'docker.io/library/shop',
    software_primaryPurpose: 'container',
  }
  const subjectOf = async (...elements: object[]) =>
    (await parseReport(graph(...elements, image, PACKAGE, VULNERABILITY, vex('Affected')))).tools[0]?.subject
  assert.equal(await subjectOf({ type: 'SpdxDocument', spdxId: 'd', rootElement: [image.spdxId] }), 'shop')
  const bom = { type: 'software_Sbom', spdxId: 's', rootElement: [image.spdxId] }
  assert.equal(await subjectOf({ type: 'SpdxDocument', spdxId: 'd', rootElement: ['s'] }, bom), 'shop')
  assert.equal(await subjectOf({ type: 'SpdxDocument', spdxId: 'd' }), undefined)
})

test('VEX in SPDX 3: affected and under investigation are open, not affected is dismissed, fixed is no finding', async () => {
  const states = async (...statements: object[]) =>
    (await parseReport(graph(PACKAGE, VULNERABILITY, ...statements))).findings.map(({ state }) => state)
  assert.deepEqual(await states(vex('Affected')), ['open'])
  assert.deepEqual(await states(vex('UnderInvestigation')), ['open'])
  assert.deepEqual(await states(vex('NotAffected')), ['dismissed'])
  assert.deepEqual(await states(vex('Fixed')), [])
  assert.deepEqual(await states(ASSOCIATION), ['open'])
  assert.deepEqual(await states(), [])
})

test('a dismissal includes the justification and impact', async () => {
  const statement = vex('NotAffected', {
    security_justificationType: 'componentNotPresent',
    security_impactStatement: 'Gone.',
  })
  const [finding] = (await parseReport(graph(PACKAGE, VULNERABILITY, statement))).findings
  assert.deepEqual([finding?.dismiss_reason, finding?.dismiss_comment], ['not_affected', 'componentNotPresent\nGone.'])
})

test('a VEX statement counts before an association, a newer before an older and else the more cautious one', async () => {
  const state = async (...statements: object[]) => {
    const inOrder = (await parseReport(graph(PACKAGE, VULNERABILITY, ...statements))).findings.map(({ state }) => state)
    const reversed = (await parseReport(graph(PACKAGE, VULNERABILITY, ...statements.reverse()))).findings.map(
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

test('the assessed element is the vulnerable package, not the product that contains it', async () => {
  const statement = vex('Affected', { to: ['https://x.example/product'], security_assessedElement: PACKAGE.spdxId })
  const { findings } = await parseReport(graph(PACKAGE, VULNERABILITY, statement))
  assert.deepEqual(
    findings.map(({ package_name }) => package_name),
    ['lodash'],
  )
})

test('a vulnerability in another document is named by its address, one without an id is skipped with a warning', async () => {
  const elsewhere = vex('Affected', { from: 'https://x.example/vulnerability/CVE-2024-1234' })
  const { findings, skipped, warnings } = await parseReport(
    graph(PACKAGE, elsewhere, vex('Affected', { from: 'https://x.example/1' })),
  )
  assert.deepEqual([findings.map(({ rule_id }) => rule_id), skipped], [['CVE-2024-1234'], 1])
  assert.deepEqual(warnings, ['Statements that do not name a vulnerability were skipped (1 in total).'])
})

test('a package URL can be in an identifier of the package or in a separate element', async () => {
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
    const [finding] = (await parseReport(graph(...elements, VULNERABILITY, vex('Affected')))).findings
    assert.equal(finding?.purl, 'pkg:npm/x@1')
  }
})

test('a package of SPDX 3 that itself refers to a vulnerability becomes a finding', async () => {
  const externalRef = [
    { type: 'ExternalRef', externalRefType: 'securityAdvisory', locator: ['https://x.example/CVE-2021-23337'] },
  ]
  const { findings } = await parseReport(graph({ ...PACKAGE, externalRef }))
  assert.deepEqual(
    [findings[0]?.rule_id, findings[0]?.native_url],
    ['CVE-2021-23337', 'https://x.example/CVE-2021-23337'],
  )
})

test('the tool is listed only if the graph contains a vulnerability', async () => {
  assert.deepEqual((await parseReport(graph(PACKAGE))).tools, [])
  assert.equal((await parseReport(graph(PACKAGE, VULNERABILITY, vex('Fixed')))).tools.length, 1)
})

test('packages of all subclasses are components and can be affected', async () => {
  const model = { type: 'ai_AIPackage', spdxId: 'https://x.example/model', name: 'classifier' }
  const dataset = { type: 'dataset_DatasetPackage', '@id': 'https://x.example/data', name: 'reviews' }
  const byAddress = { '@type': 'https://spdx.org/rdf/3.0.1/terms/AI/AIPackage', spdxId: 'https://x.example/other' }
  const file = { type: 'software_File', spdxId: 'https://x.example/file', name: 'package.json' }
  const affected = vex('Affected', { to: [model.spdxId, dataset['@id']] })
  const { components, findings } = await parseReport(
    graph(PACKAGE, model, dataset, byAddress, file, VULNERABILITY, affected),
  )
  assert.equal(components, 4)
  assert.deepEqual(
    findings.map(({ package_name }) => package_name),
    ['classifier', 'reviews'],
  )
})

const single = (element: object, context: unknown = CONTEXT) => ({ '@context': context, ...element })

test('an SPDX 3 document without `@graph` is a single element', async () => {
  const { '@context': context, ...element } = single(PACKAGE)
  for (const document of [single(PACKAGE), { ...element, '@context': [context] }]) {
    const { format, components, skipped, count, tools, warnings } = await parseReport(document)
    assert.deepEqual(
      { format, components, skipped, count, tools, warnings },
      {
        format: 'spdx',
        components: 1,
        skipped: 0,
        count: 0,
        tools: [],
        warnings: [],
      },
    )
  }
  assert.equal((await parseReport(single({ type: 'dataset_DatasetPackage', spdxId: 'd' }))).components, 1)
  for (const type of ['Person', 'software_File', 'SpdxDocument', 'CreationInfo'])
    assert.equal((await parseReport(single({ type, spdxId: 'x', element: ['a', 'b'] }))).components, 0)
})

test('a single element of SPDX 3 that states a vulnerability becomes a finding', async () => {
  const from = 'https://x.example/vulnerability/CVE-2024-1234'
  const statement = await parseReport(single(vex('Affected', { from, to: ['pkg:npm/lodash@4.17.1'] })))
  assert.deepEqual(
    statement.findings.map(({ rule_id, package_name, package_version }) => [rule_id, package_name, package_version]),
    [['CVE-2024-1234', 'lodash', '4.17.1']],
  )
  const externalRef = [{ externalRefType: 'securityAdvisory', locator: ['https://x.example/CVE-2021-23337'] }]
  const [finding] = (await parseReport(single({ ...PACKAGE, externalRef }))).findings
  assert.deepEqual([finding?.rule_id, finding?.purl], ['CVE-2021-23337', PACKAGE.software_packageUrl])
})

test('an SPDX 3 document with neither an array `@graph` nor a `type` is refused', async () => {
  const refusal = { name: 'ReportError', format: 'spdx' }
  const noElement = { ...refusal, message: 'The SPDX 3 document has no `@graph`, nor is it an element with a `type`.' }
  await assert.rejects(parseReport({ '@context': CONTEXT }), noElement)
  await assert.rejects(parseReport({ '@context': CONTEXT, name: 'x', type: 7 }), noElement)
  const noList = { ...refusal, message: 'The member `@graph` is not an array.' }
  await assert.rejects(parseReport({ '@context': CONTEXT, '@graph': null, type: 'software_Package' }), noList)
  const newer = { ...refusal, message: 'SPDX 4.0 is not supported; use SPDX 2.2, 2.3 or 3.0.' }
  await assert.rejects(parseReport(single(PACKAGE, 'https://spdx.org/rdf/4.0/spdx-context.jsonld')), newer)
  const tooLarge = 'None of the elements could be read (1 skipped). Element 1 is too large or not an object.'
  await assert.rejects(parseReport(single({ ...PACKAGE, name: 'x'.repeat(9_000_000) })), { message: tooLarge })
})

test('an unsupported version of SPDX 3 is refused, a newer minor version is read with a warning', async () => {
  const versioned = (address: string) => parseReport({ '@graph': [], '@context': [address] })
  await assert.rejects(versioned('https://spdx.org/rdf/4.0/spdx-context.jsonld'), {
    message: 'SPDX 4.0 is not supported; use SPDX 2.2, 2.3 or 3.0.',
  })
  assert.deepEqual((await versioned('https://spdx.org/rdf/3.1/spdx-context.jsonld')).warnings, [
    'The document is SPDX 3.1, which is newer than SPDX 3.0; it was read as SPDX 3.0.',
  ])
  assert.deepEqual((await versioned(CONTEXT)).warnings, [])
})

test('an invalid element is skipped, and a graph without any valid element is refused', async () => {
  await assert.rejects(parseReport(graph(null, 'x')), {
    message: 'None of the elements could be read (2 skipped). Element 1 is too large or not an object.',
  })
  const { count, skipped, truncated } = await parseReport(graph(null, PACKAGE, VULNERABILITY, vex('Affected'), 'x'))
  assert.deepEqual([count, skipped, truncated], [1, 2, false])
})

test('fingerprints do not depend on order and versions', async () => {
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
      const before = await parseReport(spdx2([], { packages: packagesOf(entries, '1') }))
      const after = await parseReport(spdx2([], { packages: packagesOf(entries.toReversed(), '2') }))
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
  test(`${name} that is truncated anywhere is refused`, async () => {
    const text = JSON.stringify(document)
    for (let length = 0; length < text.length; length++)
      await assert.rejects(parseReport(text.slice(0, length)), { name: 'ReportError' }, `cut off at ${length}`)
  })

  test(`${name} with any damage is read or refused with a ReportError`, async () => {
    const bytes = Buffer.from(JSON.stringify(document))
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(5), async (position, byte, cut) => {
        const mutated = Buffer.concat([
          bytes.subarray(0, position),
          Buffer.from([byte]),
          bytes.subarray(position + cut),
        ])
        await parseReport(mutated.toString('latin1')).catch((error) =>
          assert.equal(error.name, 'ReportError', error.stack),
        )
      }),
      { numRuns: 1500 },
    )
  })
}

test("any value of an element's member leaves the graph readable", async () => {
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
        const { components } = await parseReport(
          graph(PACKAGE, { ...base, [member]: value }, VULNERABILITY, vex('Affected')),
        )
        assert.ok(components >= 1)
      },
    ),
    { numRuns: 500 },
  )
})
