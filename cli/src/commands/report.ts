import { defineCommand } from '@shiplock/command-line/command'
import { type OptionValues, UsageError } from '@shiplock/command-line/options'
import { collectEvidence, type Evidence } from '@shiplock/report-readers/evidence'
import { MissingFileError, type Search } from '@shiplock/report-readers/find-files'
import { SEVERITIES, type Severity } from '@shiplock/report-readers/severity'
import { detectCi } from '../ci/detect-ci.ts'
import { connect, SERVER_OPTIONS } from '../connection/client.ts'
import { EXIT } from '../program/exit-codes.ts'
import { describeJob } from '../report/job.ts'
import { findNamedFile, LINK_OPTIONS, refusedLink } from '../report/named-files.ts'
import { limitWarnings, sendWithProgress } from '../report/send.ts'
import { describeExecution, EXECUTION_OPTIONS } from '../run/execution.ts'
import { readImageOption } from '../run/images.ts'
import { findRun, RUN_OPTIONS } from '../run/run.ts'

const OPTIONS = {
  junit: { type: 'list', value: 'GLOB', about: 'test results: JUnit XML files' },
  retries: {
    type: 'flag',
    value: '',
    about: 'equal test cases of a file are tries of one test, of which the last counts',
  },
  'count-retries': {
    type: 'flag',
    value: '',
    about: 'count every try of a test, also where the file states that it passed later',
  },
  coverage: { type: 'list', value: 'FILE', about: 'code coverage: lcov, Cobertura, JaCoCo or Clover' },
  threshold: { type: 'text', value: 'N', about: 'exit with 4 if fewer than N percent of the lines are covered' },
  sbom: { type: 'list', value: 'FILE', about: 'a bill of materials: CycloneDX or SPDX in JSON' },
  scan: { type: 'list', value: 'FILE', about: 'the findings of a scanner: SARIF, or CycloneDX with vulnerabilities' },
  'fail-on': {
    type: 'text',
    value: 'SEVERITY',
    about: 'exit with 4 if a scan has an open finding of this severity or a worse one',
    choices: SEVERITIES,
  },
  artifacts: { type: 'list', value: 'GLOB', about: 'files to store with the report' },
  image: {
    type: 'list',
    value: 'IMAGE@sha256:…',
    about: 'a container image that the job built, by digest; it is not uploaded',
  },
  summary: { type: 'text', value: 'FILE', about: 'a summary in Markdown' },
  job: { type: 'text', value: 'N', about: 'the name of the job (by default that of the CI)' },
  matrix: { type: 'text', value: 'JSON', about: 'the matrix values of the job, such as {"os": "linux"}' },
  ...EXECUTION_OPTIONS,
  name: { type: 'text', value: 'N', about: 'the name of the report, if the job sends several' },
  'allow-missing': { type: 'flag', value: '', about: 'send the report without files that do not exist' },
  ...LINK_OPTIONS,
  ...RUN_OPTIONS,
  ...SERVER_OPTIONS,
} as const

type ReportOptions = OptionValues<typeof OPTIONS>

export const reportCommand = defineCommand({
  name: 'report',
  summary: 'Report the test results, coverage, scans and files of a job',
  details: [
    'Sends one report for the job that it runs in. All files are read first; if one is not what it should be, nothing is sent. The same job, matrix and name replace the earlier report, so that it is safe to repeat the command.',
    'Quote a GLOB, so that the shell does not expand it. A FILE may be a glob, too. A directory stands for the files in it. SBOMs and scans are stored as artifacts, whose findings the server reads. The path of an artifact is relative to the working directory, which links and globs do not leave without --follow-links.',
    'Exits with 4 if --threshold is missed or --fail-on is exceeded, after everything was sent. Failed tests do not change the exit code: the step that ran them has failed.',
  ],
  options: OPTIONS,
  examples: [
    'shiplock report --junit "**/TEST-*.xml" --coverage coverage/lcov.info --threshold 80',
    'shiplock report --sbom bom.json --scan trivy.sarif --fail-on high --artifacts "dist/**"',
    'shiplock report --sbom bom.json --image ghcr.io/acme/shop@sha256:$DIGEST',
    'shiplock report --junit junit.xml --job test --matrix \'{"node": 24}\'',
  ],
  async run({ options }, context) {
    const job = describeJob(options, detectCi(context.env, context.cwd), context.env)
    const wanted = readWanted(options)
    const client = connect(options, context)
    const search = {
      cwd: context.cwd,
      allowMissing: options['allow-missing'],
      followLinks: options['follow-links'],
    }
    const evidence = await collectEvidence(wanted, search).catch(refuseFiles)
    const summary = await readSummary(options.summary, search)
    const subjects = await readImageOption(options.image)
    refuseTooManyFiles(evidence)
    for (const line of evidence.lines) context.output.say(line)
    for (const warning of evidence.warnings) context.output.warn(warning)
    const report = {
      job: { ...job, ...(await describeExecution(options, client, context)) },
      ...(options.name !== undefined && { name: options.name }),
      ...(summary !== null && { summary }),
      ...(subjects.length > 0 && { subjects }),
      attestations: evidence.attestations,
    }
    const run = await findRun(client, options, context)
    const sent = await sendWithProgress(client, { run, report, files: evidence.files }, context.output)
    const warnings = [...sent.report.warnings, ...limitWarnings(sent.report), ...evidence.exceeded]
    for (const warning of warnings) context.output.warn(warning)
    context.output.print({ json: sent.report, text: sent.report.url })
    if (sent.rejected.length > 0) throw new Error(describeRejected(sent.rejected))
    return evidence.exceeded.length > 0 ? EXIT.exceeded : EXIT.ok
  },
})

const NAME_MAX = 100

function readWanted(options: ReportOptions) {
  const { junit, coverage, sbom, scan, artifacts, image, name } = options
  const given = [
    ...junit,
    ...coverage,
    ...sbom,
    ...scan,
    ...artifacts,
    ...image,
    ...(options.summary ? [options.summary] : []),
  ]
  if (given.length === 0) {
    throw new UsageError('Give at least one of --junit, --coverage, --sbom, --scan, --artifacts, --image, --summary')
  }
  if ((options.retries || options['count-retries']) && junit.length === 0) {
    throw new UsageError('--retries and --count-retries need --junit')
  }
  if (options.threshold !== undefined && coverage.length === 0) throw new UsageError('--threshold needs --coverage')
  if (options['fail-on'] !== undefined && scan.length === 0) throw new UsageError('--fail-on needs --scan')
  if (name !== undefined && name.length > NAME_MAX) {
    throw new UsageError(`--name must have at most ${NAME_MAX} characters`)
  }
  const failOn = (options['fail-on'] as Severity | undefined) ?? null
  const threshold = readThreshold(options.threshold)
  return { junit, retries: readRetries(options), coverage, sbom, scan, artifacts, threshold, failOn }
}

function readRetries({ retries, 'count-retries': counted }: ReportOptions) {
  if (retries && counted) throw new UsageError('Give either --retries or --count-retries')
  if (retries) return 'merge' as const
  return counted ? ('count' as const) : ('stated' as const)
}

function readThreshold(text: string | undefined): number | null {
  if (text === undefined) return null
  const threshold = Number(text)
  if (/^\d+(?:\.\d+)?$/.test(text) && threshold <= 100) return threshold
  throw new UsageError(`--threshold must be a number from 0 to 100, not "${text}"`)
}

/** A file that does not exist or lies elsewhere is a mistake in the command line. */
function refuseFiles(error: unknown): never {
  if (!(error instanceof MissingFileError)) throw refusedLink(error)
  const { option, pattern, hasLinks } = error
  const hint = hasLinks ? ', and --follow-links looks behind links to directories' : ''
  throw new UsageError(`No file matches --${option} "${pattern}"; --allow-missing sends the report without it${hint}`)
}

const SUMMARY_BYTES_MAX = 1024 * 1024

async function readSummary(name: string | undefined, search: Search): Promise<string | null> {
  if (name === undefined) return null
  const file = findNamedFile(name, search, 'summary')
  if (file === null && search.allowMissing) return null
  if (file === null) throw new UsageError(`There is no file --summary "${name}"`)
  const text = await file.readText(SUMMARY_BYTES_MAX)
  if (text === null) throw new Error(`${name} is larger than 1 MiB, which is the limit of a summary`)
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

const FILES_MAX = 1000
const ATTESTATIONS_MAX = 200

function refuseTooManyFiles({ files, attestations }: Evidence): void {
  if (files.length > FILES_MAX) {
    throw new Error(`A report has at most ${FILES_MAX} files, but ${files.length} were found; select fewer`)
  }
  if (attestations.length > ATTESTATIONS_MAX) {
    throw new Error(`A report has at most ${ATTESTATIONS_MAX} attestations, but ${attestations.length} were found`)
  }
}

function describeRejected(rejected: { path: string; status: string; reason: string | null }[]): string {
  const files = rejected.map(
    ({ path, status, reason }) => `${path} is ${status}${reason === null ? '' : ` (${reason})`}`,
  )
  return `Some files were not stored, repeat the command: ${files.join(', ')}`
}
