import { answerDeployment } from '../deployments/approvals/answer-deployment.ts'
import { ApiError } from '../platform/http/api-error.ts'
import type { Demo } from './world/demo.ts'

const COMMENTS = ['Checked on staging.', 'Release notes are out.', 'Agreed with support.', null, null] as const

const REJECTIONS = [
  'The smoke tests on staging look wrong, see the error rate of the last ten minutes.',
  'Not during the sale of the weekend. Try again on Monday.',
  'The migration is not reviewed by the database team yet.',
] as const

const OVERRIDES = [
  'The critical finding is in a test dependency that is not deployed. Fix follows in the next change.',
  'Hotfix for the failed payments of this morning, agreed with the security team.',
  'The scanner was down this week. The change touches texts only.',
] as const

const BLOCKED = 'A policy blocks the deployment. Fix the findings first.'

type Asked = {
  id: string
  isApproved: boolean
  /** People or keys who answer, in this order, until the deployment is decided. */
  by: readonly string[]
  /** Who approves if a policy blocks. Null: then it is rejected. */
  overriddenBy: readonly string[] | null
}

/** Answers a deployment as the people of the story would. Returns whether it may go on. */
export async function answer(demo: Demo, { id, isApproved, by, overriddenBy }: Asked): Promise<boolean> {
  const { services, random } = demo
  for (const login of by) {
    const actor = login.startsWith('key:') ? demo.key(login.slice(4)) : demo.person(login)
    const decision = isApproved ? ('approved' as const) : ('rejected' as const)
    const needsReason = !isApproved || actor.credential.type === 'api_key'
    const reason = isApproved ? 'All checks of the release pipeline passed.' : random.pick(REJECTIONS)
    const comment = random.pick(COMMENTS)
    const input = { decision, ...(needsReason && { reason }), ...(comment !== null && isApproved && { comment }) }
    try {
      const status = await answerDeployment(services, actor, id, input)
      if (status !== 'pending_approval') return isApproved
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 409) return error.details.status !== 'rejected' && error.code === 'already_decided'
      if (overriddenBy !== null) return override(demo, id, overriddenBy)
      await answerDeployment(services, actor, id, { decision: 'rejected', reason: BLOCKED })
      return false
    }
  }
  return false
}

/** Each counts as one approval of the gate. */
async function override(demo: Demo, id: string, logins: readonly string[]): Promise<boolean> {
  for (const login of logins) {
    const reason = demo.random.pick(OVERRIDES)
    const input = { decision: 'approved', reason } as const
    const status = await answerDeployment(demo.services, demo.person(login), id, input).catch((error: unknown) => {
      // Who changed a policy on that day does not override it.
      if (error instanceof ApiError && error.code === 'change_author_refused') return null
      throw error
    })
    if (status !== null && status !== 'pending_approval') return true
  }
  return false
}
