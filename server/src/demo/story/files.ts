import { hash } from 'node:crypto'
import { systemClock } from '../../platform/clock.ts'
import { FileObjectStore } from '../../platform/objects/file-object-store.ts'
import type { Services } from '../../services.ts'

export type StoredFile = { path: string; bytes: Buffer; size: number; sha256: string }

export function toFile(path: string, text: string): StoredFile {
  const bytes = Buffer.from(text)
  return { path, bytes, size: bytes.length, sha256: hash('sha256', bytes, 'hex') }
}

/** Stores a file as its sender would. A store elsewhere accepts only addresses of the present. */
export async function saveDemoFile(
  { objects }: Pick<Services, 'objects'>,
  key: string,
  { bytes, size, sha256 }: StoredFile,
  contentType: string,
): Promise<void> {
  const expected = { sizeBytes: size, sha256, contentType }
  if (objects instanceof FileObjectStore)
    return objects.write(
      key,
      expected,
      (async function* () {
        yield bytes
      })(),
    )
  const { url, headers } = await objects.presignPut(key, expected, systemClock.now())
  const response = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(bytes) })
  if (!response.ok) throw new Error(`The object store answered ${response.status} to a file of the example data.`)
}
