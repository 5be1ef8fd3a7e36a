import { Type } from 'typebox'
import type { Event } from '../../platform/queue/event.ts'

type UploadFinished = { org_id: string; upload_id: string }

/** Published when a report's findings are stored. */
export const uploadFinished: Event<UploadFinished> = {
  name: 'security.upload.finished',
  payload: Type.Object({ org_id: Type.String(), upload_id: Type.String() }),
}
