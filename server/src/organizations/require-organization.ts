import type { Db } from '../platform/db/sql.ts'
import { missing } from '../platform/http/errors.ts'
import { findOrganization, type Organization } from './organization.store.ts'

/** Returns the organization with this slug. Throws 404 if it does not exist. */
export async function requireOrganization(db: Db, slug: string): Promise<Organization> {
  return (await findOrganization(db, slug)) ?? rejectUnknownOrganization(slug)
}

export function rejectUnknownOrganization(slug: string): never {
  throw missing(`Organization "${slug}" does not exist`)
}
