import { type Static, Type } from 'typebox'

export const ReadUploadPayload = Type.Object({ org_id: Type.String(), upload_id: Type.String() })
export type ReadUploadPayload = Static<typeof ReadUploadPayload>

/** What is queued when an upload is complete; `read-upload.job.ts` says what it does. */
export const readUploadJob = {
  name: 'security.read-upload',
  payload: ReadUploadPayload,
  attemptsMax: 5,
}
