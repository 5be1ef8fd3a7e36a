import type { ExpectedObject } from './object-store.ts'

export const CHECKSUM_HEADER = 'x-storage-checksum-sha256'

/** The headers that go with a PUT address of the file store, to be sent exactly. Names as in the specification, "Security upload". */
export function putHeaders({ contentType, sha256 }: ExpectedObject): Record<string, string> {
  return { 'Content-Type': contentType, [CHECKSUM_HEADER]: Buffer.from(sha256, 'hex').toString('base64') }
}
