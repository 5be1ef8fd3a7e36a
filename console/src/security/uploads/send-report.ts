import { blobSource, putSlot, ShiplockError, type Slot } from '@shiplock/sdk'
import { client } from '../../api/client.ts'
import { hashFile } from './hash-file.ts'
import { patiently } from './patiently.ts'
import { EmptyFileError } from './upload-failure.ts'
import { isOneOf, SENT_PHASES, type SecurityUpload, type UploadItem } from './upload-item.ts'
import { changeItem, queuedItems } from './upload-queue.ts'

const PATH = '/app/api/orgs/{org}/security/uploads'
/** The server keeps a place for 15 minutes. A slow connection asks for more time. */
const KEEP_PLACE_MS = 5 * 60_000
const FILENAME_CHARS_MAX = 200
/** A lost connection sends the file again from its start. */
const PUT_POLICY = { putAttempts: 5, putTimeoutMs: 24 * 60 * 60_000 }

/** Hashes and sends a file. Afterwards the server reads it, which `follow-readings.ts` follows. */
export async function sendReport(item: UploadItem, signal: AbortSignal): Promise<void> {
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
