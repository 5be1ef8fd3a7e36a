import { createApiKey } from '../src/access/manage-access.ts'
import { OPERATOR_GRANTOR, SCOPES } from '../src/access/scopes.ts'
import type { Sql } from '../src/platform/db/sql.ts'
import { createUuid } from '../src/platform/ids.ts'
import type { Setting } from './setting.ts'
import { storeFindings } from './stored-findings.ts'

export const LARGE = 1_000_000
export const SMALL = 10_000

/** An organization with findings and an API key. */
export type StoredOrganization = { id: string; url: string; key: string }
type Organizations = { large: StoredOrganization; small: StoredOrganization }

const made = new WeakMap<Setting, Promise<Organizations>>()

/**
 * One organization with a million findings and one with ten thousand, made once for all benchmarks
 * that ask.
 */
export function largeAndSmall(setting: Setting): Promise<Organizations> {
  const known = made.get(setting)
  if (known) return known
  const making = make(setting)
  made.set(setting, making)
  return making
}

async function make(setting: Setting): Promise<Organizations> {
  return { small: await makeOne(setting, 'small', SMALL), large: await makeOne(setting, 'large', LARGE) }
}

async function makeOne({ sql, ours }: Setting, slug: string, findings: number): Promise<StoredOrganization> {
  const organization = await createOrganization(sql, slug)
  const startedAt = performance.now()
  await storeFindings(sql, organization.id, findings, (done) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
    process.stderr.write(`\r  ${done} of ${findings} findings stored, ${seconds} s`)
  })
  process.stderr.write('\n')
  return { ...organization, url: ours.url }
}

/** An organization without limits, with an API key for everything. */
export async function createOrganization(sql: Sql, slug: string): Promise<{ id: string; key: string }> {
  const now = new Date()
  const id = createUuid(now)
  await sql`
    insert into organizations (id, slug, name, plan, created_at)
    values (${id}, ${slug}, ${slug}, 'enterprise', ${now})`
  const request = {
    name: slug,
    scopes: SCOPES,
    environment: 'production',
    expiresAt: null,
    grantor: OPERATOR_GRANTOR,
  } as const
  const { key } = await sql.begin((tx) => createApiKey(tx, id, request, now))
  return { id, key }
}
