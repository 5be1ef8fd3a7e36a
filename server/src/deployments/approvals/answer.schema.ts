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
        'The reason for the decision, 10 to 500 characters. An API key must send one. A person must send one to approve against a blocking policy.',
    }),
  ),
  comment: Type.Optional(Type.String({ maxLength: 1000, description: 'A comment in addition to the reason.' })),
})
export type NewAnswer = Static<typeof NewAnswer>

const Status = OneOf(DEPLOYMENT_STATUSES, {
  description: 'The status of the deployment. It stays `pending_approval` while other approvals are required.',
})

export const Approved = Closed({
  approved: Type.Literal(true, { description: 'The approval was recorded.' }),
  status: Status,
})
export const Rejected = Closed({
  rejected: Type.Literal(true, { description: 'The rejection was recorded.' }),
  status: Status,
})
