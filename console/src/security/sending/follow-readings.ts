import { asApiError } from '../../api/api-error.ts'
import { client } from '../../api/client.ts'
import { failureOf } from './upload-failure.ts'
import type { SecurityUpload, UploadItem } from './upload-item.ts'
import { changeItem, queuedItems } from './upload-queue.ts'

const PATH = '/app/api/orgs/{org}/security/uploads'

const PAUSE_MS = 1000

/** After a failed request, such as without a session. */
const LONG_PAUSE_MS = 10_000

/** A page of the list has the newest uploads. Older ones, which were sent again, are asked for one by one. */
const PAGE = 100

const SINGLE_MAX = 5

let isFollowing = false

/** Shows how the server reads the reports, until it has read all. One request asks for many. */
export function followReadings(): void {
  if (isFollowing) return
  isFollowing = true
  void follow().finally(() => {
    isFollowing = false
  })
}

async function follow(): Promise<void> {
  while (queuedItems().some(({ phase }) => ['waiting', 'hashing', 'sending', 'reading'].includes(phase))) {
    const isAnswered = await readOnce().then(
      () => true,
      () => false,
    )
    await new Promise((resolve) => setTimeout(resolve, isAnswered ? PAUSE_MS : LONG_PAUSE_MS))
  }
}

async function readOnce(): Promise<void> {
  const readings = queuedItems().filter(({ phase }) => phase === 'reading')
  for (const org of new Set(readings.map((item) => item.org))) {
    const ofOrg = readings.filter((item) => item.org === org)
    try {
      await show(ofOrg, await newest(org))
    } catch (error) {
      const notice = asApiError(error)?.status === 401 ? 'Sign in again to see the result.' : null
      for (const { id } of ofOrg) changeItem(id, { notice })
      throw error
    }
  }
}

async function newest(org: string): Promise<Map<string, SecurityUpload>> {
  const { data } = await client.GET(PATH, { params: { path: { org }, query: { limit: PAGE } } })
  return new Map(data?.data.map((upload) => [upload.id, upload]))
}

async function show(items: UploadItem[], found: Map<string, SecurityUpload>): Promise<void> {
  const missing = items.filter(({ upload }) => upload && !found.has(upload.id)).slice(0, SINGLE_MAX)
  for (const { org, upload } of missing) {
    const { id } = upload as SecurityUpload
    const { data } = await client.GET(`${PATH}/{uploadId}`, { params: { path: { org, uploadId: id } } })
    if (data) found.set(id, data.data)
  }
  for (const item of items) {
    const upload = item.upload && found.get(item.upload.id)
    if (upload) changeItem(item.id, stateOf(upload))
  }
}

function stateOf(upload: SecurityUpload): Partial<UploadItem> {
  const failure = failureOf(upload)
  if (failure) return { phase: 'failed', upload, failure, notice: null, ...(failure.rereads && { sha256: null }) }
  return { phase: upload.status === 'finished' ? 'finished' : 'reading', upload, notice: null }
}
