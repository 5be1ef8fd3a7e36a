import type { Deadline } from '../http/deadline.ts'
import { type PutOptions, type SendSettings, type Slot, sendSettings, sendToSlot } from './put-slot.ts'
import type { Source } from './source.ts'

/** A file and its path within a report. */
export type ReportFile = { path: string; source: Source }
/** An upload slot of a report, for the file with this path. */
export type FileSlot = Slot & { path: string }

export type PutSlotsOptions = Omit<PutOptions, 'onProgress'> & {
  /** Called with the number of bytes of this file that have been sent, at most ten times a second. */
  onProgress?: ((path: string, sentBytes: number) => void) | undefined
}

/**
 * Sends files to their slots, a few at a time, by the rules of `putSlot`. Returns the errors of
 * those that failed. Throws only if the signal aborts.
 */
export function putSlots(slots: FileSlot[], files: ReportFile[], options: PutSlotsOptions = {}): Promise<unknown[]> {
  const { signal, onProgress } = options
  return sendToSlots(sendSettings(options), slots, files, { onProgress, signals: [signal] })
}

type Following = { onProgress: PutSlotsOptions['onProgress']; signals: Deadline['signals'] }

const PARALLEL_FILES = 4

/** Sends files with the settings of a client. */
export async function sendToSlots(
  settings: SendSettings,
  slots: FileSlot[],
  files: ReportFile[],
  { onProgress, signals }: Following,
): Promise<unknown[]> {
  const sources = new Map(files.map(({ path, source }) => [path, source]))
  const failures: unknown[] = []
  const waiting = [...slots]
  const sendNext = async () => {
    for (let slot = waiting.shift(); slot; slot = waiting.shift()) {
      const { path } = slot
      const following = { onProgress: (sentBytes: number) => onProgress?.(path, sentBytes), signals }
      await sendToSlot(settings, slot, sources.get(path) as Source, following).catch((error) => failures.push(error))
      for (const signal of signals) signal?.throwIfAborted()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_FILES }, sendNext))
  return failures
}
