import { type Static, Type } from 'typebox'
import { Closed, OneOf } from '../../platform/http/schemas.ts'
import { DEPLOYMENT_STATUSES } from '../deployment.schema.ts'

/**
 * Body of approveDeployment and rejectDeployment. The length of the reason is checked by
 * `requireReason`.
 */
export const NewAnswer = Closed({
  reason: Type.Optional(
    Type.String({
      description:
        'Why the deployment is approved or rejected: 10 to 500 characters. Required when an API key answers.',
    }),
  ),
  comment: Type.Optional(Type.String({ maxLength: 1000, description: 'Further remarks.' })),
})
export type NewAnswer = Static<typeof NewAnswer>

const Status = OneOf(DEPLOYMENT_STATUSES, {
  description: 'Status of the deployment. It stays `pending_approval` while other approvals are required.',
})

export const Approved = Closed({ approved: Type.Literal(true), status: Status })
export const Rejected = Closed({ rejected: Type.Literal(true), status: Status })
