import type { Environment } from '../../config.ts'
import type { Db } from '../../platform/db/sql.ts'
import { ApiError } from '../../platform/http/errors.ts'
import { newUuid } from '../../platform/ids.ts'
import { type ApiKey, insertApiKey } from './api-key.store.ts'
import { generateApiKey, hashApiKey } from './api-key.ts'
import { requireScopes } from './required-scopes.ts'

export type ApiKeyRequest = {
  name: string
  scopes: readonly string[]
  environment: Environment
  createdBy: string
  /** null: it never expires. */
  lifetimeMs: number | null
}

/** A key as it is told once, when it is made. Only its hash is stored. */
export type NewKey = Pick<ApiKey, 'id' | 'name' | 'scopes' | 'environment' | 'expires_at'> & { key: string }

const NAME_CHARS_MAX = 100

/** Makes a key for an organization. Throws 400 for a wrong name or scope. */
export async function createApiKey(db: Db, orgId: string, request: ApiKeyRequest, now: Date): Promise<NewKey> {
  const { environment, createdBy, lifetimeMs } = request
  const stored = {
    id: newUuid(now),
    name: requireKeyName(request.name),
    scopes: requireScopes(request.scopes),
    environment,
    expires_at: lifetimeMs === null ? null : new Date(now.getTime() + lifetimeMs),
  }
  const key = generateApiKey(environment)
  await insertApiKey(db, orgId, { ...stored, key_sha256: hashApiKey(key), created_by: createdBy, created_at: now })
  return { ...stored, key }
}

function requireKeyName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.length >= 1 && trimmed.length <= NAME_CHARS_MAX) return trimmed
  throw new ApiError(400, 'invalid_request', `A key's name has 1 to ${NAME_CHARS_MAX} characters`)
}
