import { info, setFailed, setOutput, summary, warning } from '@actions/core'
import { trustAuthorities } from '@shiplock/network/certificates'
import { type Retry, ShiplockError } from '@shiplock/sdk'
import { collectEvidence, type Evidence } from './evidence.ts'
import { type FileResult, Ingest, requireIdTokens, type StoredReport } from './ingest.ts'
import { type Inputs, readFailOnError, readInputs } from './inputs.ts'

/** Runs the step. With `fail-on-error: false`, an error is a warning. */
async function main(): Promise<void> {
  let fail: (message: string) => void = setFailed
  try {
    if (!readFailOnError()) fail = warning
    const problems = await report(await readInputs())
    if (problems.length > 0) fail(problems.join('\n'))
  } catch (error) {
    fail(describeFailure(error))
  }
}

/** Sends the report of the job. Returns what is wrong with the files that were sent. */
async function report(inputs: Inputs): Promise<string[]> {
  requireIdTokens()
  trustAuthorities(process.env)
  const evidence = await collectEvidence(inputs)
  for (const line of evidence.lines) info(line)
  for (const text of evidence.warnings) warning(text)
  const ingest = new Ingest(inputs, (retry) => info(describeRetry(retry)))
  const stored = await ingest.create(toReport(inputs, evidence), evidence.files)
  setOutput('report-id', stored.reportId)
  setOutput('report-url', stored.url)
  info(`Report: ${stored.url}`)
  await writeSummary(inputs.job.name, stored.url, evidence.lines)
  warnOf(stored)
  return problemsOf(await ingest.sendFiles(stored, evidence.files))
}

function toReport({ job, name, summary, images }: Inputs, { attestations }: Evidence) {
  const subjects = images.map(({ media_type, ...image }) => ({
    ...image,
    ...(media_type && { mediaType: media_type }),
  }))
  return {
    job: { ...job, runner: process.env.RUNNER_NAME || null },
    name,
    summary,
    attestations,
    ...(subjects.length > 0 && { subjects }),
  }
}

function warnOf({ warnings, skipped }: StoredReport): void {
  for (const text of warnings) warning(text)
  for (const { path, reason } of skipped) {
    if (reason === 'already_uploaded') info(`${path} is already uploaded.`)
    else warning(`${path} was not stored: ${reason}`)
  }
}

function problemsOf(results: FileResult[]): string[] {
  const failed = results.filter(({ status }) => status !== 'uploaded')
  return failed.map(({ path, status, reason }) => `The server did not store ${path}: ${reason ?? status}`)
}

function describeRetry({ error, delayMs, attempt, attempts }: Retry): string {
  return `${error.message} Trying again in ${Math.ceil(delayMs / 1000)} s (try ${attempt + 1} of ${attempts}).`
}

/** Writes the results and the link to the report into the summary of the job. */
async function writeSummary(jobName: string, url: string, lines: string[]): Promise<void> {
  if (!process.env.GITHUB_STEP_SUMMARY) return
  summary.addRaw(`### [Shiplock report of ${escaped(jobName)}](${url})`, true).addEOL()
  for (const line of lines) summary.addRaw(`- ${escaped(line)}`, true)
  await summary.write()
}

/** Names come from files: they must not become Markdown or HTML. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#|!~]/g, '\\$&').replace(/\s+/g, ' ')
}

/** What to do about an error of the server, by its code. */
const ADVICE: Record<string, string> = {
  REPO_NOT_LINKED: `Create a trust for this repository on the server: npx shiplock-server trust create --org ORGANIZATION --name NAME --github ${process.env.GITHUB_REPOSITORY ?? 'OWNER/REPOSITORY'} --scope write:ci`,
  TOKEN_INVALID: 'Check that the server has a trust for this repository with the audience of this step.',
  RUN_NOT_FOUND: 'The repository is connected, but GitHub has not reported this run to the server.',
  not_found: 'Check that "url" is the URL of a Shiplock server.',
}

/** The message of an error, for the log and the annotation of the step. */
function describeFailure(error: unknown): string {
  if (!(error instanceof ShiplockError)) return error instanceof Error ? error.message : String(error)
  const { code, message, requestId } = error
  const request = requestId === null ? '' : ` (request ${requestId})`
  return [`${code}: ${message}${request}`, ADVICE[code] ?? ''].join('\n').trim()
}

await main()
