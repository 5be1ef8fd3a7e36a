import { createStore } from '../../api/store.ts'
import { formatAddress, pages } from '../../page/pages.ts'
import { backgroundWork } from '../../shell/background-work.tsx'
import type { ReportFile } from './dropped-files.ts'
import { ACTIVE_PHASES, isOneOf, SENDING_PHASES, shareDone, type UploadItem, type UploadTarget } from './upload-item.ts'

// The files of this tab, whichever page is shown. `run-uploads.ts` does the work.

const queue = createStore<readonly UploadItem[]>([])

const cancels = new Map<string, AbortController>()

const FRESH = {
  phase: 'waiting',
  doneBytes: 0,
  sha256: null,
  upload: null,
  notice: null,
  failure: null,
  twin: null,
} as const

/** The files that a person sends to an organization, in the order in which they were chosen. */
export function useUploadQueue(org: string, userId: string): UploadItem[] {
  return queue.use().filter((item) => item.org === org && item.userId === userId)
}

export function queuedItems(): readonly UploadItem[] {
  return queue.get()
}

export type Sender = { org: string; userId: string; target: UploadTarget }

export function addToQueue(files: readonly ReportFile[], sender: Sender): void {
  const batch = crypto.randomUUID()
  const added = files.map(({ file, path }): UploadItem => {
    return { id: crypto.randomUUID(), batch, file, path, ...sender, ...FRESH }
  })
  setItems([...queue.get(), ...added])
}

export function changeItem(id: string, changes: Partial<UploadItem>): void {
  setItems(queue.get().map((item) => (item.id === id ? { ...item, ...changes } : item)))
}

/** Failed files wait again. */
export function requeue(items: readonly UploadItem[]): void {
  const ids = new Set(items.map(({ id }) => id))
  setItems(queue.get().map((item) => (ids.has(item.id) ? { ...item, ...FRESH, sha256: item.sha256 } : item)))
}

/** Takes files out of the list. What is being hashed or sent is cancelled. */
export function removeItems(items: readonly UploadItem[]): void {
  const ids = new Set(items.map(({ id }) => id))
  setItems(queue.get().filter(({ id }) => !ids.has(id)))
  for (const id of ids) cancels.get(id)?.abort()
}

/** A signal that ends the work on a file when it is removed. Call `end` when the work is over. */
export function beginWork(id: string): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController()
  cancels.set(id, controller)
  return { signal: controller.signal, end: () => cancels.delete(id) }
}

export function isWorkedOn(id: string): boolean {
  return cancels.has(id)
}

function setItems(items: readonly UploadItem[]): void {
  queue.set(items)
  backgroundWork.set(describeWork(items))
}

function describeWork(items: readonly UploadItem[]) {
  const [first] = items.filter((item) => isOneOf(ACTIVE_PHASES, item))
  if (first === undefined) return null
  const ofOrg = items.filter(({ org, phase }) => org === first.org && phase !== 'failed' && phase !== 'duplicate')
  const active = ofOrg.filter((item) => isOneOf(ACTIVE_PHASES, item))
  const isSending = active.some((item) => isOneOf(SENDING_PHASES, item))
  const of = ofOrg.length === 1 ? 'report' : 'reports'
  return {
    title: isSending
      ? `Uploading ${ofOrg.length} ${of}`
      : `Reading ${active.length} ${active.length === 1 ? 'report' : 'reports'}`,
    share: shareDone(ofOrg),
    path: formatAddress(pages.uploads(first.org)),
    needsTab: isSending,
  }
}
