import { blobSource, putSlot, ShiplockError, type Slot } from '@shiplock/sdk'
import { client } from '../../api/client.ts'
import { followReadings } from './follow-readings.ts'
import type { HashMessage } from './hash-worker.ts'
import { patiently } from './patiently.ts'
import { describeFailure, EmptyFileError, UnreadableFileError } from './upload-failure.ts'
import { isOneOf, SENT_PHASES, type SecurityUpload, type UploadItem } from './upload-item.ts'
import { beginWork, changeItem, isWorkedOn, queuedItems } from './upload-queue.ts'

/** Files that are hashed or sent at the same time. More would share the same connection. */
const PARALLEL_MAX = 3

let running = 0
const PATH = '/app/api/orgs/{org}/security/uploads'

/** The server keeps a place for 15 minutes. A slow connection asks for more time. */
const KEEP_PLACE_MS = 5 * 60_000

const FILENAME_CHARS_MAX = 200

/** A lost connection sends the file again from its start. */
const PUT_POLICY = { putAttempts: 5, putTimeoutMs: 24 * 60 * 60_000 }

/** Starts files that wait, as many as may run. Each one that ends starts the next. */
export function runUploads(): void {
  followReadings()
  while (running < PARALLEL_MAX) {
    const next = queuedItems().find(({ id, phase }) => phase === 'waiting' && !isWorkedOn(id))
    if (next === undefined) return
    void run(next)
  }
}

async function run(item: UploadItem): Promise<void> {
  running++
  const { signal, end } = beginWork(item.id)
  try {
    await sendReport(item, signal)
  } catch (error) {
    if (!signal.aborted) fail(item, error)
  } finally {
    end()
    running--
    runUploads()
  }
}

function fail(item: UploadItem, error: unknown): void {
  const failure = describeFailure(error)
  changeItem(item.id, {
    phase: 'failed',
    failure,
    notice: null,
    // A file that has changed is read from the start when it is tried again.
    ...(failure.rereads && { sha256: null }),
  })
}

/** Hashes and sends a file. Afterwards the server reads it, which `follow-readings.ts` follows. */
async function sendReport(item: UploadItem, signal: AbortSignal): Promise<void> {
  if (item.file.size === 0) throw new EmptyFileError()
  const sha256 = item.sha256 ?? (await hash(item, signal))
  const twin = findTwin(item, sha256)
  if (twin) return changeItem(item.id, { phase: 'duplicate', sha256, twin: twin.path })
  changeItem(item.id, { phase: 'sending', doneBytes: 0, sha256 })
  const upload = await send({ ...item, sha256 }, signal)
  changeItem(item.id, { phase: 'reading', upload, notice: null, doneBytes: item.file.size })
}

async function hash({ id, file }: UploadItem, signal: AbortSignal): Promise<string> {
  changeItem(id, { phase: 'hashing', doneBytes: 0 })
  return hashFile(file, (doneBytes) => changeItem(id, { doneBytes }), signal)
}

/** Files of the same content that were chosen together are sent once. */
function findTwin({ id, batch }: UploadItem, sha256: string): UploadItem | undefined {
  return queuedItems().find(
    (other) => other.id !== id && other.batch === batch && other.sha256 === sha256 && isOneOf(SENT_PHASES, other),
  )
}

async function send(item: UploadItem, signal: AbortSignal): Promise<SecurityUpload> {
  const { upload, put } = await register(item, signal)
  if (put === null) return upload
  await sendFile(item, put, signal)
  const params = { path: { org: item.org, uploadId: upload.id } }
  const complete = () => client.POST(`${PATH}/{uploadId}/complete`, { params, signal })
  const { data } = await patiently(complete, (notice) => changeItem(item.id, { notice }), signal)
  return data?.data.upload as SecurityUpload
}

/** Tells the server about the file. Again for the same file: makes a new address for it. */
async function register(item: UploadItem, signal: AbortSignal) {
  const { org, file, sha256, target } = item
  const { repository, provider, ref: gitRef, commit: commitSha, format, category } = target
  const filename = file.name.slice(-FILENAME_CHARS_MAX)
  const described = { filename, size: file.size, sha256: sha256 as string, format: format ?? ('auto' as const) }
  const body = { ...described, repository, provider, gitRef, commitSha, category }
  const create = () => client.POST(PATH, { params: { path: { org } }, body, signal })
  const { data } = await patiently(create, (notice) => changeItem(item.id, { notice }), signal)
  return (data as NonNullable<typeof data>).data
}

/** Sends the file straight to its store. An address that has expired is replaced once. */
async function sendFile(item: UploadItem, put: Slot, signal: AbortSignal): Promise<void> {
  const keepPlace = setInterval(() => void register(item, signal).catch(() => {}), KEEP_PLACE_MS)
  try {
    await putFile(item, put, signal).catch(async (error) => {
      if (!(error instanceof ShiplockError && error.status === 403)) throw error
      const again = await register(item, signal)
      if (again.put !== null) await putFile(item, again.put, signal)
    })
  } finally {
    clearInterval(keepPlace)
  }
}

function putFile({ id, file }: UploadItem, put: Slot, signal: AbortSignal): Promise<void> {
  return putSlot(put, blobSource(file, file.name), {
    signal,
    retry: PUT_POLICY,
    onProgress: (doneBytes) => changeItem(id, { doneBytes, notice: null }),
    onRetry: () => changeItem(id, { notice: 'The connection was lost. Sending again.' }),
  })
}

/**
 * The SHA-256 of a file in hexadecimal, computed in a worker. Throws UnreadableFileError if the file
 * cannot be read, or has changed since it was chosen.
 */
async function hashFile(file: File, onProgress: (readBytes: number) => void, signal: AbortSignal): Promise<string> {
  const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { type: 'module' })
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      worker.onerror = () => reject(new Error('The program that computes checksums could not be loaded.'))
      worker.onmessage = ({ data }: MessageEvent<HashMessage>) => {
        if ('readBytes' in data) onProgress(data.readBytes)
        else if ('sha256' in data) resolve(data.sha256)
        else reject(new UnreadableFileError(data.problem))
      }
      worker.postMessage(file)
    })
  } finally {
    worker.terminate()
  }
}
