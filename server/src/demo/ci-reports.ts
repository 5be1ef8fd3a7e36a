import { formatArtifactKey } from '../ci/reports/artifact-object.ts'
import { completeArtifacts } from '../ci/reports/complete-artifacts.ts'
import { createReport } from '../ci/reports/create-report.ts'
import { API_RULES } from '../ci/reports/read-attestations.ts'
import type { AttestationItem } from '../ci/reports/report.schema.ts'
import { formatHostRunId, type HostRun } from '../codehosts/host-run.ts'
import type { DemoRepository } from './world/company.ts'
import type { Demo } from './world/demo.ts'
import { getComponents } from './world/packages.ts'
import { renderCyclonedx, type StoredFile, saveDemoFile, toFile } from './world/report-files.ts'

/** A finished attempt, as its reports describe it. */
export type ReportedRun = { id: string; attempt: number; repository: string; sha: string; isSuccess: boolean; at: Date }

/** The reports of a CI run on the code host: tests, and on the main branch package and scan. */
export async function reportCi(demo: Demo, run: HostRun, about: DemoRepository): Promise<void> {
  const jobs = demo.host.facts.jobs.get(`${run.id} ${run.attempt}`)
  const tests = jobs?.find(({ name }) => name === 'unit-tests')?.status ?? run.status
  const reported = {
    id: formatHostRunId('github', run.id),
    attempt: run.attempt,
    repository: about.name,
    sha: run.commit.sha,
    isSuccess: tests === 'success',
    at: run.completed_at as Date,
  }
  // A job that was skipped or did not end reports nothing.
  if (tests === 'success' || tests === 'failure') await reportTests(demo, reported, about.language)
  if (run.kind === 'push' && run.status === 'success') await reportPackage(demo, reported)
}

/** The reports of a run that deploys: the policies of production look for them. */
export async function reportDelivery(demo: Demo, run: HostRun, about: DemoRepository): Promise<void> {
  const id = formatHostRunId('github', run.id)
  const { random } = demo
  const isFinal = run.status !== 'in_progress'
  await send(demo, id, {
    job: isFinal ? 'production' : 'smoke-tests',
    runner: `linux-${1 + random.below(3)}`,
    summary: SUMMARIES.smoke(about.name, isFinal ? 'production' : 'staging'),
    attestations: [
      {
        kind: 'test-results',
        name: 'smoke',
        data: { passed: 18, failed: 0, skipped: 0, errors: 0, durationSeconds: 44 },
      },
      { kind: 'sbom', name: 'image', data: { format: 'cyclonedx', components: getComponents(about.name).length } },
    ],
  })
}

const SUITES: Record<DemoRepository['language'], { tests: number; coverage: number }> = {
  javascript: { tests: 640, coverage: 82 },
  java: { tests: 1180, coverage: 78 },
  go: { tests: 410, coverage: 71 },
  python: { tests: 520, coverage: 88 },
  terraform: { tests: 36, coverage: 0 },
}

const FAILURES = [
  { suite: 'totals', name: 'rounds half up', message: 'expected 1299 to equal 1300' },
  { suite: 'carrier', name: 'books a pick-up point', message: 'timed out after 30000 ms waiting for the carrier stub' },
  {
    suite: 'refunds',
    name: 'refunds a part of an order',
    message: "cannot read properties of undefined (reading 'lines')",
  },
  { suite: 'sessions', name: 'ends after twelve idle hours', message: 'expected status 401, got 200' },
] as const

/** Tests and coverage of an attempt. */
export async function reportTests(demo: Demo, run: ReportedRun, language: DemoRepository['language']): Promise<void> {
  const { random } = demo
  const { tests, coverage } = SUITES[language]
  const failures = run.isSuccess ? [] : FAILURES.slice(random.below(3), random.below(3) + 2)
  const failed = failures.length
  const passed = tests + Math.round((run.at.getTime() / 86_400_000) % 90) - failed
  const data = {
    passed,
    failed,
    skipped: 3 + random.below(4),
    errors: 0,
    durationSeconds: 80 + random.below(90),
    failures,
  }
  const lines = Math.round((coverage + random.next() * 4 - 1) * 10) / 10
  const attestations: AttestationItem[] = [{ kind: 'test-results', name: 'unit', data }]
  if (coverage > 0 && run.isSuccess)
    attestations.push({ kind: 'coverage', name: 'unit', data: { lines, threshold: 70 } })
  const summary = SUMMARIES.tests(run.repository, { passed, failed, lines: coverage > 0 ? lines : null, failures })
  await send(demo, run.id, {
    job: 'unit-tests',
    runner: `linux-${1 + random.below(3)}`,
    attempt: run.attempt,
    summary,
    attestations,
  })
}

/** What a build of the main branch leaves: its bill of materials, a scan and files. */
export async function reportPackage(demo: Demo, run: ReportedRun): Promise<void> {
  const { random } = demo
  const components = getComponents(run.repository)
  const sbom = toFile(
    'sbom.cdx.json',
    renderCyclonedx({ name: run.repository, version: run.sha.slice(0, 12), at: run.at, components }),
  )
  const notes = toFile('release-notes.md', SUMMARIES.notes(run.repository, run.sha))
  const counts = { critical: 0, high: random.below(2), medium: 1 + random.below(4), low: 2 + random.below(6) }
  await send(demo, run.id, {
    job: 'package',
    runner: `linux-${1 + random.below(3)}`,
    attempt: run.attempt,
    files: [sbom, notes],
    summary: SUMMARIES.package(run.repository, components.length, counts),
    attestations: [
      {
        kind: 'sbom',
        name: 'image',
        data: { format: 'cyclonedx', components: components.length, artifact: sbom.path },
      },
      { kind: 'scan', name: 'image', data: { tool: 'trivy', ...counts, failOn: 'critical' } },
      { kind: 'custom', name: 'image-size', status: 'info', data: { megabytes: 120 + random.below(60) } },
    ],
  })
}

type NewReport = {
  job: string
  runner: string
  attempt?: number
  summary: string
  attestations: AttestationItem[]
  files?: StoredFile[]
}

async function send(
  demo: Demo,
  runId: string,
  { job, runner, attempt, files = [], ...report }: NewReport,
): Promise<void> {
  const actor = demo.key('ci-reports')
  const { result } = await createReport(demo.services, actor, runId, {
    ...report,
    name: 'default',
    job: { name: job, runner },
    rules: API_RULES,
    ...(attempt && { attempt }),
    artifacts: files.map(({ path, size, sha256 }) => ({ path, size, sha256 })),
  })
  if (files.length === 0) return
  for (const { artifact_id, path } of result.uploads) {
    const file = files.find((sent) => sent.path === path) as StoredFile
    await saveDemoFile(demo.services, formatArtifactKey(actor.org_id, artifact_id), file, 'application/octet-stream')
  }
  const path = { run_id: runId, report_id: result.report_id }
  await completeArtifacts(
    demo.services,
    actor,
    path,
    result.uploads.map(({ artifact_id }) => artifact_id),
  )
}

type Tests = {
  passed: number
  failed: number
  lines: number | null
  failures: readonly { suite: string; name: string; message: string }[]
}

type Counts = { critical: number; high: number; medium: number; low: number }

/** Summaries of jobs in Markdown, as CI systems show them. */
const SUMMARIES = {
  tests(repository: string, { passed, failed, lines, failures }: Tests): string {
    const rows = failures.map(({ suite, name, message }) => `| ${suite} | ${name} | \`${message}\` |`)
    const failed_ = rows.length > 0 ? ['', '| Suite | Test | Message |', '|---|---|---|', ...rows] : []
    const coverage = lines === null ? [] : ['', `Line coverage: **${lines} %** (threshold 70 %)`]
    const state = failed === 0 ? `**${passed}** tests passed.` : `**${failed}** of ${passed + failed} tests failed.`
    return [`## Tests of \`${repository}\``, '', state, ...failed_, ...coverage].join('\n')
  },

  package(repository: string, components: number, { critical, high, medium, low }: Counts): string {
    return [
      `## Image \`registry.example.com/northlane/${repository}\``,
      '',
      '| | |',
      '|---|---|',
      '| Base image | `debian:13-slim` |',
      `| Components | ${components} |`,
      `| Vulnerabilities | ${critical} critical, ${high} high, ${medium} medium, ${low} low |`,
      '',
      '- [x] Signed',
      '- [x] Bill of materials attached',
    ].join('\n')
  },

  smoke(repository: string, environment: string): string {
    return `### Smoke tests on ${environment}\n\n\`${repository}\` answered all 18 requests. The slowest took 212 ms.`
  },

  notes(repository: string, sha: string): string {
    return `# ${repository} ${sha.slice(0, 12)}\n\n- Built from \`${sha}\`\n- Replaces the previous version without downtime\n`
  },
}
