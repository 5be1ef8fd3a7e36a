import { upsertPassword } from '../../src/access/sign-in/account.store.ts'
import { hashPassword } from '../../src/access/sign-in/password.ts'
import type { Answer, TestApi } from './api.ts'
import { createPerson, type Person, pageHeaders } from './people.ts'

export const PASSWORD = 'correct horse battery staple'

let passwordHash: Promise<string> | undefined

/** A person with the password `PASSWORD`. */
export async function createAccount(api: TestApi, name?: string): Promise<Person> {
  const person = await createPerson(api, { ...(await api.caller()), ...(name && { name }) })
  passwordHash ??= hashPassword(PASSWORD, 'test')
  await upsertPassword(api.services.sql, person.userId, await passwordHash, api.clock.now())
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
