import type { ReportFile } from './dropped-files.ts'
import type { UploadItem } from './upload-item.ts'
import { addToQueue, requeue, type Sender } from './upload-queue.ts'

/** Begins to hash and send files. */
export function startUploads(files: readonly ReportFile[], sender: Sender): void {
  addToQueue(files, sender)
  void run()
}

/** Tries failed files again. */
export function retryUploads(items: readonly UploadItem[]): void {
  requeue(items)
  void run()
}

/** Hashing and sending are loaded with the first file. */
export async function run(): Promise<void> {
  const { runUploads } = await import('./send-report.ts')
  runUploads()
}
