import type { Db } from '../platform/db/sql.ts'
import { ApiError } from '../platform/http/errors.ts'
import { findOrganization, type Organization } from './organization.store.ts'

/** The organization of that slug. Throws 404 where there is none. */
export async function requireOrganization(db: Db, slug: string): Promise<Organization> {
  return (await findOrganization(db, slug)) ?? refuseUnknownOrganization(slug)
}

export function refuseUnknownOrganization(slug: string): never {
  throw new ApiError(404, 'not_found', `There is no organization "${slug}"`)
}
