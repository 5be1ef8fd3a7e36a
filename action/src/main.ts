import { info, setFailed, setOutput, warning } from '@actions/core'
import type { Retry } from '@shiplock/sdk'
import { describeFailure } from './describe-failure.ts'
import { collectEvidence, type Evidence } from './evidence.ts'
import { type FileResult, Ingest, requireIdTokens, type StoredReport } from './ingest.ts'
import { type Inputs, readFailOnError, readInputs } from './inputs.ts'
import { writeSummary } from './summary.ts'

await main()

/** Runs the step. With `fail-on-error: false`, an error is a warning. */
async function main(): Promise<void> {
  let fail: (message: string) => void = setFailed
  try {
    if (!readFailOnError()) fail = warning
    const problems = await report(readInputs())
    if (problems.length > 0) fail(problems.join('\n'))
  } catch (error) {
    fail(describeFailure(error))
  }
}

/** Sends the report of the job. Returns what is wrong with the files that were sent. */
async function report(inputs: Inputs): Promise<string[]> {
  requireIdTokens()
  const evidence = await collectEvidence(inputs)
  for (const line of evidence.lines) info(line)
  const ingest = new Ingest(inputs, (retry) => info(describeRetry(retry)))
  const stored = await ingest.create(toReport(inputs, evidence), evidence.files)
  setOutput('report-id', stored.reportId)
  setOutput('report-url', stored.url)
  info(`Report: ${stored.url}`)
  await writeSummary(inputs.job.name, stored.url, evidence.lines)
  warnOf(stored)
  return problemsOf(await ingest.sendFiles(stored, evidence.files))
}

function toReport({ job, name, summary }: Inputs, { attestations }: Evidence) {
  return { job: { ...job, runner: process.env.RUNNER_NAME || null }, name, summary, attestations }
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
