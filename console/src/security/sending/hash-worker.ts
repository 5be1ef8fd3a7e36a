import { blobSource, hashSource } from '@shiplock/sdk'

/** What the worker tells: progress, and then the checksum or why there is none. */
export type HashMessage = { readBytes: number } | { sha256: string } | { problem: string }

// Runs in a thread of its own, so that a large file does not block the page. It is read in pieces.
addEventListener('message', async ({ data: file }: MessageEvent<File>) => {
  const tell = (message: HashMessage) => postMessage(message)
  try {
    const source = blobSource(file, file.name)
    const { sha256 } = await hashSource(source, { onProgress: (readBytes) => tell({ readBytes }) })
    tell({ sha256 })
  } catch (error) {
    tell({ problem: String(error) })
  }
})
