import { ApiError, notFound } from '../../platform/http/errors.ts'
import type { Services } from '../../services.ts'
import { type ApiKey, revokeApiKey as storeRevocation } from './api-key.store.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Makes a key useless on every running server at once; again is no error. Throws 400 and 404. */
export async function revokeApiKey({ sql, clock }: Pick<Services, 'sql' | 'clock'>, id: string): Promise<ApiKey> {
  if (!UUID.test(id))
    throw new ApiError(400, 'invalid_request', `"${id.slice(0, 80)}" is not the id of a key, which is a UUID`)
  const key = await storeRevocation(sql, id, clock.now())
  if (!key) throw notFound('API key')
  return key
}
