import { type Static, Type } from 'typebox'

export const ReadUploadPayload = Type.Object({ org_id: Type.String(), upload_id: Type.String() })
export type ReadUploadPayload = Static<typeof ReadUploadPayload>

/** The job that is queued when an upload is completed. `read-upload.job.ts` runs it. */
export const readUploadJob = {
  name: 'security.read-upload',
  payload: ReadUploadPayload,
  attemptsMax: 5,
}
