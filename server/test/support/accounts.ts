import { argon2Sync } from 'node:crypto'
import { upsertPassword } from '../../src/access/sign-in/account.store.ts'
import type { Answer, TestApi } from './api.ts'
import { createPerson, type Person, pageHeaders } from './people.ts'

export const PASSWORD = 'correct horse battery staple'

/** As cheap as argon2id can be, because tests guess wrong hundreds of times. */
const COSTS = { memory: 8, passes: 1, parallelism: 1 }
const SALT = Buffer.from('a salt of tests')
const TAG = argon2Sync('argon2id', { ...COSTS, message: PASSWORD, nonce: SALT, tagLength: 32 })
const PASSWORD_HASH = `$argon2id$v=19$m=8,t=1,p=1$${toBase64(SALT)}$${toBase64(TAG)}`

/** A person with the password `PASSWORD`. */
export async function createAccount(api: TestApi, name?: string): Promise<Person> {
  const person = await createPerson(api, { ...(await api.caller()), ...(name && { name }) })
  await upsertPassword(api.services.sql, person.userId, PASSWORD_HASH, api.clock.now())
  return person
}

/** A request of a page, with the cookie of a session or without one. */
export function post(api: TestApi, path: string, body: unknown, cookie?: string): Promise<Answer> {
  return api.request('POST', `/app/api/${path}`, { headers: pageHeaders(api, cookie), body })
}

export function signInWith(api: TestApi, body: Record<string, unknown>, cookie?: string): Promise<Answer> {
  return post(api, 'sign-in/password', body, cookie)
}

/** The cookie that an answer sets, as the browser sends it. */
export function cookieOf({ headers }: Answer): string {
  return headers.get('set-cookie')?.split(';')[0] ?? ''
}

/** Without padding, as in a PHC string. */
function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
