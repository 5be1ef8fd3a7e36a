import { type Static, Type } from 'typebox'
import { Closed } from '../../platform/http/schemas.ts'
import { DeploymentStatus } from '../deployment.schema.ts'

/** Body of approveDeployment and rejectDeployment. An empty body is one without a reason. */
export const NewAnswer = Closed({
  reason: Type.Optional(Type.String({ description: '10 to 500 characters. An API key has to give one.' })),
  comment: Type.Optional(Type.String({ maxLength: 1000 })),
})
export type NewAnswer = Static<typeof NewAnswer>

export const Approved = Closed({ approved: Type.Literal(true), status: DeploymentStatus })
export const Rejected = Closed({ rejected: Type.Literal(true), status: DeploymentStatus })
