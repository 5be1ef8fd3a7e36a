import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importEpss, importKev } from '../../../server/src/security/intel/import-source.ts'
import type { Caller, TestApi } from '../../../server/test/support/api.ts'
import { bom, codeResult } from '../../../server/test/support/issues.ts'
import { drainQueue } from '../../../server/test/support/queue.ts'
import { uploadReport } from '../../../server/test/support/reports.ts'
import { sarif } from '../../../server/test/support/sarif.ts'

export const LOG4SHELL = 'CVE-2021-44228'

/** A scanner's finding of a rule in a file, with a score that gives its severity. */
export function ruleResult(title: string, score: number, fields: Record<string, unknown> = {}) {
  const ruleId = title.toLowerCase().replaceAll(/\W+/g, '-')
  return {
    ...codeResult(ruleId, `src/${ruleId}.ts`, [7, 9]),
    message: { text: title },
    properties: { 'security-severity': `${score}`, tags: ['external/cwe/cwe-089'] },
    ...fields,
  }
}

/**
 * An exploited vulnerability that two scanners report, and a few problems of the code: three high
 * ones, a medium one and a low one.
 */
export async function reportProblems(api: TestApi, caller: Caller): Promise<void> {
  const log4j = 'pkg:maven/org.apache.logging.log4j/log4j-core@2.14.1'
  for (const tool of ['Grype', 'Trivy'])
    await uploadReport(api, caller, bom(tool, log4j, [{ id: LOG4SHELL, severity: 'critical' }]))
  await importThreats(api)
  api.clock.advance(60_000)
  const results = [
    ruleResult('SQL injection in search', 8),
    ruleResult('Path traversal in download', 8),
    ruleResult('Command injection in build', 7.5),
    ruleResult('Weak hash of passwords', 5),
    ruleResult('Debug output in production', 2),
  ]
  await uploadReport(api, caller, sarif(results, 'CodeQL'))
}

/** What the catalogs of exploited vulnerabilities and of probabilities say. */
export async function importThreats(api: TestApi): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'shiplock-intel-'))
  const day = api.clock.now().toISOString().slice(0, 10)
  const entry = {
    cveID: LOG4SHELL,
    dateAdded: '2021-12-10',
    dueDate: '2021-12-24',
    knownRansomwareCampaignUse: 'Known',
  }
  const catalog = { catalogVersion: '1', dateReleased: `${day}T00:00:00Z`, vulnerabilities: [entry] }
  const scores = `#model_version:v1,score_date:${day}\ncve,epss,percentile\n${LOG4SHELL},0.94358,0.99956\n`
  try {
    await writeFile(join(directory, 'kev.json'), JSON.stringify(catalog))
    await writeFile(join(directory, 'epss.csv'), scores)
    await importKev(api.services, join(directory, 'kev.json'), () => {})
    await importEpss(api.services, join(directory, 'epss.csv'), () => {})
    await drainQueue(api)
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** What a hostile report could contain. */
export async function reportHostileTexts(api: TestApi, caller: Caller): Promise<void> {
  const hostile = [
    ruleResult('Long', 9.5, { message: { text: `Very long ${'x'.repeat(10_000)}` } }),
    ruleResult('Markup', 9.5, { message: { text: '<img src=x onerror="document.title=1"><script>alert(1)</script>' } }),
    ruleResult('Turned', 9.5, { message: { text: 'safe \u202etxt.exe\u202c name' } }),
    ruleResult('Outside', 9.5, {
      ...codeResult('outside', '../../etc/passwd', [1, 1]),
      hostedViewerUri: 'javascript:alert(1)',
    }),
    ruleResult('File', 9.5, { message: { text: `First line\n${'line of a file\n'.repeat(3000)}` } }),
  ]
  await uploadReport(api, caller, sarif(hostile, 'Hostile <b>scanner</b>'), { repository: 'acme/hostile' })
}
