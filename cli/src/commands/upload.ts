import { resolve } from 'node:path'
import { type Context, defineCommand } from '@shiplock/command-line/command'
import { UsageError } from '@shiplock/command-line/options'
import { formatBytes, type Progress, type ProgressBar } from '@shiplock/command-line/progress'
import { describeMissing } from '@shiplock/report-readers/found-file'
import type { Place } from '@shiplock/report-readers/working-directory'
import type { SecurityUpload, ShiplockClient, Source } from '@shiplock/sdk'
import { fileSource } from '@shiplock/sdk/node'
import { connect, namingScope, SERVER_OPTIONS } from '../connection/client.ts'
import { describeError, isShiplockError } from '../program/describe-error.ts'
import { EXIT } from '../program/exit-codes.ts'
import { refusedArgument } from '../program/refused-argument.ts'
import { findNamedFile, LINK_OPTIONS } from '../report/named-files.ts'
import { findRevision, REVISION_OPTIONS, type RevisionOptions, repositoryName } from '../run/revision.ts'

export const uploadCommand = defineCommand({
  name: 'upload',
  summary: 'Upload security reports',
  details: [
    'Uploads reports in the formats SARIF, CycloneDX JSON and SPDX JSON, waits until the server has read them, and prints what they contain. Exits with 1 if a report cannot be sent or read.',
    'A new report closes the findings that earlier reports of the same scanner, repository, category and branch contain and that it does not. Give two reports of one scanner different categories. The same file uploaded again changes nothing.',
    'A report that may be incomplete closes nothing until the next one lacks the same, or "shiplock confirm" confirms it. --complete states that the report has all that its scanner finds, and needs a single file.',
  ],
  positionals: { value: 'FILE', count: 'many' },
  options: {
    ...REVISION_OPTIONS,
    category: { type: 'text', value: 'C', about: 'separates several reports of one scanner for one branch' },
    complete: { type: 'flag', value: '', about: 'the report is complete: it closes what it lacks' },
    'no-wait': { type: 'flag', value: '', about: 'exit once the files are sent' },
    ...LINK_OPTIONS,
    ...SERVER_OPTIONS,
  },
  examples: [
    'shiplock upload results.sarif',
    'shiplock upload image.cdx.json --category image --ref main',
    'shiplock upload scans/*.sarif --repository acme/shop --commit "$GIT_COMMIT" --no-wait',
  ],
  async run({ options, positionals }, context) {
    const place = { cwd: context.cwd, followLinks: options['follow-links'] }
    // The file that is read last would close what the others have.
    if (options.complete && positionals.length > 1) throw new UsageError('--complete needs a single file')
    const files = positionals.map((path) => ({ path, source: openFile(path, place) }))
    const sending = { client: connect(options, context), target: targetOf(options, context), wait: !options['no-wait'] }
    const progress = context.output.progress()
    try {
      const bars = files.map((file) => ({ ...file, bar: progress.add(file.path, file.source.size) }))
      const uploads = await sendAll({ ...sending, context, progress }, bars)
      return report(uploads, context)
    } finally {
      progress.end()
    }
  },
})

const UPLOAD_ID = /^[0-9a-f]{32}$/

export const uploadConfirmCommand = defineCommand({
  name: 'confirm',
  summary: 'Confirm an upload: a report that held findings, or a VEX document',
  details: [
    'A report that held findings closes them, because it is complete. A VEX document that its sender may not put into effect takes effect. Whoever sent a VEX document cannot confirm it.',
  ],
  positionals: { value: 'ID', count: 'one' },
  options: SERVER_OPTIONS,
  examples: ['shiplock confirm 0123456789abcdef0123456789abcdef'],
  async run({ options, positionals: [id] }, context) {
    if (id === undefined || !UPLOAD_ID.test(id)) throw new UsageError('ID must be the id of an upload')
    const client = connect(options, context)
    const params = { path: { uploadId: id } }
    const { data } = await namingScope('write:triage', () =>
      client.api.POST('/v1/security/uploads/{uploadId}/confirm', { params }),
    )
    context.output.print({ json: data.data.upload, text: `The upload ${id} is confirmed.` })
    return EXIT.ok
  },
})

/** Throws a `UsageError` that says why there is no file to send. */
function openFile(path: string, place: Place): Source {
  const file = findNamedFile(path, place)
  if (file !== null) return fileSource(file.path, () => file.open())
  throw new UsageError(`${path} ${describeMissing(resolve(place.cwd, path))}`)
}

type Target = { repository: string; ref?: string; commit?: string; category?: string; complete?: true }

/** A commit of another length than the API takes is left out. */
const COMMIT = /^[0-9a-f]{7,40}$/

function targetOf(
  options: RevisionOptions & { category: string | undefined; complete: boolean },
  context: Context,
): Target {
  const { repository, ref, commit_sha } = findRevision(options, context)
  if (repository === null)
    throw new UsageError('Give the repository with --repository: neither the CI nor git tells it')
  const commit = options.commit ?? (commit_sha && COMMIT.test(commit_sha) ? commit_sha : undefined)
  return {
    repository: repositoryName(repository),
    ...(ref && { ref }),
    ...(commit && { commit }),
    ...(options.category && { category: options.category }),
    ...(options.complete && { complete: true }),
  }
}

type Sending = { client: ShiplockClient; target: Target; wait: boolean; context: Context; progress: Progress }
type Sent = { path: string; source: Source; bar: ProgressBar }

const PARALLEL_FILES = 4

/** Sends the files, a few at a time. An upload is null if its file failed, which has been said. */
async function sendAll(sending: Sending, files: Sent[]): Promise<(SecurityUpload | null)[]> {
  const uploads: (SecurityUpload | null)[] = files.map(() => null)
  let next = 0
  const sendNext = async () => {
    for (let index = next++; index < files.length; index = next++) {
      uploads[index] = await send(sending, files[index] as Sent)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_FILES }, sendNext))
  return uploads
}

/**
 * Returns null after an error, so that the other files are sent. Throws if it is interrupted, and if
 * the API refuses an option, as it does for every file.
 */
async function send({ client, target, wait, context }: Sending, { path, source, bar }: Sent) {
  const { output, signal } = context
  const onState = ({ status }: SecurityUpload) => {
    if (status === 'queued' || status === 'parsing') bar.finish(`${path}: ${formatBytes(source.size)} sent`)
  }
  try {
    if (source.size === 0) throw new Error('The file is empty.')
    const upload = await client.uploadReport(source, {
      ...target,
      wait,
      signal,
      onProgress: (sent) => bar.to(sent),
      onState,
    })
    bar.finish(`${path}: ${formatBytes(source.size)} ${upload.status === 'failed' ? 'refused' : 'stored'}`)
    return upload
  } catch (error) {
    signal.throwIfAborted()
    bar.finish(`${path}: failed`)
    if (isShiplockError(error) && refusedArgument(error) !== null) throw error
    output.warn(`shiplock: ${path}: ${describeError(error)}`)
    return null
  }
}

/** With `--json`, one file is one document and several are a list. */
function report(uploads: (SecurityUpload | null)[], { output }: Context): number {
  const known = uploads.filter((upload) => upload !== null)
  for (const { filename, warnings } of known) {
    for (const warning of warnings) output.say(`${filename}: ${warning}`)
  }
  for (const { filename, error } of known) {
    if (error !== null) output.warn(`shiplock: ${filename}: ${error}`)
  }
  const json = uploads.length === 1 ? known[0] : known
  if (known.length > 0) output.print({ json, text: known.map(describe).join('\n') })
  return known.length === uploads.length && known.every(({ status }) => status !== 'failed') ? EXIT.ok : EXIT.failure
}

function describe({ filename, status, counts }: SecurityUpload): string {
  if (status !== 'finished') return `${filename}: ${status}`
  const { openBySeverity: open } = counts
  const components = counts.components > 0 ? `, ${counts.components} components` : ''
  return [
    `${filename}: ${counts.findings} findings${components}`,
    `${counts.created} new, ${counts.updated} changed, ${counts.resolved} fixed`,
    `open: ${open.critical} critical, ${open.high} high, ${open.medium} medium, ${open.low} low`,
  ].join('; ')
}
