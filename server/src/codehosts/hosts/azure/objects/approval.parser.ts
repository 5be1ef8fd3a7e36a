import { type Static, Type } from 'typebox'
import type { HostDeploymentReview } from '../../../host-deployment.ts'
import { Maybe, readAs, Text, textOrNull } from '../../../kit/payload.ts'
import { Time, timeOrNull } from './fields.ts'
import { accountOf, Identity } from './identity.parser.ts'

const Step = Type.Object({
  assignedApprover: Maybe(Identity),
  actualApprover: Maybe(Identity),
  status: Maybe(Text),
  comment: Maybe(Text),
  lastModifiedOn: Maybe(Time),
})

const Approval = Type.Object({
  id: Text,
  status: Maybe(Text),
  createdOn: Maybe(Time),
  lastModifiedOn: Maybe(Time),
  steps: Maybe(Type.Array(Step)),
})
export type Approval = Static<typeof Approval>

export function parseApproval(value: unknown): Approval {
  return readAs(Approval, value)
}

/** Who can still answer. */
export function pendingApproversOf({ steps }: Approval): Static<typeof Identity>[] {
  return (steps ?? []).flatMap(({ status, assignedApprover }) =>
    status === 'pending' && assignedApprover ? assignedApprover : [],
  )
}

/** The answers of an approval, one for each step that has one. */
export function reviewsOf(
  { steps, lastModifiedOn }: Approval,
  of: Pick<HostDeploymentReview, 'repository' | 'run' | 'environments'> & { otherwise: Date },
): HostDeploymentReview[] {
  const { otherwise, ...place } = of
  return (steps ?? []).flatMap((step) => {
    const { status, comment } = step
    if (status !== 'approved' && status !== 'rejected') return []
    const at = timeOrNull(step.lastModifiedOn) ?? timeOrNull(lastModifiedOn) ?? otherwise
    const reviewer = accountOf(step.actualApprover) ?? accountOf(step.assignedApprover)
    return { ...place, state: status, reviewer, comment: textOrNull(comment), at }
  })
}
