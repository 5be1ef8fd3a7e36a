import type { Db, Tx } from '../../platform/db/sql.ts'
import type { AdmissionRules } from './provider.ts'

export type StoredProvider = AdmissionRules & {
  org_id: string
  issuer: string
  client_id: string
  sealed_client_secret: string
  created_at: Date
  updated_at: Date
}

export async function findStoredProvider(db: Db, orgId: string): Promise<StoredProvider | null> {
  const [row] = await db<StoredProvider[]>`
    select org_id, issuer, client_id, sealed_client_secret, email_domains, creates_accounts, default_role, role_claim,
      role_map, created_at, updated_at
    from single_sign_on
    where org_id = ${orgId}`
  return row ?? null
}

export async function upsertProvider(tx: Tx, provider: Omit<StoredProvider, 'created_at'>): Promise<void> {
  await tx`
    insert into single_sign_on (
      org_id, issuer, client_id, sealed_client_secret, email_domains, creates_accounts, default_role, role_claim,
      role_map, created_at, updated_at
    )
    values (
      ${provider.org_id}, ${provider.issuer}, ${provider.client_id}, ${provider.sealed_client_secret},
      ${[...provider.email_domains]}, ${provider.creates_accounts}, ${provider.default_role}, ${provider.role_claim},
      ${tx.json(provider.role_map as never)}, ${provider.updated_at}, ${provider.updated_at}
    )
    on conflict (org_id) do update
    set issuer = excluded.issuer, client_id = excluded.client_id,
      sealed_client_secret = excluded.sealed_client_secret, email_domains = excluded.email_domains,
      creates_accounts = excluded.creates_accounts, default_role = excluded.default_role,
      role_claim = excluded.role_claim, role_map = excluded.role_map, updated_at = excluded.updated_at`
}

/** Removes the provider of an organization. Returns false if there is none. */
export async function deleteProvider(tx: Tx, orgId: string): Promise<boolean> {
  const { count } = await tx`
    delete from single_sign_on
    where org_id = ${orgId}`
  return count === 1
}
