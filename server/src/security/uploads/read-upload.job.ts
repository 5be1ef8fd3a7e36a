import { type Static, Type } from 'typebox'

export const ReadUploadPayload = Type.Object({ org_id: Type.String(), upload_id: Type.String() })
export type ReadUploadPayload = Static<typeof ReadUploadPayload>

/**
 * Queued when an upload is complete. `read-report-file.ts` does the work: the API does not load it.
 */
export const readUploadJob = {
  name: 'security.read-upload',
  payload: ReadUploadPayload,
  attemptsMax: 5,
}
