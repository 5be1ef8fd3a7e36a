import type { Actor } from '../../access/actor.ts'
import { notFound } from '../../platform/http/errors.ts'
import type { PresignedGet } from '../../platform/objects/object-store.ts'
import type { Services } from '../../services.ts'
import { findUploaded } from './artifact.store.ts'
import { artifactKey } from './artifact-key.ts'

/** An address, good for 15 minutes, at which the organization can download one of its artifacts. Throws 404. */
export async function artifactAddress(
  { sql, objects, clock }: Services,
  actor: Actor,
  id: string,
): Promise<PresignedGet> {
  const artifact = await findUploaded(sql, actor.org_id, id)
  if (!artifact) throw notFound('artifact')
  return objects.presignGet(artifactKey(actor.org_id, id), artifact.path.split('/').at(-1) ?? id, clock.now())
}
