import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import { importOsv } from '../../src/security/intel/import-osv.ts'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import { type Caller, startTestApi, type TestApi } from '../support/api.ts'
import { listFindings } from '../support/findings.ts'
import { applyAlerts, connect, dependencyAlert } from '../support/host-alerts.ts'
import { drainQueue } from '../support/queue.ts'
import { createUpload, getUpload, putFile, uploadReport } from '../support/reports.ts'
import { sarif } from '../support/sarif.ts'
import { dismissAll } from '../support/triage.ts'
import { csaf, notAffected, openVex, vulnerable } from '../support/vex.ts'

let api: TestApi
let caller: Caller

before(async () => {
  api = await startTestApi()
})
after(() => api?.close())
beforeEach(async () => {
  caller = await api.caller()
})

async function upload(file: object, options: Record<string, unknown> = {}) {
  api.clock.advance(1000)
  const uploaded = await uploadReport(api, caller, file, options)
  assert.equal(uploaded.status, 'finished', uploaded.error)
  return uploaded
}

const LODASH = 'pkg:npm/lodash@4.17.20'
const ID = 'CVE-2021-23337'

/** The state of each finding by its package URL, scanner and vulnerability. */
async function states() {
  const findings = await listFindings(api, caller)
  return Object.fromEntries(
    findings.map(({ purl, scanner, rule_id, state }) => [`${scanner} ${purl} ${rule_id}`, state]),
  )
}
const only = async () => {
  const findings = await listFindings(api, caller)
  assert.equal(findings.length, 1)
  return findings[0]
}

test('a statement dismisses the findings of every scanner, with its reason', async () => {
  await upload(vulnerable({ [LODASH]: ID, 'pkg:npm/other@1.0.0': ID }))
  await upload(vulnerable({ [LODASH]: ID }, 'trivy'))
  const given = { impact_statement: 'We do not call template().', justification: undefined }
  const { counts, format, warnings } = await upload(openVex([notAffected(ID, ['pkg:npm/lodash'], given)]))
  assert.deepEqual([format, counts.findings, counts.updated, warnings], ['openvex', 0, 2, []])
  const findings = await listFindings(api, caller)
  const dismissed = findings.filter(({ state }) => state === 'dismissed')
  assert.deepEqual(dismissed.map(({ scanner }) => scanner).sort(), ['grype', 'trivy'])
  for (const finding of dismissed) {
    assert.equal(finding.dismissal_source, 'openvex')
    assert.equal(finding.dismiss_reason, 'not_affected')
    assert.equal(finding.dismiss_comment, 'We do not call template().')
    assert.equal(finding.dismissed_by_name, 'test key')
    assert.equal(finding.dismissed_at, api.clock.now().toISOString())
  }
})

test('a finding of a later report is dismissed by a statement before it, and is no new issue', async () => {
  await upload(openVex([notAffected(ID, [LODASH])]))
  const { counts } = await upload(vulnerable({ [LODASH]: ID }))
  assert.deepEqual([counts.created, counts.newIssues, counts.newHigh, counts.openBySeverity.high], [1, 0, 0, 0])
  assert.deepEqual(
    [(await only()).state, (await only()).dismiss_reason],
    ['dismissed', 'vulnerable_code_not_in_execute_path'],
  )
})

test('a statement about one version stops to apply when the package changes', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  await upload(openVex([notAffected(ID, [LODASH])]))
  assert.equal((await only()).state, 'dismissed')
  await upload(vulnerable({ 'pkg:npm/lodash@4.17.19': ID }))
  assert.equal((await only()).state, 'open')
  await upload(vulnerable({ [LODASH]: ID, 'pkg:npm/x': 'CVE-2020-1000' }))
  assert.equal((await states())[`grype ${LODASH} ${ID}`], 'dismissed')
})

test('a newer version of a document replaces the older one; a document with another id is kept beside it', async () => {
  await upload(vulnerable({ [LODASH]: [ID, 'CVE-2020-8203'] }))
  await upload(openVex([notAffected(ID, [LODASH]), notAffected('CVE-2020-8203', [LODASH])]))
  assert.deepEqual(Object.values(await states()), ['dismissed', 'dismissed'])
  const affected = { ...notAffected(ID, [LODASH]), status: 'affected', action_statement: 'Update.' }
  await upload(openVex([affected], { '@id': 'https://acme.example/vex/2', timestamp: '2024-06-01T00:00:00Z' }))
  assert.deepEqual(await states(), {
    [`grype ${LODASH} ${ID}`]: 'open',
    [`grype ${LODASH} CVE-2020-8203`]: 'dismissed',
  })
  await upload(openVex([affected], { version: 2, timestamp: '2024-06-02T00:00:00Z' }))
  assert.deepEqual(Object.values(await states()), ['open', 'open'])
})

test('statements that match no finding are counted in a warning', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  const image = 'pkg:oci/app@sha256%3Aaaaa?repository_url=ghcr.io%2Facme'
  const { warnings } = await upload(openVex([notAffected(ID, [LODASH]), notAffected(ID, [image])]))
  assert.deepEqual(warnings, ['Statements that match no finding: 1. They apply to what later reports contain.'])
})

test('a statement about one digest of an image ends when a report is about the next build of it, in every format', async () => {
  const [built, rebuilt] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string]
  const image = (digest: string) => `pkg:oci/app@${digest}?repository_url=ghcr.io/acme/app`
  const results = [
    { ruleId: ID, message: { text: `Package: lodash\nInstalled Version: 4.17.20\nVulnerability ${ID}` } },
  ]
  const reports: Record<string, (digest: string) => object> = {
    sarif: (digest) =>
      sarif(results, 'Trivy', {
        properties: { imageName: 'ghcr.io/acme/app:1', repoDigests: [`ghcr.io/acme/app@${digest}`] },
      }),
    cyclonedx: (digest) => {
      const report = vulnerable({ [LODASH]: ID })
      const component = { type: 'container', name: 'ghcr.io/acme/app:1', version: digest }
      return { ...report, metadata: { ...report.metadata, component } }
    },
    spdx: (digest) => ({
      spdxVersion: 'SPDX-2.3',
      SPDXID: 'SPDXRef-DOCUMENT',
      name: 'app',
      documentDescribes: ['SPDXRef-image'],
      packages: [
        {
          name: 'ghcr.io/acme/app',
          SPDXID: 'SPDXRef-image',
          primaryPackagePurpose: 'CONTAINER',
          externalRefs: [
            { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: image(digest) },
          ],
        },
        {
          name: 'lodash',
          SPDXID: 'SPDXRef-lodash',
          versionInfo: '4.17.20',
          externalRefs: [
            { referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: LODASH },
            { referenceCategory: 'SECURITY', referenceType: 'advisory', referenceLocator: `https://x.example/${ID}` },
          ],
        },
      ],
    }),
  }
  for (const [format, reportOf] of Object.entries(reports)) {
    caller = await api.caller()
    await upload(reportOf(built))
    await upload(openVex([notAffected(ID, [{ '@id': image(built), subcomponents: [{ '@id': 'pkg:npm/lodash' }] }])]))
    assert.equal((await only()).state, 'dismissed', format)
    await upload(reportOf(rebuilt))
    assert.equal((await only()).state, 'open', format)
  }
})

test('documents of several authors and categories apply together; the newest statement counts', async () => {
  await upload(vulnerable({ [LODASH]: [ID, 'CVE-2020-8203'] }))
  await upload(openVex([notAffected(ID, [LODASH])]), { category: 'one' })
  await upload(openVex([notAffected('CVE-2020-8203', [LODASH])]), { category: 'two' })
  assert.deepEqual(Object.values(await states()), ['dismissed', 'dismissed'])
  const affected = { ...notAffected(ID, [LODASH]), status: 'under_investigation' }
  await upload(openVex([affected], { author: 'Vendor', timestamp: '2024-04-01T00:00:00Z' }))
  assert.equal((await states())[`grype ${LODASH} ${ID}`], 'dismissed')
  await upload(openVex([affected], { author: 'Vendor', timestamp: '2024-05-02T00:00:00Z' }))
  assert.equal((await states())[`grype ${LODASH} ${ID}`], 'open')
})

test('an older version of a document changes nothing', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  await upload(openVex([notAffected(ID, [LODASH])], { version: 3 }))
  const { warnings } = await upload(openVex([], { version: 2 }))
  assert.match(warnings[0], /newer version of this document/)
  assert.equal((await only()).state, 'dismissed')
})

test('a CSAF document dismisses by its product tree, and its next version reopens', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  const flags = [{ label: 'component_not_present', product_ids: ['p'] }]
  const threats = [{ category: 'impact', details: 'Not shipped.', product_ids: ['p'] }]
  const statement = { cve: ID, product_status: { known_not_affected: ['p'] }, flags, threats }
  const { format } = await upload(csaf({ p: LODASH }, [statement]))
  assert.equal(format, 'csaf')
  const { dismissal_source, dismiss_reason, dismiss_comment } = await only()
  assert.deepEqual(
    [dismissal_source, dismiss_reason, dismiss_comment],
    ['csaf', 'component_not_present', 'Not shipped.'],
  )
  const later = { version: '2', current_release_date: '2024-06-01T00:00:00Z' }
  await upload(
    csaf({ p: LODASH }, [{ cve: ID, product_status: { known_affected: ['p'] } }], { id: 'ACME-2', ...later }),
  )
  assert.equal((await only()).state, 'open', 'another document, with a newer statement')
  await upload(
    csaf({ p: LODASH }, [{ ...statement }], {
      id: 'ACME-2',
      version: '3',
      current_release_date: '2024-07-01T00:00:00Z',
    }),
  )
  assert.equal((await only()).state, 'dismissed')
})

test("a person's triage decides before a document, and the document decides after it was undone", async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  await dismissAll(api, caller.orgId, { reason: 'wont_fix' })
  await upload(openVex([notAffected(ID, [LODASH])]))
  assert.deepEqual([(await only()).dismissal_source, (await only()).dismiss_reason], ['shiplock', 'wont_fix'])
})

test('aliases of the vulnerability are the vulnerability', async () => {
  await upload(vulnerable({ [LODASH]: 'GHSA-35jh-r3h4-6jhm' }))
  await upload(
    openVex([{ ...notAffected(ID, [LODASH]), vulnerability: { name: ID, aliases: ['GHSA-35jh-r3h4-6jhm'] } }]),
  )
  assert.equal((await only()).state, 'dismissed')
})

test('nothing else is dismissed', async () => {
  await upload(vulnerable({ [LODASH]: ID, 'pkg:pypi/lodash@4.17.20': ID, 'pkg:npm/shop-lib@1.0.0': 'CVE-2020-1000' }))
  const within = (product: string, inner: string) => ({ '@id': product, subcomponents: [{ '@id': inner }] })
  for (const [name, product] of Object.entries({
    'another version': 'pkg:npm/lodash@4.17.21',
    'another namespace': 'pkg:npm/%40types/lodash@4.17.20',
    'another type': 'pkg:gem/lodash',
    'a qualifier that the finding lacks': 'pkg:npm/lodash@4.17.20?arch=x86',
    'another repository': 'pkg:github/acme/other',
    'another repository by URL': 'https://github.com/acme/other',
    'an image': 'pkg:oci/app',
    'the package in another repository': within('pkg:github/acme/other@v1', LODASH),
    'the package in a module of another repository': within('pkg:golang/github.com/acme/other', LODASH),
    'the package in a dependency': within('pkg:npm/shop-lib', LODASH),
    'a release of the repository': 'pkg:github/acme/app@v9.9.9',
    'a component without package URL': within('pkg:github/acme/app', 'https://example.org/lodash'),
  })) {
    await upload(openVex([notAffected(ID, [product])], { '@id': `https://acme.example/${encodeURIComponent(name)}` }))
    assert.ok(
      Object.values(await states()).every((state) => state === 'open'),
      name,
    )
  }
  await upload(
    openVex([notAffected('CVE-2021-23338', [LODASH]), notAffected('CVE-2021-2333', ['pkg:github/acme/app'])]),
  )
  assert.ok(Object.values(await states()).every((state) => state === 'open'))
})

test('a statement about the repository is about all its findings of the vulnerability', async () => {
  for (const product of [
    'pkg:github/acme/app',
    'https://github.com/Acme/App.git',
    'pkg:golang/github.com/acme/app/v2',
  ]) {
    caller = await api.caller()
    await upload(vulnerable({ [LODASH]: ID, 'pkg:pypi/x@1': ID, 'pkg:npm/y@1': 'CVE-2020-1000' }))
    await upload(openVex([notAffected(ID, [product])]))
    assert.deepEqual(Object.values(await states()).sort(), ['dismissed', 'dismissed', 'open'], product)
  }
})

test('a document of an untracked branch applies to that branch only', async () => {
  const branch = { gitRef: 'refs/heads/topic', tracked: false }
  await upload(vulnerable({ [LODASH]: ID }), { gitRef: 'main', tracked: true })
  await upload(vulnerable({ [LODASH]: ID }), branch)
  await upload(openVex([notAffected(ID, [LODASH])]), { ...branch, gitRef: 'topic' })
  const findings = await listFindings(api, caller)
  assert.deepEqual(findings.map(({ git_ref, state }) => [git_ref, state]).sort(), [
    ['main', 'open'],
    ['refs/heads/topic', 'dismissed'],
  ])
})

test('a document of another organization or repository has no effect', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  await upload(openVex([notAffected(ID, [LODASH])]), { repository: 'acme/other' })
  const owner = caller
  caller = await api.caller()
  await upload(openVex([notAffected(ID, [LODASH])]))
  caller = owner
  assert.equal((await only()).state, 'open')
})

test('a file in another format than the stated one is refused', async () => {
  const refused = await uploadReport(api, caller, openVex([]), { format: 'csaf' })
  assert.deepEqual([refused.status, refused.error], ['failed', 'The file is OpenVEX, but `format` is "csaf".'])
  const read = await upload(openVex([notAffected(ID, [LODASH])]), { format: 'openvex' })
  assert.equal(read.format, 'openvex')
})

test('an alias that becomes known later counts, also backwards', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'shiplock-vex-'))
  const sayAliases = async (modified: string, ...aliases: string[]) => {
    writeFileSync(join(directory, 'osv.json'), JSON.stringify({ id: 'GHSA-aaaa-bbbb-cccc', modified, aliases }))
    await importOsv(api.services, [join(directory, 'osv.json')], () => {})
    await drainQueue(api)
  }
  try {
    await upload(vulnerable({ [LODASH]: 'GHSA-aaaa-bbbb-cccc' }))
    await upload(openVex([notAffected('CVE-2029-1234', [LODASH])]))
    assert.equal((await only()).state, 'open')
    await sayAliases('2026-01-01T00:00:00Z', 'CVE-2029-1234')
    assert.equal((await only()).state, 'dismissed')
    await sayAliases('2026-01-02T00:00:00Z')
    assert.equal((await only()).state, 'open')
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('the finding of an alert is dismissed, before and after the document', async () => {
  const source = await connect(api, caller)
  const repository = { repository: 'acme/shop', provider: 'github' }
  const alert = dependencyAlert()
  const { package_name, vuln_ids } = await (async () => {
    await applyAlerts(api, source, alert)
    return only()
  })()
  const purl = `pkg:npm/${package_name}`
  await upload(openVex([notAffected(vuln_ids[0], [purl])]), repository)
  assert.deepEqual([(await only()).state, (await only()).dismissal_source], ['dismissed', 'openvex'])
  caller = await api.caller()
  const other = await connect(api, caller)
  await upload(openVex([notAffected(vuln_ids[0], [purl])]), repository)
  await applyAlerts(api, other, alert)
  assert.equal((await only()).state, 'dismissed')
})

test('a document and a report that are read at the same time end in the same state', async () => {
  for (let round = 0; round < 5; round++) {
    caller = await api.caller()
    await Promise.all([
      uploadReport(api, caller, vulnerable({ [LODASH]: ID })),
      uploadReport(api, caller, openVex([notAffected(ID, [LODASH])])),
      uploadReport(api, caller, vulnerable({ [LODASH]: ID }, 'trivy')),
      uploadReport(api, caller, openVex([notAffected(ID, [LODASH])], { author: 'Other' })),
    ])
    assert.deepEqual(Object.values(await states()), ['dismissed', 'dismissed'])
  }
})

test('a document of a run that may have executed code of strangers is a proposal', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  const bytes = Buffer.from(JSON.stringify(openVex([notAffected(ID, [LODASH])])))
  const created = await createUpload(api, caller, bytes)
  await putFile(created, bytes)
  const { id } = created.body.data.upload
  const { sql } = api.services
  await sql`update security_upload_lanes set lane = 'untrusted', may_triage = false where upload_id = ${id}`
  await api.request('POST', `/v1/security/uploads/${id}/complete`, { key: caller.key })
  await readReportFile(api.services, { org_id: caller.orgId, upload_id: id })
  const { status, warnings } = await getUpload(api, caller, id)
  assert.deepEqual([status, warnings.length, (await only()).state], ['finished', 1, 'open'])
  assert.match(warnings[0], /is a proposal/)
  const [stored] = await sql`select count(*) as statements from vex_statements where org_id = ${caller.orgId}`
  assert.equal(stored?.statements, 1)
})

test('a document that cannot be read changes nothing', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  await upload(openVex([notAffected(ID, [LODASH])]))
  const text = JSON.stringify(openVex(Array.from({ length: 2000 }, () => notAffected('CVE-2020-1000', [LODASH]))))
  const refused = await uploadReport(api, caller, text.slice(0, -2))
  assert.deepEqual([refused.status, refused.format], ['failed', 'openvex'])
  assert.match(refused.error, /cannot be read as JSON/)
  assert.equal((await only()).state, 'dismissed')
})

test('texts that are hard to store are stored', async () => {
  await upload(vulnerable({ [LODASH]: ID }))
  const impact = 'a\tb\\c\n"d" {e,f} \u0000 \ud800 \\N'
  await upload(openVex([{ ...notAffected(ID, [LODASH]), justification: undefined, impact_statement: impact }]))
  assert.equal((await only()).dismiss_comment, 'a\tb\\c\n"d" {e,f}  \ufffd \\N')
})
