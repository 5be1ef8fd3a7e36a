import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { parseVex } from '../../../test/support/parse-report.ts'
import { csaf, notAffected, openVex } from '../../../test/support/vex.ts'
import { readFormat } from './read-report.ts'

const fixture = (file: string) =>
  parseVex(readFileSync(new URL(`../../../test/fixtures/${file}.json`, import.meta.url)), 1009)

const short = ({ stated }: Awaited<ReturnType<typeof parseVex>>) =>
  stated.map(({ status, vuln_ids, package: purl, product }) => [status, vuln_ids.join(), purl, product])

test('a real OpenVEX 0.2 document has a statement for each subcomponent', async () => {
  const document = await fixture('openvex/go-vex-0.2.0')
  const { publisher, document_id, document_version, issued_at } = document
  assert.deepEqual(
    [publisher, document_id?.slice(0, 40), document_version, issued_at],
    [
      'The OpenVEX Project <openvex@openssf.org>',
      'https://openvex.dev/docs/public/vex-d4e9',
      '1',
      '2023-07-18T00:28:47.696Z',
    ],
  )
  const image = 'pkg:oci/alpine@sha256%3A124c7d2707904eea7431fffe91522a01e5a861a624ee31d03372cc1d138a3126'
  assert.deepEqual(short(document).slice(0, 2), [
    ['fixed', 'CVE-2023-1255', 'pkg:apk/alpine/libssl3@3.0.8-r3', image],
    ['fixed', 'CVE-2023-1255', 'pkg:apk/alpine/libcrypto3@3.0.8-r3', image],
  ])
  assert.deepEqual([document.statements, document.skipped, document.warnings], [document.stated.length, 0, []])
})

test('a real OpenVEX 0.0.1 document has texts in place of objects', async () => {
  const document = await fixture('openvex/wolfi-0.0.1')
  const [arm, x86] = ['armv7', 'x86_64'].map((arch) => `pkg:apk/wolfi/git@2.39.0-r1?arch=${arch}`)
  assert.deepEqual(short(document), [
    ['fixed', 'CVE-2023-12345', arm, arm],
    ['fixed', 'CVE-2023-12345', x86, x86],
  ])
})

test('real CycloneDX documents without components state what other documents list', async () => {
  const ofOthers = await fixture('cyclonedx/vex-of-other-documents')
  assert.deepEqual([ofOthers.format, ofOthers.statements, ofOthers.skipped], ['cyclonedx', ofOthers.stated.length, 0])
  // Both name products of other documents without package URLs.
  const versions = await fixture('cyclonedx/vex-with-version-ranges')
  assert.deepEqual([versions.publisher, versions.statements, versions.skipped], ['CycloneDX', 0, 0])
  assert.match(versions.warnings[0] ?? '', /^Statements about products without a package URL or address/)
})

test('a CycloneDX document is a VEX document if it has no component and each vulnerability an analysis', async () => {
  const analysed = { id: 'CVE-2024-1', analysis: { state: 'not_affected' }, affects: [{ ref: 'pkg:npm/a@1' }] }
  const component = { type: 'library', name: 'a' }
  const isVex = async (given: object) => {
    const document = { bomFormat: 'CycloneDX', specVersion: '1.5', vulnerabilities: [analysed], ...given }
    const bytes = Buffer.from(JSON.stringify(document))
    return (await readFormat({ open: () => Readable.from([bytes]) }, 'auto')).isVex
  }
  assert.equal(await isVex({}), true)
  assert.equal(await isVex({ components: [], metadata: { component } }), true)
  for (const vulnerabilities of [[], [analysed, { id: 'CVE-2024-2' }], [{ ...analysed, analysis: null }]])
    assert.equal(await isVex({ vulnerabilities }), false)
  assert.equal(await isVex({ components: [component] }), false)
})

test('what CycloneDX lists as affected is not dismissed by the analysis beside it', async () => {
  const stated = async (ref: string, versions: object[], state = 'not_affected') => {
    const vulnerabilities = [{ id: 'CVE-2024-1', analysis: { state }, affects: [{ ref, versions }] }]
    const document = await parseVex({ bomFormat: 'CycloneDX', specVersion: '1.5', vulnerabilities })
    return document.stated.map(({ package: purl }) => purl)
  }
  const versions = [
    { version: '1.0', status: 'affected' },
    { version: '2.0', status: 'unaffected' },
    { range: 'vers:npm/>=3', status: 'unaffected' },
  ]
  assert.deepEqual(await stated('pkg:npm/a', versions), ['pkg:npm/a@2.0'])
  assert.deepEqual(await stated('pkg:npm/a@1.0', versions), [])
  assert.deepEqual(await stated('pkg:npm/a@2.0', versions), ['pkg:npm/a@2.0'])
  assert.deepEqual(await stated('pkg:npm/a', versions, 'exploitable'), ['pkg:npm/a@1.0', 'pkg:npm/a@2.0'])
})

test('a real CSAF document has products in nested branches; unknown product ids are counted', async () => {
  const document = await fixture('csaf/go-vex')
  assert.equal(document.publisher, 'https://psirt.example.com')
  assert.deepEqual(short(document)[0], ['not_affected', 'CVE-2009-4487', 'pkg:maven/@1.3.4', 'pkg:maven/@1.3.4'])
  assert.equal(document.stated[0]?.comment, 'Class with vulnerable code was removed before shipping.')
  assert.match(document.warnings[0] ?? '', /^Statements about products without a package URL or address: 2\./)
})

test('a real CSAF document has the package of a relationship, in its product', async () => {
  const document = await fixture('csaf/trivy-relationships')
  assert.deepEqual(short(document), [
    [
      'not_affected',
      'CVE-2024-0001',
      'pkg:golang/github.com/aquasecurity/go-transitive@v4.0.0',
      'pkg:golang/github.com/aquasecurity/go-direct1@v2.0.0',
    ],
  ])
  const [{ justification, comment, stated_at } = assert.fail()] = document.stated
  assert.equal(justification, 'vulnerable_code_cannot_be_controlled_by_adversary')
  assert.deepEqual([comment, stated_at], ['vulnerable_code_not_in_execute_path', '2024-01-04T16:17:25.000Z'])
})

test('a real CSAF document of a use case is read', async () => {
  const document = await fixture('csaf/go-vex-use-case')
  assert.deepEqual(short(document)[0]?.slice(0, 3), [
    'not_affected',
    'CVE-2009-4487',
    'pkg:golang/github.com/go-homedir@v1.2.0',
  ])
})

const LODASH = 'pkg:npm/lodash@4.17.20'
const only = async (statement: object) => short(await parseVex(openVex([statement])))

test('JSON-LD variants of OpenVEX are read', async () => {
  const expected = [['not_affected', 'CVE-2020-1000', LODASH, LODASH]]
  const statement = notAffected('CVE-2020-1000', [LODASH])
  for (const [name, variant] of Object.entries({
    'a single product': { ...statement, products: { '@id': LODASH } },
    'a product as text': { ...statement, products: LODASH },
    'the identifier purl before the id': {
      ...statement,
      products: [{ '@id': 'https://a.example/x', identifiers: { purl: LODASH } }],
    },
    '`id` without @': { ...statement, products: [{ id: LODASH }] },
    'a vulnerability as text': { ...statement, vulnerability: 'CVE-2020-1000' },
    'a vulnerability with an address only': {
      ...statement,
      vulnerability: { '@id': 'https://nvd.nist.gov/vuln/detail/CVE-2020-1000' },
    },
    'a status in capitals': { ...statement, status: 'NOT_AFFECTED' },
  }))
    assert.deepEqual(await only(variant), expected, name)
  for (const context of [
    ['https://openvex.dev/ns/v0.2.0', { acme: 'https://acme.example' }],
    'https://openvex.dev/ns',
  ]) {
    assert.deepEqual(short(await parseVex(openVex([statement], { '@context': context }))), expected)
  }
  const members = Object.entries(openVex([statement])).reverse()
  assert.deepEqual(short(await parseVex(Object.fromEntries(members), 7)), expected, 'members in any order')
})

test('a statement that cannot be read is skipped with its reason', async () => {
  const good = notAffected('CVE-2020-1000', [LODASH])
  const { skipped, warnings, statements } = await parseVex(
    openVex([good, { ...good, status: 'maybe' }, { ...good, vulnerability: {} }, 7 as never]),
  )
  assert.deepEqual([skipped, statements], [3, 1])
  assert.deepEqual(warnings, [
    'Statement 2 has no known `status`; it was skipped.',
    'Statement 3 names no vulnerability; it was skipped.',
    'Statement 4 is not an object; it was skipped.',
  ])
})

test('a product or component that cannot be identified makes no statement', async () => {
  const inner = { '@id': 'pkg:github/acme/app', subcomponents: [{ '@id': 'urn:x' }, { hashes: { md5: '0' } }] }
  const { statements, warnings } = await parseVex(openVex([notAffected('CVE-2020-1000', [inner, {}])]))
  assert.equal(statements, 0)
  assert.match(warnings[0] ?? '', /: 3\. They do not apply/)
})

test('a statement that names no product is counted with those whose product cannot be identified', async () => {
  const statement = notAffected('CVE-2020-1000', [])
  const { products, ...unnamed } = statement
  const { statements, warnings } = await parseVex(
    openVex([statement, unnamed, { ...unnamed, subcomponents: [LODASH] }]),
  )
  assert.deepEqual([products, statements], [[], 0])
  assert.match(warnings[0] ?? '', /: 3\. They do not apply/)
})

test('subcomponents that cannot be read do not make a statement one about the whole product', async () => {
  for (const subcomponents of [7, [7], [null], 'none', { purl: 'x' }, true])
    assert.deepEqual(await only(notAffected('CVE-2020-1000', [{ '@id': 'pkg:github/acme/app', subcomponents }])), [])
})

test('documents that are not supported are refused', async () => {
  const statement = notAffected('CVE-2020-1000', [LODASH])
  const refused = (document: object, message: RegExp) =>
    assert.rejects(parseVex(document), { name: 'ReportError', message })
  await refused(openVex([statement], { '@context': 'https://openvex.dev/ns/v0.9.0' }), /OpenVEX version 0\.9 is not/)
  await refused(openVex([statement], { author: '' }), /has no `author`/)
  await refused(openVex([], { statements: {} }), /`statements` is not an array/)
  await refused(openVex([{ ...statement, status: 'maybe' }]), /^None of the statements could be read \(1 skipped\)/)
  const { document, ...rest } = csaf({}, [])
  await refused({ document: { ...document, csaf_version: '1.2' }, ...rest }, /CSAF version "1\.2" is not supported/)
  await refused({ document: { ...document, category: 'csaf_base' }, ...rest }, /"csaf_base"\. Supported are/)
  await refused({ document: { ...document, publisher: {} }, ...rest }, /names no `publisher`/)
  await refused({ document }, /`vulnerabilities` of the CSAF document is not an array/)
})

test('the more cautious of contradicting CSAF statuses counts, and ranges of versions are not evaluated', async () => {
  const document = csaf({ a: LODASH, b: 'pkg:npm/b' }, [
    {
      cve: 'CVE-2020-1000',
      product_status: { known_not_affected: ['a', 'b'], known_affected: ['a'], recommended: ['b'] },
    },
    { ids: [{ system_name: 'GHSA', text: 'GHSA-35jh-r3h4-6jhm' }], product_status: { fixed: ['b'] } },
  ])
  const branches = document.product_tree.branches[0]?.branches ?? assert.fail()
  assert.deepEqual(short(await parseVex(document)), [
    ['affected', 'CVE-2020-1000', LODASH, LODASH],
    ['not_affected', 'CVE-2020-1000', 'pkg:npm/b', 'pkg:npm/b'],
    ['fixed', 'GHSA-35jh-r3h4-6jhm', 'pkg:npm/b', 'pkg:npm/b'],
  ])
  for (const branch of branches) branch.category = 'product_version_range'
  assert.deepEqual(short(await parseVex(document)), [['affected', 'CVE-2020-1000', LODASH, LODASH]])
})

test('flags and threats of CSAF name products by their groups', async () => {
  const document = csaf({ a: LODASH }, [
    {
      cve: 'CVE-2020-1000',
      product_status: { known_not_affected: ['a'] },
      flags: [{ label: 'component_not_present', group_ids: ['g'] }],
      threats: [{ category: 'impact', details: 'Removed.', group_ids: ['g'] }],
    },
  ])
  const groups = { product_groups: [{ group_id: 'g', product_ids: ['a'] }] }
  const { stated } = await parseVex({ ...document, product_tree: { ...document.product_tree, ...groups } })
  assert.deepEqual([stated[0]?.justification, stated[0]?.comment], ['component_not_present', 'Removed.'])
})

test('groups that are named again and again are read a bounded number of times', async () => {
  const facts = { category: 'impact', details: 'Removed.', group_ids: Array(20_000).fill('g') }
  const document = csaf({ a: LODASH }, [
    { cve: 'CVE-2020-1000', product_status: { known_not_affected: ['a'] }, threats: Array(100).fill(facts) },
    { cve: 'CVE-2020-1001', product_status: { known_not_affected: ['a'] }, threats: [facts] },
  ])
  const groups = { product_groups: [{ group_id: 'g', product_ids: ['a', ...Array(300_000).fill('b')] }] }
  const { stated, warnings } = await parseVex({ ...document, product_tree: { ...document.product_tree, ...groups } })
  assert.deepEqual(
    stated.map(({ vuln_ids, status, comment }) => [vuln_ids.join(), status, comment]),
    [
      ['CVE-2020-1000', 'not_affected', 'Removed.'],
      ['CVE-2020-1001', 'not_affected', null],
    ],
  )
  assert.match(warnings[0] ?? '', /^Flags and threats name too many products by groups\. /)
})

test('a document with more statements than are kept is refused', async () => {
  const products = Array.from({ length: 100_001 }, (_, index) => `pkg:npm/p${index}`)
  await assert.rejects(parseVex(openVex([notAffected('CVE-2020-1000', products)])), /more than 100000 statements/)
})
