import type { Actor } from '../../access/actor.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import type { StoredStatement } from './statement.store.ts'

/** Returns the verification summary of a deployment. */
export async function issueVerificationStatement(
  _services: Services,
  _actor: Actor,
  _id: string,
): Promise<StoredStatement> {
  throw notFound('deployment')
}
